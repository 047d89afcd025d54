"""From a draw in memory to a release in its place; after a crash, from the encrypted draw that is left."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from safeside import disk, records
from safeside.errors import BadRelease, CannotWrite, StoreUnavailable
from safeside.ledger import Draw, Ledger, Reservation, steps
from safeside.releases import manifest
from safeside.releases.release import Release, hold, load_release
from safeside.releases.sealing import bound_to, new_key, seal, unseal
from safeside.releases.signature import sign
from safeside.releases.signing import PrivateKey
from safeside.releases.staging import Staging
from safeside.releases.verify import check_files

WRITTEN: Final = "publish: the draw is written, encrypted"
COMMITTED: Final = "publish: the ledger has committed"
SIGNED: Final = "publish: the release is signed"
APPEARED: Final = "publish: the release has appeared"
CLEARED: Final = "publish: the encrypted draw is deleted"
FORGOTTEN: Final = "publish: its key is deleted"


def seal_into(
    sealed: BinaryIO, path: Path, files: Mapping[str, bytes], reservation: Reservation, room: int
) -> Draw:
    """Everything that was drawn on the disk, under a key that is nowhere but in what this returns."""
    key = new_key()
    data = seal(files, key, bound_to(reservation), room)
    with disk.writing(path):
        sealed.write(data)
        sealed.flush()
        steps.reached(WRITTEN)
        os.fsync(sealed.fileno())
    disk.flush(path.parent)
    return Draw(file=path.name, size=len(data), key=key)


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """What the ledger has committed to, for one request."""

    ledger: Ledger
    staging: Staging
    key: PrivateKey

    def appeared(self, reservation: Reservation) -> Release | None:
        """The release, where it stands in its place already."""
        out = self.staging.out
        if not out.is_dir() or not any(out.iterdir()):
            return None
        release = load_release(out)
        if release.digest != reservation.manifest:
            raise manifest.bad("it is not the release the ledger has committed to")
        check_files(release)
        return release

    def appear(self, reservation: Reservation, drawn: Mapping[str, bytes] | None) -> Release:
        """Sign the bytes that were checked, and put them in their place; None: those an earlier run left."""
        if drawn is None:
            drawn = self._unsealed(reservation)
        steps.reached(COMMITTED)
        signature = sign(
            drawn[manifest.FILE],
            self.key,
            file=manifest.FILE,
            ledger=self.ledger.ledger_id,
            reference=reservation.reference,
        )
        files = {**drawn, manifest.SIGNATURE: signature}
        steps.reached(SIGNED)
        try:
            self.staging.appear(files)
        except CannotWrite:
            # On a directory that machines share, another may have been faster.
            there = self.appeared(reservation)
            if there is None:
                raise
            return there
        return hold(self.staging.out, files)

    def _unsealed(self, reservation: Reservation) -> Mapping[str, bytes]:
        """What an earlier run drew, if the ledger's key opens it and it is what the ledger committed to."""
        draw = self.ledger.draws().get(reservation.digest)
        data = None if draw is None else self.staging.read_sealed(draw)
        files = None if draw is None or data is None else unseal(data, draw.key, bound_to(reservation))
        if files is None or records.digest(files[manifest.FILE]) != reservation.manifest:
            raise BadRelease(
                f'The release for the request "{reservation.request}" was committed, and what was drawn for '
                f'it is not beside "{self.staging.out}", or was altered.',
                "If it was published, take it from where it was published. If another machine began it, run "
                "the command there. If it is lost, the budget stays spent, because noise is never drawn "
                "twice under one payment: ask anew, with another `request_id=` and `again=True`, which is "
                "charged anew.",
            )
        check_files(hold(self.staging.out, files))
        return files

    def clear(self, reservation: Reservation) -> None:
        """Delete the encrypted draw, and then the key that opened it."""
        self.staging.clear()
        steps.reached(CLEARED)
        # A key whose file is gone opens nothing: a database that went away now is no reason to fail.
        with suppress(StoreUnavailable):
            self.ledger.forget_draw(reservation)
        steps.reached(FORGOTTEN)
