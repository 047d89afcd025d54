"""The sparse vector technique: exact transcripts over replaced and added people."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from tests.mechanisms.worlds import log_ratio, needed, records, replacing, visits

from safeside.exact import PMF_BITS, Ball, ball, precision
from safeside.mechanisms import SparseVector
from safeside.mechanisms.sequences import Answer, Reply, Transcript
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.guarantee import Neighbours


@pytest.mark.parametrize("alarms", [1, 2])
def test_svt_enumerated(alarms: int) -> None:
    """Two people, three places, any replacement: at most epsilon."""
    mechanism = SparseVector(epsilon=1, alarms=alarms)
    laws = {
        counts: mechanism.distribution(counts, [0, 1, 0]) for counts in itertools.product(range(3), repeat=3)
    }
    measured = needed(replacing(records(3), 2), lambda X: laws[visits(X, 3)])
    assert 0.3 < measured <= 1 + 1e-9


def chance(mechanism: SparseVector, counts: list[int], said: Transcript) -> Ball:
    """The probability of one transcript; whatever departs from it ends there, so that few are added up."""

    def order(so_far: Sequence[Reply]) -> int | None:
        asked = len(so_far)
        return asked if asked < len(said) and tuple(so_far) == said[:asked] else None

    limits = [0 if one.alarm is None else 5 for one in said]
    return mechanism.distribution(counts, limits, order=order)[said]


def quiet_then_loud(mechanism: SparseVector, *, opposite: bool) -> float:
    """The log ratio of many quiet answers and the alarms, where one person moves from those to these (or, not
    opposite, only leaves those)."""
    number, last = 30 * mechanism.alarms, mechanism.alarms
    said = (*(Reply(i, None) for i in range(number)), *(Reply(number + i, True) for i in range(last)))
    before = chance(mechanism, [1] * number + [0] * last, said)
    after = chance(mechanism, [0] * number + [int(opposite)] * last, said)
    with precision(PMF_BITS):
        return float((after / before).log().mid())


@pytest.mark.parametrize("alarms", [1, 2])
def test_svt_enumerated_in_the_worst_case(alarms: int) -> None:
    """With many quiet answers before the alarms nearly all of epsilon is needed, and never more."""
    mechanism = SparseVector(epsilon=1, alarms=alarms)
    assert 0.9 < quiet_then_loud(mechanism, opposite=True) <= 1 + 1e-9


def test_svt_enumerated_added_people() -> None:
    """Counts that all move the same way allow half the noise; where they do not, epsilon is exceeded."""
    mechanism = SparseVector(epsilon=1, same_direction=True, neighbours=Neighbours.ADD_REMOVE)
    laws = {
        counts: mechanism.distribution(counts, [0, 0, 1]) for counts in itertools.product(range(3), repeat=3)
    }
    worst = 0.0
    for counts, law in laws.items():
        for move in itertools.product((0, 1), repeat=3):
            more = tuple(f + m for f, m in zip(counts, move, strict=True))
            if more in laws:
                worst = max(worst, log_ratio(law, laws[more]), log_ratio(laws[more], law))
    assert 0.3 < worst <= 1 + 1e-9
    assert quiet_then_loud(mechanism, opposite=False) <= 1 + 1e-9
    assert quiet_then_loud(mechanism, opposite=True) > 1.2


def test_transcripts_sum_to_one_and_match_draws() -> None:
    mechanism = SparseVector(epsilon=2, alarms=1)
    law = mechanism.distribution([3, 0], [1, 1])
    with precision(PMF_BITS):
        total = sum(law.values(), start=ball(0))
    assert total.contains(1)
    assert total.rad() < 1e-60
    entropy, rounds = simulated_entropy(6), 4000
    seen = [mechanism.release([3, 0], [1, 1], entropy=entropy) for _ in range(rounds)]
    loud = sum(one.answers[0] == Answer.ALARM for one in seen) / rounds
    assert loud == pytest.approx(float(law[(Reply(0, True),)].mid()), abs=0.04)
    assert all(one.simulated and (one.values == -1).all() for one in seen)


def test_neither_answer_is_certain() -> None:
    mechanism = SparseVector(epsilon=1)
    assert mechanism.alpha > 0.4
    assert mechanism.alpha.overlaps(mechanism.beta(4, 5))
    assert 0.5 < mechanism.beta(5, 0) < 1


def test_an_order_may_follow_what_was_said() -> None:
    got = SparseVector(epsilon=20, alarms=2).release(
        [90, 0, 90], 50, order=lambda said: 2 if not said else None, entropy=simulated_entropy(1)
    )
    assert got.answers.tolist() == [0, 0, Answer.ALARM]
    assert got.asked == 1
