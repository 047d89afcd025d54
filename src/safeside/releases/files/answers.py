"""The answers as data: CSV, Parquet and GeoJSON, one row a condition, without a trace of exact counts."""

from __future__ import annotations

import io
from collections.abc import Iterator
from decimal import Decimal
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import polars as pl

from safeside.decisions.states import State
from safeside.groups.shares import tenths_at_most
from safeside.releases import wording
from safeside.releases.answers import CODE_OF_NAME, STATES, Answers
from safeside.visits import Places

if TYPE_CHECKING:
    from safeside.releases.question import Question
    from safeside.releases.record import ReleaseRecord

CSV: Final = "answers.csv"
PARQUET: Final = "answers.parquet"
GEOJSON: Final = "answers.geojson"
_LAST: Final = b"\n]}\n"
"""What follows the features."""
_NAMES: Final = [state.name for state in STATES]
PERCENT: Final = "upper_percent"
_DATE: Final = len("2026-09-01")


def frame(answers: Answers) -> pl.DataFrame:
    """The answers as a table; no upper bound where none was published."""
    window, measure, target = np.indices(answers.shape).reshape(len(answers.shape), -1)
    several = {"measure": pl.Series(answers.measures).gather(measure)} if len(answers.measures) > 1 else {}
    upper, bounded = pl.Series(answers.upper), pl.Series(answers.bounded)
    windows = [one[:_DATE] if answers.grouped else one for one in answers.windows]
    called, time = _labels(answers.grouped, 1)
    return pl.DataFrame(
        {
            called: pl.Series(answers.targets, dtype=pl.String).gather(target),
            time: pl.Series(windows, dtype=pl.String).gather(window),
            **several,
            "state": pl.Series(_NAMES).gather(answers.states),
            "upper_bound": upper.set(~bounded, None),
            "lower_bound": pl.Series(answers.lower),
            **_shares(answers),
        }
    )


def _labels(grouped: bool, measures: int) -> list[str]:
    """The columns that tell one answer from another."""
    return [*(("group", "as_of") if grouped else ("place", "window")), *(["measure"] if measures > 1 else [])]


def _shares(answers: Answers) -> dict[str, pl.Series]:
    """The public size of each group, and the share of it that the bound is: rounded up, the safe side."""
    if not answers.sizes:
        return {}
    sizes = answers.sizes * len(answers.measures)
    # From tenths, exactly: no binary fraction is 3.9.
    percent = [
        Decimal(tenths_at_most(upper, size)).scaleb(-1) if bounded else None
        for upper, size, bounded in zip(answers.upper.tolist(), sizes, answers.bounded.tolist(), strict=True)
    ]
    return {"size": pl.Series(sizes, dtype=pl.Int64), PERCENT: pl.Series(percent, dtype=pl.Decimal(4, 1))}


def as_csv(answers: Answers) -> bytes:
    """answers.csv, UTF-8."""
    return frame(answers).write_csv().encode()


def as_parquet(answers: Answers) -> bytes:
    """answers.parquet."""
    buffer = io.BytesIO()
    frame(answers).write_parquet(buffer)
    return buffer.getvalue()


def as_geojson(record: ReleaseRecord, answers: Answers, places: Places) -> bytes:
    """answers.geojson: the public map as data, in the words of the public map."""
    encode = msgspec.json.Encoder().encode
    described = [_described(places, at) for at in range(len(places))] * (len(answers) // len(places))
    lines = [
        encode({"type": "Feature", "id": one.pop("id"), "geometry": point, "properties": {**one, **words}})
        for one, (point, words) in zip(said(record.question, answers), described, strict=True)
    ]
    head = encode(
        {
            "release": record.release,
            "simulated": record.simulated,
            "title": wording.title(record),
            "known_on": record.known_on,
        }
    )
    return b'{"type":"FeatureCollection","safeside":' + head + b',"features":[\n' + b",\n".join(lines) + _LAST


def features(file: bytes) -> Iterator[dict[str, Any]]:
    """What a GeoJSON file that is written as above says of each place; ValueError where it is not.

    A line that says something twice, or is written in another way, is not written as it was read.
    """
    first, _, rest = file.partition(b"\n")
    if not first.startswith(b'{"type":"FeatureCollection","safeside":') or not rest.endswith(_LAST):
        raise ValueError("not a collection of features")
    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    for line in rest.removesuffix(_LAST).split(b",\n"):
        try:
            found = decode(line)
        except (msgspec.MsgspecError, RecursionError):
            raise ValueError("not features") from None
        if encode(found) != line:
            raise ValueError("not written as features are")
        yield {**found["properties"], "id": found["id"]}


def said(question: Question, answers: Answers) -> Iterator[dict[str, Any]]:
    """What the public map says of each place, from what is published alone."""
    published, says = question.publish_at_least, cache(partial(wording.answer, question))
    # JSON has its numbers in binary; the exact share is in the other files.
    table = frame(answers).drop("state").cast({PERCENT: pl.Float64} if answers.sizes else {})
    shown = answers.on_public_maps(published).tolist()
    for label, row, code in zip(answers.labels, table.iter_rows(named=True), shown, strict=True):
        state, threshold = STATES[code], question.at_most_of.get(label[0], question.at_most)
        upper, lower = row.pop("upper_bound"), row.pop("lower_bound")
        if state is State.AT_MOST and answers.sizes:
            told = wording.at_most_of(question, upper, row["size"])
        else:
            told = says(state, threshold if state is State.AT_MOST else None)
        yield {
            # One text for each condition: its place, and whatever tells it from others of that place.
            "id": " ".join(label),
            **row,
            "state": state.name,
            "says": told,
            "at_most": threshold,
            "upper_bound": upper,
            **({"lower_bound": lower} if published else {}),
        }


def _described(places: Places, at: int) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Where a place of the list is, and what people call it and its district."""
    columns = {"name": places.name, "region": places.region}
    words = {role: str(column[at]) for role, column in columns.items() if column and column[at] is not None}
    if places.latitude is None or places.longitude is None:
        return None, words
    return {"type": "Point", "coordinates": [float(places.longitude[at]), float(places.latitude[at])]}, words


def read_csv(data: bytes, question: Question) -> Answers:
    """The answers that answers.csv holds for this question; ValueError where it holds none."""
    windows, measures, groups = question.windows, question.measures, question.groups
    names = [*_labels(groups is not None, len(measures)), "state"]
    sizes = () if groups is None else groups.sizes
    schema: dict[Any, Any] = dict.fromkeys(names, pl.String)
    schema |= dict.fromkeys(("upper_bound", "lower_bound"), pl.Int64)
    schema |= {"size": pl.Int64, PERCENT: pl.String} if sizes else {}
    try:
        table = pl.read_csv(io.BytesIO(data), schema=schema)
    except pl.exceptions.PolarsError as error:
        raise ValueError("cannot be read") from error
    missing = table.select(names[0], "state", "lower_bound").null_count().sum_horizontal().item()
    if not table.height or missing or not table["state"].is_in(_NAMES).all():
        raise ValueError("cannot be read")
    number = table.height // (len(windows) * len(measures))
    answers = Answers(
        targets=tuple(table[names[0]].head(number)),
        windows=windows,
        measures=measures,
        states=table["state"].replace_strict(CODE_OF_NAME, return_dtype=pl.UInt8).to_numpy(),
        upper=table["upper_bound"].fill_null(0).to_numpy().astype(np.int64),
        lower=table["lower_bound"].to_numpy().astype(np.int64),
        bounded=table["upper_bound"].is_not_null().to_numpy().astype(np.bool_),
        grouped=groups is not None,
        sizes=sizes,
    )
    whole = len(answers.places) == table.height and len(sizes) in (0, number)
    if not whole or not frame(answers).cast(schema).equals(table):
        raise ValueError("does not list every place once in each window, in order")
    return answers
