"""What it is to be one-sided, and what every one-sided mechanism must be able to do.

M is (q, alpha, beta)-one-sided for X, where q(X) is true, when *one* sanitizer says True with probability at
most alpha on every X' of which q is false, and at least beta on X. (The paper has "less than" alpha, which
rules out alpha = 0, and lets the sanitizer depend on X', which it cannot know.) Hence the necessary
condition, its Proposition III.1 put right: for each such X' some set S of outputs has Pr[M(X) in S] >= beta
and Pr[M(X') in S] <= alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Final, TypeVar

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, Number, lower, upper

Output = TypeVar("Output", bound=Hashable)
Probability = Fraction | Ball
_MOST_OUTPUTS: Final = 20


def sanitizer(
    true: Mapping[Output, Probability],
    false: Sequence[Mapping[Output, Probability]],
    alpha: Number,
    beta: Number,
) -> frozenset[Output] | None:
    """The outputs on which to say True so that M is (q, alpha, beta)-one-sided, for certain, or None.

    `true` is the law of M(X), `false` the laws of M(X') for every X' of which q is false. The search is
    exhaustive over the outputs that any X' can give; the others are safe and always taken.
    """
    wrong, right = exact.alpha(alpha), exact.beta(beta)
    free = frozenset(z for z in true if all(upper(law.get(z, Fraction(0))) == 0 for law in false))
    risky = sorted(set(true) - free, key=repr)
    if len(risky) > _MOST_OUTPUTS:
        raise BadNumber(
            f"{len(risky)} outputs can be given both where the decision is true and where it is false.",
            f"Search over at most {_MOST_OUTPUTS}: put tails together, or use a coarser output.",
        )
    for some in chain.from_iterable(combinations(risky, size) for size in range(len(risky) + 1)):
        says = free.union(some)
        if _mass(true, says, lower) >= right and all(_mass(law, says, upper) <= wrong for law in false):
            return says
    return None


def _mass(
    law: Mapping[Output, Probability], says: Iterable[Output], end: Callable[[Probability], Fraction]
) -> Fraction:
    return sum((end(law.get(z, Fraction(0))) for z in says), start=Fraction(0))
