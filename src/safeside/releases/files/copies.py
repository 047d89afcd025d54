"""Whether the files that repeat the answers, as data or in words, say what answers.csv says."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import polars as pl

from safeside.releases import map_page, pages, wording
from safeside.releases.files import answers as data

if TYPE_CHECKING:
    from safeside.releases.release import Release

_ABSENT: Final = object()


def parquet(release: Release) -> bool:
    """The same table."""
    table = pl.read_parquet(io.BytesIO(release.file(data.PARQUET)))
    return table.equals(data.frame(release.answers))


def geojson(release: Release) -> bool:
    """The same answers, in the words of the public map."""
    answers, record = release.answers, release.record
    features = data.features(release.file(data.GEOJSON))
    listed = [{**one["properties"], "id": one["id"]} for one in features]
    said = [
        {**one, "id": name}
        for name, one in zip(data.feature_ids(answers), data.said(record.question, answers), strict=True)
    ]
    compared = said[0].keys() - (set() if record.same_words else {"says"})
    shown = [{name: one.get(name, _ABSENT) for name in compared} for one in listed]
    return shown == [{name: one[name] for name in compared} for one in said]


def map_data(release: Release) -> bool:
    """The same answers in the data that the page draws."""
    shown = pages.read_data(release.file("map.html").decode(errors="replace"))
    said = map_page.said(release.record, release.answers)
    return all(shown.get(name, _ABSENT) == value for name, value in said.items())


def statement_text(release: Release) -> bool:
    """The same words."""
    return release.file("statement.txt") == wording.statement(release.record)
