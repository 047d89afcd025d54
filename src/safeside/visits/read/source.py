"""Visits opened from files or a dataframe: one lazy frame with columns named by role."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import polars as pl

from safeside.errors import BadFile, BadQuestion
from safeside.progress import Progress, quiet
from safeside.visits.findings import Doubt, Finding, RowLocation, stop_on
from safeside.visits.read.csv_bytes import lines_of
from safeside.visits.read.dataframes import Frame, from_dataframe, from_native, join_times, prepare
from safeside.visits.read.files import Opened, Run, open_files
from safeside.visits.read.fingerprint import Fingerprint
from safeside.visits.read.format import VisitFormat
from safeside.visits.read.identifiers import is_text
from safeside.visits.read.roles import PlaceForm, Roles, TimeForm, assign_roles
from safeside.visits.read.text_values import CLOCKS_OF_UTC, epoch_not_declared, text_of
from safeside.visits.times.clocks import Clock, Epoch, FloatEpoch, LocalDates, LocalStamps, Stamps
from safeside.words import length, said

Assign = Callable[[Collection[str], VisitFormat], Roles]
_ENGINES: Final = ("narwhals", "pandas", "pyarrow", "duckdb", "_duckdb", "pyspark", "py4j")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Visits ready for queries: columns by role, how each tells the time, and findings about the files."""

    frame: Frame
    numbered: Frame | None
    roles: Roles
    types: Mapping[str, nw.dtypes.DType]
    clocks: Mapping[str, Clock]
    texts: frozenset[str]
    engine: str
    opened: Opened | None
    findings: tuple[Finding, ...]
    declared: VisitFormat
    progress: Progress
    kept: Sequence[Run] | None = None
    """The runs of rows that are read of its tables, where that is not all of them."""

    @property
    def first(self) -> Frame:
        """The same rows, of which a look at the first few takes little time.

        Tables are read without the condition that finds every row (`Opened.scan`): a look may choose a way to
        count, and decide nothing else.
        """
        if self.opened is None:
            return self.frame
        kept, columns = self.kept, self._columns
        rows = self.opened.scan() if kept is None else self.opened.scan_runs(kept[:1], columns)
        return prepare(rows, self.roles, self.declared)

    @property
    def _columns(self) -> list[str]:
        """The columns of tables that are read."""
        return list(dict.fromkeys(name for role in self.roles.columns for name in self.roles.read(role)))

    @property
    def text_persons(self) -> bool:
        """Whether identifiers of people are text, which may have lost zeros or digits in an export."""
        return is_text(self.types["person"])

    @property
    def rows(self) -> int | None:
        """How many rows the files say they have; None for dataframes."""
        return None if self.opened is None else self.opened.rows

    def parts(self) -> Iterator[tuple[Frame, Path | None]]:
        """The visits file by file with row numbers, to locate faults."""
        if self.opened is None:
            yield (self.frame if self.numbered is None else self.numbered), None
            return
        for path in self.opened.filled:
            yield prepare(self.opened.scan(path), self.roles, self.declared, numbered=True), path

    def file(self, path: Path, *, by: str | None = None) -> Frame:
        """The rows of one of the files; of a table by a condition on a column, if named."""
        assert self.opened is not None
        return prepare(self.opened.scan(path, by=by), self.roles, self.declared)

    def only(self, kept: Sequence[Run]) -> Source:
        """The same source with fewer rows of its tables."""
        assert self.opened is not None
        rows = self.opened.scan_runs(kept, self._columns, by=self.roles.always)
        return replace(self, frame=prepare(rows, self.roles, self.declared), kept=kept)

    def where(self, path: Path | None, rows: list[int]) -> tuple[RowLocation, ...]:
        """Row numbers from 0 as a person finds them: lines of a text file, rows of a table from 1."""
        name = "" if path is None else path.name
        if path is None or self.opened is None or not self.opened.text:
            return tuple(RowLocation(file=name, line=row + 1, unit="row") for row in rows)
        broken = any(found.doubt is Doubt.LINE_BREAK for found in self.opened.findings)
        return tuple(RowLocation(file=name, line=line) for line in lines_of(path, rows, broken=broken))


def open_paths(visits: Any, declared: VisitFormat, *, key: bytes | None, progress: Progress) -> Opened | None:
    """The files, where visits are a path, a glob, a directory or a list of them; None for a dataframe."""
    if isinstance(visits, str | Path) or (isinstance(visits, list | tuple) and visits):
        quotes = not declared.no_quotes
        return open_files(visits, declared.separator, Fingerprint(key), progress, quotes=quotes)
    return None


def open_visits(
    visits: Any,
    opened: Opened | None,
    declared: VisitFormat,
    *,
    assign: Assign = assign_roles,
    progress: Progress = quiet,
) -> Source:
    """Rows of files or a dataframe, with their columns by the roles that `assign` gives them."""
    numbered: Frame | None = None
    if opened is not None:
        stop_on(opened.illegible)
        roles = assign(opened.columns, declared)
        opened.require_same_types(column for role in roles.columns for column in roles.read(role))
        _require_known_clock(opened, roles, declared)
        frame = prepare(opened.scan(by=roles.always), roles, declared)
    else:
        native, names = from_native(visits)
        roles = assign(names, declared)
        if roles.joined:
            native = join_times(native, roles)
        if roles.unused or any(role != column for role, column in roles.columns.items()):
            renamed = (c if role == c else nw.col(c).alias(role) for role, c in roles.columns.items())
            native = native.select(renamed)
        frame, numbered = from_dataframe(native, roles, declared)
    schema = frame.collect_schema()
    engine = str(frame.implementation)
    clocks = {role: _clock(roles, role, schema[role], declared, engine) for role in roles.times}
    if len({type(clock) for clock in clocks.values()}) > 1:
        raise BadQuestion(
            "Start and end tell the time in different ways.", "Give both as timestamps, or both as dates."
        )
    findings = [] if opened is None else list(opened.findings)
    if roles.unused:
        reason = f"columns not used: {', '.join(name or 'one without a name' for name in roles.unused)}"
        do = "Nothing, unless one of them says which rows should not count."
        findings.append(Finding(doubt=Doubt.UNUSED_COLUMNS, reason=reason, do=do, stops=False))
    return Source(
        frame=frame,
        numbered=numbered,
        roles=roles,
        types={role: schema[role] for role in roles.columns},
        clocks=clocks,
        texts=frozenset(role for role in roles.columns if text_of(role) in schema.names()),
        engine=engine,
        opened=opened,
        findings=tuple(findings),
        declared=declared,
        progress=progress,
    )


def _require_known_clock(opened: Opened, roles: Roles, declared: VisitFormat) -> None:
    """Refuse INT96 times, which Spark writes in UTC, unless UTC is declared."""
    old = opened.legacy_times(column for role in roles.times for column in roles.read(role))
    if old and declared.timezone not in CLOCKS_OF_UTC:
        raise BadQuestion(
            f"The times in column {old[0]} are of an old kind (INT96), which Spark writes in UTC and others"
            " on a clock that nobody can tell.",
            'Declare `timezone="UTC"` if Spark wrote the files; otherwise write them again with zoned times.',
        )


def _clock(roles: Roles, role: str, dtype: nw.dtypes.DType, declared: VisitFormat, engine: str) -> Clock:
    column = roles.columns[role]
    if isinstance(dtype, nw.Datetime):
        stamps = Stamps(dtype=dtype, polars=engine == "polars", spark=engine.startswith("pyspark"))
        zone = dtype.time_zone
        if roles.when is TimeForm.DATES and zone is None:
            return LocalDates(local=_local(column, declared), midnights=stamps)
        if roles.when is not TimeForm.DATES:
            return stamps if zone is not None else LocalStamps(stamps=stamps, local=_local(column, declared))
    if dtype == nw.Date and roles.when is not TimeForm.SIGHTINGS:
        return LocalDates(local=_local(column, declared), midnights=None)
    if (dtype.is_integer() or dtype.is_float()) and roles.when is not TimeForm.DATES:
        if declared.epoch is None:
            raise epoch_not_declared(column)
        return FloatEpoch(unit=declared.epoch) if dtype.is_float() else Epoch(unit=declared.epoch)
    wanted = "date" if roles.when is TimeForm.DATES else "time"
    raise BadQuestion(
        f"Column {column} holds {dtype}, which is not a {wanted}.",
        "Map timestamps as start and end or as time, and dates as date.",
    )


def _local(column: str, declared: VisitFormat) -> Any:
    local = declared.local
    if local is None:
        raise BadQuestion(
            f"The times in column {column} have no zone, and none is declared.",
            'Declare the zone whose clock they show (`timezone="Asia/Tokyo"`).',
        )
    return local


def exclusions(source: Source, *, exclude_unknown_places: bool) -> tuple[str, ...]:
    """What was left out, in sentences that every answer carries."""
    declared = source.declared
    excluded = exclude_unknown_places and source.roles.where is PlaceForm.PLACES
    left_out: list[str] = [said("counted.unlisted")] if excluded else []
    if declared.stay_rule is not None:
        left_out.append(declared.stay_rule.sentence())
    if source.roles.movement:
        first, *others = declared.stay_states
        either = reduce(lambda one, other: said("counted.or", first=one, last=other), others, first)
        left_out.append(said("counted.states", states=either))
    trusted = {
        "ids": declared.trust_ids,
        "times": declared.trust_times,
        "places": declared.trust_places and excluded,
        "coordinates": declared.trust_coordinates and source.roles.where is PlaceForm.COORDINATES,
    }
    return (*left_out, *(said(f"counted.trust-{what}") for what in trusted if trusted[what]))


def whole_days(source: Source) -> bool:
    """Whether every row stands for whole local days, however short the time asked about is."""
    dated = source.roles.when is TimeForm.STAYS and isinstance(source.clocks["start"], LocalDates)
    return dated or source.roles.when is TimeForm.DATES


def describe(source: Source) -> str:
    """What counts as a visit, in one sentence."""
    declared = source.declared
    at = said("counted.place")
    if declared.radius is not None:
        wider = "-accuracy" if "accuracy" in source.roles.columns else ""
        at = said(f"counted.point{wider}", radius=f"{declared.radius:g}")
    elif declared.h3_resolution is not None:
        at = said("counted.cells", resolution=str(declared.h3_resolution), n=declared.h3_rings)
    if source.roles.when is TimeForm.DATES:
        return said("counted.date", at=at)
    if whole_days(source):
        return said("counted.dates", at=at)
    if source.roles.when is TimeForm.STAYS or declared.stay_rule is not None:
        return said("counted.stay", at=at)
    return said("counted.sighting", at=at, length=length(declared.held or timedelta(0)))


@contextmanager
def reading(opened: Opened | None, what: str = "visits") -> Iterator[None]:
    """Turn an engine's failure into an error of ours: its own message may quote the data."""
    try:
        yield
    except BadFile:
        # If the file changed meanwhile, say that: the finding may hold of neither state.
        if opened is not None:
            opened.require_unchanged()
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if opened is not None:
            opened.require_unchanged()
        raise BadFile(
            f"The {what} cannot be read to the end ({type(error).__name__}).",
            "Export the files again; one of them is damaged or cut off.",
        ) from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _ENGINES:
            raise
        raise BadFile(
            f"The {what} cannot be read to the end ({type(error).__name__}).",
            "Look at the dataframe with its own engine; columns of the same kind must have the same type.",
        ) from None
    if opened is not None:
        opened.require_unchanged()


def row_not_found_again() -> BadFile:
    """A row was doubtful in the first pass and not found in the second."""
    return BadFile(
        "A doubtful row was seen, and not found again.",
        "Try again once nothing writes to the data; if it happens again, report it.",
    )
