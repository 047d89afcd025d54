"""`safeside key`: a passphrase is asked for on a terminal, twice for a new key, and never printed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from safeside.releases.signing import PASSPHRASE_VARIABLE, load_private

PROGRAM = "from safeside.cli.main import main; main()"


def on_a_terminal(home: Path, typed: list[str], *arguments: str) -> tuple[int, str]:
    """The command with a terminal of its own, at which a line is typed whenever it asks for one.

    Not before it asks: a prompt for a passphrase throws away what was typed ahead.
    """
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=home,
            start_new_session=True,
        )
        assert process.stdout is not None
        said = b""
        for line in typed:
            asked = b""
            while not asked.endswith(b": "):
                some = os.read(process.stdout.fileno(), 1 << 16)
                assert some, f"it ended without asking: {(said + asked).decode()}"
                asked += some
            said += asked
            os.write(ours, line.encode() + b"\n")
        rest, _ = process.communicate()
        return process.returncode, (said + rest).decode()
    finally:
        os.close(ours)
        os.close(theirs)


def without_one(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=home,
        env={**os.environ, **more},
    )


def test_a_new_passphrase_is_asked_for_twice_and_then_needed(tmp_path: Path) -> None:
    code, said = on_a_terminal(tmp_path, ["horse", "horse"], "key", "create", "--passphrase")
    assert code == 0, said
    assert "horse" not in said
    assert b"ENCRYPTED" in (tmp_path / "safeside.key").read_bytes()
    code, said = on_a_terminal(tmp_path, ["horse"], "key", "rotate")
    assert code == 0, said
    assert load_private(tmp_path / "safeside.key", ask=lambda: "horse")


def test_where_nobody_sits_the_environment_says_it(tmp_path: Path) -> None:
    done = without_one(tmp_path, "key", "create", "--passphrase")
    assert done.returncode == 2
    assert f"Set {PASSPHRASE_VARIABLE} for this command instead." in " ".join(done.stderr.split())
    done = without_one(tmp_path, "key", "create", "--passphrase", **{PASSPHRASE_VARIABLE: "horse"})
    assert done.returncode == 0, done.stderr
    done = without_one(tmp_path, "key", "rotate")
    assert done.returncode == 2
    assert "nobody to ask" in done.stderr
    done = without_one(tmp_path, "key", "rotate", **{PASSPHRASE_VARIABLE: "horse"})
    assert done.returncode == 0, done.stderr
