"""A noisy count for each place: AGeo, or PaddedGeo where ordinary differential privacy is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from safeside import exact
from safeside.decisions.compare import Outlook, certified_by_counts
from safeside.decisions.sanitizers import decide_by_law
from safeside.decisions.states import State
from safeside.errors import BadQuestion
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.noise.entropy import Entropy
from safeside.privacy.account import Kind
from safeside.releases.answers import CODE, Answers
from safeside.releases.methods.base import Conditions, Drawn, Mechanism, Method, Whole
from safeside.visits import Places

if TYPE_CHECKING:
    from safeside.releases.question import Question


class NoisyCounts(Method, frozen=True, kw_only=True, tag="counts"):
    """Each count with noise that only goes up; with a delta, noise of limited size."""

    delta: Fraction

    hints = ("at_least", "alpha", "publish_at_least", "people", "max_places_per_person")
    ordinary = True
    counts = True
    possible = frozenset({State.AT_MOST, State.AT_LEAST, State.UNCLEAR})

    @classmethod
    def asked(cls, _places: Places, given: Mapping[str, Any]) -> tuple[Method, Whole | None]:
        return cls(epsilon=given["epsilon"], delta=given["delta"]), None

    @classmethod
    def certifies(cls, outlook: Outlook) -> float | None:
        if outlook.most_conditions is None:
            return None
        rate = outlook.epsilon / outlook.most_conditions
        return certified_by_counts(outlook.counts, outlook.limits, rate)

    def check(self, question: Question) -> None:
        require_limit(question)
        exact.delta(self.delta)

    @property
    def kind(self) -> Kind:
        return Kind.DP_COUNTS if self.delta else Kind.ADP

    def mechanism(self, asked: Conditions) -> AGeo | PaddedGeo:
        people, most = asked.question.people, require_limit(asked.question)
        if not self.delta:
            return AGeo(epsilon=self.epsilon, sensitivity=most, policy=asked.policy, people=people)
        return PaddedGeo(
            epsilon=self.epsilon / most, delta=self.delta / most, max_conditions=most, people=people
        )

    def stated(self, asked: Conditions) -> Mechanism:
        used, error = self.mechanism(asked), asked.question.alpha_each
        return Mechanism(
            name=used.name,
            rate=used.rate,
            margin=None if error is None else used.law.margin_up(error),
            pad=used.pad if isinstance(used, PaddedGeo) else None,
            slider=True,
        )

    def draw(self, asked: Conditions, counts: Whole, entropy: Entropy | None = None) -> Drawn:
        noisy = self.mechanism(asked).release(counts, entropy=entropy)
        return Drawn(values=noisy.values, simulated=noisy.simulated)

    def states(self, asked: Conditions, drawn: Drawn) -> Answers:
        values = drawn.values
        used, error, least = self.mechanism(asked), asked.question.alpha_each, asked.question.at_least
        upper, lower = used.upper_bound(values), used.lower_bound(values)
        assert upper is not None, "the noise of these mechanisms is never below the truth"
        states = np.full(upper.size, CODE[State.UNCLEAR], dtype=np.uint8)
        low = np.zeros_like(upper) if lower is None else lower
        if least is not None and error is not None:
            # "At least s" is the complement of "at most s - 1", whatever the threshold of "at most" is.
            busy = decide_by_law(values, least - 1, used.law, error, people=used.people)
            states[busy == State.AT_LEAST] = CODE[State.AT_LEAST]
            low, _ = used.interval(values, 1 - error)
        quiet = decide_by_law(values, asked.at_most, used.law, people=used.people)
        states[quiet == State.AT_MOST] = CODE[State.AT_MOST]
        bounded = np.ones(upper.size, dtype=np.bool_)
        return asked.answered(states=states, upper=upper, lower=low, bounded=bounded)

    def values_behind(self, asked: Conditions, answers: Answers) -> tuple[Whole, ...]:
        question, used = asked.question, self.mechanism(asked)
        if question.people is None and asked.most is None:
            return (answers.upper,)
        # A bound that stops at the number of people, or at the size of a group, stands for every value from
        # there on. The lower bound still follows the value, and "at least" may be reached beyond the number.
        stops = answers.upper == (-1 if asked.most is None else asked.most)
        if question.people is not None:
            stops |= answers.upper == question.people
        further = [answers.lower + used.law.most] if used.law.most is not None else []
        margin = self.stated(asked).margin
        if margin is not None:
            further.append(answers.lower + (margin - 1))
        if question.at_least is not None and margin is not None:
            further.append(np.full_like(answers.upper, question.at_least - 1 + margin))
        return (
            answers.upper,
            *(np.where(stops, np.maximum(answers.upper, one), answers.upper) for one in further),
        )


def require_limit(question: Question) -> int:
    """The most conditions one person can satisfy: without it no amount of noise is known to be enough."""
    most = question.max_conditions
    if question.max_places_per_person is None and len(question.windows) > 1:
        raise BadQuestion(
            "One person can be counted in many of the windows, and nothing says in how many.",
            'Ask with `method="selection"`, which needs no such limit, or about one window.',
        )
    if most is None:
        raise BadQuestion(
            "Over an interval one person can be at many places, and nothing says at how many.",
            "Ask about an instant; or with `max_alarms=C`, which needs no such limit; or of a dataset that "
            "was made with `max_places_per_person=K` (a person at more places stops the release).",
        )
    return exact.whole(most, "`max_places_per_person=`", least=1)
