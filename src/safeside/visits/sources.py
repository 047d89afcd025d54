"""Opening visits, wherever they are: one lazy frame whose columns are called by their roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import polars as pl
from narwhals.exceptions import NarwhalsError

from safeside.errors import BadFile, BadQuestion, MissingExtra
from safeside.progress import Progress
from safeside.visits.clocks import Clock, Epoch, LocalDates, LocalStamps, Stamps, zone_of
from safeside.visits.csvfile import lines_of
from safeside.visits.files import Fingerprint, Opened, open_files
from safeside.visits.format import Roles, VisitFormat, When, assign_roles
from safeside.visits.ids import canonical, floats, is_text, polars_bytes_as_text, sql_bytes_as_text
from safeside.visits.objects import hold_objects, several_kinds
from safeside.visits.report import Doubt, Finding, Where, stop_on
from safeside.visits.spark import byte_by_byte
from safeside.visits.texttimes import CLOCKS_OF_UTC, only_numbers, read_text, text_of

ROW: Final = "row number"
_ENGINES: Final = ("narwhals", "pandas", "pyarrow", "duckdb", "_duckdb", "pyspark", "py4j")
Frame = nw.LazyFrame[Any]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Visits ready to be asked: columns by role, how each tells the time, and what was noticed on the way."""

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

    @property
    def text_persons(self) -> bool:
        """Whether people are identified by text, which may have lost zeros or digits on its way."""
        return is_text(self.types["person"])

    @property
    def rows(self) -> int | None:
        """How many rows the files say they have; None for dataframes."""
        return None if self.opened is None else self.opened.rows

    def parts(self) -> Iterator[tuple[Frame, Path | None]]:
        """The visits again, file by file and with numbered rows, to find out where something is wrong."""
        if self.opened is None:
            yield (self.frame if self.numbered is None else self.numbered), None
            return
        for path in self.opened.paths:
            yield _prepare(self.opened.scan(path), self.roles, self.declared, numbered=True), path

    def where(self, path: Path | None, rows: list[int]) -> tuple[Where, ...]:
        """Row numbers from 0 as a person finds them: lines of a text file, rows of a table."""
        if path is None:
            return tuple(Where(file="", line=row + 1, unit="row") for row in rows)
        if self.opened is not None and self.opened.text:
            broken = any(found.doubt is Doubt.LINE_BREAK for found in self.opened.findings)
            return tuple(Where(file=path.name, line=line) for line in lines_of(path, rows, broken=broken))
        return tuple(Where(file=path.name, line=row + 1, unit="row") for row in rows)


def open_paths(visits: Any, declared: VisitFormat, *, key: bytes | None, progress: Progress) -> Opened | None:
    """The files, where visits are a path, a glob, a directory or a list of them; None for a dataframe."""
    if isinstance(visits, str | Path) or (isinstance(visits, list | tuple) and visits):
        return open_files(visits, declared.separator, Fingerprint(key), progress)
    return None


def open_visits(visits: Any, opened: Opened | None, declared: VisitFormat) -> Source:
    """Visits with their columns by role, from files that were opened or from a dataframe."""
    if opened is not None:
        stop_on(opened.illegible)
        roles = assign_roles(opened.columns, declared)
        opened.require_same_types(roles.columns.values())
        _require_known_clock(opened, roles, declared)
        frame = _prepare(opened.scan(), roles, declared)
        return _source(frame, None, roles, declared, opened)
    native, engine = _from_native(visits)
    roles = assign_roles(_names(native), declared)
    renamed = (c if role == c else nw.col(c).alias(role) for role, c in roles.columns.items())
    as_is = not roles.unused and all(role == column for role, column in roles.columns.items())
    chosen = native if as_is else native.select(renamed)
    frame, numbered = _from_dataframe(chosen, roles, declared, engine)
    return _source(frame, numbered, roles, declared, None)


def _require_known_clock(opened: Opened, roles: Roles, declared: VisitFormat) -> None:
    """Refuse times that Spark would have written in UTC, read on any other clock."""
    old = opened.old_times(roles.columns[role] for role in roles.times)
    if old and declared.timezone not in CLOCKS_OF_UTC:
        raise BadQuestion(
            f"The times in column {old[0]} are of an old kind (INT96), which Spark writes in UTC and others"
            " on a clock that nobody can tell.",
            "Declare --timezone UTC if Spark wrote the files; otherwise write them again with zoned times.",
        )


def _from_native(visits: Any) -> tuple[nw.DataFrame[Any] | nw.LazyFrame[Any], str]:
    try:
        frame = nw.from_native(visits)
    except TypeError:
        raise BadQuestion(
            f"Visits cannot be read from a {type(visits).__name__}.",
            "Give a path, a glob, or a pandas, Polars, PyArrow, DuckDB or PySpark dataframe.",
        ) from None
    except NarwhalsError:
        raise _same_name() from None
    return frame, str(frame.implementation)


def _names(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[str]:
    try:
        names = frame.collect_schema().names()
    except NarwhalsError:
        raise _same_name() from None
    if len(set(names)) < len(names):
        raise _same_name()
    if not all(isinstance(name, str) for name in names):
        raise BadQuestion("The name of a column is not text.", "Rename the columns to text.")
    return names


def _same_name() -> BadQuestion:
    return BadQuestion("Two columns have the same name.", "Rename one of them.")


def _from_dataframe(
    chosen: nw.DataFrame[Any] | nw.LazyFrame[Any], roles: Roles, declared: VisitFormat, engine: str
) -> tuple[Frame, Frame | None]:
    """The frame, and the same with numbered rows where the engine keeps rows in order."""
    if isinstance(chosen, nw.DataFrame) and engine != "polars":
        chosen = _in_utc(chosen, roles)
    objects = isinstance(chosen, nw.DataFrame) and hold_objects(chosen, roles)
    schema = chosen.collect_schema()
    # narwhals does not know every type of pandas (zones such as America/New_York); Polars does.
    here = isinstance(chosen, nw.DataFrame)
    unknown = here and any(schema[role] == nw.Unknown for role in (*roles.times, *_ids(roles)))
    in_bytes = here and any(schema[role] == nw.Binary for role in _ids(roles))
    if (objects or unknown or in_bytes or _text_roles(schema, roles)) and engine != "polars":
        if isinstance(chosen, nw.LazyFrame):
            raise BadQuestion(
                f"Times or coordinates in the {engine} dataframe are text.",
                "Cast them to timestamps, dates or numbers in the dataframe first.",
            )
        chosen, engine = nw.from_native(_to_polars(chosen, roles)), "polars"
    native = chosen.to_native()
    _refuse_float_categories(native, roles, engine)
    if engine.startswith("pyspark"):
        plain = byte_by_byte(native)
        chosen = chosen if plain is native else nw.from_native(plain)
    if engine == "duckdb":
        return _typed(nw.from_native(_byte_by_byte(native, schema)), roles), None
    if engine == "polars":
        lazy = _as_it_is(native)
        numbered = _prepare(lazy, roles, declared, renamed=True, numbered=True)
        return _prepare(lazy, roles, declared, renamed=True), numbered
    if isinstance(chosen, nw.DataFrame):
        return _typed(chosen.lazy(), roles), _typed(chosen.with_row_index(ROW).lazy(), roles)
    return _typed(chosen, roles), None


def _in_utc(chosen: nw.DataFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """The same moments, called by UTC: PyArrow does not compare times of two zones, and offsets such as
    UTC+05:30 have no name in the tz database.
    """
    zones = {role: getattr(chosen.schema[role], "time_zone", None) for role in roles.times}
    others = {role: zone_of(zone) for role, zone in zones.items() if zone not in (None, "UTC")}
    return chosen.with_columns(nw.col(role).dt.convert_time_zone("UTC") for role in others)


def _as_it_is(frame: pl.DataFrame | pl.LazyFrame) -> pl.LazyFrame:
    """The dataframe without what somebody promised of its order (set_sorted): Polars would search in it
    where it should compare, and leave out whatever is out of order. A struct keeps no promise of its fields.
    """
    if isinstance(frame, pl.LazyFrame):
        # What is yet to be read from files comes without promises, and is filtered while it is read.
        if "SCAN" in frame.explain(optimized=False) or pl.Object in frame.collect_schema().dtypes():
            return frame
        return frame.select(pl.struct(pl.all()).alias(ROW)).unnest(ROW)
    promised = [column.name for column in frame if any(column.flags.values()) and column.dtype != pl.Object]
    return frame.with_columns(
        frame.select(name).to_struct().struct.unnest()[name] for name in promised
    ).lazy()


def _byte_by_byte(relation: Any, schema: nw.Schema) -> Any:
    """The relation without collations, under which DuckDB takes two people for one (NOCASE: ana and ANA)."""

    def plain(name: str) -> str:
        text = f'"{name}"'
        if schema[name] == nw.Binary:
            text = sql_bytes_as_text(text, spark=False)
        elif schema[name] == nw.Enum:
            text = f"CAST({text} AS VARCHAR)"
        elif schema[name] != nw.String:
            return text
        return f'{text} COLLATE C AS "{name}"'

    return relation.project(", ".join(map(plain, schema)))


def _refuse_float_categories(native: Any, roles: Roles, engine: str) -> None:
    """Refuse identifiers that are floating-point numbers behind a dictionary: as text they look whole."""
    for role in _ids(roles):
        kind: Any = None
        if engine == "pyarrow":
            kind = getattr(native.schema.field(role).type, "value_type", None)
        elif engine == "pandas":
            dtype = native.dtypes[role]
            categories = getattr(dtype, "categories", None)
            kind = getattr(getattr(dtype, "pyarrow_dtype", None), "value_type", None)
            kind = kind if categories is None else categories.dtype
        if any(word in str(kind).lower() for word in ("float", "double")):
            raise floats(roles.columns[role])


def _to_polars(frame: nw.DataFrame[Any], roles: Roles) -> pl.DataFrame:
    try:
        return frame.to_polars()
    except (
        TypeError,
        ValueError,
        OverflowError,
        NarwhalsError,
    ):  # as PyArrow refuses numbers that are too large
        raise several_kinds(roles.columns.values()) from None
    except ModuleNotFoundError:
        raise MissingExtra(
            "Text in this dataframe can be read only with the package pyarrow.", "Run pip install pyarrow."
        ) from None


def _text_roles(schema: nw.Schema, roles: Roles) -> dict[str, str]:
    """Which columns are text although they should tell a time or a coordinate, and what they should be."""
    kinds = {"start": "time", "time": "time", "end": "end", "date": "date"}
    kinds |= {"latitude": "number", "longitude": "number", "accuracy": "number"}
    return {role: kinds[role] for role in roles.columns if role in kinds and schema[role] == nw.String}


def _prepare(
    frame: pl.LazyFrame,
    roles: Roles,
    declared: VisitFormat,
    *,
    renamed: bool = False,
    numbered: bool = False,
) -> Frame:
    """A Polars frame with role names, text read, and identifiers comparable."""
    if not renamed:
        frame = frame.select(pl.col(column).alias(role) for role, column in roles.columns.items())
    if numbered:
        # Once only the roles are left: a file may have a column of that name.
        frame = frame.with_row_index(ROW)
    kinds = _text_roles(nw.from_native(frame).collect_schema(), roles)
    if kinds:
        frame = read_text(frame, kinds, roles.columns, declared)
    types = frame.collect_schema()
    in_bytes = [role for role in _ids(roles) if types[role] == pl.Binary]
    frame = frame.with_columns(polars_bytes_as_text(pl.col(role)).alias(role) for role in in_bytes)
    zones = {role: getattr(types[role], "time_zone", None) for role in roles.times}
    if len({zone for zone in zones.values() if zone}) > 1:
        frame = frame.with_columns(pl.col(r).dt.convert_time_zone("UTC") for r, zone in zones.items() if zone)
    return _typed(nw.from_native(frame), roles)


def _ids(roles: Roles) -> list[str]:
    """The roles that are played by identifiers."""
    return [role for role in ("person", "place") if role in roles.columns]


def _typed(frame: Frame, roles: Roles) -> Frame:
    schema = frame.collect_schema()
    ids = [canonical(role, schema[role], roles.columns[role]) for role in _ids(roles)]
    casts = [changed for changed in ids if changed is not None]
    if "state" in roles.columns and schema["state"] != nw.String:
        casts.append(nw.col("state").cast(nw.String))
    for role in ("latitude", "longitude", "accuracy"):
        if role in roles.columns and schema[role] != nw.Float64:
            if not schema[role].is_numeric():
                raise BadQuestion(
                    f"Column {roles.columns[role]} holds {schema[role]}, not a coordinate.",
                    "Give latitude and longitude as decimal degrees.",
                )
            casts.append(nw.col(role).cast(nw.Float64))
    return frame.with_columns(casts) if casts else frame


def _source(
    frame: Frame, numbered: Frame | None, roles: Roles, declared: VisitFormat, opened: Opened | None
) -> Source:
    schema = frame.collect_schema()
    engine = str(frame.implementation)
    clocks = {role: _clock(roles, role, schema[role], declared, engine) for role in roles.times}
    if len({type(clock) for clock in clocks.values()}) > 1:
        raise BadQuestion(
            "Start and end tell the time in different ways.", "Give both as timestamps, or both as dates."
        )
    findings = [] if opened is None else list(opened.findings)
    if roles.unused:
        reason = f"columns not used: {', '.join(roles.unused)}"
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
    )


def _clock(roles: Roles, role: str, dtype: nw.dtypes.DType, declared: VisitFormat, engine: str) -> Clock:
    column = roles.columns[role]
    if isinstance(dtype, nw.Datetime):
        stamps = Stamps(dtype=dtype, polars=engine == "polars", spark=engine.startswith("pyspark"))
        zone = dtype.time_zone
        if roles.when is When.DATES and zone is None:
            return LocalDates(local=_local(column, declared), midnights=stamps)
        if roles.when is not When.DATES:
            return stamps if zone is not None else LocalStamps(stamps=stamps, local=_local(column, declared))
    if dtype == nw.Date and roles.when is not When.SIGHTINGS:
        return LocalDates(local=_local(column, declared), midnights=None)
    if dtype.is_integer() and roles.when is not When.DATES:
        if declared.epoch is None:
            raise only_numbers(column)
        return Epoch(unit=declared.epoch)
    raise BadQuestion(
        f"Column {column} holds {dtype}, which is not a {'date' if roles.when is When.DATES else 'time'}.",
        "Map timestamps as start and end or as time, and dates as date.",
    )


def _local(column: str, declared: VisitFormat) -> Any:
    local = declared.local
    if local is None:
        raise BadQuestion(
            f"The times in column {column} have no zone, and none is declared.",
            "Declare the zone whose clock they show (--timezone Asia/Tokyo).",
        )
    return local


@contextmanager
def reading(opened: Opened | None) -> Iterator[None]:
    """Turn an engine's failure into a refusal; its own words are dropped, because they quote the data."""
    try:
        yield
    except BadFile:
        # What is wrong with a file that changed meanwhile may be wrong with neither of its states.
        if opened is not None:
            opened.require_unchanged()
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if opened is not None:
            opened.require_unchanged()
        raise BadFile(
            f"The visits cannot be read to the end ({type(error).__name__}).",
            "Export the files again; one of them is damaged or cut off.",
        ) from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _ENGINES:
            raise
        raise BadFile(
            f"The visits cannot be read to the end ({type(error).__name__}).",
            "Look at the dataframe with its own engine; columns of the same kind must have the same type.",
        ) from None
    if opened is not None:
        opened.require_unchanged()


def lost_again() -> BadFile:
    """A row was doubtful in one reading and not in the next."""
    return BadFile(
        "A doubtful row was seen, and not found again.",
        "Try again once nothing writes to the data; if it happens again, report it.",
    )
