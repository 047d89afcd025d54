"""A process that has loaded the libraries of the tests and runs lists of tests, each in a fork of itself.

Each line that it reads is a number of seconds and a file of test names; it answers what pytest ended with, or
`hangs`. The sources that are
tested come from PYTHONPATH and are loaded in the fork, never here.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time

_LIBRARIES = ("hypothesis", "numpy", "polars", "scipy.spatial", "psycopg", "msgspec", "flint", "narwhals")
_LIBRARIES += ("rich.console", "typer.testing", "jinja2", "cryptography.hazmat.primitives.asymmetric.ed25519")
_LIBRARIES += ("pyarrow.parquet", "h3")
_PAUSE = 0.05
HANGS = "hangs"


def main() -> None:
    """Until the input ends."""
    import pytest

    for name in _LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        seconds, listed = line.split(maxsplit=1)
        child = os.fork()
        if child == 0:
            _run(pytest.main, listed.strip())
        sys.stdout.write(f"{_wait(child, float(seconds))}\n")
        sys.stdout.flush()


def _run(test: object, listed: str) -> None:
    """In a group of its own, so that whatever it starts ends with it; it says nothing."""
    assert callable(test)
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in range(3):
        os.dup2(nowhere, handle)
    code = 3
    try:
        code = int(test(["-q", "-x", "-p", "no:cacheprovider", f"@{listed}"]))
    finally:
        os._exit(code)


def _wait(child: int, seconds: float) -> str:
    until, said = time.monotonic() + seconds, HANGS
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            said = str(os.waitstatus_to_exitcode(status))
            break
        time.sleep(_PAUSE)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if said == HANGS:
        os.waitpid(child, 0)
    return said


if __name__ == "__main__":
    main()
