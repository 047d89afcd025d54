"""Sparse answers written as a program, by the book: what a transcript audit of SAGeo runs.

The program draws from the mechanism that is shipped and does what docs/proofs/sageo.md says; the planted
procedures are this one with something spoilt.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from safeside.audit.transcripts import Draw, Procedure, Statement, Transcript, publish
from safeside.audit.worlds import Question, World, counts_of
from safeside.exact import Ball
from safeside.mechanisms.ageo import AGeo

AT_MOST: Final = "⊥"


def says_at_most(question: Question, t: int) -> Statement:
    """What ⊥ says of the dataset."""
    return Statement(f"at most {t} at {question.name}", lambda dataset: question.count(dataset) <= t)


@dataclass(frozen=True, kw_only=True)
class Sparse:
    """Questions asked in turn until `alarms` of them were answered with a number."""

    questions: Sequence[Question]
    epsilon_each: Fraction
    alarms: int
    at_most: int = 0
    people: int = 2

    @cached_property
    def table(self) -> tuple[dict[Any, Ball], ...]:
        """For each true count, the probability of ⊥ and of every alarm; beyond all counts they are one."""
        return tuple(self._row(count) for count in range(self.people + 1))

    def _row(self, count: int) -> dict[Any, Ball]:
        spread = AGeo(epsilon=self.epsilon_each).distribution(count, max(self.people, self.at_most + 1))
        row: dict[Any, Ball] = {}
        for z, probability in spread.items():
            key = AT_MOST if isinstance(z, int) and z <= self.at_most else str(z)
            row[key] = row[key] + probability if key in row else probability
        return row

    @cached_property
    def draws(self) -> tuple[tuple[Draw, ...], ...]:
        """For each question and each true count, the draw that answers it."""
        return tuple(
            tuple(publish(row, says={AT_MOST: says_at_most(question, self.at_most)}) for row in self.table)
            for question in self.questions
        )

    def program(self, counts: Sequence[int]) -> Generator[Draw, Any, None]:
        """In the order listed."""
        raised = 0
        for place, count in enumerate(counts):
            outcome = yield self.draws[place][count]
            raised += outcome != AT_MOST
            if raised == self.alarms:
                return

    def price(self, world: World) -> Fraction:
        """e0 times the fewer of the alarms allowed and κ of everything that may be asked."""
        return self.epsilon_each * min(self.alarms, world.max_conditions(self.questions))

    def procedure(self, name: str, world: World, claimed: Fraction | None = None) -> Procedure:
        """As a procedure with its price, or with another claim."""
        return Procedure(
            name=name,
            program=self.program,
            claimed_epsilon=self.price(world) if claimed is None else claimed,
            view=counts_of(self.questions),
        )

    def alarmed(self, transcript: Transcript) -> tuple[Question, ...]:
        """The questions a transcript of `program` raised an alarm for."""
        return tuple(
            question
            for question, answer in zip(self.questions, transcript, strict=False)
            if answer != AT_MOST
        )
