"""`safeside init`: write safeside.toml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from safeside.cli.config import FILE, KEY, LEDGER, ROLES, Columns, Config
from safeside.cli.console import interactive, out
from safeside.errors import BadQuestion, CannotWrite
from safeside.zones import find_zone


def init(
    timezone: Annotated[
        str | None, typer.Option(help="The time zone of the visits, such as Asia/Tokyo. Never guessed.")
    ] = None,
    ledger: Annotated[str, typer.Option(help="A file, or postgresql://...")] = LEDGER,
    dataset: Annotated[str, typer.Option(help="The dataset's name in the ledger.")] = "visits",
    key: Annotated[str, typer.Option(help="The file of the signing key.")] = KEY,
    column: Annotated[
        list[str] | None,
        typer.Option(help=f"ROLE=NAME for a column of the visits; roles are {', '.join(ROLES)}."),
    ] = None,
    groups: Annotated[
        bool, typer.Option("--groups", help="For tables of people and their groups, which tell no time.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing; take the options and the defaults.")
    ] = False,
) -> None:
    """Write safeside.toml: columns, time zone, ledger, dataset and key."""
    path = Path(FILE)
    if path.exists():
        raise CannotWrite(f'"{path}" exists already.', "Change it with an editor, or delete it first.")
    usual = ("person", "group") if groups else ("person", "place", "start", "end")
    columns = _columns(column or []) or {role: role for role in usual}
    if not yes and interactive():
        if not groups:
            timezone = typer.prompt("Time zone of the visits (for example Asia/Tokyo)", default=timezone)
        ledger = typer.prompt("Ledger (a file, or postgresql://...)", default=ledger)
        dataset = typer.prompt("Name of the dataset", default=dataset)
        key = typer.prompt("File of the signing key", default=key)
        columns = {role: typer.prompt(f"Column with the {role}", default=columns[role]) for role in columns}
    if timezone is None and not groups:
        raise BadQuestion(
            "No time zone is given, and safeside never guesses one.",
            "Say in which time zone the visits are written: --timezone Asia/Tokyo, for example. Tables of "
            "people and their groups need none: --groups.",
        )
    config = Config(
        ledger=ledger,
        dataset=dataset,
        key=key,
        timezone=None if timezone is None else find_zone(timezone).key,
        columns=Columns(**columns),
    )
    _write(path, config.to_toml())
    out.print(f"Wrote {path}. Next:")
    out.print("  safeside key create")
    out.print("  safeside ledger create --epsilon E    (the budget: all that will ever be spent)")


def _columns(given: list[str]) -> dict[str, str]:
    columns = {}
    for text in given:
        role, equals, name = text.partition("=")
        if role not in ROLES or not equals or not name:
            raise BadQuestion(
                f'"{text}" does not say which column is what.',
                f"Write ROLE=NAME, for example person=patient_id. Roles: {', '.join(ROLES)}.",
            )
        columns[role] = name
    return columns


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CannotWrite(
            f'"{path}" cannot be written ({os.strerror(error.errno or 0)}).',
            "Run `safeside init` in a directory this user may write to.",
        ) from error
