"""Who is counted, as a condition on the columns of a row: equality, `in`, comparisons, joined by `and`.

The grammar is all there is; nothing is evaluated as code:

    WHERE := TERM ("and" TERM)*
    TERM  := COLUMN "=" VALUE | COLUMN "in" VALUE ("," VALUE)* | COLUMN ("<" | "<=" | ">" | ">=") NUMBER

A condition is part of what is asked, of the policy and of every statement, so it is kept as it was parsed.
"""

from __future__ import annotations

import operator
import re
from typing import Annotated, Final, Literal

import msgspec

from safeside.errors import BadQuestion
from safeside.records import Part, PlainText

Sign = Literal["=", "in", "<", "<=", ">", ">="]
_AND: Final = re.compile(r"\s+and\s+")
_TERM: Final = re.compile(
    r"(?P<column>[^=<>!]+?)\s*(?P<sign><=|>=|=|<|>|(?<=\s)in(?=\s))\s*(?P<value>[^=<>]+?)(?<!\sand)"
)
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_COMPARED: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_HOW: Final = "Write it as mmr=no, as dose in 0, 1, or as age<12; several are joined by and."


class Term(Part, frozen=True, kw_only=True):
    """One comparison of one column.

    Example
        >>> from safeside.groups import Term
        >>> print(Term(column="dose", sign="in", values=("0", "1")))
        dose in 0, 1
    """

    column: PlainText
    sign: Sign
    values: Annotated[tuple[PlainText, ...], msgspec.Meta(min_length=1)]

    def __str__(self) -> str:
        if self.sign == "in":
            return f"{self.column} in {', '.join(self.values)}"
        return f"{self.column}{self.sign}{self.values[0]}"

    def allows(self, value: str) -> bool:
        """Whether a value of the column's domain meets it."""
        if self.sign in ("=", "in"):
            return value in self.values
        return bool(_COMPARED[self.sign](int(value), int(self.values[0])))


class Where(Part, frozen=True, kw_only=True):
    """Terms that are all true of whoever is counted; without any, it is true of everybody in the table.

    Example
        >>> from safeside.groups import Where
        >>> [term.column for term in Where.parse("mmr=no and age<12").terms]
        ['mmr', 'age']
    """

    terms: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, text: str | Where | None) -> Where:
        """The condition that a text spells."""
        if text is None or isinstance(text, Where):
            return text or cls()
        return cls(terms=tuple(_term(part) for part in _AND.split(text.strip())))

    def __str__(self) -> str:
        return " and ".join(map(str, self.terms))

    def __and__(self, other: Where) -> Where:
        return Where(terms=(*self.terms, *(term for term in other.terms if term not in self.terms)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at, each once."""
        return tuple(dict.fromkeys(term.column for term in self.terms))


def is_whole(text: str) -> bool:
    """Whether a value is a whole number in its one spelling: 7 is, 07 and 7.0 are not."""
    return _WHOLE.fullmatch(text) is not None


def _term(text: str) -> Term:
    parsed = _TERM.fullmatch(text.strip())
    if parsed is None:
        raise BadQuestion("The condition of who is counted cannot be read.", _HOW)
    column, sign = parsed["column"].strip(), parsed["sign"]
    written = parsed["value"].split(",") if sign == "in" else [parsed["value"]]
    values = tuple(value.strip() for value in written)
    if not all(values):
        raise BadQuestion(
            f"The condition on column {column} has an empty value.",
            f"{_HOW} A row without a value stops the work, and is not counted by a condition.",
        )
    if sign not in ("=", "in") and not is_whole(values[0]):
        raise BadQuestion(
            f"The condition on column {column} compares with something that is no whole number.",
            "Compare with whole numbers (age<12), or list the values (grade in K, 1, 2).",
        )
    return msgspec.convert({"column": column, "sign": sign, "values": values}, Term)
