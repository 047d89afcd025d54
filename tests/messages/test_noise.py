"""What the sampler says when it refuses, and what it advises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from safeside.errors import BadCounts, BadNumber, SafesideError
from safeside.exact import ball
from safeside.noise.entropy import simulated_entropy, system_entropy
from safeside.noise.geometric import geometric, truncated_geometric, two_sided_geometric
from safeside.noise.inversion import Inversion, bernoulli

LOW = "Give at least 0.000001: raise epsilon, or ask for less at once to lower the sensitivity."
HIGH = "Give at most 50: lower epsilon; beyond that hardly any noise is left to protect anyone."
NOT_INT64 = "The counts are not a NumPy array of 64-bit whole numbers."
AS_INT64 = "Count with whole numbers and give them as an array of dtype int64."
TOO_LARGE = "A count is beyond 2^62, so that noise might carry it out of 64 bits."
NOT_A_PROBABILITY = "A cut point or probability is not between 0 and 1."
IN_UNIT = "Give cut points Pr[X < k], and probabilities, as balls that lie in [0, 1]."


def add(counts: object, sign: int = 1) -> object:
    return geometric(1).add_to(counts, system_entropy(), sign)


@pytest.mark.parametrize(
    ("act", "error", "what", "do"),
    [
        (lambda: geometric("9e-7"), BadNumber, "The rate epsilon/sensitivity is 0.0000009.", LOW),
        (lambda: geometric(0), BadNumber, "The rate epsilon/sensitivity is 0.", LOW),
        (lambda: geometric(-1), BadNumber, "The rate epsilon/sensitivity is -1.", LOW),
        (lambda: two_sided_geometric(50.5), BadNumber, "The rate epsilon/sensitivity is 50.5.", HIGH),
        (lambda: truncated_geometric("151/3", 3), BadNumber, "The rate epsilon/sensitivity is 151/3.", HIGH),
        (
            lambda: geometric(float("nan")),
            BadNumber,
            "the rate epsilon/sensitivity is nan.",
            "Give the rate epsilon/sensitivity as a finite number.",
        ),
        (
            lambda: truncated_geometric(1, 0),
            BadNumber,
            "size is 0.",
            "Give size as a whole number of at least 1.",
        ),
        (
            lambda: truncated_geometric(1, 2**62 + 1),
            BadNumber,
            "size is above 2^62.",
            "Give size as at most 2^62, or leave the noise untruncated.",
        ),
        (
            lambda: geometric(1).draw(-1, system_entropy()),
            BadNumber,
            "the number of draws is -1.",
            "Give the number of draws as a whole number of at least 0.",
        ),
        (lambda: simulated_entropy(1.5), BadNumber, "seed is a float.", "Give seed as a whole number."),
        (lambda: add(np.array([1.0])), BadCounts, NOT_INT64, AS_INT64),
        (lambda: add(np.array([np.nan])), BadCounts, NOT_INT64, AS_INT64),
        (lambda: add(np.array([True])), BadCounts, NOT_INT64, AS_INT64),
        (lambda: add([2**70]), BadCounts, NOT_INT64, AS_INT64),
        (
            lambda: add(np.array([2**63 - 1])),
            BadCounts,
            TOO_LARGE,
            "Check how the counts were made: there are not so many people.",
        ),
        (
            lambda: add(np.array([1]), 2),
            BadNumber,
            "The sign of the noise is neither 1 nor -1.",
            "Give sign as 1 to add, -1 to subtract.",
        ),
        (lambda: bernoulli(lambda: ball(2), 1, system_entropy()), BadNumber, NOT_A_PROBABILITY, IN_UNIT),
        (lambda: bernoulli(lambda: ball(-1), 1, system_entropy()), BadNumber, NOT_A_PROBABILITY, IN_UNIT),
        (
            lambda: Inversion(lambda _: ball(0) / 0, 2).draw(1, system_entropy()),
            BadNumber,
            NOT_A_PROBABILITY,
            IN_UNIT,
        ),
    ],
)
def test_each_refusal(act: Callable[[], object], error: type[SafesideError], what: str, do: str) -> None:
    with pytest.raises(error) as caught:
        act()
    assert caught.value.what == what
    assert caught.value.do == do


def test_a_refusal_does_not_quote_a_count() -> None:
    with pytest.raises(BadCounts) as caught:
        add(np.array([2**62 + 12345]))
    assert "4611686018427400249" not in str(caught.value)
