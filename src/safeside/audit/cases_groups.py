"""The cases of groups of people: records from declared domains, the policy of exactly what is counted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from safeside.audit.case import Case, case
from safeside.audit.worlds import Question, Within, counts_of
from safeside.groups import Measures, measures
from safeside.mechanisms.ageo import AGeo
from safeside.privacy.records import Universe, Visits
from safeside.privacy.relations import ADP

_GROUPS: Final = ("A", "B")
_DOSES: Final[Mapping[str, Any]] = {"dose": range(3)}
_ASKED: Final = (
    ("2 groups by 2 doses of 3", measures(measures={"0": "dose=0", "1": "dose=1"}, domains=_DOSES)),
    ("2 groups by nested conditions", measures(measures={"0": "dose=0", "<2": "dose<2"}, domains=_DOSES)),
)


def grouped() -> Iterator[Case]:
    """Several measures of each group in one release, with noise for what one person can be."""
    for setting, counted in _ASKED:
        most = counted.most_of_a_person
        targets = tuple(f"{group} {name}" for name in counted.names for group in _GROUPS)
        asked = [Question(target, frozenset({target})) for target in targets]
        policy = Within(ADP.not_visited(targets), Universe(records=_records(counted)))
        noise = AGeo(epsilon=1, sensitivity=most)
        yield case(noise, f"{setting}, sensitivity {most}", counts_of(asked), policy)


def _records(counted: Measures) -> tuple[Visits, ...]:
    """Every record that the domains allow, by what is true of it; and the one that is in no count."""
    columns = [domain.column for domain in counted.domains]
    rows = [
        dict(zip(columns, held, strict=True))
        for held in itertools.product(*(domain.values for domain in counted.domains))
    ]
    found = {frozenset[str]()}
    for group, row in itertools.product(_GROUPS, rows):
        met = [one for one in counted.all if all(term.allows(row[term.column]) for term in one.where.terms)]
        found.add(frozenset(f"{group} {one.name}" for one in met))
    return tuple(sorted(found, key=sorted))
