"""What every command shares: one console, one way to fail, one way to show progress."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from safeside.cli.wording import as_typed
from safeside.errors import BadQuestion, SafesideError
from safeside.untrusted import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.table import Column, Table


class Terminal(Console):
    """A console on which text is text.

    Brackets and colons are what they are: markup is no default, and what is meant to be bold says so with a
    style. Whatever comes from a file, an argument or the ledger cannot paint over what stands there: its
    control characters, and the marks that turn the direction of text, are written out.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text, keep="\n\t"))


out: Final = Terminal()
err: Final = Terminal(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]

BAD_INPUT: Final = 2
VIOLATION: Final = 1
BY_SIGNAL: Final = 128
"""To which the number of the signal is added by which a command ends."""
_PAINTS: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON lets stand as it is and a terminal obeys, or no terminal takes."""


def fail(error: SafesideError, *, as_json: bool = False, **found: Any) -> int:
    """Say what happened and what to do next; the exit code."""
    what, do = as_typed(error.what), as_typed(error.do)
    if as_json:
        print_json({**found, "error": type(error).__name__, "what": what, "do": do})
    else:
        err.print(Text.assemble(("Stopped.", "bold red"), " ", _indented(what)))
        err.print(Text.assemble(("What to do:", "bold"), " ", _indented(do)))
    return BAD_INPUT


def violation(error: SafesideError, *, as_json: bool, **found: Any) -> typer.Exit:
    """How a check ends that found what `error` says."""
    fail(error, as_json=as_json, **found)
    return typer.Exit(VIOLATION)


def _indented(text: str) -> str:
    """Lists in a message stand under it, and so does whatever a name in it would put on a line of its own."""
    return text.replace("\n", "\n  ")


def line(text: object) -> str:
    """A name or a path in one line: a line break in it is written out too, and so starts no sentence."""
    return visible(str(text))


def table(
    headers: Iterable[str | Column],
    rows: Iterable[Sequence[str | Text]],
    *,
    left: int | None = None,
    **style: Any,
) -> Table:
    """A table of plain text. With `left` it has lines, and columns after the first `left` hold numbers."""
    from rich.table import Table  # loaded where one is shown

    usual = {"box": None, "pad_edge": False} if left is None else {}
    made = Table(*headers, **{"title_justify": "left", **usual, **style})
    for column in () if left is None else made.columns[left:]:
        column.justify = "right"
    for row in rows:
        made.add_row(*(Text(line(cell)) if isinstance(cell, str) else cell for cell in row))
    return made


def print_either(
    document: Any, lines: Iterable[RenderableType], *, as_json: bool, soft_wrap: bool = True
) -> None:
    """The document for programs, or the same in lines and tables for people."""
    if as_json:
        print_json(document)
    else:
        out.print(*lines, sep="\n", soft_wrap=soft_wrap)


def print_json(value: Any) -> None:
    """Machine-readable output, and nothing else, on standard output."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
    sys.stdout.write(_PAINTS.sub(lambda one: f"\\u{ord(one[0]):04x}", text) + "\n")


def _plain(value: Any) -> Any:
    """An exact number in full, as text; a part of a record with all of its fields."""
    from msgspec.structs import asdict  # both are loaded where there are numbers

    from safeside.exact import show

    return show(value) if isinstance(value, Fraction) else asdict(value)


class Declined(SafesideError):
    """Whoever was asked said no."""


def confirm(question: str, yes: bool) -> None:
    """Go on only if whoever sits at the terminal says so, or said so beforehand."""
    if yes:
        return
    if not interactive():
        raise BadQuestion("There is nobody to ask.", "Add --yes to go on without being asked.")
    if not typer.confirm(f"\n{question}", err=True):
        raise Declined(
            "Nothing was done, and nothing was spent.", "Run the same command again to be asked again."
        )


def interactive() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


class Spinner:
    """A progress bar on standard error, for as long as the work lasts; within `after` seconds, none."""

    def __init__(self, after: float = 1.0) -> None:
        self._bar: Bar | None = None
        self._after = after
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pause()

    def __call__(self, done: float | None, what: str) -> None:
        if self._bar is None and time.monotonic() - self._began > self._after:
            self._bar = _new_bar()
            self._bar.start()
        if self._bar is not None:
            total = None if done is None else 1.0
            self._bar.update(self._bar.task_ids[0], description=what, completed=done or 0.0, total=total)

    def pause(self) -> None:
        """Make room for what is said or asked; the bar appears again once the work goes on long enough."""
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._began = None, time.monotonic()


def _new_bar() -> Bar:
    # Loaded where it is shown: most commands are done before.
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=err, transient=True)
    bar.add_task("", total=None)
    return bar


class _Terminated(BaseException):
    """Somebody asked the process to end (SIGTERM); like KeyboardInterrupt it is nobody's error to catch."""


@contextmanager
def finish(stopped: Callable[[], str]) -> Iterator[Spinner]:
    """Finish what is begun though nobody reads the output any more; `stopped` says what holds if it is ended.

    Within it a request to end is taken as Ctrl-C is: transactions are rolled back, files put away.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        raise _Terminated

    ignore_closed_pipe()
    try:
        with ExitStack() as ending, Spinner() as progress:
            ending.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, end))
            yield progress
    except (KeyboardInterrupt, _Terminated) as how:
        ended = isinstance(how, _Terminated)
        err.print(f"{'Ended by a signal' if ended else 'Interrupted'}. {stopped()}")
        raise typer.Exit(BY_SIGNAL + (signal.SIGTERM if ended else signal.SIGINT)) from None


class _Pipe(io.FileIO):
    """A pipe that its reader may close, as `head` does: that ends the command, quietly, and is no error."""

    ends_command: bool

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            if self.ends_command:
                self.ends_command = False
                raise SystemExit(BY_SIGNAL + signal.SIGPIPE) from None
            return memoryview(data).nbytes


@contextmanager
def end_on_closed_pipe() -> Iterator[None]:
    """Once standard output is closed, stop as other programs do; without standard error, go on."""
    for name, ends_command in (("stdout", True), ("stderr", False)):
        usual = getattr(sys, name)
        if usual is not None and stat.S_ISFIFO(os.fstat(usual.fileno()).st_mode):
            pipe = _Pipe(usual.fileno(), "w", closefd=False)
            pipe.ends_command = ends_command
            how = {"encoding": usual.encoding, "errors": usual.errors, "line_buffering": not ends_command}
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(pipe), **how))
    try:
        yield
    finally:
        ignore_closed_pipe()
        if sys.stdout is not None:
            sys.stdout.flush()


def ignore_closed_pipe() -> None:
    """From here on finish what was begun, whether or not anybody still reads the output."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Pipe):
        raw.ends_command = False
