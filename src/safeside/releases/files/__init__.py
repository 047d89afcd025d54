"""The one list of what files a release has: the writer goes through it, and so does the verifier."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl

from safeside import records
from safeside.releases import map_page, pages, report, wording
from safeside.releases.answers import Answers
from safeside.releases.files import answers as data
from safeside.releases.methods import Conditions
from safeside.releases.record import FILE, ReleaseRecord, described
from safeside.visits import Places

if TYPE_CHECKING:
    from safeside.releases.release import Release

MAP: Final = "map.html"
REPORT: Final = "report.html"
STATEMENT: Final = "statement.txt"
WITHDRAWN: Final = "withdrawn.json"
_ABSENT: Final = object()
_COUNTS_BEYOND: Final = 4
_COUNTS_SHOWN: Final = 25
"""How far past the threshold the curve of the report goes, to show that it is zero there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """Everything that the files of a release are written from."""

    record: ReleaseRecord
    answers: Answers
    asked: Conditions
    places: Places
    basemap: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A file of every release: how it is written, and whether what it says is what the answers say."""

    name: str
    write: Callable[[Content], bytes]
    agrees: Callable[[Release], bool] | None = None
    page: bool = False
    """In words for readers, which another version says in other words."""


def _same_table(release: Release) -> bool:
    table = pl.read_parquet(io.BytesIO(release.file(data.PARQUET)))
    return table.equals(data.frame(release.answers))


def _same_features(release: Release) -> bool:
    """The same answers, in the words of the public map."""
    listed, same_words = data.features(release.file(data.GEOJSON)), release.record.same_words
    for shown, said in zip(listed, data.said(release.record.question, release.answers), strict=True):
        if not same_words:
            del said["says"]
        if not said.items() <= shown.items():
            return False
    return True


def shows_answers(release: Release) -> bool:
    """Whether the answers are the same in the data that the map draws."""
    shown = pages.read_data(release.file(MAP))
    said = map_page.said(release.record, release.answers)
    return all(shown.get(name, _ABSENT) == value for name, value in said.items())


def _same_words(release: Release) -> bool:
    return release.file(STATEMENT) == wording.statement(release.record)


LIST: Final = (
    Listed(name=data.CSV, write=lambda of: data.as_csv(of.answers)),
    Listed(name=data.PARQUET, write=lambda of: data.as_parquet(of.answers), agrees=_same_table),
    Listed(
        name=data.GEOJSON,
        write=lambda of: data.as_geojson(of.record, of.answers, of.places),
        agrees=_same_features,
    ),
    Listed(
        name=MAP,
        write=lambda of: map_page.render(of.record, of.answers, of.places, of.basemap),
        agrees=shows_answers,
        page=True,
    ),
    Listed(name=REPORT, write=lambda of: report.render(of.record, of.answers, chances(of.asked))),
    Listed(name=STATEMENT, write=lambda of: wording.statement(of.record), agrees=_same_words, page=True),
)
PAGES: Final = frozenset({MAP, REPORT, STATEMENT})


def names(record: ReleaseRecord) -> set[str]:
    """The files that the record of a release lists."""
    own = record.question.method.file
    return {*(one.name for one in LIST), *(() if own is None else (own,))}


def compose(
    draft: ReleaseRecord,
    answers: Answers,
    asked: Conditions,
    places: Places,
    basemap: dict[str, Any] | None = None,
) -> dict[str, bytes]:
    """Every file of the release but its signature; release.json comes last and names the others."""
    record = msgspec.structs.replace(draft, answers=answers.counted())
    content = Content(record=record, answers=answers, asked=asked, places=places, basemap=basemap)
    files = {one.name: one.write(content) for one in LIST}
    method = record.question.method
    if method.file is not None:
        files[method.file] = method.write_known(asked)
    record = msgspec.structs.replace(record, files={name: described(one) for name, one in files.items()})
    return {**files, FILE: records.encode(record)}


def chances(asked: Conditions) -> dict[int, float]:
    """The chance of "at most" by true count, at the largest threshold; known before any data is.

    Every count up to a little beyond the threshold, or, where those are many, some at even distances.
    """
    question = asked.question
    limit = int(asked.at_most.max())
    last = limit + _COUNTS_BEYOND
    if question.people is not None:
        last = min(last, question.people)
    step = -(-(last + 1) // _COUNTS_SHOWN)
    shown = sorted({*range(0, last + 1, step), min(limit, last)})
    return question.method.chances(asked, limit, shown)
