"""What each file of a release says, read by itself: all say the same, at the thresholds asked about."""

from __future__ import annotations

import base64
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from safeside.audit.publishing import Condition, Made, by_condition
from safeside.releases.answers import STATES
from safeside.releases.pages import read_data

Said = tuple[str, int | None]
"""A state and an upper bound."""
_AT_ZERO: Final = "certified_at_zero"
Threshold = Callable[[str], int | None]


def too_much(made: Made, true: Mapping[Condition, int]) -> list[Condition]:
    """Where more people are said to be than there are."""
    least, lower = made.release.record.question.at_least or 0, made.lower_bounds()
    return [
        condition
        for condition, (state, _) in made.answers().items()
        if max(lower[condition], least if state == "AT_LEAST" else 0) > true[condition]
    ]


def says_otherwise(made: Made, threshold: Threshold) -> str | None:
    """A file that does not say what answers.csv says, or says "at most" of another number."""
    answers, question = made.answers(), made.release.record.question
    hidden = {} if question.publish_at_least else {"AT_LEAST": "UNCLEAR"}
    shown = {condition: (hidden.get(state, state), upper) for condition, (state, upper) in answers.items()}
    often = Counter(state for state, _ in answers.values())
    if any(number != often[name] for name, number in made.release.record.answers.items() if name != _AT_ZERO):
        return "release.json counts other answers than answers.csv has"
    if answers != _of_table(made):
        return "answers.parquet says other than answers.csv"
    for name, read in (("answers.geojson", _of_features), ("map.html", _of_map)):
        said = {condition: (one, number) for condition, one, number in read(made)}
        if {condition: one for condition, (one, _) in said.items()} != shown:
            return f"{name} says other than answers.csv"
        other = (one for one, (_, number) in said.items() if threshold(one[0]) not in (number, None))
        for condition in other:
            return f"{name} has another threshold at {condition[0]} than was asked about"
    return None


def _of_table(made: Made) -> dict[Condition, Said]:
    rows = by_condition(pl.read_parquet(io.BytesIO(made.files["answers.parquet"])).to_dicts())
    return {condition: (row["state"], row["upper_bound"]) for condition, row in rows}


def _of_features(made: Made) -> Iterator[tuple[Condition, Said, int]]:
    features = json.loads(made.files["answers.geojson"])["features"]
    for condition, row in by_condition([one["properties"] for one in features]):
        yield condition, (row["state"], row["upper_bound"]), row["at_most"]


def _of_map(made: Made) -> Iterator[tuple[Condition, Said, int]]:
    data: dict[str, Any] = read_data(made.files["map.html"])
    packed, targets, limits = data["answers"], data["ids"], data["at_most"]
    codes = np.frombuffer(base64.b64decode(packed["codes"]), f"<u{packed['bytes']}")
    limits = limits if isinstance(limits, list) else [limits] * len(targets)
    windows = [one["label"] for one in data["windows"]]
    # Windows are numbered by time; groups have one, and measures.
    several = len(windows) > 1
    numbers = [sorted(windows).index(one) for one in windows] if several else range(len(data["measures"]))
    places = list(zip(targets, limits, strict=True))
    conditions = [((target, number), limit) for number in numbers for target, limit in places]
    for (condition, limit), code in zip(conditions, codes.tolist(), strict=True):
        state, upper = packed["said"][code][:2]
        yield condition, (STATES[state].name, upper), limit
