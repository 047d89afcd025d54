"""The table of people: which column is what, and the checks of every row, on any engine that visits use."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any, Final

import narwhals as nw

from safeside.errors import BadQuestion
from safeside.groups.measures import Measure, Measures
from safeside.progress import Progress
from safeside.visits import Doubt, VisitFormat
from safeside.visits.count.row_checks import RowCheck, person_checks
from safeside.visits.read.dataframes import VALUE
from safeside.visits.read.files import Opened
from safeside.visits.read.format import GROUP
from safeside.visits.read.identifiers import is_text, missing
from safeside.visits.read.roles import PlaceForm, Roles, TimeForm, no_column
from safeside.visits.read.source import Source, open_visits

_USED: Final = ("columns", "separator", "no_quotes", "trust_ids", "timezone")
_TRUTH: Final = {"true": True, "false": False}


def require_people_format(declared: VisitFormat) -> None:
    """Refuse declarations about times and places, which a table of people has none of."""
    usual = VisitFormat()
    for name in VisitFormat.__dataclass_fields__:
        if name not in _USED and getattr(declared, name) != getattr(usual, name):
            raise BadQuestion(
                f"`{name}=` is about visits, and a table of people and their groups has none.",
                f"Leave `{name}=` out.",
            )
    other = [role for role in declared.names if role not in ("person", GROUP)]
    if other:
        raise BadQuestion(
            f"A column is mapped to {other[0]}, which a table of people and their groups does not use.",
            "Map person and group; a condition names its columns as the table does.",
        )


def open_people(
    people: Any, opened: Opened | None, declared: VisitFormat, counted: Measures, progress: Progress
) -> Source:
    """The table with its columns by role, from files that were opened or from a dataframe."""
    assign = partial(_roles, counted=counted)
    source = open_visits(people, opened, declared, assign=assign, progress=progress)
    for column in counted.columns:
        _require_comparable(column, source.types[role_of(column, counted)], counted)
    return source


def role_of(column: str, counted: Measures) -> str:
    """By number: the names of columns are the owner's, and may hold anything."""
    return f"{VALUE}{counted.columns.index(column)}"


def _roles(available: Collection[str], declared: VisitFormat, *, counted: Measures) -> Roles:
    names = declared.names
    wanted = {"person": names.get("person", "person"), "place": names.get(GROUP, GROUP)}
    for role, column in wanted.items():
        if column not in available:
            raise no_column(GROUP if role == "place" else role, column, available)
    for column in counted.columns:
        if column not in available:
            raise BadQuestion(
                f"There is no column {column}, by which people are counted. There are: "
                f"{', '.join(available)}.",
                "Name a column of the table in the condition, as the table writes it.",
            )
    if wanted["person"] == wanted["place"]:
        raise BadQuestion(
            f"Column {wanted['person']} is used for two things.",
            "Map each of the roles to a column of its own.",
        )
    columns = wanted | {role_of(column, counted): column for column in counted.columns}
    unused = tuple(column for column in available if column not in columns.values())
    return Roles(columns=columns, when=TimeForm.NEVER, where=PlaceForm.PLACES, unused=unused)


def _require_comparable(column: str, dtype: nw.dtypes.DType, counted: Measures) -> None:
    """A column whose values are text, whole numbers, or true and false, as its domain is."""
    domain = counted.domain(column)
    truth = dtype == nw.Boolean and set(domain.values) <= set(_TRUTH)
    if truth or is_text(dtype) or (dtype.is_integer() and domain.whole):
        return
    raise BadQuestion(
        f"Column {column} holds {dtype}, and values of its declared domain are not of that kind.",
        "Turn the column into text, or whole numbers where the domain has them (true and false where it has "
        "those), keeping missing values missing.",
    )


def is_among(source: Source, role: str, values: tuple[str, ...]) -> nw.Expr:
    """Whether the column holds one of these values of its domain."""
    dtype, held = source.types[role], nw.col(role)
    if dtype.is_integer():
        return held.is_in([int(value) for value in values])
    if dtype == nw.Boolean:
        return held.is_in([_TRUTH[value] for value in values])
    return (held if dtype == nw.String else held.cast(nw.String)).is_in(list(values))


def is_counted(source: Source, counted: Measures, measure: Measure) -> nw.Expr:
    """1 where the row meets the measure, else 0."""
    one, none = nw.lit(1), nw.lit(0)
    flag = None
    for column, values in counted.allowed(measure).items():
        met = nw.when(is_among(source, role_of(column, counted), values)).then(one).otherwise(none)
        flag = met if flag is None else flag * met
    # On a column, so that rows without any condition count one each on every engine.
    return nw.when(nw.col("person").is_null()).then(none).otherwise(one) if flag is None else flag


def people_checks(source: Source, counted: Measures) -> Iterator[RowCheck]:
    """Every check of a row: who, which group, and a value of its domain in each column that is looked at."""
    yield from person_checks(source)
    yield RowCheck(
        doubt=Doubt.MISSING,
        role="place",
        wrong=missing(nw.col("place"), source.types["place"]),
        reason="no group",
        do="Give every row the group that the person is in; nobody is left out of the count.",
    )
    for column in counted.columns:
        role = role_of(column, counted)
        held = nw.col(role)
        gone = missing(held, source.types[role])
        yield RowCheck(
            doubt=Doubt.MISSING,
            role=role,
            wrong=gone,
            reason="no value",
            do="Give every row a value; somebody without one may be among those counted. Where it is not "
            "known, write a value of its own, declare it in the domain, and say whether it counts.",
        )
        yield RowCheck(
            doubt=Doubt.OTHER_VALUE,
            role=role,
            wrong=~is_among(source, role, counted.domain(column).values) & ~gone,
            reason="a value that is not in the declared domain",
            do="Correct the rows, or declare every value that the column may hold (`domains=`); blanks, "
            "capitals and leading zeros make another value.",
        )
