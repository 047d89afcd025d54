"""Publish: ask, pay, count, draw once, stage, commit, sign, appear.

The order is the guarantee. Money goes first, so that no answer is ever unpaid. What was drawn is on the disk,
whole and out of sight, before the ledger commits to it, so that a crash never makes anybody draw again. The
directory appears last, in one rename, so that nobody ever sees half a release. A process killed between any
two of the steps below leaves the whole release, or a paid reservation that running the same command again
finishes for nothing (tests/faults kills one at each).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from safeside.errors import (
    BadCounts,
    BadRelease,
    CannotWrite,
    InputError,
    LedgerError,
    LedgerForked,
    ReleaseError,
    RequestConflict,
    SafesideError,
    SimulationOnly,
    StoreUnavailable,
)
from safeside.ledger import Dataset, Ledger, Reservation, Stage, steps
from safeside.ledger.money import Cost
from safeside.mechanisms.counts import people_counts
from safeside.noise.entropy import Entropy
from safeside.progress import Progress, quiet
from safeside.releases import counting, durable, manifest
from safeside.releases.claims import check_claims
from safeside.releases.composing import Setting, about, compose
from safeside.releases.contents import check_contents
from safeside.releases.designs import Asked
from safeside.releases.looked_at import charged_periods
from safeside.releases.preview import Preview, preview
from safeside.releases.question import Question, require_time
from safeside.releases.release import Release, load
from safeside.releases.signing import PrivateKey
from safeside.releases.staging import PRIVATE, Staging
from safeside.releases.verify import sign
from safeside.visits import Counts, Manifest, VisitFormat, count_visits

ASKED: Final = "publish: the question is checked"
RESERVED: Final = "publish: the reservation is paid"
COUNTED: Final = "publish: people are counted"
ORDERED: Final = "publish: the order is fixed"
DRAWN: Final = "publish: noise is drawn"
WRITTEN: Final = "publish: files are written"
STAGED: Final = "publish: files are staged"
COMMITTED: Final = "publish: the ledger has committed"
SIGNED: Final = "publish: the release is signed"
APPEARED: Final = "publish: the release has appeared"
RETURNED: Final = "publish: unused budget is returned"
STEPS: Final = (
    ASKED,
    RESERVED,
    COUNTED,
    ORDERED,
    DRAWN,
    WRITTEN,
    STAGED,
    COMMITTED,
    SIGNED,
    APPEARED,
    RETURNED,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Sources:
    """The private data and how it is to be read; nothing here is opened before the reservation is paid."""

    visits: Any
    format: VisitFormat
    exclude_unknown_places: bool = False
    manifest: Manifest | None = None
    allow_nobody: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Publication:
    """A release that can be made: checked, priced, and not yet paid for."""

    question: Question
    sources: Sources
    ledger: Ledger
    dataset: Dataset
    request: str
    staging: Staging
    key: PrivateKey
    known_on: datetime | None = None
    supersedes: str | None = None
    basemap: dict[str, Any] | None = None
    entropy: Entropy | None = None
    doubtful: tuple[Path, ...] = ()
    """Directories beside this one that say they are of this ledger and are not signed with a key of ours."""

    def __post_init__(self) -> None:
        if self.entropy is not None and self.entropy.simulated:
            raise SimulationOnly(
                "Noise from a seed was offered for a release: anybody could subtract it.",
                "Leave the seed out, or use `safeside simulate`, which needs no ledger.",
            )

    @cached_property
    def cost(self) -> Cost:
        """The price, and the days or weeks that are charged with it."""
        return self.question.design.cost(
            charged_periods(self.ledger, self.dataset.name, self.question.window, self.sources.format)
        )

    @cached_property
    def recorded(self) -> dict[str, Any]:
        """The question as the ledger keeps it."""
        return {
            **self.question.recorded(),
            "visits": counting.declared(
                self.sources.format, exclude_unknown_places=self.sources.exclude_unknown_places
            ),
            "known_on": None if self.known_on is None else self.known_on.isoformat(),
            "supersedes": self.supersedes,
            # What was drawn stands beside this directory, so the same request is the same directory.
            "out": str(self.staging.out.resolve()),
        }

    def setting(self, known_on: datetime, ledger: dict[str, Any] | None) -> Setting:
        """What the release says of itself beyond the question."""
        status = self.ledger.show(self.dataset.name)
        return Setting(
            release=self.request,
            known_on=known_on,
            simulated=False,
            promise=status.promise,
            published=self._published(status.shares_with),
            unit=self.dataset.unit,
            caps=status.standing,
            ledger=ledger,
            supersedes=self.supersedes,
        )

    def _published(self, shares_with: tuple[str, ...]) -> list[str]:
        """What was published before; that a reservation led to nothing is nobody else's business."""
        return [
            about(str(one.question["window"]), int(one.question["places"]["number"]))
            for name in (self.dataset.name, *shares_with)
            for one in self.ledger.reservations(name)
            if one.stage is not Stage.RESERVED and "places" in one.question
        ]

    def preview(self, now: datetime) -> Preview:
        """Promise, error side, expectation, price, rest; OverBudget where there is none. Spends nothing."""
        known = self.ledger.reservation(self.request)
        before = self.ledger.remaining(self.dataset.name, self.cost.periods)
        after = before if known is not None else self.ledger.preview(self.dataset.name, self.cost)
        setting = self.setting(self.known_on or now, None)
        return preview(self.question, setting, self.cost, before, after)

    def run(self, progress: Progress = quiet) -> Release:
        """Make the release, or finish the one that this request began."""
        steps.reached(ASKED)
        with self.staging.turn():
            self._require_room()
            self.require_time()
            reservation = self.ledger.reserve(self.dataset.name, self.request, self.recorded, self.cost)
            steps.reached(RESERVED)
            with self._explaining():
                if reservation.stage is Stage.RESERVED and not self.staging.staged.exists():
                    self._draw(reservation, progress)
                return self._finish(reservation)

    def require_time(self) -> None:
        """A question about a time that has not come, or is not over, is refused before anything is paid."""
        begun = self.ledger.reservation(self.request)
        moment = self.known_on or (datetime.now(UTC) if begun is None else begun.time)
        require_time(self.question.window, moment, so_far=self.question.so_far)

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

    def _require_room(self) -> None:
        """A directory that cannot be written, or holds something else, is refused before anything is paid."""
        known = self.ledger.reservation(self.request)
        try:
            mine = known is not None and load(self.staging.out).digest == known.manifest
        except ReleaseError:
            mine = False
        if not mine:
            self.staging.require_possible()

    def _draw(self, reservation: Reservation, progress: Progress) -> None:
        """Count, draw all noise once, and put everything on the disk, out of sight."""
        counts = self._count(reservation, progress)
        steps.reached(COUNTED)
        question = replace(self.question, counted=counting.sentences(counts))
        order = (
            None if question.order is None else question.order.settle(len(question.places.ids), self.entropy)
        )
        steps.reached(ORDERED)
        progress(None, "Drawing noise and writing the release")
        asked = Asked(
            places=question.places.ids, counts=counts.values, thresholds=question.thresholds, order=order
        )
        drawn = question.design.answer(asked, self.entropy)
        steps.reached(DRAWN)
        setting = self.setting(
            self.known_on or reservation.time,
            {
                "id": self.ledger.ledger_id,
                "dataset": self.dataset.name,
                "reference": reservation.reference,
                "cost": reservation.cost.to_json(),
            },
        )
        files = compose(question, setting, drawn.answers, order, self.basemap)
        private = {"fingerprint": counts.fingerprint, "alarms": drawn.alarms, "simulated": drawn.simulated}
        with self.staging.making():
            self.staging.write(files, json.dumps(private).encode())
            steps.reached(WRITTEN)
            self.staging.complete()
        steps.reached(STAGED)

    def _count(self, reservation: Reservation, progress: Progress) -> Counts:
        """Exact counts of people; input that cannot be counted for certain ends the request here.

        Nothing was drawn, so a reservation made for this very run goes back in full, as a refusal that only
        the curator sees. One that an earlier run left stays paid: that run may have drawn before it died.
        """
        try:
            counts = count_visits(
                self.sources.visits,
                self.question.places,
                self.question.window,
                self.sources.format,
                max_places_per_person=self.question.kappa,
                exclude_unknown_places=self.sources.exclude_unknown_places,
                manifest=self.sources.manifest,
                key=self.ledger.fingerprint_key,
                progress=progress,
            )
            people_counts(counts.values, self.question.people)
            if not self.sources.allow_nobody:
                counting.require_somebody(counts)
        except (InputError, BadCounts) as error:
            raise self._refused(reservation, error) from error
        return counts

    def _refused(self, reservation: Reservation, error: SafesideError) -> SafesideError:
        """The refusal goes on record by its kind alone: what was wrong with the data is the curator's."""
        free = self.ledger.refuse(
            self.dataset.name, self.request, self.recorded, type(error).__name__, unused=reservation
        )
        spent = (
            "nothing was spent"
            if free
            else f'the budget stays reserved for the request "{self.request}": running the same command once '
            "the input is right spends nothing more"
        )
        return type(error)(error.what, f"{error.do} Nothing was published, and {spent}.")

    def _finish(self, reservation: Reservation) -> Release:
        """Commit, sign, appear, return: each is done once, however often this runs."""
        if reservation.stage is Stage.WITHDRAWN:
            raise BadRelease(
                f'The release for the request "{self.request}" was withdrawn.',
                "Ask again under a new request id; that is a new release and is charged anew.",
            )
        if not self.staging.out.is_dir() or not any(self.staging.out.iterdir()):
            reservation = self._commit(reservation)
            steps.reached(COMMITTED)
            self._sign(reservation)
            steps.reached(SIGNED)
            self.staging.appear()
        steps.reached(APPEARED)
        release = load(self.staging.out)
        if release.digest != reservation.manifest:
            raise manifest.bad("it is not the release the ledger has committed to")
        if reservation.cost.each is not None:
            self._give_back(reservation)
        steps.reached(RETURNED)
        return release

    def _give_back(self, reservation: Reservation) -> None:
        try:
            self.ledger.give_back(reservation)
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f'The release is published, in "{self.staging.out}", but {self.ledger.where} cannot be '
                "reached any more, so unused budget was not returned.",
                "Bring the database back and run `safeside ledger recover`, which returns it.",
            ) from error

    def _commit(self, reservation: Reservation) -> Reservation:
        staged = self.staging.staged
        if not staged.exists():
            raise BadRelease(
                f'The release for the request "{self.request}" was committed, and its files are not beside '
                f'"{self.staging.out}".',
                "Run the command where it was first run, with the same --out, or copy the release from "
                "there. If the files are lost, the budget stays spent: noise is never drawn twice.",
            )
        release = load(staged)
        check_contents(release, ignore=frozenset({PRIVATE}))
        check_claims(release)
        self._require_ours(release, reservation)
        if reservation.stage is Stage.COMMITTED:
            if release.digest != reservation.manifest:
                raise self._other()
            return reservation
        private = manifest.parse(manifest.read(staged, PRIVATE), PRIVATE)
        try:
            return self.ledger.commit(
                reservation,
                release.digest,
                fingerprint=private["fingerprint"],
                alarms=private["alarms"],
                simulated=private["simulated"],
            )
        except RequestConflict as error:
            raise self._other() from error

    def _other(self) -> BadRelease:
        return BadRelease(
            f'The files staged beside "{self.staging.out}" are not those the ledger has committed to for the '
            f'request "{self.request}": another machine answered it first, or they were altered.',
            "Take the release from where it was published, and delete these with `safeside purge`: they were "
            "seen by nobody, and noise is drawn once.",
        )

    def _require_ours(self, release: Release, reservation: Reservation) -> None:
        """What is staged was drawn for this request, under an event of this ledger, which nobody guesses."""
        charged = release.charged()
        ours = (charged.ledger_id, charged.reference) == (self.ledger.ledger_id, reservation.reference)
        if release.id != self.request or not ours:
            raise LedgerForked(
                f'What is staged beside "{self.staging.out}" was not drawn under a reservation of '
                f"{self.ledger.where}.",
                "Run `safeside ledger recover`. If the files are still refused, delete them with `safeside "
                "purge` and ask again under a new request id.",
            )

    def _sign(self, reservation: Reservation) -> None:
        staged = self.staging.staged
        (staged / PRIVATE).unlink(missing_ok=True)
        receipt = {"ledger": self.ledger.ledger_id, "reference": reservation.reference}
        data = manifest.read(staged, manifest.FILE)
        # Written beside the staged files, so that a kill leaves nothing among what will be published.
        durable.replace(
            staged / manifest.SIGNATURE,
            sign(data, receipt, self.key),
            by=self.staging.beside("signature"),
        )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Whoever is stopped after paying is told that trying again costs nothing."""
        try:
            yield
        except (CannotWrite, StoreUnavailable) as error:
            again = (
                f' The budget is reserved for the request "{self.request}": running the same command again '
                "finishes the release and spends nothing more."
            )
            raise type(error)(error.what, error.do + again) from error
