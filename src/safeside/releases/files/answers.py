"""The answers as data: CSV, Parquet and GeoJSON, one row a condition, without a trace of exact counts."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import polars as pl

from safeside.decisions.states import State
from safeside.releases import wording
from safeside.releases.answers import CODE_OF_NAME, STATES, Answers
from safeside.visits import Places

if TYPE_CHECKING:
    from safeside.releases.question import Question
    from safeside.releases.record import ReleaseRecord

CSV: Final = "answers.csv"
PARQUET: Final = "answers.parquet"
GEOJSON: Final = "answers.geojson"


def frame(answers: Answers) -> pl.DataFrame:
    """The answers as a table; no upper bound where none was published."""
    upper = pl.Series("upper_bound", answers.upper)
    bounded = pl.Series(answers.bounded)
    repeated = len(answers.measures) * len(answers.targets)
    measures = np.tile(np.repeat(answers.measures, len(answers.targets)), len(answers.windows))
    return pl.DataFrame(
        {
            "place": pl.Series(list(answers.places), dtype=pl.String),
            "window": pl.Series(np.repeat(answers.windows, repeated), dtype=pl.String),
            **({"measure": pl.Series(measures, dtype=pl.String)} if len(answers.measures) > 1 else {}),
            "state": pl.Series(answers.names(), dtype=pl.String),
            "upper_bound": upper.zip_with(bounded, pl.Series([None] * len(answers), dtype=pl.Int64)),
            "lower_bound": pl.Series(answers.lower),
        }
    )


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
    named = enumerate(said(record.question, answers))
    lines = [encode(_feature(one, places, number % len(places))) for number, one in named]
    head = encode(
        {
            "release": record.release,
            "simulated": record.simulated,
            "title": wording.title(record),
            "known_on": record.known_on,
        }
    )
    return (
        b'{"type":"FeatureCollection","safeside":'
        + head
        + b',"features":[\n'
        + b",\n".join(lines)
        + b"\n]}\n"
    )


def features(file: bytes) -> list[dict[str, Any]]:
    """What a GeoJSON file that is written as above says of each place; ValueError where it is not.

    A line that says something twice, or is written in another way, is not written as it was read.
    """
    first, *lines, last = file.split(b"\n")[:-1]
    if not first.startswith(b'{"type":"FeatureCollection","safeside":') or last != b"]}":
        raise ValueError("not a collection of features")
    try:
        found = [msgspec.json.decode(line.removesuffix(b",")) for line in lines]
    except (msgspec.MsgspecError, RecursionError):
        raise ValueError("not features") from None
    if b",\n".join(map(msgspec.json.encode, found)) != b"\n".join(lines):
        raise ValueError("not written as features are")
    return [{**one["properties"], "id": one["id"]} for one in found]


def said(question: Question, answers: Answers) -> Iterator[dict[str, Any]]:
    """What the public map says of each place, from what is published alone."""
    published, says = question.publish_at_least, cache(partial(wording.answer, question))
    named = frame(answers).drop("state", "upper_bound", "lower_bound").iter_rows(named=True)
    labels, shown = answers.labels, answers.on_public_maps(published).tolist()
    for at, (code, condition) in enumerate(zip(shown, named, strict=True)):
        state, threshold = STATES[code], question.at_most_of.get(condition["place"], question.at_most)
        properties = {
            # One text for each condition: its place, and whatever tells it from others of that place.
            "id": " ".join(labels[at]),
            **condition,
            "state": state.name,
            "says": says(state, threshold if state is State.AT_MOST else None),
            "at_most": threshold,
            "upper_bound": int(answers.upper[at]) if answers.bounded[at] else None,
        }
        yield {**properties, "lower_bound": int(answers.lower[at])} if published else properties


def _feature(said: dict[str, Any], places: Places, at: int) -> dict[str, Any]:
    name = said.pop("id")
    for role, column in (("name", places.name), ("region", places.region)):
        if column is not None and column[at] is not None:
            said[role] = str(column[at])
    return {"type": "Feature", "id": name, "geometry": _point(places, at), "properties": said}


def _point(places: Places, at: int) -> dict[str, Any] | None:
    if places.latitude is None or places.longitude is None:
        return None
    return {"type": "Point", "coordinates": [float(places.longitude[at]), float(places.latitude[at])]}


def read_csv(data: bytes, windows: tuple[str, ...], measures: tuple[str, ...]) -> Answers:
    """The answers that answers.csv holds for these windows and measures; ValueError where it holds none."""
    names = ("place", "window", *(["measure"] if len(measures) > 1 else []), "state")
    schema = {**dict.fromkeys(names, pl.String), "upper_bound": pl.Int64, "lower_bound": pl.Int64}
    try:
        table = pl.read_csv(io.BytesIO(data), schema=schema)
    except pl.exceptions.PolarsError as error:
        raise ValueError("cannot be read") from error
    states = [CODE_OF_NAME.get(name, -1) for name in table["state"].to_list()]
    if not states or min(states) < 0 or table["lower_bound"].null_count() or table["place"].null_count():
        raise ValueError("cannot be read")
    number = table.height // (len(windows) * len(measures))
    answers = Answers(
        targets=tuple(table["place"].head(number)),
        windows=windows,
        measures=measures,
        states=np.array(states, dtype=np.uint8),
        upper=table["upper_bound"].fill_null(0).to_numpy().astype(np.int64),
        lower=table["lower_bound"].to_numpy().astype(np.int64),
        bounded=table["upper_bound"].is_not_null().to_numpy().astype(np.bool_),
    )
    if len(answers.places) != table.height or not frame(answers).equals(table):
        raise ValueError("does not list every place once in each window, in order")
    return answers
