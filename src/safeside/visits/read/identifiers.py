"""Identifiers of people and places: one rule for every engine.

Two people with one identifier are counted once, which is an undercount. So identifiers are compared byte by
byte: nothing is trimmed or case-folded or read as floating point. An identifier that several people may have
been given is a `Fault` and stops the work: a word for "missing", or a rounded number, whatever blanks, quotes
and brackets are around it.

The patterns avoid classes such as `\\s` and flags, which engines read differently; a test compares Python,
Polars, PyArrow, DuckDB and Spark.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import narwhals as nw
import polars as pl

from safeside.errors import BadQuestion


class Fault(StrEnum):
    """Why an identifier may stand for several people or places."""

    MISSING = "missing"
    PLACEHOLDER = "placeholder"
    ROUNDED = "rounded"


_BLANKS: Final = "\t-\r \x1c-\x1f\x85\xa0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
"""Unicode's white space and zero-width characters."""
_WIDER: Final = 0xFEE0
"""From ASCII to the full-width form of a letter: ！ is ! plus this."""
_WORDS: Final = (
    "na|n/a|n.a|n.a.|#na|#n/a|#n/a n/a|nan|null|nil|none|nat|nul|unknown|undefined|missing|empty|blank"
    "|not available|not applicable|anonymous|#ref!|#value!|#name?|#num!|#div/0!|#null!|#error!|#spill!|#calc!"
    "|unbekannt|inconnu|inconnue|desconocido|desconocida|sconosciuto|desconhecido|onbekend|неизвестно"
    "|不明|不詳|未知|未詳|無し|なし|无|無|空白|미상|없음|알수없음|알 수 없음"
)
"""Words for "missing", as databases, spreadsheets and people write them."""
_MARKS: Final = (
    r"[?？]+|[-–—−]+|[.…]+|_+|[*]+|[-−－][1１]|[\\]N"
    "|0{8}-0{4}-0{4}-0{4}-0{12}|0{32}|[fF]{8}-[fF]{4}-[fF]{4}-[fF]{4}-[fF]{12}|0x(?:00)+|"
)
"""Marks, -1, the UUID of zeros (or of ones, or as bytes), and, last, nothing at all."""


def _in_any_letters(word: str) -> str:
    """A pattern for the word in capital, small and full-width letters."""
    return "".join(
        f"[{letter.lower()}{letter.upper()}{_wide(letter.lower())}{_wide(letter.upper())}]"
        if letter.lower() != letter.upper()
        else f"[/{_wide('/')}]"
        if letter == "/"
        else re.escape(letter)
        for letter in word
    ).replace("\\ ", " ")


def _wide(letter: str) -> str:
    return chr(ord(letter) + _WIDER) if letter.isascii() else ""


_MISSING_WORDS: Final = "|".join(map(_in_any_letters, _WORDS.split("|")))
PLACEHOLDER: Final = f"^[{_BLANKS}\"'(<\\[{{]*(?:{_MISSING_WORDS}|{_MARKS})[{_BLANKS}\"')>\\]}}]*$"
"""Everybody who has no identifier would become one person."""
ROUNDED: Final = f"^[{_BLANKS}\"']*[+-]?[0-9]+(?:(?:[.,][0-9]*)?[eE][+-]?[0-9]+|[.]0*|,0?0?)[{_BLANKS}\"']*$"
"""1.23E+11, 1,23E+11 and 123.0: what spreadsheets and floating point make of long numbers."""
FAULTY: Final = f"{PLACEHOLDER}|{ROUNDED}"
ALL_DIGITS: Final = r"^[0-9]+$"
_HEX: Final = "0x"
_MORE: Final = "[89ab][0-9a-f]"
_TEXT: Final = (
    f"^(?:[0-7][0-9a-f]|(?:c[2-9a-f]|d[0-9a-f]){_MORE}|(?:e[1-9a-cef]{_MORE}|e0[ab][0-9a-f]|ed[89][0-9a-f]){_MORE}"
    f"|(?:f[123]{_MORE}|f0[9ab][0-9a-f]|f48[0-9a-f]){_MORE}{_MORE})*$"
)
"""Bytes that are UTF-8, by their digits."""
_FACTOR: Final = -1
"""The code for "missing" of pandas.factorize and others in integer columns."""


def fault(identifier: object) -> Fault | None:
    """What is wrong with one identifier, in plain Python; None where nothing is."""
    if identifier is None or identifier in ("", b""):
        return Fault.MISSING
    if isinstance(identifier, int):
        return Fault.PLACEHOLDER if identifier == _FACTOR else None
    written = bytes_as_text(identifier) if isinstance(identifier, bytes) else str(identifier)
    if re.search(PLACEHOLDER, written):
        return Fault.PLACEHOLDER
    return Fault.ROUNDED if re.search(ROUNDED, written) else None


def missing(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """No identifier at all."""
    return column.is_null() | (column == "") if is_text(dtype) else column.is_null()


def placeholder(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr | None:
    """A word, a mark or a number for "missing" in place of an identifier; None where there can be none."""
    if is_text(dtype):
        return column.str.contains(PLACEHOLDER) & (column != "")
    return None if dtype.is_unsigned_integer() else column == _FACTOR


def rounded(column: nw.Expr) -> nw.Expr:
    """Text that is a number in scientific notation, or with decimals."""
    return column.str.contains(ROUNDED)


def faulty(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """Missing, placeholder or rounded, as one expression."""
    gone = missing(column, dtype)
    more = column.str.contains(FAULTY) if is_text(dtype) else placeholder(column, dtype)
    return gone if more is None else gone | more


def canonical(column: str, dtype: nw.dtypes.DType, called: str | None = None) -> nw.Expr | None:
    """The column cast to what is compared, None where it needs no cast; refused where it is no identifier.

    `called` is the owner's name of the column.
    """
    called = column if called is None else called
    if dtype.is_float():
        raise floats(called)
    if dtype == nw.String or dtype.is_integer() or dtype == nw.Decimal:
        return None
    if is_text(dtype):
        return nw.col(column).cast(nw.String)
    raise BadQuestion(
        f"Column {called} holds {dtype}, which cannot be compared as identifiers.",
        "Turn every identifier into text (or whole numbers), keeping missing ones missing.",
    )


def is_text(dtype: nw.dtypes.DType) -> bool:
    """Whether identifiers of this type are compared as text."""
    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Unknown)


def bytes_as_text(identifier: bytes) -> str:
    """Bytes as UTF-8 text, or as 0x and hexadecimal digits; injective."""
    try:
        text = identifier.decode()
    except UnicodeDecodeError:
        text = _HEX
    return f"{_HEX}{identifier.hex()}" if text.startswith((_HEX, "\0")) else text


def polars_bytes_as_text(column: pl.Expr) -> pl.Expr:
    """The same in Polars."""
    digits = column.bin.encode("hex")
    plain = digits.str.contains(_TEXT) & ~digits.str.contains("^(?:00|3078)")
    # Invalid bytes are replaced before the cast, at which Polars would fail even if not strict.
    text = pl.when(plain).then(column).otherwise(pl.lit(b"")).cast(pl.String)
    return pl.when(plain).then(text).otherwise(pl.lit(_HEX) + digits)


def sql_bytes_as_text(column: str, *, spark: bool) -> str:
    """The same in the SQL of Spark or of DuckDB."""
    digits = f"lower(hex({column}))"
    if spark:
        text = f"CAST({column} AS STRING)"
        other = f"NOT is_valid_utf8({text}) OR startswith({text}, '{_HEX}') OR startswith({digits}, '00')"
    else:
        text = f"TRY(decode({column}))"
        other = f"{text} IS NULL OR starts_with({text}, '{_HEX}') OR starts_with({digits}, '00')"
    return f"CASE WHEN {other} THEN '{_HEX}' || {digits} ELSE {text} END"


def count_people(dtype: nw.dtypes.DType) -> nw.Expr:
    """The number of distinct people, rows without an identifier not counted; null without rows."""
    person = nw.col("person")
    gone = missing(person, dtype)
    nobody = nw.when(gone).then(nw.lit(1)).otherwise(nw.lit(0)).max()
    return nw.when(~gone).then(person).n_unique() - nobody


def mixed_zeros(shortest_number: int | None, longest_padded: int | None) -> bool:
    """Whether some numbers are zero-padded and others shorter: those may have lost their zeros."""
    return shortest_number is not None and longest_padded is not None and shortest_number < longest_padded


def floats(column: str) -> BadQuestion:
    """What is said of identifiers that are floating-point numbers."""
    return BadQuestion(
        f"The identifiers in column {column} are floating-point numbers: large ones merge.",
        "Read the column as text, or as whole numbers if none is missing, and try again.",
    )
