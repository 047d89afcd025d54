"""Every refusal of the mechanisms, with what it says and what it advises; none quotes a count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from safeside.errors import BadCounts, BadNumber, BadQuestion, SafesideError
from safeside.mechanisms import (
    AGeo,
    ALap,
    Component,
    Ladder,
    Laplace,
    Mangat,
    OptimalDecision,
    PaddedGeo,
    SAGeo,
    SALap,
    Selection,
    SparseVector,
    UtilityOptimised,
    plan_selection,
)
from safeside.mechanisms.bayes import loss_table
from safeside.privacy.guarantee import Direction

INTEGERS = "Give 64-bit integers, with 0 (not a blank) where nobody was counted."


def refused(call: Callable[[], Any], error: type[SafesideError], what: str, do: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert what in caught.value.what
    assert do in caught.value.do


@pytest.mark.parametrize(
    ("counts", "what", "do"),
    [
        ([3, -1], "A count is negative", "Count distinct people again"),
        ([1.0, 2.0], "The counts are floating-point numbers (or missing values)", INTEGERS),
        ([1, float("nan")], "The counts are floating-point numbers (or missing values)", INTEGERS),
        ([1, None], "The counts are objects, not whole numbers.", INTEGERS),
        ([], "There are no counts.", "Declare at least one place"),
        (np.array([], dtype=np.int64), "There are no counts.", "Declare at least one place"),
        ([[1, 2], [3, 4]], "The counts have 2 dimensions.", "Give one list of counts"),
        (7, "The counts have 0 dimensions.", "Give one list of counts"),
        ([[1], [2, 3]], "The counts are lists of different lengths, not whole numbers.", INTEGERS),
        ([True, False], "The counts are truth values, not whole numbers.", INTEGERS),
        ([True, 3], "The counts are truth values, not whole numbers.", INTEGERS),
        (np.array([True]), "The counts are truth values, not whole numbers.", INTEGERS),
        (np.array(["3"]), "The counts are of type <U1, not whole numbers.", INTEGERS),
        (np.array([1, 2], dtype=object), "The counts are objects, not whole numbers.", INTEGERS),
        (np.ma.array([1, 2]), "The counts are masked, so some may be missing, not whole numbers.", INTEGERS),
        ([2**64], "The counts are objects, not whole numbers.", INTEGERS),
        ([2**63], "A count is above 2^62", "Check the counting: there are not that many people."),
        ([2**63 - 1], "A count is above 2^62", "Check the counting: there are not that many people."),
        ([2**62 + 1], "A count is above 2^62", "Check the counting: there are not that many people."),
    ],
)
def test_counts(counts: Any, what: str, do: str) -> None:
    for release in (
        AGeo(epsilon=1).release,
        PaddedGeo(epsilon=1, delta="0.01").release,
        lambda c: SAGeo(epsilon_each=1).release(c, 1),
        lambda c: OptimalDecision(epsilon=1, delta=0).release(c, 1),
    ):
        refused(lambda release=release: release(counts), BadCounts, what, do)


def test_counts_at_the_edge_are_taken() -> None:
    assert AGeo(epsilon=1).release([2**62]).values[0] >= 2**62
    assert AGeo(epsilon=1, direction=Direction.INCREASING).release([0]).values[0] <= 0


def test_counts_above_the_declared_people() -> None:
    refused(
        lambda: AGeo(epsilon=1, people=10).release([3, 11]),
        BadCounts,
        "A count is larger than 10, the number of people that was declared.",
        "Declare a public number that no count can exceed, or declare none.",
    )


def test_no_message_quotes_a_count() -> None:
    with pytest.raises(BadCounts) as caught:
        AGeo(epsilon=1, people=10).release([3, 4711])
    assert "4711" not in str(caught.value)
    with pytest.raises(BadCounts) as caught:
        AGeo(epsilon=1).release([3, -4711])
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    ("at_most", "what", "do"),
    [
        (1.5, "at_most is not a whole number or a list of whole numbers.", "one whole number for all places"),
        ([], "at_most is not a whole number or a list of whole numbers.", "one whole number for all places"),
        (
            [[1]],
            "at_most is not a whole number or a list of whole numbers.",
            "one whole number for all places",
        ),
        ([1, 2], "at_most has 2 values for 3 places.", "once for each place in the same order"),
        (-1, "at_most is negative or above 2^62.", "each 0 or more"),
        ([1, 2, 2**62 + 1], "at_most is negative or above 2^62.", "each 0 or more"),
    ],
)
def test_thresholds(at_most: Any, what: str, do: str) -> None:
    refused(lambda: SAGeo(epsilon_each=1).release([0, 0, 0], at_most), BadNumber, what, do)
    refused(lambda: OptimalDecision(epsilon=1, delta=0).release([0, 0, 0], at_most), BadNumber, what, do)


@pytest.mark.parametrize(
    ("call", "error", "what", "do"),
    [
        (lambda: AGeo(epsilon=0), BadNumber, "epsilon is 0.", "Give epsilon above zero."),
        (lambda: AGeo(epsilon=1, sensitivity=0), BadNumber, "sensitivity is 0.", "of at least 1"),
        (lambda: AGeo(epsilon=1, people=-1), BadNumber, "people is -1.", "of at least 0"),
        (
            lambda: AGeo(epsilon=1).distribution(5, 4),
            BadNumber,
            "The horizon 4 lies below the count 5.",
            "Give a horizon of at least the largest count compared.",
        ),
        (
            lambda: AGeo(epsilon=1, people=3).pmf(4, 4),
            BadNumber,
            "The count 4 is above the 3 people that were declared.",
            "Give a count of at most the declared number of people.",
        ),
        (lambda: AGeo(epsilon=1).interval(3, 1), BadNumber, "confidence is 1.", "at least 0 and below 1"),
        (
            lambda: AGeo(epsilon=60).release([1]),
            BadNumber,
            "The rate epsilon/sensitivity is 60.",
            "at most 50",
        ),
        (
            lambda: AGeo(epsilon=1).bayes_estimate(0, ["0.5", "0.4"], "absolute"),
            BadNumber,
            "The prior is not a list of probabilities that add up to exactly 1.",
            "one probability for each count from 0 to n",
        ),
        (
            lambda: AGeo(epsilon=1).posterior(0, ["0", "1"]),
            BadNumber,
            "No count of the prior can have given this value.",
            "Give a prior that covers every count",
        ),
        (
            lambda: loss_table("cubic", 2),
            BadNumber,
            "There is no loss called 'cubic'.",
            "Use one of absolute, squared, zero-one, or give a table.",
        ),
        (
            lambda: loss_table([[0, 1]], 2),
            BadNumber,
            "The table of losses is not 2 by 2, as the prior needs.",
            "Give table[guess][truth] for every guess",
        ),
        (lambda: loss_table([[0, 1], [-1, 0]], 2), BadNumber, "A loss is negative.", "losses of 0 or more"),
        (
            lambda: ALap(epsilon=1, grid="1/3"),
            BadNumber,
            "The grid is 1/3, not a power of two.",
            "Give a grid such as 1, 1/2 or 1/1024.",
        ),
        (
            lambda: ALap(epsilon=1).release([0.5]),
            BadCounts,
            "A value is not exact: floats, blanks, text and truth values are refused.",
            "Give ints, Fractions or Decimals",
        ),
        (lambda: Laplace(epsilon=1).release(np.array([0.5])), BadCounts, "A value is not exact", "Give ints"),
        (lambda: ALap(epsilon=1).release([True]), BadCounts, "A value is not exact", "Give ints"),
        (lambda: ALap(epsilon=1).release([]), BadCounts, "There are no values.", "Give at least one value."),
        (
            lambda: ALap(epsilon=1).release(np.array([[1]])),
            BadCounts,
            "The values have 2 dimensions.",
            "Give one list of values",
        ),
        (
            lambda: ALap(epsilon=1, grid="1/1024").release([2**60]),
            BadCounts,
            "A value is more than 2^62 steps of the grid",
            "Use a coarser grid.",
        ),
        (
            lambda: ALap(epsilon=1, grid="1/2", multiple_of=1).release([Fraction(1, 2)]),
            BadCounts,
            "A value is not a multiple of 1, as was declared of the query.",
            "Declare no multiple_of",
        ),
        (
            lambda: ALap(epsilon=1).distribution(9, 4),
            BadNumber,
            "The horizon of 4 steps lies below the value.",
            "Give a horizon of at least the largest value compared",
        ),
        (
            lambda: SALap(epsilon_each=1, grid="2"),
            BadNumber,
            "The grid is 2, not a power of two of at most 1.",
            "Give a grid such as 1, 1/2 or 1/1024.",
        ),
        (
            lambda: SALap(epsilon_each=1).release([2**60], 1),
            BadCounts,
            "A count or threshold is more than 2^62 steps of the grid.",
            "Use a coarser grid, or SAGeo",
        ),
        (lambda: SAGeo(epsilon_each=-1), BadNumber, "epsilon_each is -1.", "Give epsilon_each above zero."),
        (lambda: SAGeo(epsilon_each=1, alarms=0), BadNumber, "alarms is 0.", "of at least 1"),
        (lambda: SAGeo(epsilon_each=1, max_conditions=0), BadNumber, "max_conditions is 0.", "of at least 1"),
        (
            lambda: SAGeo(epsilon_each=1).release([1], 1, sensitivities=0),
            BadNumber,
            "A sensitivity is 0.",
            "Give each query a sensitivity of at least 1.",
        ),
        (
            lambda: SAGeo(epsilon_each=1).distribution([1], [3], 3),
            BadNumber,
            "The horizon 3 does not lie above every threshold and every count.",
            "Give a larger horizon",
        ),
        (
            lambda: SAGeo(epsilon_each=1, alarms=2).refund(3),
            BadNumber,
            "3 alarms were published where the release stops at 2.",
            "Give the number of alarms in the published answers.",
        ),
        (
            lambda: SAGeo(epsilon_each=1, alarms=2).release([1, 1], 9, order=lambda _: 1),
            BadQuestion,
            "The order asks for query 1, which is not in the list or was asked before.",
            "List a query once for each time it may be asked, and count every repeat in max_conditions.",
        ),
        (
            lambda: SparseVector(epsilon=1, threshold_share=1),
            BadNumber,
            "threshold_share is 1, which leaves nothing for the queries.",
            "above 0 and below 1",
        ),
        (
            lambda: SparseVector(epsilon=1, same_direction=True),
            BadNumber,
            "same_direction was stated, but replacing a record can move one count up and another down.",
            "use Neighbours.ADD_REMOVE",
        ),
        (
            lambda: PaddedGeo(epsilon=1, delta=0),
            BadNumber,
            "delta is 0, and then no pad is wide enough.",
            "use AGeo, which needs none",
        ),
        (
            lambda: PaddedGeo(epsilon=1, delta="0.1", sensitivity=2),
            BadNumber,
            "sensitivity is 2, and this mechanism moves each count by one person.",
            "give max_conditions",
        ),
        (
            lambda: Mangat(epsilon=1).release([1, 0]),
            BadCounts,
            "The answers are not a list of true and false.",
            "Give one truth value (True or False) for each person.",
        ),
        (
            lambda: UtilityOptimised(epsilon=1, sensitive=()),
            BadNumber,
            "No value is sensitive, or a value is listed twice.",
            "List at least one sensitive value, and each value once, under a name of its own.",
        ),
        (
            lambda: UtilityOptimised(epsilon=1, sensitive=("a",), other=(1, "1")),
            BadNumber,
            "No value is sensitive, or a value is listed twice.",
            "under a name of its own",
        ),
        (
            lambda: AGeo(epsilon=1).upper_bound([2.9]),
            BadCounts,
            "The published values are not whole numbers that a count and its noise could be.",
            "Give them as they were published; values on a finer grid are read by their own mechanism.",
        ),
        (
            lambda: AGeo(epsilon=1).interval(np.array([np.nan]), "0.9"),
            BadCounts,
            "are not whole numbers",
            "Give",
        ),
        (lambda: AGeo(epsilon=1).estimate([True]), BadCounts, "are not whole numbers", "Give"),
        (
            lambda: UtilityOptimised(epsilon=1, sensitive=("a",)).release(["b"]),
            BadCounts,
            "There are no answers, or one is neither a sensitive value nor one of the others.",
            "List every value a person can have",
        ),
        (
            lambda: Component(cuts=(1, 2)),
            BadNumber,
            "A component's cuts increase, are negative or too many, or its weight is above 1.",
            "Give at most 32 ranks, none above the one before it, and 0 or more halvings.",
        ),
        (
            lambda: Ladder(epsilon=1, components=()),
            BadNumber,
            "There is no component.",
            "Give at least one: how conditions are left out.",
        ),
        (
            lambda: Selection(epsilon=1, plan=replace(plan_selection([1, 2, 3], 1, 1), blocks=(2, 1))),
            BadNumber,
            "The blocks of a plan are empty or reach beyond its conditions.",
            "Use a plan made by plan_selection for as many conditions.",
        ),
        (
            lambda: Selection(epsilon=1, plan=plan_selection([1, 2, 3], 1, 1)).release([0, 0], 1),
            BadCounts,
            "The plan is for 3 conditions, and there are 2 counts.",
            "Make the plan from one score for each condition, in the same order.",
        ),
        (
            lambda: plan_selection([0.5], 1, 1),
            BadNumber,
            "The scores of a forecast are not a list of whole numbers.",
            "Give one whole number for each condition, larger where more people are expected.",
        ),
        (
            lambda: plan_selection([-1], 1, 1),
            BadNumber,
            "A score of a forecast is negative or above 2^62.",
            "Give scores from 0 to 2^62.",
        ),
        (
            lambda: Mangat(epsilon=1).estimate(3, 2),
            BadNumber,
            "3 reports came from 2 people.",
            "Give how many of the people made this report.",
        ),
        (
            lambda: Mangat(epsilon=1).estimate_variance(2, 5),
            BadNumber,
            "share is 2.",
            "Give a share of people between 0 and 1.",
        ),
    ],
)
def test_refusals(call: Callable[[], Any], error: type[SafesideError], what: str, do: str) -> None:
    refused(call, error, what, do)
