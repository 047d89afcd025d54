"""From one noisy value to a decision: "at most t", "at least t+1" or unclear.

Nothing here costs privacy: it is post-processing. For AGeo and PaddedGeo a reader may move t as much as they
like, and all the answers for one place hold together, as long as the margin was fixed before looking.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.decisions.states import State
from safeside.errors import BadNumber, BadQuestion
from safeside.exact import Ball, Number, Term, ball, evaluate, exp
from safeside.mechanisms.counts import published_values, thresholds_for
from safeside.mechanisms.laws import Law, Up, law_of
from safeside.mechanisms.sequences import Answer
from safeside.mechanisms.sparse import Sparse
from safeside.noise.entropy import Entropy
from safeside.noise.inversion import bernoulli
from safeside.privacy.guarantee import Direction

States = NDArray[np.str_]
_UNCLEAR, _AT_MOST, _AT_LEAST, _NOT_ASKED = range(4)
_NAMES: Final = np.array([State.UNCLEAR, State.AT_MOST, State.AT_LEAST, State.NOT_ASKED], dtype=np.str_)


def margin(rate: Number, alpha: Number | None) -> int | None:
    """m: the least m >= 1 with e^(-rate m) <= alpha, for certain; None where alpha is 0 or not given."""
    if alpha is None:
        return None
    return Up(exact.positive(rate, "rate")).margin_up(exact.alpha(alpha))


def decide(
    z: ArrayLike,
    at_most: ArrayLike,
    rate: Number,
    alpha: Number | None = None,
    *,
    direction: Direction = Direction.DECREASING,
    people: int | None = None,
    coins: NDArray[np.bool_] | None = None,
) -> States:
    """The state of each place from AGeo's z, with one threshold for all or one for each.

    Decreasing counts: AT_MOST t where z <= t, for certain; AT_LEAST t+1 where z >= t + m. Increasing ones the
    other way round. `people` is a public number: no count exceeds it. `coins` are those of `boundary_coins`.

    Example
        >>> from safeside import decide
        >>> decide([1, 4, 9], at_most=2, rate=1, alpha="0.01")  # of AGeo's noisy counts, at epsilon 1
        array(['at_most', 'unclear', 'at_least'], dtype='<U9')
    """
    law = law_of(direction, exact.positive(rate, "rate"))
    return decide_by_law(z, at_most, law, alpha, people=people, coins=coins)


def decide_by_law(
    z: ArrayLike,
    at_most: ArrayLike,
    law: Law,
    alpha: Number | None = None,
    *,
    people: int | None = None,
    coins: NDArray[np.bool_] | None = None,
) -> States:
    """As `decide`, for any mechanism that adds noise of a known law (`mechanism.law`)."""
    values = published_values(z).reshape(-1)
    limits = thresholds_for(values.size, at_most)
    error = Fraction(0) if alpha is None else exact.alpha(alpha)
    up, down = law.margin_up(error), law.margin_down(error)
    codes = np.zeros(values.size, dtype=np.int8)
    if up is not None:
        reach = values if coins is None else values + _belonging(coins, values.size, law)
        codes[reach >= limits + up] = _AT_LEAST
    if down is not None:
        codes[values <= limits + 1 - down] = _AT_MOST
    if people is not None:
        codes[limits >= exact.whole(people, "people")] = _AT_MOST
    return _NAMES[codes]


def _belonging(coins: NDArray[np.bool_], number: int, law: Law) -> NDArray[np.bool_]:
    """The boundary's coins, which only noise that goes up without end has; z <= t stays AT_MOST with any."""
    if not isinstance(law, Up) or coins.dtype != np.bool_ or coins.shape != (number,):
        raise BadNumber(
            "Coins were given that do not belong to these values.",
            "Give one coin of boundary_coins for each value of a decreasing count, or none.",
        )
    return coins


def decide_sparse(sparse: Sparse, rate: Number, alpha: Number | None = None) -> States:
    """The state of each query of a sparse release, at the threshold it was released with and at no other.

    Quiet is AT_MOST; it says nothing of a smaller t. An alarm is AT_LEAST where it is m or more above t; that
    errs with at most alpha for each query *asked*, not for each alarm shown. `rate` is the noise's for one
    person: epsilon_each, divided by the largest sensitivity that a query was given.
    """
    if sparse.guarantee.direction is not Direction.DECREASING:
        raise BadQuestion(
            f"Quiet answers of {sparse.mechanism} may be wrong and cannot be called certain.",
            "Read decisions from SAGeo or SALap; of the sparse vector technique only its own alpha holds.",
        )
    limits = sparse.at_most.astype(np.int64)
    steps = sparse.step.denominator
    reach = margin(exact.positive(rate, "rate") / steps, alpha)
    codes = np.full(limits.size, _UNCLEAR, dtype=np.int8)
    if reach is not None:
        codes[sparse.values >= limits * steps + reach] = _AT_LEAST
    codes[sparse.answers == Answer.QUIET] = _AT_MOST
    codes[sparse.answers == Answer.NOT_ASKED] = _NOT_ASKED
    return _NAMES[codes]


def boundary(rate: Number, alpha: Number) -> Term | None:
    """Pr[heads] of the coin that turns z = t+m-1 into AT_LEAST; with it "at least" is optimal for each alpha.

    (alpha - r^m) / ((1-r) r^(m-1)); None where m = 1, which has no such value of z to spare.
    """
    pace, error = exact.positive(rate, "rate"), exact.alpha(alpha)
    m = margin(pace, error)
    if m is None or m < 2:
        return None

    def heads() -> Ball:
        return (ball(error) - exp(-pace * m)) / (exp(-pace * (m - 1)) - exp(-pace * m))

    return heads


def boundary_coins(number: int, rate: Number, alpha: Number, entropy: Entropy) -> NDArray[np.bool_]:
    """One coin for each place, to be drawn once, together with z, and stored with it.

    A coin tossed again by each reader would let the most favourable toss be picked, and alpha would not hold.
    """
    heads = boundary(rate, alpha)
    if heads is None:
        return np.zeros(exact.whole(number, "number"), dtype=np.bool_)
    return bernoulli(heads, number, entropy)


def beta_at_least(t: int, count: int, rate: Number, alpha: Number, *, coin: bool = False) -> Ball:
    """Pr[AT_LEAST t+1] from AGeo at this true count: min(1, r^(t+m-f)), and what the boundary's coin adds."""
    limit, truth = exact.whole(t, "at_most"), exact.whole(count, "count")
    m, law = margin(rate, alpha), Up(exact.positive(rate, "rate"))
    if m is None:
        return ball(0)
    heads = boundary(rate, alpha) if coin else None

    def chance() -> Ball:
        sure = law.at_least(limit + m - truth)
        return sure if heads is None else sure + heads() * law.exactly(limit + m - 1 - truth)

    return evaluate(chance)
