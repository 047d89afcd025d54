"""Publish: ask, pay, count, draw once, seal, commit, sign, appear.

The order is the guarantee. Money goes first, so that no answer is ever unpaid. What was drawn is checked in
memory and reaches the disk encrypted, under a key that the ledger stores in the transaction in which it
commits to the draw: before that nobody can ever read it, so that drawing again shows one draw to the world;
after it only this ledger can, so that a retry publishes that very draw and never another. What is signed is
the bytes that were checked. The directory appears last, in one rename, so that nobody ever sees half a
release. A process killed between any two of the steps below leaves the whole release, or a paid reservation
that running the same command again finishes for nothing (tests/faults kills one at each).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from safeside.errors import (
    BadCounts,
    BadRelease,
    CannotWrite,
    InputError,
    LedgerError,
    LimitBroken,
    ReleaseError,
    RequestConflict,
    SimulationOnly,
    StoreUnavailable,
)
from safeside.groups import count_people, shown_whole
from safeside.ledger import Dataset, Ledger, Reservation, Stage, steps
from safeside.ledger.account import ASKS, LOOKED_AT, TARGETS, WINDOW
from safeside.mechanisms.counts import people_counts
from safeside.noise.entropy import Entropy
from safeside.privacy.account import Cost
from safeside.progress import Progress, quiet
from safeside.releases import publish_steps, rules
from safeside.releases.asking import Inquiry
from safeside.releases.files import compose
from safeside.releases.grouped import as_counts
from safeside.releases.preview import Preview, preview
from safeside.releases.question import Question, require_time
from safeside.releases.record import Paid, Promised, ReleaseRecord, written
from safeside.releases.release import Release, hold, load_release
from safeside.releases.sealing import appear, appeared, room, seal_into
from safeside.releases.signing import PrivateKey
from safeside.releases.staging import Staging
from safeside.releases.verify import check_claims, check_files
from safeside.visits import Confirm, Counts, Expected, count_visits, default_cache, never_confirm


@dataclass(frozen=True, kw_only=True, eq=False)
class Publication:
    """A release that can be made: checked, priced, and not yet paid for."""

    inquiry: Inquiry
    visits: Any
    """The private data: not opened before the reservation is paid."""
    expected: Expected
    """What is known of them, and is not published."""
    ledger: Ledger
    dataset: Dataset
    request: str
    staging: Staging
    key: PrivateKey
    known_on: datetime | None = None
    supersedes: str | None = None
    allow_nobody: bool = False
    basemap: dict[str, Any] | None = None
    entropy: Entropy | None = None
    again: bool = False
    """Pay for a question although it was answered before."""
    doubtful: tuple[Path, ...] = ()
    """Directories beside this one that say they are of this ledger and are not signed with a key of ours."""

    def __post_init__(self) -> None:
        if self.entropy is not None and self.entropy.simulated:
            raise SimulationOnly(
                "Noise from a seed was offered for a release: anybody could subtract it.",
                "Leave the seed out, or use `safeside.simulate(...)`, which needs no ledger.",
            )

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.inquiry.question

    @cached_property
    def cost(self) -> Cost:
        """The price, and the days or weeks that are charged with it."""
        window, form = self.question.window, self.inquiry.format
        periods = rules.charged_periods(self.ledger, self.dataset.name, window, form)
        return self.question.method.cost(self.inquiry.conditions, periods)

    @cached_property
    def recorded(self) -> dict[str, Any]:
        """The question as the ledger keeps it."""
        span = rules.looked_at(self.question.window, self.inquiry.format)
        return {
            "question": self.question.recorded(),
            ASKS: self.question.identity(),
            TARGETS: list(self.inquiry.places.ids),
            WINDOW: self.question.time,
            "known_on": None if self.known_on is None else self.known_on.isoformat(),
            "supersedes": self.supersedes,
            # What was drawn stands beside this directory, so the same request is the same directory.
            "out": str(self.staging.out.resolve()),
            # A table of people answers for any date: of groups there is no time that is looked at.
            **({LOOKED_AT: rules.written(span)} if self.question.groups is None else {}),
        }

    @cached_property
    def earlier(self) -> Reservation | None:
        """A release, or a paid request, that asks the same; none for a retry and for what supersedes."""
        if self.ledger.reservation(self.request) is not None or self.supersedes is not None:
            return None
        return self.ledger.asked(self.dataset.name, self.recorded)

    def draft(
        self, known_on: datetime, paid: Reservation | None = None, counted: tuple[str, ...] = ()
    ) -> ReleaseRecord:
        """What the release says of itself before anything is drawn: everything but answers and files."""
        status, asked = self.ledger.show(self.dataset.name), self.inquiry.conditions
        paying = (
            None
            if paid is None
            else Paid(id=paid.ledger_id, dataset=paid.dataset, reference=paid.reference, cost=paid.cost)
        )
        return ReleaseRecord(
            release=self.request,
            supersedes=self.supersedes,
            known_on=written(known_on),
            question=self.question,
            counted=tuple(map(self.question.words.again, counted or (self.question.rule(),))),
            mechanism=self.question.method.stated(asked),
            guarantee=Promised.of(
                asked, unit=self.dataset.unit, caps=status.standing, earlier=status.published
            ),
            ledger=paying,
        )

    def preview(self, now: datetime) -> Preview:
        """Promise, error side, expectation, price, rest; OverBudget where there is none. Spends nothing."""
        known, groups = self.ledger.reservation(self.request), self.question.groups
        self.ledger.require_open(self.dataset.name, self.request, self.recorded)
        before = self.ledger.remaining(self.dataset.name, self.cost.periods)
        after = before if known is not None else self.ledger.preview(self.dataset.name, self.cost)
        return preview(
            self.draft(self.known_on or now),
            self.inquiry,
            self.cost,
            before,
            after,
            answered=None
            if self.earlier is None
            else rules.answered_before(self.earlier, self.question.words),
            whole=groups is None or shown_whole(self.inquiry.places, groups.counted, self.expected),
        )

    def run(self, progress: Progress = quiet, *, confirm: Confirm = never_confirm) -> Release:
        """Make the release, or finish the one that this request began.

        What the count leaves out is shown to `confirm`: for the curator's eyes, it goes nowhere else.
        """
        steps.reached(publish_steps.ASKED)
        with self.staging.turn():
            self._require_destination()
            self.require_time()
            self.ledger.require_open(self.dataset.name, self.request, self.recorded)
            rules.require_new(None if self.again else self.earlier)
            reservation = self._reserve()
            steps.reached(publish_steps.RESERVED)
            try:
                files = None
                if reservation.stage is Stage.RESERVED:
                    reservation, files = self._draw(reservation, progress, confirm)
                return self._finish(reservation, files)
            except (CannotWrite, StoreUnavailable) as error:
                again = (
                    f' The budget is reserved for the request "{self.request}": running the same command '
                    "again finishes the release and spends nothing more."
                )
                raise type(error)(error.what, error.do + again) from error

    def _reserve(self) -> Reservation:
        """What is paid for this request, and how far it has come; every witness has heard of that."""
        return self.ledger.reserve(self.dataset.name, self.request, self.recorded, self.cost)

    def require_time(self) -> None:
        """A question about a time that has not come, or is not over, is refused before anything is paid."""
        begun = self.ledger.reservation(self.request)
        moment = self.known_on or (datetime.now(UTC) if begun is None else begun.time)
        # Of several windows the last one must have begun as well: of an hour to come nothing is known.
        for window in (self.question.window, self.question.each_window[-1]):
            require_time(window, moment, so_far=self.question.so_far)

    def stopped(self) -> str:
        """What to tell somebody who stopped `run` on its way."""
        again = "Running the same command again finishes the release and spends nothing more."
        try:
            known = self.ledger.reservation(self.request)
        except LedgerError:
            return f"Budget that was reserved is kept for the request {self.request}. {again}"
        if known is None:
            return "Nothing was published, and nothing was spent."
        if known.stage is Stage.RESERVED or not self.staging.out.exists():
            return f"Nothing was published. The budget is reserved for the request {self.request}. {again}"
        return f'The release is published, in "{self.staging.out}". {again}'

    def _require_destination(self) -> None:
        """A directory that cannot be written, or holds something else, is refused before anything is paid."""
        known = self.ledger.reservation(self.request)
        try:
            mine = known is not None and load_release(self.staging.out).digest == known.manifest
        except ReleaseError:
            mine = False
        if not mine:
            self.staging.require_possible()
        if known is None:
            self.staging.require_unused()

    def _draw(
        self, reservation: Reservation, progress: Progress, confirm: Confirm
    ) -> tuple[Reservation, Mapping[str, bytes] | None]:
        """Count, draw all noise once, and have the ledger commit to it: the files, still in memory.

        None where another machine took up the request and committed first: what was drawn here is dropped.
        """
        counts = self._count(reservation, progress, confirm)
        steps.reached(publish_steps.COUNTED)
        zone, question = self.inquiry.format.local, self.question
        if counts.whole_days and zone is not None:
            # Another hour of a day whose rows are dates is the same rows: closed together.
            days = rules.whole_days(rules.looked_at(question.window, self.inquiry.format), zone)
            self.ledger.require_open(self.dataset.name, self.request, {LOOKED_AT: rules.written(days)})
        asked = self.inquiry.conditions
        asked = replace(asked, known=question.method.settled(asked, self.entropy))
        steps.reached(publish_steps.ORDERED)
        progress(None, "Drawing noise and writing the release")
        with self.staging.sealing() as (path, sealed):
            steps.reached(publish_steps.OPENED)
            drawn = question.method.draw(asked, counts.values, self.entropy)
            steps.reached(publish_steps.DRAWN)
            answers = question.method.states(asked, drawn)
            said = (counts.reading, question.rule(), *counts.exclusions)
            draft = self.draft(self.known_on or reservation.time, reservation, said)
            draft = msgspec.structs.replace(draft, outcome=dict(drawn.outcome))
            files = compose(draft, answers, asked, self.inquiry.places, self.basemap)
            release = hold(self.staging.out, files)
            check_files(release)
            check_claims(release)
            steps.reached(publish_steps.COMPOSED)
            draw = seal_into(sealed, path, files, reservation, self._room(draft))
        steps.reached(publish_steps.SEALED)
        try:
            return self.ledger.commit(
                reservation,
                release.digest,
                fingerprint=counts.fingerprint,
                alarms=drawn.alarms,
                simulated=drawn.simulated,
                draw=draw,
            ), files
        except RequestConflict:
            return self._reserve(), None

    def _room(self, draft: ReleaseRecord) -> int:
        """How large an encrypted draw is, from what was known before it was drawn."""
        known = (self.recorded, self.basemap, draft.guarantee.promise)
        # What the list says of a place stands beside its answer in every window.
        listed = (self.inquiry.places.table.write_csv(),) * len(self.question.windows)
        return room(len(self.inquiry.conditions), *listed, *map(json.dumps, known))

    def _count(self, reservation: Reservation, progress: Progress, confirm: Confirm) -> Counts:
        """Exact counts of people; input that cannot be counted for certain ends the request here.

        Nothing was drawn, so a reservation made for this very run goes back in full, as a refusal that only
        the curator sees. One that an earlier run left stays paid: that run may have drawn before it died.
        """
        try:
            counts = self._counts(reservation, progress, confirm)
            rules.require_within(counts.values, self.question, allow_nobody=self.allow_nobody)
            people_counts(counts.values, self.question.people)
        except LimitBroken as error:
            self.ledger.stop(reservation)
            closed = rules.CLOSED.format(request=self.request)
            raise LimitBroken(error.what, f"{error.do} {closed}") from error
        except (InputError, BadCounts) as error:
            # On record goes the kind of the refusal alone: what was wrong with the data is the curator's.
            free = self.ledger.refuse(
                self.dataset.name, self.request, self.recorded, type(error).__name__, unused=reservation
            )
            spent = (
                "nothing was spent"
                if free
                else f'the budget stays reserved for the request "{self.request}": running the same command '
                "once the input is right spends nothing more"
            )
            raise type(error)(error.what, f"{error.do} Nothing was published, and {spent}.") from error
        return counts

    def _counts(self, reservation: Reservation, progress: Progress, confirm: Confirm) -> Counts:
        question, listed, form = self.question, self.inquiry.places, self.inquiry.format
        most = question.max_places_per_person
        common: dict[str, Any] = {
            "expected": self.expected,
            "key": self.ledger.fingerprint_key,
            "on_files": lambda files: self.ledger.read_files(reservation, files),
            "progress": progress,
        }
        if question.groups is not None:
            limit, counted = len(listed) if most is None else most, question.groups.counted
            found = count_people(self.visits, listed, counted, form, max_groups_per_person=limit, **common)
            return as_counts(found, question.groups)
        return count_visits(
            self.visits,
            listed,
            question.each_window,
            form,
            max_places_per_person=most,
            exclude_unknown_places=self.inquiry.exclude_unknown_places,
            until=(self.known_on or reservation.time) if question.so_far else None,
            confirm=confirm,
            remember=default_cache(),
            **common,
        )

    def _finish(self, reservation: Reservation, files: Mapping[str, bytes] | None) -> Release:
        """Sign, appear, clear up, return: each is done once, however often this runs."""
        if reservation.stage is Stage.WITHDRAWN:
            raise BadRelease(
                f'The release for the request "{self.request}" was withdrawn.',
                "Ask again under a new request id; that is a new release and is charged anew.",
            )
        release = appeared(self.staging.out, reservation) or appear(
            files, reservation, self.ledger, self.staging, self.key
        )
        steps.reached(publish_steps.APPEARED)
        self.staging.clear()
        steps.reached(publish_steps.CLEARED)
        # A key whose file is gone opens nothing: a database that went away now is no reason to fail.
        with suppress(StoreUnavailable):
            self.ledger.forget_draw(reservation)
        steps.reached(publish_steps.FORGOTTEN)
        if reservation.cost.epsilon_each is not None:
            try:
                self.ledger.give_back(reservation)
            except StoreUnavailable as error:
                raise StoreUnavailable(
                    f'The release is published, in "{self.staging.out}", but {self.ledger.where} cannot be '
                    "reached any more, so unused budget was not returned.",
                    "Bring the database back and run `safeside.recover_ledger(...)`, which returns it.",
                ) from error
        steps.reached(publish_steps.RETURNED)
        return release
