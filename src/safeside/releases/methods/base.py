"""What every way of answering a question has in common.

A method is fixed by the question alone, before any data is read; the counts come last and touch nothing but
the draw. The publisher and the verifier read answers from what was drawn by the same `states`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from safeside.decisions.compare import Outlook
from safeside.decisions.states import State
from safeside.mechanisms import mechanism as mechanisms
from safeside.mechanisms.selection_plan import SelectionPlan, plan_selection
from safeside.noise.entropy import Entropy
from safeside.privacy.account import Cost, Kind
from safeside.privacy.policy import Policy
from safeside.records import Part, PlainText
from safeside.releases.answers import CODE, Answers, Label, labels
from safeside.visits import Places

if TYPE_CHECKING:
    from safeside.releases.question import Question

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
Number = Annotated[int, msgspec.Meta(ge=0)]
"""A whole number from 0, in a record."""
Positive = Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditions:
    """Every condition of a question: one for each window, measure and target, in the order of the answers."""

    question: Question
    targets: tuple[str, ...]
    """The list, once; the arrays repeat it for each window and measure."""
    at_most: Whole
    known: Whole | None = None
    """What the method publishes beside the answers and knew beforehand: the order conditions are asked in, or
    what is expected of each.
    """

    def __len__(self) -> int:
        return int(self.at_most.size)

    @cached_property
    def labels(self) -> list[Label]:
        """What each condition is called in files."""
        return labels(self.targets, self.question.windows, self.question.measures)

    def within(self, bounds: Whole, bounded: Mask) -> Answers:
        """Answers where a bound within the threshold says "at most", and nothing else says anything."""
        quiet = bounded & (bounds <= self.at_most)
        return self.answered(
            states=np.where(quiet, CODE[State.AT_MOST], CODE[State.UNCLEAR]).astype(np.uint8),
            upper=np.where(bounded, bounds, 0),
            lower=np.zeros(len(self), dtype=np.int64),
            bounded=bounded,
        )

    def answered(self, *, states: NDArray[np.uint8], upper: Whole, lower: Whole, bounded: Mask) -> Answers:
        """Answers to these conditions, and what their public sizes say: no bound is above one."""
        groups, most = self.question.groups, self.most
        if most is not None:
            upper = np.where(bounded, np.minimum(upper, most), np.where(self.certain, most, upper))
            lower, bounded = np.minimum(lower, most), bounded | self.certain
            too_many = (states == CODE[State.AT_LEAST]) & (most < (self.question.at_least or 0))
            states = np.where(too_many, CODE[State.UNCLEAR], states)
            states = np.where(self.certain, CODE[State.AT_MOST], states).astype(np.uint8)
        return Answers(
            targets=self.targets,
            windows=self.question.windows,
            measures=self.question.measures,
            states=states,
            upper=upper,
            lower=lower,
            bounded=bounded,
            grouped=groups is not None,
            sizes=() if groups is None else groups.sizes,
        )

    @cached_property
    def most(self) -> Whole | None:
        """The public size that no count of a condition exceeds (a release stops where one does)."""
        groups = self.question.groups
        if groups is None or not groups.sizes:
            return None
        return np.tile(np.array(groups.sizes, dtype=np.int64), len(self.question.measures))

    @cached_property
    def certain(self) -> Mask:
        """Where "at most" is true whatever the data are: no more people are in the group than asked about."""
        return np.zeros(len(self), dtype=np.bool_) if self.most is None else self.most <= self.at_most

    @cached_property
    def plan(self) -> SelectionPlan:
        """What a selection tests, and how it may leave the rest out: it takes long to make."""
        assert self.known is not None, "a forecast is made before the question"
        return plan_selection(self.known, int(self.at_most.min()), self.question.method.epsilon)

    @cached_property
    def policy(self) -> Policy:
        """Of every condition, that it is not true of you may become known."""
        if self.question.groups is not None:
            return self.question.groups.policy(self.targets)
        return Policy.not_visited(self.targets, *self.question.windows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """What was drawn: a value for each condition, from which its answer is read."""

    values: Whole
    simulated: bool = False
    alarms: int | None = None
    """How many were published, where the price depends on it."""
    outcome: Mapping[str, int] = field(default_factory=dict)
    """What it says of all conditions together, where a method publishes such a thing."""


class Forecast(Part, frozen=True, kw_only=True):
    """What is expected of each condition, from public knowledge: where it comes from, and its digest."""

    source: PlainText
    sha256: str


class Mechanism(Part, frozen=True, kw_only=True):
    """What follows from the question for the noise; a verifier computes the same."""

    name: str
    rate: Fraction
    """Neighbouring values of the noise of one condition differ by a factor e^rate."""
    margin: Number | None = None
    """How far a lower bound lies below the published value."""
    pad: Number | None = None
    slider: bool = False
    """Whether readers may move the threshold: free in privacy and in error (docs/proofs/ageo.md)."""


class Method(Part, frozen=True, kw_only=True, tag_field="name"):
    """One way to answer a question, with its parameters; the release records it by its tag."""

    epsilon: Fraction

    own_arguments: ClassVar[tuple[str, ...]] = ()
    """The arguments of `ask` that belong to this method alone: whoever gives one asks for it."""
    hints: ClassVar[tuple[str, ...]] = ()
    """Arguments that mean something for other methods too, and are of use with this one above all: whoever
    gives one and names no method asks for it.
    """
    by_forecast: ClassVar[bool] = False
    """Whether its own arguments are parts of a forecast, on which the ways of answering can be compared."""
    ordinary: ClassVar[bool] = False
    """Whether it can be had under ordinary differential privacy."""
    needs_limit: ClassVar[bool] = True
    """Whether it needs to know at how many places one person can be counted."""
    takes_limit: ClassVar[bool] = True
    """Whether it makes any use of such a limit."""
    counts: ClassVar[bool] = False
    """Whether a noisy count of every place is published: "at least" and a number of people need one."""
    level: ClassVar[bool] = False
    """Whether it claims a level: a bound above the number asked about is then shown as one."""
    file: ClassVar[str | None] = None
    """The file beside the answers in which it publishes what it knew beforehand."""
    outcomes: ClassVar[frozenset[str]] = frozenset()
    """The names of what it publishes of all conditions together."""
    possible: ClassVar[frozenset[State]] = frozenset({State.AT_MOST, State.UNCLEAR})
    """Every state that it can lead to."""

    @classmethod
    def tag(cls) -> str:
        """What it is called."""
        return str(cls.__struct_config__.tag)

    @classmethod
    @abstractmethod
    def asked(cls, places: Places, given: Mapping[str, Any]) -> tuple[Method, Whole | None]:
        """The method with the parameters that were given, and what it knows of the conditions beforehand.

        `given` has every argument of `ask`, and the windows that follow from them as `windows`.
        """

    @classmethod
    def certifies(cls, _outlook: Outlook) -> float | None:
        """How many conditions it is expected to certify; None where it is not compared with others."""
        return None

    def check(self, question: Question) -> None:
        """Refuse a question that this method cannot answer."""

    @abstractmethod
    def mechanism(self, asked: Conditions) -> mechanisms.Mechanism:
        """The mechanism, as far as all of them are alike."""

    @abstractmethod
    def stated(self, asked: Conditions) -> Mechanism:
        """What the release says of its noise."""

    @property
    def kind(self) -> Kind:
        """How the release enters the dataset's account."""
        return Kind.ADP

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The digests of the earlier releases from which it knows something beforehand."""
        return ()

    def cost(self, asked: Conditions, periods: tuple[str, ...]) -> Cost:
        """What is reserved before anything is drawn."""
        whole = self.mechanism(asked).guarantee
        return Cost(kind=self.kind, epsilon=whole.epsilon, delta=whole.delta, periods=periods)

    @abstractmethod
    def draw(self, asked: Conditions, counts: Whole, entropy: Entropy | None = None) -> Drawn:
        """Draw all noise of the release, once; a simulation gives its own entropy."""

    @abstractmethod
    def states(self, asked: Conditions, drawn: Drawn) -> Answers:
        """What is said of each condition, from what was drawn."""

    @abstractmethod
    def values_behind(self, asked: Conditions, answers: Answers) -> tuple[Whole, ...]:
        """Values that may have been drawn for such answers: one of them leads to each that is true."""

    def follows(self, asked: Conditions, answers: Answers, outcome: Mapping[str, int]) -> Mask:
        """For each condition, whether its state and bounds are those of something that can be drawn."""
        found = np.zeros(len(answers), dtype=np.bool_)
        for values in self.values_behind(asked, answers):
            found |= answers.same(self.states(asked, Drawn(values=values, outcome=outcome)))
        return found

    def why_impossible(
        self, _asked: Conditions, _answers: Answers, _outcome: Mapping[str, int]
    ) -> str | None:
        """What is wrong with all answers together, where each by itself could be."""
        return None

    def forecast(self, _known: Whole | None) -> Forecast | None:
        """What the question says of what this method knows beforehand, where that is a forecast."""
        return None

    def settled(self, asked: Conditions, _entropy: Entropy | None = None) -> Whole | None:
        """What the method knows beforehand, where chance decides it: drawn without a look at the data."""
        return asked.known

    def write_known(self, asked: Conditions) -> bytes:
        """The content of `file`."""
        raise NotImplementedError

    def read_known(self, asked: Conditions, data: bytes) -> Whole:
        """What the method knew, from the content of `file`; ValueError, with the reason, where it is not."""
        raise NotImplementedError

    def chances(self, asked: Conditions, threshold: int, counts: Iterable[int]) -> dict[int, float]:
        """The chance of "at most" by true count, where the place is asked; none where it is not the count of
        that place alone that decides.
        """
        used: Any = self.mechanism(asked)
        return {count: float(used.beta(threshold, count).mid()) for count in counts}

    def expected(self, asked: Conditions) -> float:
        """The share of conditions to be answered "at most" if they were true of nobody."""
        return float(self._quiet(asked).mean())

    def _quiet(self, asked: Conditions) -> NDArray[np.float64]:
        """The chance of "at most" for each condition, were it true of nobody."""
        limits, back = np.unique(asked.at_most, return_inverse=True)
        chances = np.array([self.chances(asked, int(t), [0])[0] for t in limits])[back]
        return np.where(asked.certain, 1.0, chances)
