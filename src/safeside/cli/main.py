"""The `safeside` command: every subcommand registered, every deliberate error made readable."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Final

import typer

from safeside.cli.console import err, fail, minding_pipes
from safeside.errors import BadQuestion, SafesideError
from safeside.untrusted import CONTROL

COMMANDS: Final = (
    "plan",
    "audit",
    "explain",
    "generate",
    "check",
    "init",
    "key",
    "ledger",
    "publish",
    "reproduce",
    "schema",
)


def build() -> typer.Typer:
    """The application with all its commands."""
    app = typer.Typer(
        name="safeside",
        help='Publish "at most t known infected people were here", and never be wrong when you say so.',
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    for name in COMMANDS:
        module = f"safeside.cli.{name}"
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module).register(app)
    return app


def main() -> None:
    """Run the command line; 0 done, 1 a check found a violation, 2 bad input or refused."""
    try:
        _require_plain(sys.argv[1:])
        with minding_pipes():
            build()()
    except SafesideError as error:
        sys.exit(fail(error))
    except KeyboardInterrupt:
        err.print("Interrupted.")
        sys.exit(130)


def _require_plain(arguments: list[str]) -> None:
    """What is typed is repeated in messages, some of them not ours: nothing in it may paint a terminal."""
    # A tab may be typed: it separates columns.
    if any(CONTROL.search(one.replace("\t", "")) for one in arguments):
        raise BadQuestion(
            "An argument holds a control character, or one that turns the direction of text.",
            "Type it again by hand; a file whose name holds one can be renamed.",
        )
