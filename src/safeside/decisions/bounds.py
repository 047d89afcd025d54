"""How good a one-sided decision can be under each definition, and what it needs (docs/proofs/bounds.md).

`steps` is k: how many changes it takes to make the decision false. For "at most t" at a count f that is
t + 1 - f. Every bound is tight: some mechanism reaches it.
"""

from __future__ import annotations

from fractions import Fraction

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, Number, ball, evaluate, exp
from safeside.mechanisms.optimal_decision import climb


def adp_at_most(*, steps: int, epsilon: Number, alpha: Number = 0) -> Ball:
    """The largest beta of "at most t" under (epsilon, P)-ADP: 1 - (1-alpha) e^(-k epsilon).

    AGeo reaches it at alpha = 0 and sensitivity 1.
    """
    k, budget, wrong = exact.whole(steps, "steps"), exact.epsilon(epsilon), exact.alpha(alpha)
    return evaluate(lambda: 1 - ball(1 - wrong) * exp(-budget * k))


def adp_at_least(*, steps: int, epsilon: Number, alpha: Number) -> Ball:
    """The largest beta of "at least t+1" under (epsilon, P)-ADP: min(1, alpha e^(k epsilon))."""
    k, budget, wrong = exact.whole(steps, "steps"), exact.epsilon(epsilon), exact.alpha(alpha)
    return evaluate(lambda: (ball(wrong) * exp(budget * k)).min(ball(1)))


def approximate_dp(*, steps: int, epsilon: Number, delta: Number = 0, alpha: Number = 0) -> Ball:
    """The largest beta of either decision under (epsilon, delta)-DP: k steps of the climb from alpha."""
    k, budget = exact.whole(steps, "steps"), exact.epsilon(epsilon)
    slack, wrong = exact.delta(delta), exact.alpha(alpha)
    return evaluate(lambda: climb(k, budget, slack, wrong))


def dp(*, steps: int, epsilon: Number, alpha: Number = 0) -> Ball:
    """The largest beta under epsilon-DP: least over j of 1 - e^(-(k-j) epsilon) (1 - alpha e^(j epsilon))."""
    k, budget, wrong = exact.whole(steps, "steps"), exact.epsilon(epsilon), exact.alpha(alpha)

    def formula() -> Ball:
        least = ball(1)
        for j in range(k + 1):
            least = least.min(1 - exp(-budget * (k - j)) * (1 - ball(wrong) * exp(budget * j)))
        return least

    return evaluate(formula)


def needed_epsilon_dp(*, steps: int, alpha: Number, beta: Number) -> Ball:
    """What epsilon-DP needs at least: epsilon >= ln(beta/alpha)/k."""
    k, wrong, right = exact.whole(steps, "steps", least=1), exact.alpha(alpha), exact.beta(beta)
    if wrong == 0:
        raise BadNumber(
            "alpha is 0, and then no epsilon is enough: epsilon-DP is never certain.",
            "Allow an alpha above 0, or use (epsilon, delta)-DP or asymmetric differential privacy.",
        )
    if right <= wrong:
        return ball(0)
    return evaluate(lambda: ball(right / wrong).log() / k)


def needed_delta(*, steps: int, epsilon: Number, beta: Number, alpha: Number = 0) -> Ball:
    """What (epsilon, delta)-DP needs at least.

    delta >= (beta - alpha e^(k epsilon)) / (1 + e^epsilon + ... + e^((k-1) epsilon)).
    """
    k, budget = exact.whole(steps, "steps", least=1), exact.epsilon(epsilon)
    right, wrong = exact.beta(beta), exact.alpha(alpha)

    def formula() -> Ball:
        powers = ball(budget * k).expm1() / ball(budget).expm1()
        return ((ball(right) - ball(wrong) * exp(budget * k)) / powers).max(ball(0))

    return evaluate(formula)


def needed_epsilon_adp(*, steps: int, beta: Number, alpha: Number = 0) -> Ball:
    """What (epsilon, P)-ADP needs for "at most t", and AGeo at alpha = 0 needs no more: ln((1-a)/(1-b))/k."""
    k, wrong, right = exact.whole(steps, "steps", least=1), exact.alpha(alpha), _below_one(exact.beta(beta))
    if right <= wrong:
        return ball(0)
    return evaluate(lambda: ball((1 - wrong) / (1 - right)).log() / k)


def smallest_epsilon(
    *, at_most: int, beta: Number, count: int = 0, sensitivity: int = 1, digits: int = 6
) -> Fraction:
    """The least epsilon with which AGeo says "at most t" with probability beta at a declared true count.

    Certified and rounded up to a decimal; the true count is declared, never looked up.
    """
    limit, truth = exact.whole(at_most, "at_most"), exact.whole(count, "count")
    if truth > limit:
        raise BadNumber(
            f"At a true count of {truth}, 'at most {limit}' would be wrong, and it is never said.",
            "Declare a true count of at most the threshold.",
        )
    right = _below_one(exact.beta(beta))
    moves = exact.whole(sensitivity, "sensitivity", least=1)
    return exact.round_up(lambda: -ball(1 - right).log() * moves / (limit + 1 - truth), digits)


def _below_one(beta: Fraction) -> Fraction:
    if beta == 1:
        raise BadNumber(
            "beta is 1, and no epsilon reaches that: some noise is always above the threshold.",
            "Ask for a beta below 1, for instance 0.99.",
        )
    return beta
