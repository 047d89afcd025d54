"""What a release shows of its ledger: a name drawn by chance, and nothing of the chain of events."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.faults.publishing import World
from tests.releases.worlds import BAD, spoil

from safeside.errors import InputError
from safeside.ledger import open_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases.signing import load_private
from safeside.releases.verify import verify
from safeside.releases.withdraw import withdraw


def shown(world: World) -> dict[str, Any]:
    """What the public files say of the ledger, its own name and the reference left out."""
    record = json.loads((world.out / "release.json").read_bytes())["ledger"]
    envelope = json.loads((world.out / "signature.json").read_bytes())
    receipt = json.loads(base64.b64decode(envelope["payload"]))
    assert receipt.pop("sha256") == hashlib.sha256((world.out / "release.json").read_bytes()).hexdigest()
    assert record.pop("reference") == receipt.pop("reference")
    assert record.pop("id") == receipt.pop("ledger")
    statement = (world.out / "statement.txt").read_text().split("Charged to ")[1].split("\n\n")[0]
    return {"release": record, "receipt": receipt, "words": re.sub(r"[0-9a-f]{32}", "...", statement)}


ROWS = "a stay that ends before it starts"


def stopped_first(world: World, *faults: str) -> None:
    """The release is stopped by its data before it is made."""
    good = (world.home / "visits.parquet").read_bytes()
    for name in faults:
        spoil(world, BAD[name])
        with pytest.raises(InputError):
            world.publish("counts")
        (world.home / "visits.parquet").write_bytes(good)


def test_stops_and_other_input_leave_no_trace_in_what_a_release_says_of_its_ledger(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.publish("counts")
    other = World.made(tmp_path / "other")
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "other" / "state"))
    stopped_first(other, ROWS, "yesterday's file", ROWS)
    spoil(other, lambda table: table.reverse())
    other.publish("counts")
    assert shown(world) == shown(other)
    assert shown(world)["release"].keys() == {"dataset", "cost"}
    assert shown(world)["receipt"] == {"schema": "safeside-signature/1", "file": "release.json"}


def test_no_public_file_holds_a_digest_of_the_chain(world: World) -> None:
    stopped_first(world, ROWS)
    world.publish("sparse")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations()
        secrets = {event.digest for event in ledger.history()} | {str(paid.fingerprint)}
        published = [path.read_text("utf-8", "replace") for path in world.out.iterdir()]
        assert not [one for one in secrets for text in published if one in text]
        # A notice of withdrawal is public too.
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
        secrets |= {event.digest for event in ledger.history()}
    published = [path.read_text("utf-8", "replace") for path in world.out.iterdir()]
    assert not [one for one in secrets for text in published if one in text]


def test_the_ledger_finds_the_reservation_by_the_reference(world: World) -> None:
    release = world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations()
        assert release.charged().reference == paid.reference
        assert verify(world.out, world.home / "key.pub", ledger=ledger).digest == release.digest


def test_no_two_reservations_share_a_reference(world: World) -> None:
    for number in range(3):
        world.publish("counts", out=world.home / "releases" / str(number), request_id=str(number), again=True)
    with open_ledger(world.home / "ledger.db") as ledger:
        assert len({one.reference for one in ledger.reservations()}) == 3
