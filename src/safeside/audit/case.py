"""One mechanism in one setting: what it claims, over which datasets, and the line the audit writes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from safeside import exact
from safeside.audit.exact import Finding, audit_mechanism
from safeside.audit.short_text import show, show_pair
from safeside.audit.transcripts import Verdict
from safeside.audit.worlds import Within

PEOPLE: Final = 2
EXACT: Final = "exact"
SAMPLER: Final = "sampler"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of the audit. For samplers, `measured` is surprise in parts of the surprise allowed."""

    name: str
    kind: str
    setting: str
    claimed: float
    claimed_delta: float = 0.0
    measured: float
    measured_delta: float = 0.0
    worst_pair: str = ""
    witness: str
    tight: bool = False
    ok: bool


def as_plain(found: Any) -> dict[str, Any]:
    """What an audit found, for JSON: what is infinite is spelt out, since JSON has no number for it."""
    return {key: "infinity" if value == math.inf else value for key, value in asdict(found).items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A mechanism in one setting."""

    name: str
    setting: str
    tight: bool
    run: Callable[[], Finding | Verdict]

    def row(self) -> Row:
        """Audit it; a procedure must also keep every statement it makes and every charge it books."""
        found = self.run()
        finding = found.finding if isinstance(found, Verdict) else found
        return Row(
            name=self.name,
            kind=EXACT,
            setting=self.setting,
            claimed=float(finding.claimed_epsilon),
            claimed_delta=float(finding.claimed_delta),
            measured=finding.measured,
            measured_delta=finding.delta_high,
            worst_pair=show_pair(finding.worst),
            witness=show(finding.witness),
            tight=self.tight,
            ok=found.holds and (finding.tight or not self.tight),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Something that holds or does not, without a number: `run` says what is wrong, or nothing."""

    name: str
    setting: str
    run: Callable[[], str | None]

    def row(self) -> Row:
        """Run it; what is wrong costs an infinite epsilon, since nothing bounds it."""
        wrong = self.run()
        return Row(
            name=self.name,
            kind=EXACT,
            setting=self.setting,
            claimed=0.0,
            measured=0.0 if wrong is None else math.inf,
            witness=wrong or "",
            ok=wrong is None,
        )


def case(
    mechanism: Any,
    setting: str,
    query: Callable[[Any], Any],
    neighbours: Within,
    *,
    answer: object = None,
    people: int = PEOPLE,
    tight: bool = True,
    times: int = 1,
) -> Case:
    """A mechanism, which has a name and a guarantee, in one setting.

    `answer` gives its probabilities where the mechanism does not in a form that `channel.respond` knows, and
    `times` is what its guarantee costs under another relation than its own.
    """
    asked = mechanism if answer is None else answer
    epsilon, delta = times * mechanism.guarantee.epsilon, times * mechanism.guarantee.delta
    return Case(
        name=mechanism.name,
        setting=f"eps = {exact.show(epsilon)}"
        + (f", delta = {exact.show(delta)}" if delta else "")
        + f"; {setting}",
        tight=tight,
        run=lambda: audit_mechanism(asked, query, neighbours, neighbours.universe, people, epsilon, delta),
    )
