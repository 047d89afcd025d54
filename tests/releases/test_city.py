"""The synthetic city, as the whole of the release machinery answers about it: never wrong, and as often right
as theory says."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.decisions.states import State
from safeside.noise.entropy import simulated_entropy
from safeside.releases.answers import CODE
from safeside.releases.asking import Inquiry, ask
from safeside.visits import Places, Window, read_places
from safeside_studies import city

HOUR = "2013-12-22T18:00:00+09:00"
DAY = "2013-12-22T00:00:00+09:00/2013-12-23T00:00:00+09:00"
TIMES = 100


@lru_cache
def people() -> tuple[Places, pl.DataFrame]:
    """The public list and the private visits of the default city."""
    with TemporaryDirectory() as directory:
        files = city.generate(Path(directory))
        zoned = pl.read_parquet(files.visits, memory_map=False)
        places = read_places(files.places)
    return places, zoned.with_columns(pl.col("start", "end").dt.convert_time_zone("UTC"))


@lru_cache
def true_counts(when: str) -> NDArray[np.int64]:
    """How many people were at each place, counted plainly."""
    places, visits = people()
    window = Window.parse(when)
    last = pl.col("start") <= window.start if window.instant else pl.col("start") < window.end
    there = visits.filter(last & (pl.col("end") > window.start))
    counted = dict(there.group_by("place").agg(pl.col("person").n_unique()).iter_rows())
    return np.array([counted.get(place, 0) for place in places.ids], dtype=np.int64)


def asked(when: str, terms: dict[str, Any]) -> Inquiry:
    return ask(places=people()[0], when=when, **terms)


def said_at_most(inquiry: Inquiry, counts: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """Which places one simulated release answers with "at most"."""
    entropy = simulated_entropy(seed)
    conditions, method = inquiry.conditions, inquiry.question.method
    conditions = replace(conditions, known=method.settled(conditions, entropy))
    drawn = method.draw(conditions, counts, entropy)
    assert drawn.simulated
    said: NDArray[np.bool_] = method.states(conditions, drawn).states == CODE[State.AT_MOST]
    return said


def check_against_theory(inquiry: Inquiry, counts: NDArray[np.int64], limit: int) -> float:
    """No wrong answer in all simulations, and a share within 5 standard errors; the share."""
    said = np.array([said_at_most(inquiry, counts, seed) for seed in range(TIMES)])
    assert not said[:, counts > limit].any()
    method = inquiry.question.method
    chance = np.array(list(method.chances(inquiry.conditions, limit, range(limit + 1)).values()))
    expected = np.where(counts <= limit, chance[np.minimum(counts, limit)], 0.0)
    error = np.sqrt((expected * (1 - expected)).sum() / TIMES)
    assert abs(said.sum(axis=1).mean() - expected.sum()) <= 5 * error
    return float(said[:, counts <= limit].mean())


def test_the_hour_is_never_wrong_and_as_often_right_as_theory_says() -> None:
    counts = true_counts(HOUR)
    share = check_against_theory(asked(HOUR, {"epsilon": 1, "at_most": 2}), counts, 2)
    assert 0.9 < share < 0.97


def test_the_hour_under_ordinary_differential_privacy_is_never_wrong_either() -> None:
    counts = true_counts(HOUR)
    for decision in (False, True):
        terms = {"epsilon": 1, "delta": "1e-4", "guarantee": "dp", "at_most": 2, "decision": decision}
        check_against_theory(asked(HOUR, terms), counts, 2)
        generous = {"epsilon": 1, "delta": "1e-4", "guarantee": "dp", "at_most": 12, "decision": decision}
        assert check_against_theory(asked(HOUR, generous), counts, 12) > 0.8


def test_public_popularity_gives_twenty_times_the_answers_of_chance() -> None:
    counts = true_counts(DAY)
    means = {}
    for order in ("random", "popularity"):
        question = asked(DAY, {"epsilon": 1, "at_most": 5, "max_alarms": 1, "order": order})
        said = np.array([said_at_most(question, counts, seed) for seed in range(TIMES)])
        assert not said[:, counts > 5].any()
        means[order] = said.sum(axis=1).mean()
    assert means["popularity"] >= 20 * means["random"], means
