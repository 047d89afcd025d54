"""What is counted of each group: one measure or several, each a condition on columns with declared domains.

From the domains alone, never from rows, follow the most measures that one possible record satisfies, which
the noise has to hide, and whether some possible record satisfies none of them: where everybody satisfies one,
nobody could have been "not counted", and the guarantee is empty (docs/groups.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Annotated, Any, Final

import msgspec

from safeside.errors import BadQuestion, NowhereElse
from safeside.groups.where import Where, is_whole
from safeside.names import did_you_mean
from safeside.records import Part, PlainText
from safeside.words import said

COUNTED: Final = "counted"
"""The one measure of a question that names none."""
_RANGE: Final = re.compile(r"(?P<first>-?[0-9]{1,18})\s*\.\.\s*(?P<last>-?[0-9]{1,18})")
_MOST_VALUES: Final = 10_000
_MOST_RECORDS: Final = 200_000
_HOW: Final = "Write it as mmr=yes,no or age=0..120: every value that the column may hold."


class Domain(Part, frozen=True, kw_only=True):
    """Every value that a column may hold. A row with another value, or with none, stops the work.

    Example
        >>> from safeside.groups import Domain
        >>> Domain.parse("age=5..7").values
        ('5', '6', '7')
    """

    column: PlainText
    values: Annotated[tuple[PlainText, ...], msgspec.Meta(min_length=1)]

    @classmethod
    def parse(cls, text: str) -> Domain:
        """The domain that a text spells: values with commas between them, or whole numbers from A to B."""
        column, sign, listed = (part.strip() for part in text.partition("="))
        if not sign or not column:
            raise BadQuestion("The domain of a column cannot be read.", _HOW)
        span = _RANGE.fullmatch(listed)
        if span is None:
            return cls.of(column, [value.strip() for value in listed.split(",")])
        first, last = int(span["first"]), int(span["last"])
        if not 0 <= last - first < _MOST_VALUES:
            raise BadQuestion(
                f"The domain of column {column} is empty, or has more than {_MOST_VALUES:,} values.",
                "Give the smallest and the largest whole number that the column may hold, as in age=0..120.",
            )
        return cls.of(column, [str(value) for value in range(first, last + 1)])

    @classmethod
    def of(cls, column: str, values: Iterable[object]) -> Domain:
        """The domain with these values, which are compared as they are written."""
        listed = tuple(str(value) for value in values)
        if not listed or not all(listed) or len(set(listed)) < len(listed):
            raise BadQuestion(
                f"The domain of column {column} has no value, an empty one, or one twice.", _HOW
            )
        return cls(column=column, values=listed)

    @property
    def whole(self) -> bool:
        """Whether every value is a whole number."""
        return all(map(is_whole, self.values))


class Measure(Part, frozen=True, kw_only=True):
    """One condition that people of each group are counted by, and what it is called."""

    name: PlainText
    where: Where = Where()


class Measures(Part, frozen=True, kw_only=True):
    """Everything that is counted of each group, and the domains that it stands on.

    `everybody` says that the table is of all people, of whom those that meet a condition are counted; without
    it the table is of those who are counted, and that somebody is in it at all is what is protected.

    Example
        >>> from safeside.groups import measures
        >>> doses = measures(where="age<12", measures={"none": "mmr=0", "one": "mmr=1"},
        ...                  domains={"mmr": [0, 1, 2], "age": range(5, 19)})
        >>> doses.most_of_a_person
        1
    """

    all: Annotated[tuple[Measure, ...], msgspec.Meta(min_length=1)] = (Measure(name=COUNTED),)
    domains: tuple[Domain, ...] = ()
    only_counted: bool = False
    """That the table lists nobody but those who are counted was declared."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the measures are called, in order."""
        return tuple(one.name for one in self.all)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are looked at, each once."""
        return tuple(dict.fromkeys(column for one in self.all for column in one.where.columns))

    @property
    def everybody(self) -> bool:
        """Whether the table is of all people, of whom some are counted."""
        return bool(self.columns) and not self.only_counted

    def domain(self, column: str) -> Domain:
        """The declared domain of a column."""
        return next(one for one in self.domains if one.column == column)

    def allowed(self, measure: Measure) -> dict[str, tuple[str, ...]]:
        """For each column of a measure, the values of its domain that meet it."""
        return {
            column: tuple(
                value
                for value in self.domain(column).values
                if all(term.allows(value) for term in measure.where.terms if term.column == column)
            )
            for column in measure.where.columns
        }

    @property
    def most_of_a_person(self) -> int:
        """The most measures that one possible record satisfies, in one group."""
        return _fewest_and_most(self)[1]

    def check(self) -> None:
        """Refuse what cannot be counted, or would leave nobody uncounted."""
        if len(set(self.names)) < len(self.names):
            raise BadQuestion("Two measures have one name.", "Give each measure a name of its own.")
        for column in self.columns:
            self._check_column(column)
        for one in self.all:
            if not all(self.allowed(one).values()):
                raise BadQuestion(
                    f"The measure {one.name!r} is true of no value of the declared domain.",
                    "Correct its condition, or the domain.",
                )
        unused = [one.column for one in self.domains if one.column not in self.columns]
        if unused:
            raise BadQuestion(
                f"A domain is declared for column {unused[0]}, which no condition looks at.",
                f"Leave it out, or use the column.{did_you_mean(unused[0], self.columns)}",
            )
        if self.everybody and _fewest_and_most(self)[0] > 0:
            raise NowhereElse(
                "Whatever a row holds, one of the conditions is true of it: everybody is counted, nobody "
                "could have been in no count, and the guarantee would promise nothing.",
                "Leave a condition out (that of most people), so that it is true of some people that they "
                "are not counted. If the table lists nobody but those who are counted, say so "
                "(`only_counted=True`): it is then protected that somebody is in it at all.",
            )
        if self.only_counted and not self.columns:
            raise BadQuestion(
                "Without a condition the table is of those who are counted anyway.",
                "Leave `only_counted=True` out.",
            )

    def _check_column(self, column: str) -> None:
        found = [one for one in self.domains if one.column == column]
        if len(found) != 1:
            often = "twice" if found else "not"
            raise BadQuestion(
                f"The domain of column {column}, by which people are counted, is {often} declared.",
                f'Declare once which values it may hold, such as `domains=["{column}=yes,no"]`; any other '
                "value stops the work.",
            )
        (domain,) = found
        for term in (term for one in self.all for term in one.where.terms if term.column == column):
            if term.sign in ("=", "in"):
                other = [value for value in term.values if value not in domain.values]
                if other:
                    raise BadQuestion(
                        f"The condition {term} names a value that is not in the domain of column {column}.",
                        f"Use one of {', '.join(domain.values[:20])}.{did_you_mean(other[0], domain.values)}",
                    )
            elif not domain.whole:
                raise BadQuestion(
                    f"The condition {term} compares numbers, and the domain of column {column} has other "
                    "values.",
                    "Declare whole numbers (age=0..120), or list the values that count.",
                )

    def rule(self) -> str:
        """Who is counted, in one sentence."""
        if not self.columns:
            return said("counted.listed")
        if len(self.all) == 1:
            return said("counted.condition", condition=str(self.all[0].where))
        each = "; ".join(f"{one.name}: {one.where}" for one in self.all)
        return said("counted.conditions", conditions=each)


@cache
def _fewest_and_most(counted: Measures) -> tuple[int, int]:
    """The fewest and the most measures that a possible record in the table satisfies, by enumeration."""
    met = [counted.allowed(one) for one in counted.all]
    kinds = []
    for column in counted.columns:
        values = counted.domain(column).values
        # Values that no condition tells apart make one record.
        kinds.append(
            list({tuple(column not in one or value in one[column] for one in met) for value in values})
        )
    if prod(map(len, kinds)) > _MOST_RECORDS:
        raise BadQuestion(
            f"The conditions tell more than {_MOST_RECORDS:,} kinds of people apart.",
            "Count by fewer conditions in one question.",
        )
    found = [sum(map(all, zip(*record, strict=True))) if record else len(met) for record in product(*kinds)]
    return min(found), max(found)


Domains = Mapping[str, Sequence[Any] | range] | Sequence[str | Domain] | None


def measures(
    *,
    where: str | Where | None = None,
    measures: Mapping[str, str | Where] | Sequence[str] | None = None,
    domains: Domains = None,
    only_counted: bool = False,
) -> Measures:
    """What these arguments say is counted; a condition `where` is part of every measure."""
    common = Where.parse(where)
    named = _named(measures) if measures else [(COUNTED, Where())]
    made = Measures(
        all=tuple(Measure(name=name, where=common & own) for name, own in named),
        domains=_domains(domains),
        only_counted=only_counted,
    )
    made.check()
    return made


def _named(given: Mapping[str, str | Where] | Sequence[str]) -> list[tuple[str, Where]]:
    if isinstance(given, Mapping):
        return [(name, Where.parse(own)) for name, own in given.items()]
    pairs = [text.partition(":") for text in given]
    if any(not sign or not name.strip() for name, sign, _ in pairs):
        raise BadQuestion(
            "A measure is not written as NAME: CONDITION.",
            'Write, for example, `measures=["no dose: mmr=0", "one dose: mmr=1"]`.',
        )
    return [(name.strip(), Where.parse(own)) for name, _, own in pairs]


def _domains(given: Domains) -> tuple[Domain, ...]:
    if isinstance(given, Mapping):
        return tuple(Domain.of(column, values) for column, values in given.items())
    return tuple(one if isinstance(one, Domain) else Domain.parse(one) for one in given or ())
