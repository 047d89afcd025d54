"""Dataframes of every engine and scans of files, with columns named by role and identifiers as text or
integers.

Columns of Python objects in pandas are looked at as a whole: engines infer a type from the first values,
after which 1, True and 1.0 would be one person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import narwhals as nw
import polars as pl
from narwhals.exceptions import NarwhalsError

from safeside.errors import BadQuestion, MissingExtra
from safeside.visits.read.format import VisitFormat
from safeside.visits.read.identifiers import canonical, floats, polars_bytes_as_text, sql_bytes_as_text
from safeside.visits.read.roles import Roles
from safeside.visits.read.text_values import read_text
from safeside.visits.times.clocks import zone_of

ROW: Final = "row number"
_PROMISES: Final = re.compile(r"sort|python|\bdf \[|cache|merge", re.IGNORECASE)
"""Steps of a Polars plan that may carry a sortedness flag: set_sorted, Python functions, dataframes in
memory.
"""
_ANY: Final = ("string", "empty")
_IDS: Final = (*_ANY, "bytes", "integer", "decimal")
_KINDS: Final = {
    "person": _IDS,
    "place": _IDS,
    "state": _ANY,
    "start": (*_ANY, "integer", "datetime64", "datetime", "date"),
    "end": (*_ANY, "integer", "datetime64", "datetime", "date"),
    "time": (*_ANY, "integer", "datetime64", "datetime"),
    "date": (*_ANY, "datetime64", "datetime", "date"),
}
_NUMBERS: Final = (*_ANY, "floating", "integer", "mixed-integer-float", "decimal")
VALUE: Final = "value "
"""Begins the role of a column whose values, of a declared domain, say who is counted."""
_VALUES: Final = (*_ANY, "integer", "boolean")
_BYTES: Final = "UTF8_BINARY"
Frame = nw.LazyFrame[Any]
AnyFrame = nw.DataFrame[Any] | nw.LazyFrame[Any]


def from_native(visits: Any) -> tuple[AnyFrame, list[str]]:
    """The dataframe, and the names of its columns."""
    try:
        frame = nw.from_native(visits)
        names = frame.collect_schema().names()
    except TypeError:
        raise BadQuestion(
            f"Visits cannot be read from a {type(visits).__name__}.",
            "Give a path, a glob, or a pandas, Polars, PyArrow, DuckDB or PySpark dataframe.",
        ) from None
    except NarwhalsError:
        raise _same_name() from None
    if len(set(names)) < len(names):
        raise _same_name()
    if not all(isinstance(name, str) for name in names):
        raise BadQuestion("The name of a column is not text.", "Rename the columns to text.")
    return frame, names


def _same_name() -> BadQuestion:
    return BadQuestion("Two columns have the same name.", "Rename one of them.")


def from_dataframe(chosen: AnyFrame, roles: Roles, declared: VisitFormat) -> tuple[Frame, Frame | None]:
    """The frame, and the same with numbered rows where the engine keeps rows in order."""
    engine = str(chosen.implementation)
    if isinstance(chosen, nw.DataFrame) and engine != "polars":
        chosen = _in_utc(chosen, roles)
    objects = isinstance(chosen, nw.DataFrame) and has_objects(chosen, roles)
    schema = chosen.collect_schema()
    # narwhals does not know every type of pandas (zones such as America/New_York); Polars does.
    here = isinstance(chosen, nw.DataFrame)
    unknown = here and any(schema[role] == nw.Unknown for role in (*roles.times, *_ids(roles)))
    in_bytes = here and any(schema[role] == nw.Binary for role in _ids(roles))
    if (objects or unknown or in_bytes or _text_roles(schema, roles)) and engine != "polars":
        if isinstance(chosen, nw.LazyFrame):
            raise _text_in(engine)
        chosen, engine = nw.from_native(_to_polars(chosen, roles)), "polars"
    native = chosen.to_native()
    _refuse_float_categories(native, roles, engine)
    if engine.startswith("pyspark"):
        plain = _spark_byte_by_byte(native)
        chosen = chosen if plain is native else nw.from_native(plain)
    if engine == "duckdb":
        return _typed(nw.from_native(_duckdb_byte_by_byte(native, schema)), roles), None
    if engine == "polars":
        lazy = _as_it_is(native)
        numbered = prepare(lazy, roles, declared, renamed=True, numbered=True)
        return prepare(lazy, roles, declared, renamed=True), numbered
    if isinstance(chosen, nw.DataFrame):
        return _typed(chosen.lazy(), roles), _typed(chosen.with_row_index(ROW).lazy(), roles)
    return _typed(chosen, roles), None


def _in_utc(chosen: nw.DataFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Times converted to UTC: PyArrow does not compare two zones, and UTC+05:30 is not in the tz database."""
    zones = {role: getattr(chosen.schema[role], "time_zone", None) for role in roles.times}
    others = {role: zone_of(zone) for role, zone in zones.items() if zone not in (None, "UTC")}
    return chosen.with_columns(nw.col(role).dt.convert_time_zone("UTC") for role in others)


def _as_it_is(frame: pl.DataFrame | pl.LazyFrame) -> pl.LazyFrame:
    """The dataframe without sortedness flags (set_sorted): with a wrong one Polars would search by bisection
    and lose rows. Going through a struct drops them.
    """
    if isinstance(frame, pl.LazyFrame):
        # A plain scan has no flags, and left as it is the filter is pushed into it.
        plan = frame.explain(optimized=False)
        bare = "SCAN" in plan and not _PROMISES.search(plan)
        if bare or pl.Object in frame.collect_schema().dtypes():
            return frame
        return frame.select(pl.struct(pl.all()).alias(ROW)).unnest(ROW)
    promised = [column.name for column in frame if any(column.flags.values()) and column.dtype != pl.Object]
    return frame.with_columns(
        frame.select(name).to_struct().struct.unnest()[name] for name in promised
    ).lazy()


def _duckdb_byte_by_byte(relation: Any, schema: nw.Schema) -> Any:
    """Without collations, under which DuckDB takes two people for one (NOCASE: ana and ANA)."""

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


def _spark_byte_by_byte(visits: Any) -> Any:
    """Without collations, under which Spark takes two people for one (UTF8_LCASE: ana and ANA); bytes as
    text.
    """
    from pyspark.sql import functions

    fields = visits.schema.fields
    collated = [f.name for f in fields if getattr(f.dataType, "collation", _BYTES) != _BYTES]
    plain = {name: functions.collate(functions.col(name), _BYTES) for name in collated}
    for name in (f.name for f in fields if f.dataType.typeName() == "binary"):
        plain[name] = functions.expr(sql_bytes_as_text(f"`{name}`", spark=True))
    return visits.withColumns(plain) if plain else visits


def _refuse_float_categories(native: Any, roles: Roles, engine: str) -> None:
    """Refuse dictionary-encoded floating-point identifiers: cast to text they look whole."""
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
    except (TypeError, ValueError, OverflowError, NarwhalsError):
        # As PyArrow refuses numbers that are too large.
        raise mixed_kinds(roles.columns.values()) from None
    except ModuleNotFoundError:
        raise MissingExtra(
            "Text in this dataframe can be read only with the package pyarrow.", "Run pip install pyarrow."
        ) from None


def has_objects(chosen: nw.DataFrame[Any], roles: Roles) -> bool:
    """Whether a pandas column holds Python objects other than text; refused if they are of several kinds, or
    of one that cannot play the role.
    """
    if not chosen.implementation.is_pandas():
        return False
    from pandas.api.types import infer_dtype

    table, found = chosen.to_native(), False
    for role, column in roles.columns.items():
        values = table[role]
        categories = getattr(values.dtype, "categories", None)
        held = values if categories is None else categories
        if held.dtype != object:
            continue
        kind = infer_dtype(held, skipna=True)
        allowed = _VALUES if role.startswith(VALUE) else _KINDS.get(role, _NUMBERS)
        if kind not in allowed or (categories is not None and kind not in _ANY):
            raise mixed_kinds([column])
        found = found or kind not in _ANY
    return found


def mixed_kinds(columns: Iterable[str]) -> BadQuestion:
    """The refusal of a column of mixed or unreadable values."""
    return BadQuestion(
        f"Column {' or '.join(columns)} holds values of several kinds, or of one that cannot be read.",
        "Turn the whole column into text, whole numbers or timestamps, keeping missing values missing.",
    )


def _joined(columns: tuple[str, ...], held: pl.Schema) -> pl.Expr:
    """The column; or of a date and a time of day their text with a blank between, null if either is."""
    if len(columns) == 1:
        return pl.col(columns[0])
    day, hour = map(pl.col, columns)
    if isinstance(held[columns[0]], pl.Datetime):  # as pandas keeps dates: with the hours of midnight
        day = pl.when(day.dt.truncate("1d") == day).then(day.dt.date())
    return pl.concat_str([day.cast(pl.String), hour.cast(pl.String)], separator=" ")


def join_times(frame: AnyFrame, roles: Roles) -> AnyFrame:
    """The dataframe in Polars, with a column day+hour for the two columns day and hour."""
    engine = str(frame.implementation)
    if isinstance(frame, nw.LazyFrame) and engine != "polars":
        raise _text_in(engine)
    if isinstance(frame, nw.DataFrame) and engine != "polars":
        alone = {role: column for role, column in roles.columns.items() if role not in roles.joined}
        has_objects(
            frame.select(nw.col(c).alias(role) for role, c in alone.items()), replace(roles, columns=alone)
        )
        read = dict.fromkeys(column for role in roles.columns for column in roles.read(role))
        frame = nw.from_native(_to_polars(frame.select(*read), roles))
    native: pl.DataFrame | pl.LazyFrame = frame.to_native()
    held = native.collect_schema()
    both = [_joined(pair, held).alias(roles.columns[role]) for role, pair in roles.joined.items()]
    return nw.from_native(native.with_columns(both))


def _text_in(engine: str) -> BadQuestion:
    return BadQuestion(
        f"Times or coordinates in the {engine} dataframe are text.",
        "Cast them to timestamps, dates or numbers in the dataframe first.",
    )


def _text_roles(schema: nw.Schema, roles: Roles) -> dict[str, str]:
    """Text columns that should be times or coordinates, and which of them."""
    numbers = dict.fromkeys(("latitude", "longitude", "accuracy"), "number")
    kinds = numbers | {role: role for role in roles.times}
    return {role: kinds[role] for role in roles.columns if role in kinds and schema[role] == nw.String}


def prepare(
    frame: pl.LazyFrame, roles: Roles, declared: VisitFormat, *, renamed: bool = False, numbered: bool = False
) -> Frame:
    """A Polars frame with columns named by role, text parsed, and identifiers as text or integers."""
    if not renamed:
        held = frame.collect_schema()
        frame = frame.select(_joined(roles.read(role), held).alias(role) for role in roles.columns)
    if numbered:
        # Only now: the file may have a column of that name.
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
