"""The city as files: `visits.parquet`, made a block of people at a time; what it covers; what is public."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from safeside.errors import BadQuestion, CannotWrite
from safeside.exact import whole
from safeside.progress import Progress, quiet
from safeside.visits import COVERS
from safeside_studies.city.backdrop import backdrop
from safeside_studies.city.geography import REGIONS
from safeside_studies.city.people import BLOCK, DAY, FIRST_DAY, ZONE, City, Stays
from safeside_studies.city.venues import KINDS, Venues, found

HOURS: Final = (0,) * 8 + (3, 5, 7, 7, 10, 10, 10, 8, 7, 10, 8, 5, 4, 2, 1) + (0,)
"""How busy an hour of the day is, in tenths: a rough guess at when places are open, not a count."""
_MINUTE: Final = 60_000_000
_TIME: Final = pl.Datetime("us", "Asia/Tokyo")
_AT_HOME_FROM: Final = 30
"""A gap between two stays counts as time at home from this many minutes."""


@dataclass(frozen=True, kw_only=True)
class CityFiles:
    """What was written, and the city it was written from."""

    visits: Path
    places: Path
    hours: Path
    """How busy each hour usually is: a public guess, for forecasts."""
    basemap: Path
    city: City
    rows: int


def generate(
    directory: Path,
    *,
    people: int = 10_338,
    places: int = 5_835,
    days: int = 7,
    seed: int = 1,
    homes: bool = False,
    integer_ids: bool = False,
    overwrite: bool = False,
    progress: Progress = quiet,
) -> CityFiles:
    """Write a city to `directory`; nothing is left there if it does not come to an end.

    `homes` adds the time at home as visits to places that are not on the public list, as a raw export
    would have them. `integer_ids` writes whole numbers for people and places, for benchmarks.
    """
    city = City(
        people=whole(people, "the number of people", least=1),
        days=whole(days, "the number of days", least=1),
        seed=whole(seed, "the seed"),
        venues=found(whole(places, "the number of places", least=1), seed),
    )
    if city.people >= 1 << 31 or len(city.venues) > 1_000_000:
        raise BadQuestion(
            "A city has at most two thousand million people and a million places.", "Ask for fewer."
        )
    files = CityFiles(
        visits=directory / "visits.parquet",
        places=directory / "places.csv",
        hours=directory / "hours.csv",
        basemap=directory / "basemap.geojson",
        city=city,
        rows=0,
    )
    with _all_or_none(files, overwrite) as (visits_path, places_path, hours_path, covers_path, basemap_path):
        hours = [f"{hour},{weight / 10}" for hour, weight in enumerate(HOURS)]
        hours_path.write_text("\n".join(["hour,weight", *hours]) + "\n", encoding="utf-8")
        basemap_path.write_bytes(backdrop())
        covers_path.write_text(f'covers = "{FIRST_DAY}T00:00+09:00/P{city.days}D"\n', encoding="utf-8")
        _places(city.venues, integer_ids).write_csv(places_path)
        rows = _write_visits(city, visits_path, homes=homes, integer_ids=integer_ids, progress=progress)
    return replace(files, rows=rows)


@contextmanager
def _all_or_none(files: CityFiles, overwrite: bool) -> Iterator[tuple[Path, ...]]:
    finals = (files.visits, files.places, files.hours, files.visits.with_name(COVERS), files.basemap)
    for path in finals:
        if path.exists() and not overwrite:
            raise CannotWrite(
                f"{path} exists already.",
                "Choose another directory, or add `overwrite=True` to replace the city.",
            )
    partial = tuple(path.with_suffix(".partial") for path in finals)
    try:
        files.visits.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            for made, final in zip(partial, finals, strict=True):
                made.replace(final)
        finally:
            for path in partial:
                path.unlink(missing_ok=True)
    except (OSError, pl.exceptions.ComputeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CannotWrite(
            f"The city cannot be written to {files.visits.parent}: {reason}.",
            "Choose a directory that can be written and has room.",
        ) from error


def _places(venues: Venues, integer_ids: bool) -> pl.DataFrame:
    regions = venues.ground.region[venues.area]
    return pl.DataFrame(
        {
            "place": np.arange(1, len(venues) + 1) if integer_ids else venues.ids(),
            "name": venues.names(),
            "latitude": _decimal(venues.latitude),
            "longitude": _decimal(venues.longitude),
            "region": [REGIONS[region] for region in regions],
            "popularity": venues.popularity,
            "kind": [KINDS[kind].name for kind in venues.kind],
        }
    )


def _decimal(millionths: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[float]:
    # Through text, so that the nearest float to the decimal is what is written and read back.
    return [float(f"{value // 1_000_000}.{value % 1_000_000:06}") for value in millionths.tolist()]


def _write_visits(city: City, path: Path, *, homes: bool, integer_ids: bool, progress: Progress) -> int:
    names = _Names(city, integer_ids)
    rows = 0
    stopped: list[BaseException] = []

    def blocks(
        _columns: list[str] | None, _predicate: pl.Expr | None, _rows: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        nonlocal rows
        try:
            for block in range(city.blocks):
                progress(block / city.blocks, f"Making the days of {city.people:,} people")
                stays = city.stays(block)
                frame = names.frame(_with_homes(stays, city) if homes else stays)
                rows += len(frame)
                yield frame
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
            # Raised below, when the writer has ended: it would go on beside us, and make the file again.
            stopped.append(error)

    register_io_source(blocks, schema=names.schema).sink_parquet(path, row_group_size=500_000)
    if stopped:
        raise stopped[0]
    return rows


class _Names:
    """Turns numbers of people and places into the ids of the files, minutes into moments."""

    def __init__(self, city: City, integer_ids: bool) -> None:
        self._integer, self._places = integer_ids, len(city.venues)
        self._width = max(5, len(str(city.people)))
        self._ids = pl.Series(city.venues.ids(), dtype=pl.String)
        midnight = datetime(FIRST_DAY.year, FIRST_DAY.month, FIRST_DAY.day, tzinfo=ZONE)
        self._midnight = int(midnight.timestamp()) * 1_000_000
        identity = pl.Int64 if integer_ids else pl.String
        self.schema = {"person": identity, "place": identity, "start": _TIME, "end": _TIME}

    def frame(self, stays: Stays) -> pl.DataFrame:
        """One block of stays as rows."""
        if self._integer:
            person, place = pl.Series(stays.person + 1), pl.Series(stays.place + 1)
        else:
            person, place = self._text(stays)
        return pl.DataFrame(
            {
                "person": person,
                "place": place,
                "start": self._moment(stays.start),
                "end": self._moment(stays.end),
            }
        )

    def _text(self, stays: Stays) -> tuple[pl.Series, pl.Series]:
        first = int(stays.person[0]) // BLOCK * BLOCK if len(stays) else 0
        number = pl.Series(np.arange(first + 1, first + BLOCK + 1)).cast(pl.String).str.zfill(self._width)
        person = ("p" + number).gather(stays.person - first)
        listed = stays.place < self._places
        place = self._ids.gather(np.where(listed, stays.place, 0))
        if not listed.all():
            place = place.zip_with(pl.Series(listed), ("home-" + number).gather(stays.person - first))
        return person, place

    def _moment(self, minutes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
        moments = pl.Series(minutes * _MINUTE + self._midnight).cast(pl.Datetime("us", "UTC"))
        return moments.dt.convert_time_zone("Asia/Tokyo")


def _with_homes(stays: Stays, city: City) -> Stays:
    """The stays and, between them, those at home: a place of one's own after the last listed one."""
    person, last = stays.person, city.days * DAY
    opens = np.concatenate([[True], person[1:] != person[:-1]]) if len(stays) else np.zeros(0, dtype=bool)
    closes = np.concatenate([opens[1:], [True]]) if len(stays) else opens
    began = np.where(opens, 0, np.concatenate([[0], stays.end[:-1]]) + 15) if len(stays) else stays.start
    before = (began, stays.start - 15, person)
    after = (stays.end[closes] + 15, np.full(int(closes.sum()), last), person[closes])
    start, end, who = (np.concatenate(part) for part in zip(before, after, strict=True))
    long_enough = end - start >= _AT_HOME_FROM
    start, end, who = start[long_enough], end[long_enough], who[long_enough]
    everyone = np.concatenate([person, who])
    place = np.concatenate([stays.place, len(city.venues) + who])
    starts, ends = np.concatenate([stays.start, start]), np.concatenate([stays.end, end])
    order = np.lexsort((starts, everyone))
    return Stays(person=everyone[order], place=place[order], start=starts[order], end=ends[order])
