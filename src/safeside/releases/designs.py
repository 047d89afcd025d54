"""How a question is answered: which mechanism, at which price, with which answers.

A design is fixed by the question alone, before any data is read; the counts come last and touch nothing but
the draw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from safeside import exact
from safeside.decisions.sanitizers import decide_by_law
from safeside.decisions.states import State
from safeside.exact import Ball
from safeside.ledger.money import Cost
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.sequences import Answer
from safeside.mechanisms.sparse import NO_VALUE
from safeside.noise.entropy import Entropy
from safeside.privacy.account import Kind
from safeside.privacy.guarantee import Guarantee
from safeside.releases.answers import CODE, Answers

Whole = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """Everything that goes into a draw; `order` belongs to sparse releases and was fixed beforehand."""

    places: tuple[str, ...]
    counts: Whole
    thresholds: Whole
    order: Whole | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """What was drawn, and whether a seed drew it; `alarms` belongs to sparse releases."""

    answers: Answers
    simulated: bool
    alarms: int | None = None


@dataclass(frozen=True, kw_only=True)
class AtLeast:
    """ "At least `threshold`", wrong for one place with probability at most `alpha_each`."""

    threshold: int
    alpha_each: Fraction


class Mechanism(Protocol):
    """What every mechanism here can say of itself."""

    name: ClassVar[str]

    @property
    def guarantee(self) -> Guarantee: ...

    def beta(self, t: int, count: int) -> Ball: ...


class Design(ABC):
    """One way to answer a question."""

    slider: ClassVar[bool] = False
    """Whether readers may move the threshold: free in privacy and in error (THEORY section 5)."""

    @property
    @abstractmethod
    def inner(self) -> Mechanism:
        """The mechanism, as far as all of them are alike."""

    @property
    def guarantee(self) -> Guarantee:
        """What this release promises by itself."""
        return self.inner.guarantee

    @property
    def kind(self) -> Kind:
        """How the release enters the dataset's account."""
        return Kind.DP_COUNTS

    def cost(self, periods: tuple[str, ...]) -> Cost:
        """What is reserved before anything is drawn."""
        whole = self.guarantee
        return Cost(kind=self.kind, epsilon=whole.epsilon, delta=whole.delta, periods=periods)

    def beta(self, threshold: int, count: int) -> float:
        """The chance of "at most" at this true count, where the place is asked."""
        return float(self.inner.beta(threshold, count).mid())

    def expected(self, thresholds: Whole) -> float:
        """The share of places to be answered "at most" if nobody were at any of them."""
        return float(self._quiet(thresholds).mean())

    def _quiet(self, thresholds: Whole) -> NDArray[np.float64]:
        """The chance of "at most" for each place, were nobody there."""
        limits, back = np.unique(thresholds, return_inverse=True)
        return np.array([self.beta(int(t), 0) for t in limits])[back]

    def record(self) -> dict[str, Any]:
        """The mechanism as release.json has it, without the order."""
        return {
            "name": self.inner.name,
            "epsilon": str(self.guarantee.epsilon),
            "delta": str(self.guarantee.delta),
            "slider": self.slider,
            "places_per_person": None,
            "alarms": None,
            "margin": None,
            "pad": None,
            **self._own(),
        }

    @abstractmethod
    def _own(self) -> dict[str, Any]:
        """What this mechanism alone has to say."""

    @abstractmethod
    def answer(self, asked: Asked, entropy: Entropy | None = None) -> Drawn:
        """Draw all noise of the release, once; a simulation gives its own entropy."""


@dataclass(frozen=True, kw_only=True)
class Counted(Design):
    """A noisy count for each place: AGeo, or PaddedGeo where differential privacy is wanted."""

    slider = True
    mechanism: AGeo | PaddedGeo
    at_least: AtLeast | None = None

    @property
    def inner(self) -> Mechanism:
        return self.mechanism

    @property
    def kind(self) -> Kind:
        return Kind.ADP if isinstance(self.mechanism, AGeo) else Kind.DP_COUNTS

    def _own(self) -> dict[str, Any]:
        used, error = self.mechanism, None if self.at_least is None else self.at_least.alpha_each
        own = {
            "rate": str(used.rate),
            "margin": None if error is None else used.law.margin_up(error),
        }
        if isinstance(used, PaddedGeo):
            return {**own, "places_per_person": used.max_conditions, "pad": used.pad}
        return {**own, "places_per_person": used.sensitivity}

    def answer(self, asked: Asked, entropy: Entropy | None = None) -> Drawn:
        used = self.mechanism
        noisy = used.release(asked.counts, entropy=entropy)
        upper, lower = used.upper_bound(noisy.values), used.lower_bound(noisy.values)
        assert upper is not None, "the noise of these mechanisms is never below the truth"
        states = np.full(upper.size, CODE[State.UNCLEAR], dtype=np.uint8)
        low = np.zeros_like(upper) if lower is None else lower
        if self.at_least is not None:
            # "At least s" is the complement of "at most s - 1", whatever the threshold of "at most" is.
            below, error = self.at_least.threshold - 1, self.at_least.alpha_each
            busy = decide_by_law(noisy.values, below, used.law, error, people=used.people)
            states[busy == State.AT_LEAST] = CODE[State.AT_LEAST]
            low, _ = used.interval(noisy.values, 1 - error)
        quiet = decide_by_law(noisy.values, asked.thresholds, used.law, people=used.people)
        states[quiet == State.AT_MOST] = CODE[State.AT_MOST]
        bounded = np.ones(upper.size, dtype=np.bool_)
        answers = Answers(places=asked.places, states=states, upper=upper, lower=low, bounded=bounded)
        return Drawn(answers=answers, simulated=noisy.simulated)


@dataclass(frozen=True, kw_only=True)
class InTurn(Design):
    """Sparse answers: places are asked in an order fixed beforehand, until the last alarm allowed."""

    mechanism: SAGeo

    @property
    def inner(self) -> Mechanism:
        return self.mechanism

    @property
    def kind(self) -> Kind:
        return Kind.ADP

    def cost(self, periods: tuple[str, ...]) -> Cost:
        each = exact.fraction(self.mechanism.epsilon_each)
        return Cost(kind=self.kind, epsilon=self.guarantee.epsilon, periods=periods, each=each)

    def expected(self, thresholds: Whole) -> float:
        nobody = np.zeros(thresholds.size, dtype=np.int64)
        return float((self.mechanism.reached(nobody, thresholds) * self._quiet(thresholds)).mean())

    def _own(self) -> dict[str, Any]:
        return {
            "rate": str(self.mechanism.rate()),
            "places_per_person": self.mechanism.max_conditions,
            "alarms": self.mechanism.alarms,
        }

    def answer(self, asked: Asked, entropy: Entropy | None = None) -> Drawn:
        order = asked.order
        assert order is not None, "a sparse question has an order"
        sparse = self.mechanism.release(asked.counts[order], asked.thresholds[order], entropy=entropy)
        said, values = np.empty_like(sparse.answers), np.empty_like(sparse.values)
        said[order], values[order] = sparse.answers, sparse.values
        states = np.full(said.size, CODE[State.NOT_ASKED], dtype=np.uint8)
        states[said == Answer.QUIET] = CODE[State.AT_MOST]
        states[said == Answer.ALARM] = CODE[State.UNCLEAR]
        answers = Answers(
            places=asked.places,
            states=states,
            upper=np.where(values == NO_VALUE, asked.thresholds, values),
            lower=np.zeros(said.size, dtype=np.int64),
            bounded=said != Answer.NOT_ASKED,
        )
        return Drawn(answers=answers, simulated=sparse.simulated, alarms=sparse.alarms)


@dataclass(frozen=True, kw_only=True)
class OneBit(Design):
    """One bit for each place, the best there is under ordinary differential privacy."""

    mechanism: OptimalDecision

    @property
    def inner(self) -> Mechanism:
        return self.mechanism

    def _own(self) -> dict[str, Any]:
        return {
            "rate": str(exact.fraction(self.mechanism.epsilon)),
            "places_per_person": self.mechanism.max_conditions,
        }

    def answer(self, asked: Asked, entropy: Entropy | None = None) -> Drawn:
        decided = self.mechanism.release(asked.counts, asked.thresholds, entropy=entropy)
        answers = Answers(
            places=asked.places,
            states=np.where(decided.values, CODE[State.AT_MOST], CODE[State.UNCLEAR]).astype(np.uint8),
            upper=np.where(decided.values, asked.thresholds, 0),
            lower=np.zeros(asked.counts.size, dtype=np.int64),
            bounded=decided.values,
        )
        return Drawn(answers=answers, simulated=decided.simulated)
