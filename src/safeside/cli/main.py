"""The `safeside` command: commands by name, loaded when they run; every deliberate error made readable."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from safeside import __version__
from safeside.cli.console import BY_SIGNAL, end_on_closed_pipe, err, fail, out
from safeside.errors import BadQuestion, SafesideError
from safeside.untrusted import CONTROL

COMMANDS: Final = {
    "init": "Write safeside.toml: columns, time zone, ledger, dataset and key.",
    "key": "Make or replace the key that signs releases.",
    "ledger": "What was asked, what it cost, and what is left.",
    "check": "Look at visits, or people, for everything that would make a count wrong, and say on which "
    "lines.",
    "plan": 'Show how often "at most t" is said at each true count, and the strongest definition that is '
    "enough.",
    "publish": "Answer one question about every place, or every group, once, and pay for it.",
    "simulate": "Make the same files from given counts: no ledger, no promise, marked as a simulation.",
    "verify": "Check signature, digests, schema, that states follow from bounds, and claims from the "
    "mechanism.",
    "withdraw": "Take back a whole release: a fault of the software, or a formal mistake. It stays charged.",
    "purge": "Delete data files and what interrupted releases left. Ledger, keys and releases stay.",
    "schema": "Print the JSON Schema (2020-12) of a record that is kept: release.json, an event and others.",
    "explain": "Say what a privacy definition protects and leaks, with the output that shows it.",
    "audit": "Measure the epsilon every mechanism really needs, on every ordered pair of neighbours of small "
    "worlds.",
    "generate": "Write a synthetic city: visits.parquet (private); places.csv, hours.csv, basemap.geojson "
    "(public).",
    "reproduce": "Run every experiment of the paper and say where its numbers differ from ours, and why.",
}
"""Every command, and what the list of commands says of it."""
MODULES: Final = {"simulate": "publish", "verify": "releases", "withdraw": "releases", "purge": "releases"}
"""Where a command stands that has no file of its own."""


class Commands(TyperGroup):
    """The list of commands, each of which is loaded once it is to run or to explain itself."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands = {name: TyperCommand(name, help=said) for name, said in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, load(name) if name and listed else listed, rest


def load(name: str) -> Any:
    """The command itself."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    path = f"safeside.cli.{MODULES.get(name, name)}"
    if path not in sys.modules:
        # What modules make when they are loaded stays. Looking for garbage in it, meanwhile, later and when
        # Python ends, would take a quarter of the time of a command.
        gc.disable()
        try:
            importlib.import_module(path)
        finally:
            gc.freeze()
            gc.enable()
    module = sys.modules[path]
    if hasattr(module, "commands"):
        app.add_typer(module.commands, name=name)
    else:
        app.command(name)(getattr(module, name))
    return typer.main.get_group(app).commands[name]


def build() -> typer.Typer:
    """The application with all its commands."""
    app = typer.Typer(
        name="safeside",
        cls=Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_common)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"safeside {__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Publish "at most t known infected people were here", and never be wrong when you say so."""


def main() -> None:
    """Run the command line; 0 done, 1 a check found a violation, 2 bad input or refused."""
    try:
        _require_plain(sys.argv[1:])
        with end_on_closed_pipe():
            build()()
    except SafesideError as error:
        sys.exit(fail(error, as_json="--json" in sys.argv))
    except KeyboardInterrupt:
        err.print("Interrupted.")
        sys.exit(BY_SIGNAL + signal.SIGINT)


def _require_plain(arguments: list[str]) -> None:
    """What is typed is repeated in messages, some of them not ours: nothing in it may paint a terminal."""
    # A tab may be typed: it separates columns.
    if any(CONTROL.search(one.replace("\t", "")) for one in arguments):
        raise BadQuestion(
            "An argument holds a control character, or one that turns the direction of text.",
            "Type it again by hand; a file whose name holds one can be renamed.",
        )
