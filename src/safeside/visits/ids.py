"""Who is who: which columns can carry identifiers, and which identifiers look as if people had been merged.

Two people who share an identifier are counted once, and that is an undercount. So identifiers are never
read as floating point, and those that show the marks of having been so read once before stop the work.
"""

from __future__ import annotations

from typing import Final

import narwhals as nw

from safeside.errors import BadQuestion

ROUNDED: Final = r"^[+-]?[0-9]+(?:\.[0-9]*)?[eE][+-]?[0-9]+$|^[+-]?[0-9]+\.0*$"
"""1.23E+11 and 123.0: what spreadsheets and floating point make of long numbers."""
NOT_AN_ID: Final = (
    r"^\s*$|^(?:\?+|-+|\.+|[nN][aA]|#?[nN]/[aA]|<[nN][aA]>|[nN]a[nN]|NAN|nan|[nN][uU][lL][lL]|[nN][iI][lL]"
    r"|[nN][oO][nN][eE]|[nN]a[tT]|[uU][nN][kK][nN][oO][wW][nN]|\\N|#REF!|#VALUE!)$"
)
"""Words for "missing": everybody who has no identifier would become one person."""
ALL_DIGITS: Final = r"^[0-9]+$"


def person_ids(column: str, dtype: nw.dtypes.DType, called: str | None = None) -> nw.Expr:
    """The column as it will be compared for sameness, or a refusal, in its owner's words."""
    called = column if called is None else called
    _refuse_floats(called, dtype)
    if dtype == nw.String or dtype.is_integer() or dtype in (nw.Binary, nw.Decimal):
        return nw.col(column)
    if dtype in (nw.Categorical, nw.Enum, nw.Unknown):
        return nw.col(column).cast(nw.String)
    raise _not_ids(called, dtype)


def place_ids(column: str, dtype: nw.dtypes.DType, called: str | None = None) -> nw.Expr:
    """The column as it will be compared with the list of places, or a refusal, in its owner's words."""
    called = column if called is None else called
    _refuse_floats(called, dtype)
    if dtype == nw.String or dtype.is_integer():
        return nw.col(column)
    if dtype in (nw.Categorical, nw.Enum, nw.Unknown):
        return nw.col(column).cast(nw.String)
    raise _not_ids(called, dtype)


def is_text(dtype: nw.dtypes.DType) -> bool:
    """Whether identifiers of this type are compared as text."""
    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Unknown)


def missing(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """No identifier at all."""
    if is_text(dtype):
        return column.is_null() | (column == "")
    return column.is_null() | (column == b"") if dtype == nw.Binary else column.is_null()


def people(dtype: nw.dtypes.DType) -> nw.Expr:
    """How many people there are, rows without an identifier being nobody's; null where there are no rows."""
    person = nw.col("person")
    gone = missing(person, dtype)
    nobody = nw.when(gone).then(nw.lit(1)).otherwise(nw.lit(0)).max()
    return nw.when(~gone).then(person).n_unique() - nobody


def mixed_zeros(shortest_number: int | None, longest_padded: int | None) -> bool:
    """Whether some numbers are padded with zeros and others are shorter: then some have lost theirs."""
    return shortest_number is not None and longest_padded is not None and shortest_number < longest_padded


def _refuse_floats(column: str, dtype: nw.dtypes.DType) -> None:
    if dtype.is_float():
        raise floats(column)


def floats(column: str) -> BadQuestion:
    """What is said of identifiers that are floating-point numbers."""
    return BadQuestion(
        f"The identifiers in column {column} are floating-point numbers: large ones merge.",
        "Read the column as text, or as whole numbers if none is missing, and try again.",
    )


def _not_ids(column: str, dtype: nw.dtypes.DType) -> BadQuestion:
    return BadQuestion(
        f"Column {column} holds {dtype}, which cannot be compared as identifiers.",
        "Turn every identifier into text (or whole numbers), keeping missing ones missing.",
    )
