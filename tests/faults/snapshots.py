"""What somebody learns who can copy the disk at every moment: which draws can be read from it."""

from __future__ import annotations

import re

from tests.faults.publishing import World

from safeside.ledger import Reservation
from safeside.releases.sealing import bound_to, unseal

ANSWER = re.compile(rb"AT_MOST|UNCLEAR|upper_bound|certified_at_zero")


class Snapshots:
    """Every file that ever stood beside the directory, and everything on the disk that may be a key."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.files: set[bytes] = set()
        self.keys: set[bytes] = set()

    def take(self) -> None:
        """As somebody does who can copy the disk."""
        self.files |= {one.read_bytes() for one in self.world.out.parent.rglob("*") if one.is_file()}
        for path in [*self.world.home.glob("ledger.db*"), *(self.world.home / "state").iterdir()]:
            found = re.findall(rb"(?=([0-9a-f]{64}))", path.read_bytes())
            self.keys |= {bytes.fromhex(one.decode()) for one in found}

    def readable(self, reservation: Reservation) -> set[bytes]:
        """The manifests of all draws that can be read from what was copied."""
        bound = bound_to(reservation)
        opened = [unseal(data, key, bound) for data in self.files for key in self.keys]
        return {files["release.json"] for files in opened if files} | self.plain()

    def plain(self) -> set[bytes]:
        """Files of answers that stood there for everybody with access to the directory to read."""
        return {data for data in self.files if ANSWER.search(data)}
