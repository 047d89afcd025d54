"""Reserve, commit, return, crash, restore and fork, in any order: the ledger is what a simple model says.

The model is a dictionary of what was paid. The machine tries every order it can think of, with crashes at
named steps and databases put back from backups in between, and compares after every step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.ledger.stores import Backup, backup, cost, raw, restore
from tests.postgres import Server

from safeside.errors import LedgerForked, OverBudget, RequestConflict
from safeside.ledger import Ledger, Published, Stage, create_ledger, open_ledger, steps

CAP = Fraction(7, 3)
AMOUNTS = st.fractions(min_value=Fraction(1, 7), max_value=2, max_denominator=9)
STEPS = st.sampled_from(
    [f"{kind}: {step}" for kind in ("reserve", "commit", "return") for step in steps.OF_AN_EVENT]
)
NAMES = st.integers(0, 5).map("r{}".format)


class Crash(BaseException):
    """The process dies here; nothing catches it."""


@dataclass
class Paid:
    """What the model knows of one reservation."""

    epsilon: Fraction
    each: Fraction | None
    manifest: str | None = None
    alarms: int = 0
    returned: Fraction = Fraction(0)
    recharged: bool = False
    withdrawn: bool = False

    def unused(self) -> Fraction:
        if self.each is None or self.manifest is None or self.returned or self.recharged:
            return Fraction(0)
        return max(Fraction(0), self.epsilon - self.alarms * self.each)


class LedgerMachine(RuleBasedStateMachine):
    """One ledger, one model of it, and the backups somebody made on the way."""

    def __init__(self, url: str, state: Path) -> None:
        super().__init__()
        self.url = url
        self.state = state
        with create_ledger(url) as made:
            made.create_dataset("city", "person", CAP)
        self.ledger: Ledger = open_ledger(url)
        self.paid: dict[str, Paid] = {}
        self.saved: tuple[Backup, dict[str, Paid]] | None = None
        self.published: dict[str, Published] = {}
        self.drawn = 0

    def teardown(self) -> None:
        self.ledger.close()

    @initialize()
    def save_at_first(self) -> None:
        self.save()

    def spent(self) -> Fraction:
        return sum((one.epsilon - one.returned for one in self.paid.values()), Fraction(0))

    @rule(name=NAMES, epsilon=AMOUNTS, alarms=st.none() | st.integers(1, 4))
    def reserve(self, name: str, epsilon: Fraction, alarms: int | None) -> None:
        price = cost(epsilon, epsilon_each=None if alarms is None else epsilon / alarms)
        known = self.paid.get(name)
        if known is not None:
            if (known.epsilon, known.each) != (price.epsilon, price.epsilon_each):
                with pytest.raises(RequestConflict):
                    self.ledger.reserve("city", name, {}, price)
            return
        if self.spent() + epsilon > CAP:
            with pytest.raises(OverBudget) as caught:
                self.ledger.reserve("city", name, {}, price)
            assert caught.value.remaining == CAP - self.spent()
            return
        self.ledger.reserve("city", name, {}, price)
        self.paid[name] = Paid(epsilon=epsilon, each=price.epsilon_each)

    @rule(name=NAMES)
    def repeat(self, name: str) -> None:
        known = self.paid.get(name)
        if known is not None:
            again = self.ledger.reserve("city", name, {}, cost(known.epsilon, epsilon_each=known.each))
            assert again.manifest == known.manifest

    @rule(name=NAMES, alarms=st.integers(0, 5))
    def commit(self, name: str, alarms: int) -> None:
        known, reservation = self.paid.get(name), self.ledger.reservation(name)
        assert (known is None) == (reservation is None)
        if known is None or reservation is None:
            return
        manifest = self._draw()
        counted = None if known.each is None else alarms
        if known.manifest is not None:
            with pytest.raises(RequestConflict):
                self.ledger.commit(reservation, manifest, alarms=counted)
            self.ledger.commit(reservation, known.manifest, alarms=counted)
            return
        self.ledger.commit(reservation, manifest, alarms=counted)
        known.manifest, known.alarms = manifest, alarms
        self._sign(name, manifest)

    def _draw(self) -> str:
        self.drawn += 1
        return f"draw {self.drawn}"

    def _sign(self, name: str, manifest: str) -> None:
        made = self.ledger.reservation(name)
        assert made is not None
        self.published[manifest] = Published(
            ledger_id=made.ledger_id,
            dataset=made.dataset,
            request=name,
            reference=made.reference,
            manifest=manifest,
            cost=made.cost,
            question=made.question,
        )

    @rule(name=NAMES)
    def refuse(self, name: str) -> None:
        """Bad input in a run that did not make the reservation: it stays, for somebody may have drawn."""
        known = self.ledger.reservation(name)
        assert self.ledger.refuse("city", name, {}, "BadFile", unused=known) == (known is None)

    @rule(name=NAMES, epsilon=AMOUNTS)
    def stop(self, name: str, epsilon: Fraction) -> None:
        """Bad input in the run that made the reservation: nothing was drawn, and all of it goes back."""
        if name in self.paid or self.spent() + epsilon > CAP:
            return
        made = self.ledger.reserve("city", name, {}, cost(epsilon))
        assert self.ledger.refuse("city", name, {}, "BadFile", unused=made)

    @rule(name=NAMES, epsilon=AMOUNTS)
    def stop_while_another_run_draws(self, name: str, epsilon: Fraction) -> None:
        """Bad input in the run that made the reservation, which another run has taken up since: it stays."""
        if name in self.paid or self.spent() + epsilon > CAP:
            return
        made = self.ledger.reserve("city", name, {}, cost(epsilon))
        with open_ledger(self.url) as other:
            assert not other.reserve("city", name, {}, cost(epsilon)).fresh
        assert not self.ledger.refuse("city", name, {}, "BadFile", unused=made)
        self.paid[name] = Paid(epsilon=epsilon, each=None)

    @rule(name=NAMES, share=st.fractions(0, 1, max_denominator=3))
    def give_back(self, name: str, share: Fraction) -> None:
        known, reservation = self.paid.get(name), self.ledger.reservation(name)
        if known is not None and reservation is not None and known.unused():
            part = known.unused() * share
            assert self.ledger.give_back(reservation, part) == part
            known.returned = part

    @rule(name=NAMES)
    def withdraw(self, name: str) -> None:
        known = self.paid.get(name)
        if known is not None and known.manifest is not None:
            self.ledger.withdraw(name, "software-fault")
            known.withdrawn = True

    @rule(name=NAMES, epsilon=AMOUNTS, step=STEPS)
    def crash(self, name: str, epsilon: Fraction, step: str) -> None:
        """A whole publication, by a process that may die at a step; then it is repeated to the end."""
        if name in self.paid or self.spent() + epsilon > CAP:
            return

        manifest = self._draw()

        def publish() -> None:
            made = self.ledger.reserve("city", name, {}, cost(epsilon, epsilon_each=epsilon))
            self.ledger.give_back(self.ledger.commit(made, manifest, alarms=0))

        self._dying_at(step, publish)
        self.ledger = open_ledger(self.url)
        publish()
        self.paid[name] = Paid(epsilon=epsilon, each=epsilon, manifest=manifest, returned=epsilon)
        self._sign(name, manifest)

    def _dying_at(self, step: str, act: Callable[[], None]) -> None:
        def reached(name: str) -> None:
            if name == step:
                raise Crash

        usual, steps.reached = steps.reached, reached
        try:
            with pytest.raises(Crash):
                act()
        finally:
            steps.reached = usual

    @rule()
    def save(self) -> None:
        self.saved = (backup(self.url), copy.deepcopy(self.paid))

    @rule()
    def recover(self) -> None:
        self.ledger.recover(self.published.values())
        self._returned_by_recovery()

    def _returned_by_recovery(self) -> None:
        for known in self.paid.values():
            known.returned = known.returned or known.unused()

    @precondition(lambda self: self.saved is not None)
    @rule()
    def restore(self) -> None:
        """The witness remembers: afterwards everything is as it was."""
        assert self.saved is not None
        before = self.ledger.head
        restore(self.url, self.saved[0])
        self.ledger = open_ledger(self.url)
        if self.ledger.head != before:
            with pytest.raises(LedgerForked):
                self.ledger.reserve("city", "another", {}, cost("1/100"))
        self.ledger.recover()
        assert self.ledger.head.number >= before.number
        self._returned_by_recovery()

    @precondition(lambda self: self.saved is not None)
    @rule()
    def restore_elsewhere(self) -> None:
        """No witness: what is known of the time since are the releases, which are charged in full."""
        assert self.saved is not None
        restore(self.url, self.saved[0])
        for path in (Path(self.url + ".witness"), self.state / f"{self.ledger.ledger_id}.witness"):
            path.unlink(missing_ok=True)
        self.ledger = open_ledger(self.url)
        self.paid = copy.deepcopy(self.saved[1])
        known = {one.manifest for one in self.paid.values()}
        lost = [one for one in self.published.values() if one.manifest not in known]
        if lost:
            with pytest.raises(LedgerForked):
                self.ledger.reconcile(self.published.values())
        open_ = {one.manifest for one in lost if self._open(one)}
        self.ledger.recover(self.published.values())
        for one in lost:
            paid = self.paid.get(one.request)
            if one.manifest in open_ and paid is not None and paid.manifest is None:
                paid.manifest = one.manifest
                paid.alarms = 0 if paid.each is None else int(paid.epsilon / paid.each)
                continue
            name = one.request if one.request not in self.paid else f"{one.request} [{one.manifest[:12]}]"
            self.paid[name] = Paid(
                epsilon=one.cost.epsilon, each=one.cost.epsilon_each, manifest=one.manifest, recharged=True
            )
        self.ledger.reconcile(self.published.values())
        self._returned_by_recovery()

    def _open(self, one: Published) -> bool:
        """Its reservation is there, paid and without a release: the first such release is that one."""
        known = self.ledger.reservation(one.request)
        return known is not None and known.manifest is None and known.reference == one.reference

    @invariant()
    def to_the_last_digit(self) -> None:
        shown = self.ledger.show("city")
        assert shown.periods[0].spent.epsilon == self.spent()
        assert shown.standing.epsilon >= max(CAP, self.spent())
        if not any(one.recharged for one in self.paid.values()):
            assert self.spent() <= CAP
            assert shown.standing.epsilon == CAP
        assert {one.request: one.manifest for one in self.ledger.reservations()} == {
            name: one.manifest for name, one in self.paid.items()
        }
        assert shown.forgotten == 0
        for one in self.ledger.reservations():
            assert (one.stage is Stage.WITHDRAWN) <= self.paid[one.request].withdrawn

    @invariant()
    def another_reader_agrees(self) -> None:
        with open_ledger(self.url) as other:
            assert other.verify() == self.ledger.head.number


BOUNDS = settings(max_examples=100, stateful_step_count=25, suppress_health_check=list(HealthCheck))


def test_the_ledger_in_a_file_is_what_the_model_says(tmp_path: Path, state: Path) -> None:
    run_state_machine_as_test(
        lambda: LedgerMachine(str(tmp_path / f"{uuid4().hex}.db"), state), settings=BOUNDS
    )


@pytest.mark.xdist_group("postgres")
def test_the_ledger_on_a_server_is_what_the_model_says(postgres: Server, state: Path) -> None:
    made: list[str] = []

    def machine() -> LedgerMachine:
        made.append(postgres.fresh())
        return LedgerMachine(made[-1], state)

    run_state_machine_as_test(machine, settings=settings(BOUNDS, max_examples=25))
    with raw(made[-1]) as run:
        assert run("SELECT count(*) FROM safeside_ledger") == [(1,)]
