"""Whether the files of a release are those its manifest names, and say one thing between them."""

from __future__ import annotations

import io
import os
from itertools import islice
from typing import Final

import polars as pl

from safeside import __version__
from safeside.decisions.states import State
from safeside.releases import artefacts, manifest, map_page, pages, statement
from safeside.releases.answers import CODE
from safeside.releases.follows import follows, thresholds
from safeside.releases.manifest import bad
from safeside.releases.release import MAP, REPORT, STATEMENT, Release
from safeside.releases.wording import Manifest
from safeside.untrusted import visible

_ABSENT: Final = object()
_MOST_NAMES: Final = 100
"""More names than any release has files; of a directory with millions no more are listed."""
REQUIRED: Final = frozenset({artefacts.CSV, artefacts.PARQUET, artefacts.GEOJSON, MAP, REPORT, STATEMENT})


def same_words(record: Manifest) -> bool:
    """Whether this version of the program made the release: only then can its words be compared with ours."""
    made = record["software"]
    return bool(made["name"] == "safeside" and made["version"] == __version__)


def check_contents(release: Release) -> None:
    """That the files are those the manifest names, and that they hold together."""
    found = _names(release)
    listed = release.manifest["files"]
    wanted = REQUIRED | ({artefacts.ORDER} if release.manifest["mechanism"]["alarms"] is not None else set())
    if listed.keys() != wanted:
        raise bad("release.json lists other files than a release has")
    strange = found - listed.keys() - {manifest.FILE, manifest.SIGNATURE}
    if strange:
        raise bad(f"it holds a file that is not part of it, {visible(min(strange))}")
    for name, entry in sorted(listed.items()):
        try:
            data = release.file(name)
        except OSError:
            raise bad(f"{name} is missing") from None
        if manifest.file_entry(data) != entry:
            raise bad(f"{name} is not the file that was signed")
    _check_answers(release)


def _names(release: Release) -> set[str]:
    """The names of its files, or as many as show that it is no release."""
    if release.held is not None:
        return set(release.held)
    try:
        with os.scandir(release.directory) as entries:
            return {entry.name for entry in islice(entries, _MOST_NAMES)}
    except OSError:
        raise bad("its directory cannot be read") from None


def _check_answers(release: Release) -> None:
    answers, record = release.answers, release.manifest
    if (
        list(answers.places) != sorted(set(answers.places))
        or len(answers) != record["question"]["places"]["number"]
    ):
        raise bad("answers.csv does not list every place once, in order")
    if artefacts.places_digest(answers.places) != record["question"]["places"]["sha256"]:
        raise bad("answers.csv is about other places than the question")
    said = {state.name: answers.number(state) for state in State}
    if {**said, "certified_at_zero": answers.certified_at_zero} != record["answers"]:
        raise bad("the numbers of answers are not those of answers.csv")
    _check_copies(release)
    if not follows(record, answers, thresholds(record, answers.places)).all():
        raise bad("a state in answers.csv does not follow from its bounds")
    if record["mechanism"]["alarms"] is not None:
        _check_order(release)


def _check_copies(release: Release) -> None:
    """Parquet and GeoJSON say what the CSV says; GeoJSON in the words of the public map."""
    answers, record = release.answers, release.manifest
    try:
        table = pl.read_parquet(io.BytesIO(release.file(artefacts.PARQUET)))
        if not table.equals(artefacts.frame(answers)):
            raise bad("answers.parquet does not say what answers.csv says")
        features = manifest.parse(release.file(artefacts.GEOJSON), artefacts.GEOJSON)["features"]
        listed = [{**one["properties"], "id": one["id"]} for one in features]
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        raise bad("a data file cannot be read") from None
    said = list(artefacts.said(record, answers))
    compared = (said[0].keys() if same_words(record) else said[0].keys() - {"says"}) if said else ()
    shown = [{name: one.get(name, _ABSENT) for name in compared} for one in listed]
    if shown != [{name: one[name] for name in compared} for one in said] or [
        one["id"] for one in listed
    ] != list(answers.places):
        raise bad("answers.geojson does not say what answers.csv says")


def check_pages(release: Release) -> None:
    """The statement and the map say what the manifest and the answers say."""
    record = release.manifest
    if not same_words(record):
        return
    if release.file(STATEMENT) != statement.render(record):
        raise bad("statement.txt does not say what release.json says")
    shown = pages.read_data(release.file(MAP).decode(errors="replace"))
    said = map_page.said(record, release.answers)
    if any(shown.get(name, _ABSENT) != value for name, value in said.items()):
        raise bad("map.html does not say what answers.csv says")


def _check_order(release: Release) -> None:
    """Asked is a beginning of the order, and it ended at the last alarm allowed, or with the last place."""
    rows = release.file(artefacts.ORDER)
    try:
        order = pl.read_csv(io.BytesIO(rows), schema={"place": pl.String})["place"].to_list()
    except pl.exceptions.PolarsError:
        raise bad("order.csv cannot be read") from None
    answers, allowed = release.answers, release.manifest["mechanism"]["alarms"]
    if None in order or sorted(order) != list(answers.places):
        raise bad("order.csv does not list every place once")
    at = {place: number for number, place in enumerate(answers.places)}
    states = answers.states[[at[place] for place in order]]
    asked = states != CODE[State.NOT_ASKED]
    number, alarms = int(asked.sum()), int((states == CODE[State.UNCLEAR]).sum())
    stopped = number < len(order)
    ended = states[number - 1] == CODE[State.UNCLEAR] if number else False
    if not asked[:number].all() or alarms > allowed or (stopped and not (alarms == allowed and ended)):
        raise bad("the places asked are not those the order and the alarms allow")
