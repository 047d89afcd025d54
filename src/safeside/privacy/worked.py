"""One small example for each definition: what it protects and what it leaks, computed and not asserted.

Two places, a clinic and a café, and so four possible people. For every question about one of them the
greatest Risk over *all* mechanisms of the definition is found, for several things the adversary may already
believe, together with a mechanism that attains it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from safeside.exact import Number
from safeside.privacy.policy import require_known
from safeside.privacy.records import Universe, Visits, visits
from safeside.privacy.relations import ADP, DP, OSDP, Blowfish, Predicate, Relation
from safeside.privacy.worst import Worst, require_ratio, worst_risk, worst_risk_at_any_prior

CLINIC: Final = "clinic"
CAFE: Final = "café"
PEOPLE: Final = visits((CLINIC, CAFE))
ANY_PRIOR: Final = "any prior"

_NOWHERE, _AT_CLINIC, _AT_CAFE, _AT_BOTH = (
    frozenset[str](),
    frozenset({CLINIC}),
    frozenset({CAFE}),
    frozenset({CLINIC, CAFE}),
)
_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)

PRIORS: Final[Mapping[str, Mapping[Visits, Fraction]]] = {
    "nothing known": dict.fromkeys(PEOPLE.records, _QUARTER),
    "café likely": {
        _NOWHERE: Fraction(1, 100),
        _AT_CLINIC: Fraction(1, 100),
        _AT_CAFE: Fraction(98, 100),
    },
    "café known": {_AT_CAFE: _HALF, _AT_BOTH: _HALF},
    "clinic ruled out": {_NOWHERE: _HALF, _AT_CAFE: _HALF},
}
"""What the adversary believes beforehand."""

QUESTIONS: Final[Mapping[str, Predicate[Visits]]] = {
    "at the clinic": lambda x: CLINIC in x,
    "not at the clinic": lambda x: CLINIC not in x,
    "at the café": lambda x: CAFE in x,
    "not at the café": lambda x: CAFE not in x,
    "at the café only": lambda x: x == _AT_CAFE,
    "at both": lambda x: x == _AT_BOTH,
    "at one of them at least": lambda x: bool(x),
    "at neither": lambda x: not x,
}


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A definition in words and as a relation, with the question that shows it best."""

    name: str
    title: str
    compares: str
    says: str
    relation: Callable[[], Relation[Visits]]
    question: str
    prior: str


DEFINITIONS: Final[Mapping[str, Definition]] = {
    definition.name: definition
    for definition in (
        Definition(
            name="dp",
            title="Differential privacy",
            compares="every person with every other",
            says=(
                "Everything is protected from everybody, and for that reason no decision can be right for "
                "certain: whatever is said of one person must be possible for any other."
            ),
            relation=lambda: DP(),
            question="at the clinic",
            prior="nothing known",
        ),
        Definition(
            name="osdp",
            title="One-sided differential privacy; those who were not at the clinic are non-sensitive",
            compares="those who were at the clinic with everybody",
            says=(
                "That somebody was at the clinic is protected. About those who were not there nothing is: "
                "their whole record may be published."
            ),
            relation=lambda: OSDP(frozenset(x for x in PEOPLE.records if CLINIC not in x)),
            question="at the café only",
            prior="clinic ruled out",
        ),
        Definition(
            name="blowfish",
            title="Blowfish privacy; an edge between two people who agree about the clinic",
            compares="two people of whom both, or neither, were at the clinic",
            says=(
                "The edges a one-sided answer about the clinic leaves are between people who agree about it, "
                "so whether somebody was at the clinic may leak both ways; what else they did may not."
            ),
            relation=lambda: Blowfish.within(PEOPLE, lambda x: CLINIC in x),
            question="at the clinic",
            prior="nothing known",
        ),
        Definition(
            name="adp",
            title="Asymmetric differential privacy; the policy is {not at the clinic}",
            compares="a person with every other who keeps 'not at the clinic' if it was true",
            says=(
                "Of somebody who was at the clinic everything is protected. That somebody was not there may "
                "leak, and to someone who already knows that, nothing more does."
            ),
            relation=lambda: ADP.not_visited((CLINIC,)),
            question="not at the clinic",
            prior="nothing known",
        ),
        Definition(
            name="adp-set",
            title="Asymmetric differential privacy; the policy is {not at the clinic, not at the café}",
            compares="a person with every other whose visits are among theirs",
            says=(
                "Protected: that somebody was at one of the places at least, against none; and at one more, "
                "to someone who knows the others. Not protected: that somebody was not at a place, and so, "
                "to someone who thinks they were probably at one of several, where they were instead."
            ),
            relation=lambda: ADP.not_visited((CLINIC, CAFE)),
            question="at the clinic",
            prior="café likely",
        ),
    )
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """The greatest Risk of one question, for each thing the adversary may believe."""

    question: str
    any_prior: Fraction | float
    by_prior: Mapping[str, Fraction | float]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A definition worked out: a row for each question, and one mechanism that attains a number of them."""

    definition: Definition
    e_to_eps: Fraction
    rows: tuple[Row, ...]
    witness: Worst[Visits]
    without_room: Fraction | float
    """The same question at any prior where everybody must be at exactly one of the two places."""

    @property
    def protects(self) -> tuple[str, ...]:
        """Questions whose odds rise by at most e^eps whatever is believed."""
        return tuple(row.question for row in self.rows if row.any_prior <= self.e_to_eps)

    @property
    def leaks(self) -> tuple[str, ...]:
        """Questions an output may settle even for somebody who knew nothing."""
        return tuple(row.question for row in self.rows if row.by_prior["nothing known"] == math.inf)

    @property
    def depends(self) -> tuple[str, ...]:
        """Questions in between: how far the odds can rise depends on what is believed."""
        settled = {*self.protects, *self.leaks}
        return tuple(row.question for row in self.rows if row.question not in settled)


def explain(name: str, e_to_eps: Number = 3) -> Explanation:
    """Work out one definition at e^eps, which is a rational so that every number is exact."""
    definition = DEFINITIONS[require_known(name, list(DEFINITIONS), "definition")]
    relation = definition.relation()
    ratio = require_ratio(e_to_eps)
    event = QUESTIONS[definition.question]
    elsewhere: Universe[Visits] = visits((CLINIC, CAFE), least=1, at_most=1)
    return Explanation(
        definition=definition,
        e_to_eps=ratio,
        rows=tuple(
            Row(
                question=question,
                any_prior=worst_risk_at_any_prior(relation, PEOPLE, ratio, holds),
                by_prior={
                    name: worst_risk(relation, PEOPLE, ratio, prior, holds).value
                    for name, prior in PRIORS.items()
                },
            )
            for question, holds in QUESTIONS.items()
        ),
        witness=worst_risk(relation, PEOPLE, ratio, PRIORS[definition.prior], event),
        without_room=worst_risk_at_any_prior(relation, elsewhere, ratio, event),
    )
