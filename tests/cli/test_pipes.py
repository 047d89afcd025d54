"""`safeside ... | head -1`: when nobody listens any more, the command ends quietly, as other programs do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.publishing import World

from safeside.ledger import open_ledger
from safeside.releases.verify import verify

COMMAND = [sys.executable, "-c", "from safeside.cli.main import main; main()"]
QUIET = (0, 141)


def into_a_closed_pipe(
    *words: str, read: int = 0, both: bool = False, cwd: Path | None = None
) -> tuple[int, str]:
    """Run the command; its reader takes so many bytes and leaves. The exit code, and what went elsewhere."""
    running = subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if both else subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
    )
    assert running.stdout is not None
    if read:
        assert os.read(running.stdout.fileno(), read)
    running.stdout.close()
    said = b"" if running.stderr is None else running.stderr.read()
    return running.wait(120), said.decode()


@pytest.mark.parametrize("read", [0, 1])
@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("plan", "--at-most", "2", "--epsilon", "1"),
        ("plan", "--at-most", "2", "--epsilon", "1", "--json"),
        ("explain", "adp-set"),
        ("explain", "list", "--json"),
    ],
    ids=" ".join,
)
def test_a_reader_that_leaves_ends_the_command_quietly(words: tuple[str, ...], read: int) -> None:
    code, said = into_a_closed_pipe(*words, read=read)
    assert code in QUIET
    assert said == ""


def test_what_is_wrong_is_still_said_by_the_exit_code(tmp_path: Path) -> None:
    for both in (False, True):
        code, said = into_a_closed_pipe("verify", str(tmp_path), "--key", "none.pub", both=both)
        assert code == 2
        assert ("There is no public key" in " ".join(said.split())) != both


WORDS = (
    *("publish", "visits.parquet", "--places", "places.csv", "--when", "2021-06-03T12:00:00+00:00"),
    *("--at-most", "2", "--epsilon", "1", "--dataset", "city", "--ledger", "ledger.db", "--key", "key"),
    *("--out", "releases/noon"),
)


def test_a_release_is_made_whole_or_not_begun(world: World) -> None:
    """Nobody reads what it would cost: nothing is spent. Nobody reads that it is done: it is done."""
    code, said = into_a_closed_pipe(*WORDS, "--dry-run", cwd=world.home)
    assert (code, said) == (141, "")
    code, said = into_a_closed_pipe(*WORDS, "--yes", read=1 << 16, cwd=world.home)
    assert (code, said.strip()) == (0, "")
    verify(world.out, world.home / "key.pub")
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == 2
