"""The witness: grows, mends itself, and is never ahead of the database."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ledger.stores import QUESTION, cost, witnesses

from safeside.errors import StoreUnavailable
from safeside.ledger import Ledger, create_ledger, open_ledger
from safeside.ledger.witness import STATE_VARIABLE, state_directory


def numbers(path: Path) -> list[int]:
    return [int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith("event")]


def test_every_event_is_told_to_every_witness(ledger: Ledger, url: str, state: Path) -> None:
    ledger.reserve("city", "a", QUESTION, cost())
    for path in witnesses(url, state):
        assert numbers(path) == [1, 2, 3]
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_line_cut_short_by_a_crash_is_written_again(
    ledger: Ledger, url: str, state: Path, cut: int
) -> None:
    ledger.reserve("city", "a", QUESTION, cost())
    for path in witnesses(url, state):
        path.write_bytes(path.read_bytes()[:-cut])
    with open_ledger(url) as fresh:
        fresh.reserve("city", "b", QUESTION, cost())
        assert fresh.show("city").forgotten == 0
    for path in witnesses(url, state):
        assert numbers(path)[-2:] == [3, 4]


def test_a_witness_that_vanished_is_made_again_in_full(ledger: Ledger, url: str, state: Path) -> None:
    many = {**QUESTION, "targets": [f"place {number}" for number in range(2000)]}
    ledger.reserve("city", "a", many, cost())
    for path in witnesses(url, state):
        path.unlink()
    ledger.reserve("city", "b", many, cost())
    for path in witnesses(url, state):
        assert numbers(path) == [1, 2, 3, 4]
        assert path.read_text().count("document ") >= 1


def test_nonsense_in_a_witness_does_not_stop_the_ledger(ledger: Ledger, url: str, state: Path) -> None:
    for path in witnesses(url, state):
        with path.open("ab") as file:
            file.write(b"event 9 abc {}\nevent x y z\n\xff\xfe\nwhat\n")
    ledger.reserve("city", "a", QUESTION, cost())
    assert ledger.show("city").forgotten == 0


def test_nothing_is_recorded_where_no_witness_can_be_kept(
    url: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with create_ledger(url) as made:
        made.create_dataset("city", "person", 1)
        for path in state.iterdir():
            path.unlink()
        state.rmdir()
        state.write_text("a file where a directory should be")
        with pytest.raises(StoreUnavailable):
            made.reserve("city", "a", QUESTION, cost())
        state.unlink()
        assert made.remaining("city").epsilon == 1


def test_the_state_directory_follows_the_custom_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STATE_VARIABLE)
    monkeypatch.setenv("XDG_STATE_HOME", "/var/lib/x")
    assert state_directory() == Path("/var/lib/x/safeside")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_directory() == Path.home() / ".local" / "state" / "safeside"
