"""The virtual (epsilon, delta)-DP competitor the paper compares with: a formula, and not a mechanism.

It follows one of the two inequalities of the definition k times and ignores the other, the one about the
complement, so that its beta can be above what any mechanism reaches. It is here to reproduce figures; the
tight bound is `safeside.decisions.bounds.approximate_dp`.
"""

from __future__ import annotations

from safeside import exact
from safeside.exact import Ball, Number, ball, evaluate, exp


def virtual_beta(*, steps: int, epsilon: Number, delta: Number = 0, alpha: Number = 0) -> Ball:
    """min(1, alpha e^(k epsilon) + delta (1 + e^epsilon + ... + e^((k-1) epsilon)))."""
    k = exact.whole(steps, "steps")
    rate, slack, wrong = exact.epsilon(epsilon), exact.delta(delta), exact.alpha(alpha)

    def formula() -> Ball:
        powers = ball(rate * k).expm1() / ball(rate).expm1()
        return (ball(wrong) * exp(rate * k) + ball(slack) * powers).min(ball(1))

    return evaluate(formula)
