"""Counting people of groups in plain Python, row by row: what every engine must agree with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

SIGNS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Test = tuple[str, str, Sequence[str]]
"""Column, sign, values: as in `age<12`."""


@dataclass(frozen=True)
class Person:
    """One row: who, in which group, and what the other columns say."""

    person: object
    group: str
    held: Mapping[str, Any]


def meets(held: Mapping[str, Any], tests: Sequence[Test]) -> bool:
    """Whether a row meets every test."""
    for column, sign, values in tests:
        if sign in SIGNS:
            if not SIGNS[sign](int(held[column]), int(values[0])):
                return False
        elif str(held[column]) not in values:
            return False
    return True


def count(
    rows: Sequence[Person], groups: Sequence[str], measures: Sequence[Sequence[Test]]
) -> list[list[int]]:
    """Distinct people of each group who meet each measure."""
    return [
        [
            len({row.person for row in rows if row.group == group and meets(row.held, tests)})
            for group in groups
        ]
        for tests in measures
    ]


def fewest_and_most(
    measures: Sequence[Sequence[Test]], domains: Mapping[str, Sequence[Any]]
) -> tuple[int, int]:
    """How many measures a record can satisfy: every record of the domains, one by one."""
    found = [
        sum(meets(dict(zip(domains, record, strict=True)), tests) for tests in measures)
        for record in product(*domains.values())
    ]
    return min(found), max(found)
