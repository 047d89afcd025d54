"""SAGeo and SALap: whole transcripts enumerated over neighbours; the stop, the order and the refund."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.worlds import Dataset, erasing, needed, records, visits

from safeside.errors import BadQuestion
from safeside.exact import PMF_BITS, ball, precision
from safeside.mechanisms import PaperSALap, SAGeo, SALap
from safeside.mechanisms.published import Tail
from safeside.mechanisms.sequences import Answer, Order, Reply, in_given_order
from safeside.mechanisms.sparse import SparseQueries
from safeside.noise.entropy import simulated_entropy

HORIZON = 4


def region(dataset: Dataset, targets: int) -> int:
    """Distinct people anywhere."""
    return sum(any(target in record for target in range(targets)) for record in dataset)


@pytest.mark.parametrize("alarms", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_sageo_enumerated(alarms: int, most: int) -> None:
    """Two people, three places, each person in at most `most`: e0 min(c, most) is needed, and no more."""
    mechanism = SAGeo(epsilon_each="0.5", alarms=alarms, max_conditions=most)
    measured = needed(
        erasing(records(3, most), 2),
        lambda X: mechanism.distribution(visits(X, 3), [0, 1, 0], HORIZON),
    )
    assert mechanism.guarantee.epsilon == Fraction(1, 2) * min(alarms, most)
    assert measured == pytest.approx(float(mechanism.guarantee.epsilon), abs=1e-9)


def test_sageo_enumerated_with_a_region() -> None:
    """One place each, then the region above: max_conditions is 2, and 1 would be too little."""
    mechanism = SAGeo(epsilon_each=1, alarms=3, max_conditions=2)
    measured = needed(
        erasing(records(2, 1), 2),
        lambda X: mechanism.distribution((region(X, 2), *visits(X, 2)), 0, HORIZON),
    )
    assert measured == pytest.approx(2, abs=1e-9)


def test_sageo_enumerated_with_an_order_from_outputs() -> None:
    """Region first; its places only after an alarm, the last place first after a large one."""

    def order(said: Sequence[Reply]) -> int | None:
        if not said:
            return 0
        first = said[0].alarm
        if first is None or len(said) > 2:
            return None
        large = isinstance(first, Tail) or first >= 3
        return (2, 1)[len(said) - 1] if large else (1, 2)[len(said) - 1]

    mechanism = SAGeo(epsilon_each=1, alarms=2, max_conditions=2)
    measured = needed(
        erasing(records(2, 1), 2),
        lambda X: mechanism.distribution((region(X, 2), *visits(X, 2)), [1, 0, 0], HORIZON, order=order),
    )
    assert measured == pytest.approx(2, abs=1e-9)


def test_sageo_enumerated_with_sensitivities() -> None:
    """The number of targets visited moves by 2: at its own sensitivity an alarm costs e0, at 1 twice that."""
    pairs = list(erasing(records(2), 2))

    def counts(dataset: Dataset) -> tuple[int, ...]:
        return (sum(len(record) for record in dataset), region(dataset, 2))

    mechanism = SAGeo(epsilon_each=1, alarms=1)
    right = needed(pairs, lambda X: mechanism.distribution(counts(X), [1, 0], 6, sensitivities=[2, 1]))
    wrong = needed(pairs, lambda X: mechanism.distribution(counts(X), [1, 0], 6))
    assert right == pytest.approx(1, abs=1e-9)
    assert wrong == pytest.approx(2, abs=1e-9)


def test_salap_enumerated() -> None:
    """Ours and the paper's rule cost the same; ours says "at most" more often."""
    for mechanism in (
        SALap(epsilon_each="0.5", alarms=2, max_conditions=2, grid="1/4"),
        PaperSALap(epsilon_each="0.5"),
    ):
        measured = needed(
            erasing(records(2), 2), lambda X, m=mechanism: m.distribution(visits(X, 2), [1, 0], HORIZON)
        )
        assert measured == pytest.approx(float(mechanism.guarantee.epsilon), abs=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        SAGeo(epsilon_each=1, alarms=2),
        SALap(epsilon_each=1, alarms=2, grid="1/8"),
        PaperSALap(epsilon_each=1, alarms=2),
    ],
)
def test_transcripts_sum_to_one(mechanism: SparseQueries) -> None:
    law = mechanism.distribution([0, 3, 1], [2, 1, 1], 5)
    with precision(PMF_BITS):
        total = sum(law.values(), start=ball(0))
    assert total.contains(1)
    assert total.rad() < 1e-60


def test_betas() -> None:
    """SAGeo and SALap reach 1 - e^(-eps (t+1-f)); the paper's rule 1 - e^(-eps (t-f))."""
    for t, f in [(0, 0), (3, 1), (5, 5)]:
        ours = 1 - math.exp(-(t + 1 - f))
        assert float(SAGeo(epsilon_each=1).beta(t, f).mid()) == pytest.approx(ours)
        assert float(SALap(epsilon_each=1).beta(t, f).mid()) == pytest.approx(ours)
        assert float(PaperSALap(epsilon_each=1).beta(t, f).mid()) == pytest.approx(1 - math.exp(-(t - f)))
    assert SAGeo(epsilon_each=1).beta(2, 3) == 0
    assert float(SAGeo(epsilon_each=1).beta(2, 0, sensitivity=3).mid()) == pytest.approx(1 - math.exp(-1))
    assert SAGeo(epsilon_each=1).alpha == 0


def test_the_last_alarm_ends_the_release() -> None:
    """Whatever comes after the last alarm is not asked and has no value, across block boundaries too."""
    counts = np.zeros(300_000, dtype=np.int64)
    loud = [3, 5000, 200_000, 200_001, 299_999]
    counts[loud] = 10_000
    for allowed in range(1, 6):
        got = SAGeo(epsilon_each=1, alarms=allowed).release(counts, 5000)
        assert np.flatnonzero(got.answers == Answer.ALARM).tolist() == loud[:allowed]
        assert got.asked == loud[allowed - 1] + 1
        assert (got.answers[got.asked :] == Answer.NOT_ASKED).all()
        assert (got.answers[: got.asked] != Answer.NOT_ASKED).all()
        assert (got.values[got.answers != Answer.ALARM] == -1).all()
        assert (got.values[loud[:allowed]] >= 10_000).all()
        assert got.alarms == allowed


def test_fewer_alarms_than_allowed_ask_everything() -> None:
    got = SAGeo(epsilon_each=1, alarms=9).release([0, 50, 0, 60], [40, 20, 40, 20])
    assert got.asked == 4
    assert got.answers.tolist() == [1, 2, 1, 2]


def test_an_order_may_follow_what_was_said() -> None:
    def after_alarms(said: Sequence[Reply]) -> int | None:
        if not said:
            return 3
        return 0 if said[-1].alarm is not None and len(said) == 1 else None

    got = SAGeo(epsilon_each=1, alarms=5).release([90, 0, 0, 90], 50, order=after_alarms)
    assert got.answers.tolist() == [Answer.ALARM, 0, 0, Answer.ALARM]
    assert got.asked == 2


@pytest.mark.parametrize("order", [None, in_given_order(2)])
def test_a_noisy_count_at_the_threshold_is_quiet(order: Order | None) -> None:
    """At rate 50 there is no noise to speak of: 5 is quiet at t = 5 and an alarm at t = 4, however asked."""
    got = SAGeo(epsilon_each=50).release([5, 5], [5, 4], order=order)
    assert got.answers.tolist() == [Answer.QUIET, Answer.ALARM]
    assert got.values.tolist() == [-1, 5]


def test_a_query_is_asked_once() -> None:
    with pytest.raises(BadQuestion):
        SAGeo(epsilon_each=1, alarms=3).release([9, 9], 1, order=lambda _: 0)
    with pytest.raises(BadQuestion):
        SAGeo(epsilon_each=1).release([9, 9], 1, order=lambda _: 2)


def test_salap_alarms_are_on_the_grid_and_above_the_truth() -> None:
    mechanism = SALap(epsilon_each=1, alarms=50, grid="1/16")
    got = mechanism.release([7] * 50, 2, entropy=simulated_entropy(4))
    assert got.step == Fraction(1, 16)
    assert got.simulated
    assert (got.values >= 7 * 16).all()
    assert got.alarms == 50


def test_draws_follow_the_transcripts() -> None:
    """Shares of seeded releases against the enumeration, sensitivities and order included."""
    mechanism = SAGeo(epsilon_each=1, alarms=2)
    law = mechanism.distribution([1, 0, 2], [1, 0, 2], 4, sensitivities=[1, 2, 1])
    quiet_first = sum(float(mass.mid()) for said, mass in law.items() if said[0].alarm is None)
    all_asked = sum(float(mass.mid()) for said, mass in law.items() if len(said) == 3)
    entropy, rounds = simulated_entropy(8), 4000
    seen = [
        mechanism.release([1, 0, 2], [1, 0, 2], sensitivities=[1, 2, 1], entropy=entropy)
        for _ in range(rounds)
    ]
    assert sum(one.answers[0] == Answer.QUIET for one in seen) / rounds == pytest.approx(
        quiet_first, abs=0.04
    )
    assert sum(one.asked == 3 for one in seen) / rounds == pytest.approx(all_asked, abs=0.04)


@pytest.mark.parametrize("alarms", [1, 2])
def test_reached_agrees_with_the_transcripts(alarms: int) -> None:
    """Pr[asked] by the recursion over alarms (of one, by a product), and by adding up transcripts."""
    mechanism = SAGeo(epsilon_each="0.7", alarms=alarms)
    counts, limits = [1, 0, 2, 0], [1, 0, 1, 3]
    law = mechanism.distribution(counts, limits, 5)
    asked = mechanism.reached(counts, limits)
    assert asked.shape == (4,)
    for i in range(4):
        summed = sum(float(mass.mid()) for said, mass in law.items() if any(s.query == i for s in said))
        assert asked[i] == pytest.approx(summed, abs=1e-12)


def test_refunds() -> None:
    """By the number of alarms where that was the price, by the alarmed conditions where those were."""
    by_alarms = SAGeo(epsilon_each="0.5", alarms=3, max_conditions=7)
    assert [by_alarms.refund(heard) for heard in range(4)] == [Fraction(3, 2), 1, Fraction(1, 2), 0]
    assert by_alarms.refund(2, alarmed_conditions=1) == Fraction(1, 2)
    by_conditions = SAGeo(epsilon_each="0.5", alarms=9, max_conditions=2)
    assert [by_conditions.refund(heard) for heard in (0, 1, 2, 9)] == [1, Fraction(1, 2), 0, 0]
    assert by_conditions.refund(5, alarmed_conditions=1) == Fraction(1, 2)
    assert SAGeo(epsilon_each=1, alarms=4).refund(1) == 3


def test_a_refund_never_exceeds_what_the_transcript_left_unused() -> None:
    """For each transcript the ratio is at most e^(reserved - refunded): checked over every pair."""
    for alarms, most in [(3, 1), (2, 3), (3, 2)]:
        mechanism = SAGeo(epsilon_each=1, alarms=alarms, max_conditions=most)
        reserved = float(mechanism.guarantee.epsilon)
        for first, second in erasing(records(3, most), 1):
            one = mechanism.distribution(visits(first, 3), 0, 3)
            two = mechanism.distribution(visits(second, 3), 0, 3)
            for said, mass in one.items():
                alarmed = {s.query for s in said if s.alarm is not None}
                most_alarmed = max((len(alarmed & record) for record in records(3, most)), default=0)
                used = reserved - float(mechanism.refund(len(alarmed), alarmed_conditions=most_alarmed))
                assert float(mass.mid()) <= math.exp(used) * float(two[said].mid()) * (1 + 1e-12)


def test_max_conditions_of_levels() -> None:
    """The sum of min(K, regions) over levels of disjoint regions, as docs/proofs/sageo.md says."""
    places = range(4)
    regions = [{0, 1}, {2, 3}]
    counted = max(
        len([*visited, *(i for i, area in enumerate(regions) if area & set(visited)), "everywhere"])
        for size in range(1, 3)
        for visited in itertools.combinations(places, size)
    )
    assert counted == sum(min(2, number) for number in (4, 2, 1))
