"""The answers as data: CSV, Parquet and GeoJSON, sorted by place; nothing of the exact counts is in them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import polars as pl

from safeside.decisions.states import State
from safeside.releases import wording
from safeside.releases.answers import Answers
from safeside.releases.states import CODE_OF_NAME, STATES
from safeside.releases.wording import Manifest
from safeside.visits import Places

CSV: Final = "answers.csv"
PARQUET: Final = "answers.parquet"
GEOJSON: Final = "answers.geojson"


def frame(answers: Answers) -> pl.DataFrame:
    """The answers as a table; no upper bound where none was published."""
    upper = pl.Series("upper_bound", answers.upper)
    bounded = pl.Series(answers.bounded)
    table = pl.DataFrame(
        {
            "place": pl.Series(list(answers.places), dtype=pl.String),
            "state": pl.Series(answers.names(), dtype=pl.String),
            "upper_bound": upper.zip_with(bounded, pl.Series([None] * len(answers), dtype=pl.Int64)),
            "lower_bound": pl.Series(answers.lower),
        }
    )
    return table.sort("place")


def as_csv(answers: Answers) -> bytes:
    """answers.csv, UTF-8."""
    return frame(answers).write_csv().encode()


def as_parquet(answers: Answers) -> bytes:
    """answers.parquet."""
    buffer = io.BytesIO()
    frame(answers).write_parquet(buffer)
    return buffer.getvalue()


def as_geojson(manifest: Manifest, answers: Answers, places: Places) -> bytes:
    """answers.geojson: the public map as data, in the words of the public map."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    lines = [
        encoder.encode(_feature(one, places, number)) for number, one in enumerate(said(manifest, answers))
    ]
    head = json.dumps(
        {
            "release": manifest["release"],
            "simulated": manifest["simulated"],
            "title": wording.title(manifest),
            "known_on": manifest["known_on"],
        },
        ensure_ascii=False,
    )
    body = ",\n".join(lines)
    return f'{{"type":"FeatureCollection","safeside":{head},"features":[\n{body}\n]}}\n'.encode()


def said(manifest: Manifest, answers: Answers) -> Iterator[dict[str, Any]]:
    """What the public map says of each place, from what is published alone."""
    question = manifest["question"]
    published = bool(question["publish_at_least"])
    words = {
        State.AT_LEAST: wording.at_least(question["at_least"] or 0),
        State.UNCLEAR: wording.CANNOT_SAY,
        State.NOT_ASKED: wording.NOT_ASKED,
    }
    for at, code in enumerate(answers.on_public_maps(published).tolist()):
        place, state = answers.places[at], STATES[code]
        threshold = question["at_most_of"].get(place, question["at_most"])
        properties = {
            "place": place,
            "state": state.name,
            "says": wording.at_most(threshold) if state is State.AT_MOST else words[state],
            "at_most": threshold,
            "upper_bound": int(answers.upper[at]) if answers.bounded[at] else None,
        }
        yield {**properties, "lower_bound": int(answers.lower[at])} if published else properties


def _feature(said: dict[str, Any], places: Places, at: int) -> dict[str, Any]:
    properties = dict(said)
    for name, column in (("name", places.name), ("region", places.region)):
        if column is not None and column[at] is not None:
            properties[name] = str(column[at])
    return {
        "type": "Feature",
        "id": said["place"],
        "geometry": _point(places, at),
        "properties": properties,
    }


def _point(places: Places, at: int) -> dict[str, Any] | None:
    if places.latitude is None or places.longitude is None:
        return None
    return {"type": "Point", "coordinates": [float(places.longitude[at]), float(places.latitude[at])]}


def read_csv(data: bytes) -> Answers:
    """The answers that answers.csv holds; ValueError where it holds none."""
    schema = {"place": pl.String, "state": pl.String, "upper_bound": pl.Int64, "lower_bound": pl.Int64}
    try:
        table = pl.read_csv(io.BytesIO(data), schema=schema)
    except pl.exceptions.PolarsError as error:
        raise ValueError("not a table of answers") from error
    states = [CODE_OF_NAME.get(name, -1) for name in table["state"].to_list()]
    if not states or min(states) < 0 or table["lower_bound"].null_count():
        raise ValueError("not a table of answers")
    return Answers(
        places=tuple(table["place"].to_list()),
        states=np.array(states, dtype=np.uint8),
        upper=table["upper_bound"].fill_null(0).to_numpy().astype(np.int64),
        lower=table["lower_bound"].to_numpy().astype(np.int64),
        bounded=table["upper_bound"].is_not_null().to_numpy().astype(np.bool_),
    )
