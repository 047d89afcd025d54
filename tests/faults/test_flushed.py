"""What must survive a power cut is flushed to the disk, in the order that makes it so.

No test can cut the power, so this one writes down every flush, rename and named step of a real publication
and looks at their order: without a single one of the flushes it fails.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.faults.publishing import NOON, World

from safeside.ledger import create_ledger, events, open_ledger, steps
from safeside.ledger.sqlite import SqliteStore
from safeside.ledger.store import Identity
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.signing import create_key, load_private
from safeside.releases.withdraw import withdraw

FILES = {
    "answers.csv",
    "answers.geojson",
    "answers.parquet",
    "map.html",
    "order.csv",
    "release.json",
    "report.html",
    "statement.txt",
}


class Journal:
    """Everything that reached the disk, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: list[tuple[str, ...]] = []
        self.sizes: dict[int, int] = {}
        usual = {"fsync": os.fsync, "rename": os.rename, "mkdir": os.mkdir}

        def fsync(handle: int) -> None:
            usual["fsync"](handle)
            self.sizes[len(self.lines)] = os.fstat(handle).st_size
            self.lines.append(("flush", str(Path(f"/proc/self/fd/{handle}").readlink())))

        def rename(old: str, new: str, **more: int) -> None:
            usual["rename"](old, new, **more)
            self.lines.append(("rename", str(old), str(new)))

        def mkdir(path: str, *rest: int, **more: int) -> None:
            usual["mkdir"](path, *rest, **more)
            self.lines.append(("mkdir", str(path)))

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "rename", rename)
        monkeypatch.setattr(os, "mkdir", mkdir)
        monkeypatch.setattr(steps, "reached", lambda name: self.lines.append(("step", name)))

    def at(self, *line: str, after: int = -1) -> int:
        """Where this stands, for the first time after a place."""
        assert line in self.lines[after + 1 :], f"{line} is missing in {self.lines}"
        return self.lines.index(line, after + 1)

    def flushed(self, path: Path | str, *, after: int, before: int) -> int:
        """The flush of a file or directory, which has to come between the two."""
        found = self.at("flush", str(path), after=after)
        assert found < before, f"{path} was flushed too late"
        return found


@pytest.fixture
def published(world: World, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """The journal of a sparse release, whose steps are all there are."""
    journal = Journal(monkeypatch)
    world.publish("sparse")
    return journal


def test_a_draw_is_on_the_disk_before_the_ledger_commits_to_it(world: World, published: Journal) -> None:
    drawn = published.at("step", publish_steps.DRAWN)
    (sealed,) = {line[1] for line in published.lines if line[0] == "flush" and line[1].endswith(".sealed")}
    sizes = sum((world.out / name).stat().st_size for name in FILES)
    committing = published.at("step", steps.of("commit", steps.BEGUN))
    whole = published.flushed(sealed, after=drawn, before=committing)
    assert published.sizes[whole] > sizes, "all of it was written when it was flushed"
    published.flushed(world.out.parent, after=whole, before=committing)


def test_a_release_appears_signed_and_stays(world: World, published: Journal) -> None:
    signed = published.at("step", publish_steps.SIGNED)
    (appearing,) = {
        Path(line[1]) for line in published.lines if line[0] == "rename" and line[2] == str(world.out)
    }
    appears = published.at("rename", str(appearing), str(world.out), after=signed)
    whole = published.flushed(appearing, after=signed, before=appears)
    for name in FILES | {"signature.json"}:
        at = published.flushed(appearing / name, after=signed, before=whole)
        assert published.sizes[at] == (world.out / name).stat().st_size > 0
    published.flushed(world.out.parent, after=appears, before=published.at("step", publish_steps.APPEARED))


def test_the_draw_is_gone_from_the_disk_before_its_key_is(world: World, published: Journal) -> None:
    """Else a power cut could leave a draw that was committed and that nobody can open."""
    appeared = published.at("step", publish_steps.APPEARED)
    cleared = published.at("step", publish_steps.CLEARED, after=appeared)
    published.flushed(world.out.parent, after=appeared, before=cleared)
    assert cleared < published.at("step", publish_steps.FORGOTTEN)


@pytest.mark.parametrize("kind", ["reserve", "commit", "return"])
def test_both_witnesses_hold_an_event_before_anybody_acts_on_it(
    world: World, published: Journal, kind: str
) -> None:
    stored = published.at("step", steps.of(kind, steps.STORED))
    told = published.at("step", steps.of(kind, steps.WITNESSED))
    witnesses = [world.home / "ledger.db.witness", *(world.home / "state").glob("*.witness")]
    assert len(witnesses) == 2
    for witness in witnesses:
        at = published.flushed(witness, after=stored, before=told)
        # All of it was written when it was flushed: the next event is the first to make it longer.
        later = [
            published.sizes[number]
            for number, line in enumerate(published.lines)
            if line == ("flush", str(witness)) and number > at
        ]
        assert published.sizes[at] < min([*later, witness.stat().st_size + 1])
    if kind == "return":
        assert {published.sizes[published.at("flush", str(one), after=stored)] for one in witnesses} == {
            one.stat().st_size for one in witnesses
        }


def test_every_new_directory_and_witness_has_a_name_that_lasts(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "far" / "away" / "state"))
    journal = Journal(monkeypatch)
    with create_ledger(tmp_path / "new.db") as ledger:
        ledger.create_dataset("town", "person", 1)
    world.publish("counts", out=tmp_path / "some" / "where" / "noon")
    made = [Path(line[1]) for line in journal.lines if line[0] == "mkdir"]
    for directory in [*made, tmp_path / "new.db"]:
        if directory.suffix != ".appearing":
            at = journal.at("mkdir", str(directory)) if directory in made else -1
            journal.flushed(directory.parent, after=at, before=len(journal.lines))
    assert {tmp_path / "far", tmp_path / "far" / "away" / "state", tmp_path / "some" / "where"} <= set(made)
    told = journal.at("step", steps.of("dataset", steps.WITNESSED))
    journal.flushed(tmp_path / "far" / "away" / "state", after=-1, before=told)


def test_keys_and_notices_are_on_the_disk(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.publish("counts")
    journal = Journal(monkeypatch)
    create_key(tmp_path / "another")
    done = len(journal.lines)
    journal.flushed(tmp_path / "another", after=-1, before=done)
    journal.flushed(tmp_path, after=journal.at("flush", str(tmp_path / "another")), before=done)
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    (notice,) = {
        Path(line[1]) for line in journal.lines if line[0] == "rename" and line[1].endswith(".notice")
    }
    appears = journal.at("rename", str(notice), str(world.out))
    whole = journal.flushed(notice, after=done, before=appears)
    for name in ("withdrawn.json", "map.html", "report.html", "statement.txt", "signature.json"):
        journal.flushed(notice / name, after=done, before=whole)
    journal.flushed(world.out.parent, after=appears, before=len(journal.lines))


def test_a_new_ledger_file_has_a_name_that_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(monkeypatch)
    first = events.make(events.NOTHING, NOON, events.LedgerCreated(ledger="l", key="k", software="s"))
    store = SqliteStore(tmp_path / "ledger.db")
    store.create(Identity(ledger_id="l", fingerprint_key="k"), [first], {})
    store.close()
    assert journal.lines == [("flush", str(tmp_path))]
