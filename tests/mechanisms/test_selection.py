"""BlockTest, Ladder and Selection: every claim enumerated over neighbours; never wrong; drawn as claimed."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.worlds import Dataset, erasing, log_ratio, needed, records, visits

from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball
from safeside.mechanisms import BlockTest, Component, Ladder, Selection, plan_selection
from safeside.mechanisms.selection_plan import SelectionPlan
from safeside.noise.entropy import Entropy, simulated_entropy

COMPONENTS = (
    Component(cuts=(3, 2, 1)),
    Component(cuts=(2, 2), halvings=1),
    Component(cuts=(1,), halvings=3),
)


def by_the_book(
    counts: Sequence[int], limits: Sequence[int], epsilon: float, bottom: int, components: Sequence[Component]
) -> dict[tuple[int, int, frozenset[int]], float]:
    """The law as the proof page writes it: every set of every level of every component, then divided by Z."""
    every = range(len(counts))
    top = max(limits) + 1
    law: dict[tuple[int, int, frozenset[int]], float] = {}
    for (h, component), j in itertools.product(enumerate(components), range(-bottom, top + 1)):
        rung = math.exp(epsilon * j) - (math.exp(epsilon * (j - 1)) if j > -bottom else 0)
        quiet = [i for i in every if j == -bottom or counts[i] <= limits[i] + 1 - j]
        for size in range(len(quiet) + 1):
            for some in itertools.combinations(quiet, size):
                mass = rung / 2**component.halvings
                for i in every:
                    out = 2.0 ** -sum(cut > i for cut in component.cuts)
                    mass *= 1 - out if i in some else out
                if mass:
                    law[h, j, frozenset(some)] = mass
    total = sum(law.values())
    return {claim: mass / total for claim, mass in law.items()}


def plan(
    blocks: tuple[int, ...], components: tuple[Component, ...] = COMPONENTS, d: int = 3
) -> SelectionPlan:
    return SelectionPlan(order=np.arange(d), blocks=blocks, components=components)


@pytest.mark.parametrize("limits", [(0, 0, 0), (0, 1, 2), (2, 0, 0)])
@pytest.mark.parametrize("bottom", [1, 2, 5])
def test_the_probabilities_are_those_of_the_proof(limits: tuple[int, ...], bottom: int) -> None:
    ladder = Ladder(epsilon="0.75", components=COMPONENTS, bottom=bottom)
    for counts in itertools.product(range(4), repeat=3):
        found = ladder.distribution(counts, np.array(limits))
        expected = by_the_book(counts, limits, 0.75, bottom, COMPONENTS)
        assert found.keys() == expected.keys()
        assert all(float(found[claim].mid()) == pytest.approx(expected[claim]) for claim in expected)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize(("bottom", "top"), [(1, 1), (2, None), (6, None), (3, 5)])
@pytest.mark.parametrize("limits", [(0, 0, 0), (0, 1, 2)])
def test_the_ladder_enumerated(most: int, bottom: int, top: int | None, limits: tuple[int, ...]) -> None:
    """Two people, three places, each person in at most `most`: one epsilon, whatever that is."""
    ladder = Ladder(epsilon="0.5", components=COMPONENTS, bottom=bottom, top=top)
    measured = needed(
        erasing(records(3, most), 2), lambda X: ladder.distribution(visits(X, 3), np.array(limits))
    )
    assert measured <= 0.5 + 1e-9


@pytest.mark.parametrize("most", [1, 3])
def test_the_ladder_needs_its_epsilon(most: int) -> None:
    """Where hardly anything is left out at random, no smaller epsilon would do."""
    ladder = Ladder(epsilon="0.5", components=(Component(cuts=(3,) * 32),), bottom=2)
    measured = needed(erasing(records(3, most), 2), lambda X: ladder.distribution(visits(X, 3), 0))
    assert measured == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize("blocks", [(), (1,), (2,), (1, 2), (3,), (1, 2, 3)])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_selection_enumerated(blocks: tuple[int, ...], most: int) -> None:
    """Tests and ladder together cost one epsilon, and no claim of theirs is false."""
    selection = Selection(epsilon=1, plan=plan(blocks, COMPONENTS[1:]), bottom=3)
    measured = needed(
        erasing(records(3, most), 2), lambda X: selection.distribution(visits(X, 3), np.array([0, 1, 1]))
    )
    assert measured <= 1 + 1e-9
    if blocks:
        assert measured == pytest.approx(1, abs=1e-9)


def test_groups_of_two_are_protected_at_twice_epsilon() -> None:
    """Two people who go about together: both records lose what they lose at once."""
    selection = Selection(epsilon=1, plan=plan((1,)), bottom=3)
    pairs = [
        ((one, one), (two, two)) for one in records(3) for two in records(3) if two <= one and two != one
    ]
    measured = needed(pairs, lambda X: selection.distribution(visits(X, 3), 0))
    assert 1 < measured <= 2 + 1e-9


RECORDS = st.sets(st.frozensets(st.integers(0, 2), max_size=3), min_size=1, max_size=4)
CUTS = st.lists(st.integers(0, 3), max_size=4).map(lambda cuts: tuple(sorted(cuts, reverse=True)))


@given(
    possible=RECORDS,
    limits=st.lists(st.integers(0, 2), min_size=3, max_size=3),
    epsilon=st.fractions(Fraction(1, 10), 3, max_denominator=20),
    components=st.lists(st.builds(Component, cuts=CUTS, halvings=st.integers(0, 3)), min_size=1, max_size=3),
    bottom=st.integers(1, 4),
    blocks=st.sampled_from([(), (1,), (1, 2), (2,)]),
    order=st.permutations(range(3)),
)
def test_random_universes(
    possible: set[frozenset[int]],
    limits: list[int],
    epsilon: Fraction,
    components: list[Component],
    bottom: int,
    blocks: tuple[int, ...],
    order: list[int],
) -> None:
    """Any possible records (impossible ones among the subsets of them), thresholds, weights and order."""
    made = SelectionPlan(order=np.array(order), blocks=blocks, components=tuple(components))
    selection = Selection(epsilon=epsilon, plan=made, bottom=bottom)
    measured = needed(
        erasing(sorted(possible, key=sorted), 2),
        lambda X: selection.distribution(visits(X, 3), np.array(limits)),
    )
    assert measured <= float(epsilon) + 1e-9


def test_a_pass_is_free_and_a_failure_costs_epsilon() -> None:
    test = BlockTest(epsilon="0.5")

    def law(dataset: Dataset) -> Mapping[bool, Ball]:
        return test.distribution(visits(dataset, 2), np.array([1, 0]))

    worst = {True: -math.inf, False: -math.inf}
    for left, right in erasing(records(2), 2):
        for answer in worst:
            here, there = law(left)[answer], law(right)[answer]
            if here > 0:
                worst[answer] = max(worst[answer], log_ratio({answer: here}, {answer: there}))
    assert worst[True] <= 1e-12
    assert worst[False] == pytest.approx(0.5)


def test_a_block_passes_by_its_largest_count_and_not_by_its_distinct_people() -> None:
    """Three places with one person each: three different people, and a largest count of one."""
    test = BlockTest(epsilon=1)
    assert float(test.distribution([1, 1, 1], 1)[True].mid()) == pytest.approx(1 - math.exp(-1))
    assert float(test.beta(-2).mid()) == 0


class Counting:
    """Entropy that counts what is asked of it."""

    def __init__(self, seed: int) -> None:
        self._inner = simulated_entropy(seed)
        self.words = 0

    @property
    def simulated(self) -> bool:
        return True

    def uint16(self, n: int) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
        self.words += n
        return self._inner.uint16(n)

    def bits(self, n: int) -> int:
        self.words += n
        return self._inner.bits(n)


def test_the_ladder_draws_a_word_for_every_condition_whatever_the_counts() -> None:
    ladder = Ladder(epsilon=1, components=COMPONENTS)
    drawn = set()
    for counts in ([0, 0, 0], [9, 9, 9], [0, 5, 9]):
        entropy: Entropy = Counting(4)
        ladder.release(counts, 2, entropy=entropy)
        drawn.add(entropy.words)
    assert drawn == {4 + 2 * 3}


@pytest.mark.parametrize("counts", [(0, 1, 3), (2, 2, 2), (0, 0, 0)])
def test_what_is_drawn_follows_the_law(counts: tuple[int, ...]) -> None:
    """Every claim of 4,000 draws is possible, and no share is further off than six deviations."""
    selection = Selection(epsilon=1, plan=plan((1,), COMPONENTS[1:]), bottom=2)
    limits = np.array([1, 1, 2])
    law = selection.distribution(counts, limits)
    entropy = simulated_entropy(11)
    many = 4000
    seen: Counter[object] = Counter()
    for _ in range(many):
        drawn = selection.release(counts, limits, entropy=entropy)
        told = (drawn.passed, drawn.component, drawn.level, tuple(drawn.bounds.tolist()))
        seen[told] += 1
    expected: Counter[object] = Counter()
    for (passed, claim), share in law.items():
        bounds = [1 if passed else -1, -1, -1]
        for rank in claim[2] if claim else ():
            bounds[1 + rank] = int(limits[1 + rank]) + 1 - claim[1] if claim[1] > -2 else -1
        told = (passed, claim and claim[0], claim and claim[1], tuple(bounds))
        expected[told] += float(share.mid())
    assert seen.keys() <= expected.keys()
    for told, share in expected.items():
        deviation = math.sqrt(many * share * (1 - share)) + 1
        assert abs(seen[told] - many * share) <= 6 * deviation


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(0, 40)), min_size=1, max_size=40),
    st.fractions(Fraction(1, 5), 4, max_denominator=9),
    st.integers(0, 1 << 30),
)
def test_what_is_said_is_true(conditions: list[tuple[int, int, int]], epsilon: Fraction, seed: int) -> None:
    counts, limits, scores = (np.array(column) for column in zip(*conditions, strict=True))
    made = plan_selection(scores, int(limits.min()), epsilon)
    drawn = Selection(epsilon=epsilon, plan=made).release(counts, limits, entropy=simulated_entropy(seed))
    said = drawn.bounds >= 0
    assert np.all(counts[said] <= drawn.bounds[said])
    assert np.all(counts[drawn.certified] <= limits[drawn.certified])


def test_expected_is_the_mean_of_what_is_certified() -> None:
    scores = np.array([1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
    counts = np.array([0, 0, 1, 0, 1, 2, 1, 3, 5, 9])
    # Few levels: 64 below zero would only take longer.
    selection = Selection(epsilon=1, plan=plan_selection(scores, 2, 1), bottom=9)
    entropy = simulated_entropy(3)
    many = 1000
    drawn = np.array([selection.release(counts, 2, entropy=entropy).certified for _ in range(many)])
    assert np.allclose(drawn.mean(axis=0), selection.expected(counts, 2), atol=0.06)
    mean, deviation = selection.moments(counts, 2)
    assert mean == pytest.approx(selection.expected(counts, 2).sum())
    numbers = drawn.sum(axis=1)
    assert np.mean(numbers) == pytest.approx(mean, abs=6 * deviation / math.sqrt(many))
    assert np.std(numbers) == pytest.approx(deviation, rel=0.1)
    limit = np.where(counts <= 2, 1 - np.exp(-(3.0 - counts)), 0)
    assert np.all(selection.expected(counts, 2) <= limit + 1e-12)


def test_the_plan_is_the_rule_in_whole_numbers() -> None:
    """Recomputed condition by condition with fractions, on scores with zeros and ties."""
    scores = np.array([0, 7, 7, 1, 300, 0, 45, 12, 9, 1000, 2, 2])
    d, t, epsilon = len(scores), 3, Fraction(1, 2)
    made = plan_selection(scores, t, epsilon)
    order = sorted(range(d), key=lambda i: (scores[i], i))
    assert made.order.tolist() == order
    assert made.blocks == (d // 5, 2 * d // 5)
    rest = [int(scores[i]) for i in order[made.tested :]]
    kappa = math.floor(Fraction(10, 3) * epsilon * (t + 1))
    expected = []
    for k, g in itertools.product(range(1, 15), (2, 4)):
        theta = int(sorted(scores)[d - max(1, math.isqrt(d * d >> k))])
        s = [max((n for n in range(25) if one**g * 2**n <= theta**g), default=0) for one in rest]
        z = (made.tested + sum(1 - Fraction(1, 2**n) for n in s)) / d
        expected.append((s, math.floor(math.log2(float(z**-kappa)))))
    found = [(one.exponents(len(rest)).tolist(), one.halvings) for one in made.components]
    assert found == expected


def test_without_a_forecast_the_beginning_of_the_list_is_certified() -> None:
    made = plan_selection(np.zeros(100, np.int64), 5, 1)
    assert made.blocks == ()
    quiet = Selection(epsilon=1, plan=made).expected(np.zeros(100, np.int64), 5).sum()
    busy = np.zeros(100, np.int64)
    busy[20:] = 50
    assert 5 < Selection(epsilon=1, plan=made).expected(busy, 5).sum() < 20 < quiet


def test_a_huge_list_has_weights_that_no_float_could_hold() -> None:
    """Half a million busy conditions at 24 halvings each: exponents in the millions, and an exact choice."""
    size = 500_000
    ladder = Ladder(epsilon=1, components=(Component(cuts=(size,) * 24),))
    drawn = ladder.release(np.full(size, 1000), 5, entropy=simulated_entropy(1))
    assert drawn.level == -64
    assert np.all(drawn.bounds == -1)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Component(cuts=(1, 2)), BadNumber, "cuts increase"),
        (lambda: Ladder(epsilon=1, components=()), BadNumber, "no component"),
        (lambda: plan_selection([0.5], 1, 1), BadNumber, "not a list of whole numbers"),
        (lambda: plan_selection([-1], 1, 1), BadNumber, "negative"),
        (lambda: Selection(epsilon=1, plan=plan((2, 1))), BadNumber, "blocks of a plan"),
        (lambda: Selection(epsilon=1, plan=plan(())).release([0], 1), BadCounts, "for 3 conditions"),
    ],
)
def test_what_cannot_be_is_refused(make: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("blocks", [(), (1,), (1, 3)])
def test_mean_and_deviation_are_those_of_the_distribution(blocks: tuple[int, ...]) -> None:
    counts, limits = np.array([0, 1, 0, 2, 0]), np.array([2, 2, 1, 2, 1])
    selection = Selection(epsilon=1, plan=plan(blocks, d=5), bottom=3)
    first = second = 0.0
    for (passed, claim), share in selection.distribution(counts, limits).items():
        number = (0, *blocks)[passed] + (len(claim[2]) if claim and claim[1] >= 1 else 0)
        first += number * float(share.mid())
        second += number**2 * float(share.mid())
    mean, deviation = selection.moments(counts, limits)
    assert mean == pytest.approx(first)
    assert deviation == pytest.approx(math.sqrt(second - first**2))
