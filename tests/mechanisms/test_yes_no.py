"""The local model: every channel written out, estimates unbiased, draws as the channel says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.mechanisms.worlds import log_ratio

from safeside.mechanisms import AGeo, Mangat, UtilityOptimised, Warner
from safeside.mechanisms.published import Tail
from safeside.mechanisms.yes_no import YesNo
from safeside.noise.entropy import simulated_entropy


def test_mangat_enumerated() -> None:
    """Yes -> No costs exactly epsilon; No -> Yes is not protected at all."""
    mechanism = Mangat(epsilon="0.9")
    yes, no = mechanism.distribution(True), mechanism.distribution(False)
    assert log_ratio({True: yes[True]}, no) == pytest.approx(0.9, abs=1e-12)
    assert yes[False] == 0
    assert no[False] > 0
    assert mechanism.guarantee.policy.propositions == {"answers No"}


def test_mangat_is_ageo_for_one_person() -> None:
    mechanism, ageo = Mangat(epsilon=2), AGeo(epsilon=2, people=1)
    for count in (0, 1):
        law = ageo.distribution(count, 1)
        assert mechanism.pmf(True, bool(count)).overlaps(law[Tail(1)])
    assert mechanism.pmf(False, False).overlaps(ageo.distribution(0, 1)[0])


def test_mangat_alpha_and_beta() -> None:
    assert Mangat(epsilon=1).alpha == 0
    assert float(Mangat(epsilon=1).beta.mid()) == pytest.approx(1 - math.exp(-1))


def test_warner_enumerated() -> None:
    """Both ways cost exactly epsilon."""
    mechanism = Warner(epsilon="0.9")
    yes, no = mechanism.distribution(True), mechanism.distribution(False)
    assert log_ratio(yes, no) == pytest.approx(0.9, abs=1e-12)
    assert log_ratio(no, yes) == pytest.approx(0.9, abs=1e-12)
    assert float(mechanism.alpha.mid()) == pytest.approx(1 / (1 + math.exp(0.9)))
    assert float(mechanism.beta.mid()) == pytest.approx(1 / (1 + math.exp(-0.9)))


@pytest.mark.parametrize(("sensitive", "other"), [(1, 1), (2, 2), (3, 0), (1, 3)])
def test_urr_enumerated(sensitive: int, other: int) -> None:
    """x -> x' is protected unless x is one of the others and x' another value: exactly epsilon."""
    values = [f"s{i}" for i in range(sensitive)] + [f"o{i}" for i in range(other)]
    mechanism = UtilityOptimised(
        epsilon="0.7", sensitive=tuple(values[:sensitive]), other=tuple(values[sensitive:])
    )
    worst = 0.0
    for x, y in itertools.product(values, repeat=2):
        if x in mechanism.sensitive or x == y:
            worst = max(worst, log_ratio(mechanism.distribution(x), mechanism.distribution(y)))
    assert worst == pytest.approx(0.7, abs=1e-12)
    for x in values:
        assert sum(float(mass.mid()) for mass in mechanism.distribution(x).values()) == pytest.approx(1)
    assert len(mechanism.guarantee.policy) == other


def test_urr_of_two_values_is_mangat() -> None:
    two = UtilityOptimised(epsilon=1, sensitive=("yes",), other=("no",))
    mangat = Mangat(epsilon=1)
    for output, truth in itertools.product((True, False), repeat=2):
        name = {True: "yes", False: "no"}
        assert two.pmf(name[output], name[truth]).overlaps(mangat.pmf(output, truth))
    assert two.alpha == 0
    assert two.beta.overlaps(mangat.beta)


@pytest.mark.parametrize("mechanism", [Mangat(epsilon="0.6"), Warner(epsilon="0.6")])
def test_yes_no_estimates(mechanism: YesNo) -> None:
    """Mean and variance of the estimate over every outcome of three true Yes and two true No."""
    yes, no = (float(mechanism.pmf(True, truth).mid()) for truth in (True, False))
    mean = square = 0.0
    for reports in itertools.product((0, 1), repeat=5):
        chances = [p if report else 1 - p for report, p in zip(reports, [yes] * 3 + [no] * 2, strict=True)]
        estimate = float(mechanism.estimate(sum(reports), 5).mid())
        mean += math.prod(chances) * estimate
        square += math.prod(chances) * estimate**2
    assert mean == pytest.approx(3 / 5)
    assert float(mechanism.estimate_variance("0.6", 5).mid()) == pytest.approx(square - mean**2)


def test_urr_estimates() -> None:
    mechanism = UtilityOptimised(epsilon="0.8", sensitive=("a", "b"), other=("c",))
    truths = ["a", "b", "b", "c"]
    for value in ("a", "b", "c"):
        chances = [float(mechanism.pmf(value, truth).mid()) for truth in truths]
        mean = square = 0.0
        for reports in itertools.product((0, 1), repeat=4):
            weight = math.prod(p if report else 1 - p for report, p in zip(reports, chances, strict=True))
            estimate = float(mechanism.estimate(value, sum(reports), 4).mid())
            mean += weight * estimate
            square += weight * estimate**2
        share = truths.count(value) / 4
        assert mean == pytest.approx(share)
        assert float(mechanism.estimate_variance(value, share, 4).mid()) == pytest.approx(square - mean**2)


def test_draws_follow_the_channels() -> None:
    truths = np.array([True, False] * 20_000)
    for mechanism in (Mangat(epsilon=1), Warner(epsilon=1)):
        reported = mechanism.release(truths, entropy=simulated_entropy(5))
        assert reported.simulated
        for truth in (True, False):
            share = reported.values[truths == truth].mean()
            assert share == pytest.approx(float(mechanism.pmf(True, truth).mid()), abs=0.02)
    urr = UtilityOptimised(epsilon=1, sensitive=("a", "b"), other=("c",))
    got = urr.release(["a", "c"] * 20_000, entropy=simulated_entropy(6)).values.reshape(-1, 2)
    for column, truth in enumerate(("a", "c")):
        for position, value in enumerate(urr.values):
            share = (got[:, column] == position).mean()
            assert share == pytest.approx(float(urr.pmf(value, truth).mid()), abs=0.02)


def test_mangat_never_reports_a_false_no() -> None:
    assert Mangat(epsilon="0.1").release([True] * 10_000).values.all()
