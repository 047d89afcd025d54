"""The exact audit of a *procedure*: questions that follow from earlier answers, and a rule that stops.

A procedure is an ordinary Python generator. It is given what it may look at, and yields its draws; each
`yield` gives back one possible outcome, and the auditor runs it again for every other::

    def alarm(counts):
        for place, count in counts.items():
            yield announce(place)                       # seen by everybody, with certainty
            z = yield hide(noise.distribution(count))   # drawn, not shown
            if z > 5:
                yield announce(z)
                return
            yield announce("at most 5", says=...)       # a statement that must never be false

What everybody sees, in order, is a transcript. The audit compares the probability of every transcript on
every ordered pair of neighbours, so nothing that was chosen, skipped, stopped or charged can hide. It also
checks every statement the procedure calls certain, on every dataset on which it can be made.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from safeside import exact
from safeside.audit.channel import Probability, as_ball, distribution
from safeside.audit.exact import TOLERANCE, Finding, Relation, measure, pairs_of
from safeside.audit.ratios import pure
from safeside.audit.short_text import show, show_pair
from safeside.errors import BadQuestion
from safeside.exact import Ball, Number
from safeside.progress import Progress, quiet

Transcript = tuple[Any, ...]
MOST_TRANSCRIPTS: Final = 200_000
_SURE: Final = Fraction(1)
_ROUNDING: Final = exact.fraction(TOLERANCE)


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a procedure says without "probably": `holds` tells whether it is true of a dataset."""

    text: str
    holds: Callable[[Any], bool] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Draw:
    """One random step. `beyond` is probability that is not listed, counted as if it could be anything."""

    outcomes: Mapping[Any, Ball]
    public: bool
    says: Mapping[Any, Statement]
    beyond: Ball | None = None


Program = Callable[[Any], Generator[Draw, Any, None]]


def publish(outcomes: Mapping[Any, Probability], says: Mapping[Any, Statement] | None = None) -> Draw:
    """Draw, and show the outcome to everybody; `says` gives the statement that an outcome makes."""
    return Draw(distribution(outcomes, "a published draw"), public=True, says=says or {})


def hide(outcomes: Mapping[Any, Probability], beyond: Probability | None = None) -> Draw:
    """Draw, and show nobody.

    `beyond` bounds the probability of outcomes that are not listed; they must lead to no transcript that the
    listed ones do not lead to as well.
    """
    if beyond is None:
        return Draw(distribution(outcomes, "a hidden draw"), public=False, says={})
    listed = {outcome: as_ball(probability) for outcome, probability in outcomes.items()}
    return Draw(listed, public=False, says={}, beyond=as_ball(beyond))


def announce(value: Hashable, says: Statement | None = None) -> Draw:
    """Show everybody this value: a label, a choice, an answer."""
    return Draw({value: as_ball(_SURE)}, public=True, says={value: says} if says else {})


@dataclass(frozen=True, kw_only=True, slots=True)
class Procedure:
    """A program and what it claims.

    `view` is the part of a dataset the program is given; datasets with the same view are run once. `charge`,
    where there is one, is what the program books for a transcript (its total less what it gives back): the
    audit then also requires that no transcript is charged less than it reveals, nor more than the total.
    """

    name: str
    program: Program
    claimed_epsilon: Number
    view: Callable[[Any], Hashable] = field(default=lambda dataset: dataset)
    charge: Callable[[Transcript], Fraction] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcripts:
    """Every transcript of one view with its probability, and what was said in which transcript."""

    probabilities: Mapping[Transcript, Ball]
    said: Mapping[Statement, Transcript]
    unlisted: Ball


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The finding over whole transcripts, and the two failures that are not about the total."""

    name: str
    finding: Finding
    false_statement: str | None
    undercharged: str | None

    @property
    def holds(self) -> bool:
        """Whether the procedure keeps everything it claims."""
        return self.finding.holds and self.false_statement is None and self.undercharged is None

    @property
    def broken(self) -> bool:
        """Whether something the procedure claims is false, for certain."""
        return self.finding.broken or self.false_statement is not None or self.undercharged is not None

    def sentence(self) -> str:
        """What was found, in one line."""
        if self.false_statement:
            return self.false_statement
        if not self.finding.holds:
            return (
                f"claims {exact.show(self.finding.claimed_epsilon)}, needs {self.finding.measured:.6g}: "
                f"{show_pair(self.finding.worst)}, seen {show(self.finding.witness)}"
            )
        return self.undercharged or "keeps what it claims"


def transcripts(program: Program, view: Any) -> Transcripts:
    """Run the program through every outcome of every draw."""
    probabilities: dict[Transcript, Ball] = {}
    said: dict[Statement, Transcript] = {}
    with exact.precision(exact.PMF_BITS):
        unlisted = exact.ball(0)
        waiting: list[tuple[tuple[Any, ...], Ball]] = [((), exact.ball(1))]
        while waiting:
            choices, probability = waiting.pop()
            run = _Run(program, view, choices)
            while run.draw is not None:
                if run.draw.beyond is not None:
                    unlisted = unlisted + probability * run.draw.beyond
                (first, share), *others = run.draw.outcomes.items()
                waiting.extend(((*run.choices, other), probability * chance) for other, chance in others)
                probability = probability * share
                run.go(first)
            seen = tuple(run.seen)
            if probability.is_zero():
                continue
            probabilities[seen] = probabilities[seen] + probability if seen in probabilities else probability
            for statement in run.said:
                said.setdefault(statement, seen)
            if len(probabilities) > MOST_TRANSCRIPTS:
                raise BadQuestion(
                    f"The procedure has more than {MOST_TRANSCRIPTS:,} transcripts.",
                    "Ask fewer questions, or join outcomes whose probability ratio no longer changes into "
                    "one event.",
                )
    return Transcripts(probabilities=probabilities, said=said, unlisted=unlisted)


class _Run:
    """The program, run up to the draw that comes after these outcomes; `draw` is None at its end."""

    def __init__(self, program: Program, view: Any, choices: Iterable[Any]) -> None:
        self.choices: tuple[Any, ...] = ()
        self.seen: list[Any] = []
        self.said: list[Statement] = []
        self._run = program(view)
        self.draw: Draw | None = next(self._run, None)
        for outcome in choices:
            self.go(outcome)

    def go(self, outcome: Any) -> None:
        """Let the draw come out so, and run on to the next one."""
        draw = self.draw
        if draw is None:
            raise BadQuestion(
                "The procedure ended earlier when it was run again with the same outcomes.",
                "Let it depend on its view and on what its draws gave back, and on nothing else.",
            )
        self.choices = (*self.choices, outcome)
        if draw.public:
            self.seen.append(outcome)
            if outcome in draw.says:
                self.said.append(draw.says[outcome])
        try:
            self.draw = self._run.send(outcome)
        except StopIteration:
            self.draw = None


def audit_procedure(
    procedure: Procedure, relation: Relation, universe: Any, people: int, *, progress: Progress = quiet
) -> Verdict:
    """Audit a procedure over all ordered neighbours among datasets of `people` records.

    Example
        >>> from safeside import audit_procedure
        >>> from safeside.audit import Procedure, publish
        >>> from safeside.privacy.records import visits
        >>> from safeside.privacy.relations import ADP
        >>> def asks_twice(count):  # each time a third of the truth is replaced by "yes"
        ...     for _ in range(2):
        ...         yield publish({"yes": 1.0} if count else {"yes": 1 / 3, "no": 2 / 3})
        >>> twice = Procedure(
        ...     name="twice", program=asks_twice, claimed_epsilon="1.1", view=lambda x: "café" in x[0]
        ... )
        >>> verdict = audit_procedure(twice, ADP.not_visited(["café"]), visits(["café"]), 1)
        >>> print(verdict.holds, f"{verdict.finding.measured:.3f}")  # 2 ln 3: more than was claimed
        False 2.197
    """
    views: dict[Any, Hashable] = {}
    pairs = pairs_of(relation.neighbours(universe, people), procedure.view, views)
    runs: dict[Hashable, Transcripts] = {}
    distinct = dict.fromkeys(views.values())
    for done, view in enumerate(distinct):
        progress(done / len(distinct), f"{procedure.name}: every transcript")
        runs[view] = transcripts(procedure.program, view)
    claimed = exact.fraction(procedure.claimed_epsilon, "the claimed epsilon")
    with exact.precision(exact.PMF_BITS):
        finding = measure(pairs, lambda a, b: (pure(*_both(runs[a], runs[b])), None), claimed, Fraction(0))
        charge, both = procedure.charge, (_both(runs[a], runs[b]) for a, b in pairs)
        wrong = None if charge is None else undercharged(both, charge, claimed)
    return Verdict(
        name=procedure.name,
        finding=replace(finding, worst=pairs[finding.worst]),
        false_statement=_false_statement(views, runs),
        undercharged=None if wrong is None else f"{wrong[0]}; seen {show(wrong[1])}",
    )


Spread = Mapping[Transcript, Ball]


def _both(left: Transcripts, right: Transcripts) -> tuple[Spread, Spread]:
    return _with_unlisted(left, right), _with_unlisted(right, left)


def _with_unlisted(run: Transcripts, other: Transcripts) -> Spread:
    """Each transcript of either, with what was not listed counted as if it might all belong to that one."""
    if run.unlisted.is_zero():
        return run.probabilities
    nothing = exact.ball(0)
    every = dict.fromkeys((*run.probabilities, *other.probabilities))
    listed = {transcript: run.probabilities.get(transcript, nothing) for transcript in every}
    return {transcript: low.union(low + run.unlisted) for transcript, low in listed.items()}


def _false_statement(views: Mapping[Any, Hashable], runs: Mapping[Hashable, Transcripts]) -> str | None:
    for dataset, view in views.items():
        for statement, seen in runs[view].said.items():
            if not statement.holds(dataset):
                return f"says {statement.text!r} of {show(dataset)}, which is false; seen {show(seen)}"
    return None


def undercharged(
    pairs: Iterable[tuple[Mapping[Any, Ball], Mapping[Any, Ball]]],
    charge: Callable[[Any], Fraction],
    total: Fraction,
) -> tuple[str, Any] | None:
    """What is wrong, and the transcript: it reveals more than is booked for it, or more is booked than is
    reserved. Probabilities are those on a dataset and on its neighbour.
    """
    for left, right in pairs:
        for transcript, probability in left.items():
            booked = charge(transcript)
            if booked > total:
                return f"books {exact.show(booked)} of {exact.show(total)} reserved", transcript
            allowed = exact.exp(booked + _ROUNDING) * right.get(transcript, exact.ball(0))
            if not probability <= allowed:
                return f"books {exact.show(booked)} for a transcript that reveals more", transcript
    return None
