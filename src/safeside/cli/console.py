"""What every command shares: one console, one way to fail, one way to show progress."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from safeside.errors import SafesideError
from safeside.progress import Progress

out: Final = Console(highlight=False, soft_wrap=True)
err: Final = Console(stderr=True, highlight=False, soft_wrap=True)

BAD_INPUT: Final = 2
VIOLATION: Final = 1
INTERRUPTED: Final = 128 + signal.SIGINT
TERMINATED: Final = 128 + signal.SIGTERM
NOBODY_LISTENS: Final = 128 + signal.SIGPIPE
_SHOW_AFTER_SECONDS: Final = 1.0


def fail(error: SafesideError) -> int:
    """Print what happened and what to do next; the exit code."""
    err.print(f"[bold red]Stopped.[/] {_plain(error.what)}")
    err.print(f"[bold]What to do:[/] {_plain(error.do)}")
    return BAD_INPUT


def print_json(value: Any) -> None:
    """Machine-readable output, and nothing else, on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _plain(text: str) -> str:
    return text.replace("[", "\\[")


@contextmanager
def spinner() -> Iterator[Progress]:
    """A progress bar on standard error that appears once the work has lasted a second."""
    bar = Bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=err, transient=True)
    task = bar.add_task("", total=None)
    began = time.monotonic()
    shown = False

    def report(done: float | None, what: str) -> None:
        nonlocal shown
        bar.update(task, description=what, completed=done or 0.0, total=None if done is None else 1.0)
        if not shown and time.monotonic() - began > _SHOW_AFTER_SECONDS:
            bar.start()
            shown = True

    try:
        yield report
    finally:
        bar.stop()


class Terminated(BaseException):
    """Somebody asked the process to end (SIGTERM); like KeyboardInterrupt it is nobody's error to catch."""


@contextmanager
def terminable() -> Iterator[None]:
    """Within it a request to end is taken as Ctrl-C is: transactions are rolled back, files put away."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Pipe(io.FileIO):
    """A pipe whose reader may leave, as `head` does: that ends the command, quietly, and is no error."""

    leave: bool

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            if self.leave:
                self.leave = False
                raise SystemExit(NOBODY_LISTENS) from None
            return memoryview(data).nbytes


@contextmanager
def minding_pipes() -> Iterator[None]:
    """Once nobody reads what is said, stop as other programs do; on standard error, go on unheard."""
    for name, leave in (("stdout", True), ("stderr", False)):
        usual = getattr(sys, name)
        if usual is not None and stat.S_ISFIFO(os.fstat(usual.fileno()).st_mode):
            pipe = _Pipe(usual.fileno(), "w", closefd=False)
            pipe.leave = leave
            buffer = io.BufferedWriter(pipe)
            setattr(
                sys, name, io.TextIOWrapper(buffer, usual.encoding, usual.errors, line_buffering=not leave)
            )
    try:
        yield
    finally:
        carry_on()
        if sys.stdout is not None:
            sys.stdout.flush()


def carry_on() -> None:
    """From here on finish what was begun, whether or not anybody still reads what is said."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Pipe):
        raw.leave = False
