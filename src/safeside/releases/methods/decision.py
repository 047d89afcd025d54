"""One bit for each place: the best there is under ordinary differential privacy, for one threshold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from safeside import exact
from safeside.errors import BadNumber
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.noise.entropy import Entropy
from safeside.privacy.account import Kind
from safeside.releases.answers import Answers
from safeside.releases.methods.base import Conditions, Drawn, Mechanism, Method, Whole
from safeside.releases.methods.counts import require_limit
from safeside.visits import Places

if TYPE_CHECKING:
    from safeside.releases.question import Question


class OneBitDecisions(Method, frozen=True, kw_only=True, tag="decision"):
    """The optimal decision: at most the threshold, or nothing."""

    delta: Fraction

    own_arguments = ("decision",)
    ordinary = True

    @classmethod
    def asked(cls, _places: Places, given: Mapping[str, Any]) -> tuple[Method, Whole | None]:
        return cls(epsilon=given["epsilon"], delta=given["delta"]), None

    def check(self, question: Question) -> None:
        require_limit(question)
        require_delta(self.delta)

    @property
    def kind(self) -> Kind:
        return Kind.DP_COUNTS

    def mechanism(self, asked: Conditions) -> OptimalDecision:
        most = require_limit(asked.question)
        return OptimalDecision(epsilon=self.epsilon / most, delta=self.delta / most, max_conditions=most)

    def stated(self, asked: Conditions) -> Mechanism:
        used = self.mechanism(asked)
        return Mechanism(name=used.name, rate=exact.fraction(used.epsilon))

    def draw(self, asked: Conditions, counts: Whole, entropy: Entropy | None = None) -> Drawn:
        decided = self.mechanism(asked).release(counts, asked.at_most, entropy=entropy)
        return Drawn(values=decided.values.astype(np.int64), simulated=decided.simulated)

    def states(self, asked: Conditions, drawn: Drawn) -> Answers:
        return asked.within(asked.at_most, drawn.values.astype(np.bool_))

    def values_behind(self, _asked: Conditions, answers: Answers) -> tuple[Whole, ...]:
        return (answers.bounded.astype(np.int64),)


def require_delta(delta: Fraction) -> None:
    """Refuse what would never say anything."""
    if not exact.delta(delta):
        raise BadNumber(
            "Under ordinary differential privacy with delta = 0 no answer is ever certain.",
            'Give `delta=` above 0, for example 1e-6, or leave `guarantee="dp"` out.',
        )
