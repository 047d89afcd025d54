"""Every planted bug is caught, each for the reason it was planted."""

from __future__ import annotations

import math

import pytest

from safeside_studies.planted import Planted, planted

EXPECTED = {
    "paper sign": math.inf,
    "half the noise": 2,
    "disjunctive policy": math.inf,
    "not monotone": math.inf,
    "attribute not negated": math.inf,
    "capped contributions": math.inf,
    "sensitivity of one place": 3,
    "a move is two changes": 2,
    "noise shared by all places": math.inf,
    "only visited places are answered": math.inf,
    "clipped to the number of rows": math.inf,
    "pad too short": math.inf,
    "response that hides the wrong answer": math.inf,
    "price without regions": 2,
    "price without windows": 2,
    "price without repeats": 2,
    "charged for each window": 4,
    "order from the data": math.inf,
    "region as a sum": 2,
    "total less refunds": 2,
    "alarm withdrawn and not charged": 2,
    "drawn again after an alarm": 2,
    "stopped by a record": math.inf,
    "corrected by later data": math.inf,
    "exact count after an alarm": math.inf,
    "one price for two releases": 2,
    "level shown after a test": 3,
    "component left out of the sum": math.inf,
    "levels without their base": 1.3132612035218,
    "forecast from the data": 2.751342854507,
    "block tested again after a failure": 2,
    "order by counts within random buckets": math.inf,
    "thresholds of the first block": math.inf,
    "entropy seeded by a variable": math.inf,
    "drawn again where it is unclear": math.inf,
    "noise left out of a bound": 1.3132616875182,
    "total in a page": math.inf,
    "noise of half the scale": math.inf,
    "level published although a test failed": math.inf,
    "day counted for an hour": math.inf,
    "decided at sorted thresholds": math.inf,
    "no noise where nobody is counted": math.inf,
    "one noise for all windows": math.inf,
    "no noise in the second alarm": math.inf,
    "one place where a person is at two": math.inf,
    "padded for one place where a person is at two": math.inf,
    "several alarms at the price of one": math.inf,
    "total in a report": math.inf,
    "total on a map": math.inf,
    "publish seeded by a variable": math.inf,
    "later places get the noise of the first": math.inf,
    "clipped to the largest count": math.inf,
    "stop given back": math.inf,
    "one place where a number of people is public": math.inf,
    "one place where at least is asked": math.inf,
    "noise a little less": math.inf,
    "no more conditions than places": math.inf,
    "decided for one place where a person is at two": math.inf,
    "error of any place taken for each": math.inf,
    "error shared by places and not by hours": math.inf,
    "common threshold on a map": math.inf,
    "bounds of a map in a byte": math.inf,
    "bounds one lower in geojson": math.inf,
    "left out told": math.inf,
    "crowds without noise": math.inf,
    "counts in a byte": math.inf,
    "noise cut off": math.inf,
    "padded noise of the first hour in all": math.inf,
    "words of a claim repeated": math.inf,
    "padded sides repeated": math.inf,
    "selection seeded by a variable": math.inf,
    "noise seeded by the reference": math.inf,
    "limit not held against sparse answers": math.inf,
    "stop at the number of people given back": math.inf,
    "delta beyond the cap": math.inf,
    "most in groups the larger and not the product": 2,
    "one measure where a person is in two": 2,
    "size from the data": math.inf,
    "svt without noise on the queries": math.inf,
    "svt that never stops": 2.534898946334,
    "svt whose noise ignores the number of alarms": 2.391918310779,
    "svt that shows the noisy count": 2.5,
    "svt without noise on the threshold": 1.25,
}
SAYS = {
    "region as its busiest place": "says 'at most 1 at AB' of ({A}, {B}), which is false",
    "region as a capped sum": "says 'at most 1 at AB' of ({A}, {A}), which is false",
    "region from a sample": "says 'at most 0 at AB' of ({}, {A}), which is false",
    "ladder refunded": "books 0 for a transcript that reveals more",
    "block said of its distinct people": "says 'at most 1 person at A, B and C together' of ({A}, {B})",
    "sets from the day before": "says 'at most 0 at A' of ({}, {A}), which is false",
    "forecast from the counts": "forecast.csv depends on the data; ({A}, {A}) → ({}, {A})",
    "claim refunded": "books 0 for a transcript that reveals more",
    "share rounded up": "answers.geojson has another threshold at A than was asked about",
    "share shown rounded down": "says at most 66.6 % of group A, of",
    "condition that skips missing values": "a release is published although somebody has no value",
    "words for the included only": "how much randomness is taken depends on the data",
    "half the delta": "books 1 and delta 0.125 of 1 and 0.25",
    "decided at the next threshold": "says at most 1 at A (AT_MOST) of",
    "said at the next threshold": "says at most 1 at A (AT_MOST) of",
    "at least one too low": "says too much at A with probability 0.379 of",
    "lower bound at twice the error": "says too much at A with probability 0.379 of",
    "hours the other way round": "map.html says other than answers.csv",
    "lower bound that is only probable": "says too much at B of ({A}, {A})",
    "alarms of one place counted once": "books 0.5 for a transcript that reveals more",
    "half of the price promised": "promises 0.5 and delta 0",
    "price rounded down": "books 0.33 for a transcript that reveals more",
    "second alarm given back": "books 0.5 for a transcript that reveals more",
    "half the price": "books 0.5 for a transcript that reveals more",
    "alarm given back": "books 0 for a transcript that reveals more",
    "alarm refunded": "books 0 for a transcript that reveals more",
}
SAMPLERS = {
    "sampler five percent wide",
    "sampler five percent narrow",
    "sampler one impossible value",
    "sampler draws used twice",
    "sampler blocks used twice",
    "quiet answers share a draw",
}


@pytest.mark.parametrize("bug", planted(), ids=lambda bug: bug.name)
def test_is_caught(bug: Planted) -> None:
    found = bug.audit()
    assert found.caught, bug.name
    assert bug.bug.endswith(".")
    if bug.name in EXPECTED:
        assert found.measured == pytest.approx(EXPECTED[bug.name], rel=1e-9)
    elif bug.name in SAYS:
        assert found.how.startswith(SAYS[bug.name])
    else:
        assert bug.name in SAMPLERS
        assert found.measured > 1


def test_none_is_missing_here() -> None:
    assert {bug.name for bug in planted()} == {*EXPECTED, *SAYS, *SAMPLERS}
