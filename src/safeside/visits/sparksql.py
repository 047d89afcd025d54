"""Expressions of narwhals in the words of Spark's SQL: one text, where PySpark makes hundreds of calls.

Nothing is decided here. narwhals takes a `_Page` for one more kind of table, by the protocol it has for that,
and writes on it what it would have asked PySpark for, step by step. There are words for questions of times,
identifiers and states, with literals that no setting of a session can change; where there are none, nothing
is said, and narwhals asks in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, Final

import narwhals as nw

_LONG: Final = 2**63
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]+")
_PLAIN_TEXT: Final = re.compile(r"[A-Za-z0-9 :._-]*")
"""What means itself between quotes, whatever the session's parser makes of anything else."""


class _NoWords(NotImplementedError):
    """Of what could mean something else in another session, and of what nobody here asks."""


def choose(visits: nw.LazyFrame[Any], kept: nw.Expr, *columns: nw.Expr) -> nw.LazyFrame[Any] | None:
    """Columns of the rows kept, of a PySpark dataframe; None where there are no words to ask for them."""
    condition, *chosen = [in_words(expression) for expression in (kept, *columns)]
    if condition is None or None in chosen:
        return None
    found: nw.LazyFrame[Any] = nw.from_native(visits.to_native().filter(condition).selectExpr(*chosen))
    return found


def in_words(expression: nw.Expr) -> str | None:
    """What narwhals would ask PySpark for, as text; None where there are no words for it."""
    page: Any = _Page()
    try:
        said: str = nw.from_native(page).select(expression).to_native()
    except (AttributeError, NotImplementedError, TypeError):
        return None  # narwhals asked for what is not here: a word, or the protocol of another version
    return said


class _Page:
    """What narwhals takes for a table; of all that is done with one, an expression can be chosen from it."""

    def __init__(self, text: str = "") -> None:
        self._native_frame = text

    def __narwhals_lazyframe__(self) -> _Page:
        return self

    def _with_version(self, _: object) -> _Page:
        return self

    def __narwhals_namespace__(self) -> _Words:
        return _Words()

    def select(self, chosen: _Said) -> _Page:
        return _Page(chosen.text if chosen.name is None else f"{chosen.text} AS {_name(chosen.name)}")


def _between(word: str) -> Any:
    return lambda left, right: _Said(f"({left.text} {word} {right.text})")


class _Said:
    """An expression, and what can be made of it; narwhals notes on it what it has to know itself."""

    def __init__(self, text: str, name: str | None = None) -> None:
        self.text, self.name = text, name
        self._opt_metadata: Any = None

    @property
    def _metadata(self) -> Any:
        return self._opt_metadata

    __eq__, __ne__ = _between("="), _between("!=")
    __lt__, __le__ = _between("<"), _between("<=")
    __gt__, __ge__ = _between(">"), _between(">=")
    __and__, __or__ = _between("AND"), _between("OR")

    def __invert__(self) -> _Said:
        return _Said(f"(NOT {self.text})")

    def is_null(self) -> _Said:
        return _Said(f"({self.text} IS NULL)")

    def is_in(self, other: Iterable[object]) -> _Said:
        values = [_literal(value) for value in other]
        if not values:
            raise _NoWords
        return _Said(f"({self.text} IN ({', '.join(values)}))")

    def cast(self, dtype: object) -> _Said:
        if dtype != nw.Datetime("us"):
            raise _NoWords
        return _Said(f"CAST({self.text} AS TIMESTAMP_NTZ)")

    def alias(self, name: str) -> _Said:
        return _Said(self.text, name)

    def broadcast(self) -> _Said:
        return self


class _Words:
    """What expressions begin with."""

    def col(self, name: str) -> _Said:
        return _Said(_name(name))

    def lit(self, value: object, dtype: object) -> _Said:
        if dtype is not None and not (dtype == nw.Date and type(value) is date):
            raise _NoWords
        return _Said(_literal(value))

    def all_horizontal(self, *conditions: _Said, ignore_nulls: bool) -> _Said:
        if ignore_nulls:
            raise _NoWords
        return _Said(f"({' AND '.join(each.text for each in conditions)})")

    def when_then(self, condition: _Said, then: _Said, otherwise: _Said | None = None) -> _Said:
        instead = "" if otherwise is None else f" ELSE {otherwise.text}"
        return _Said(f"CASE WHEN {condition.text} THEN {then.text}{instead} END")


def _name(column: str) -> str:
    if not _PLAIN_NAME.fullmatch(column):
        raise _NoWords
    return f"`{column}`"


def _literal(value: object) -> str:
    """The value, to the last digit, on no clock but its own."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int) and abs(value) < _LONG:
        return str(value)
    if isinstance(value, str) and _PLAIN_TEXT.fullmatch(value):
        return f"'{value}'"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, datetime) and value.tzinfo is not None:
        return f"TIMESTAMP_LTZ'{value.astimezone(UTC).replace(tzinfo=None).isoformat(' ')}Z'"
    if type(value) is date:
        return f"DATE'{value.isoformat()}'"
    raise _NoWords
