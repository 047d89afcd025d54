"""`safeside key`: make and replace the key that signs releases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from safeside.cli.config import KEY, read_config
from safeside.cli.console import interactive, out
from safeside.errors import BadQuestion
from safeside.releases.signing import (
    PASSPHRASE_VARIABLE,
    PublicKey,
    create_key,
    keyring_path,
    public_path,
    rotate_key,
)

Place = Annotated[
    str | None, typer.Argument(metavar="FILE", help=f"The private key; from safeside.toml, or {KEY}.")
]


commands = typer.Typer(no_args_is_help=True, help="Make or replace the key that signs releases.")


@commands.command()
def create(
    path: Place = None,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help=f"Ask for one, unless {PASSPHRASE_VARIABLE} is set.")
    ] = False,
) -> None:
    """Make a signing key. An existing one is never overwritten."""
    place = read_config().key_file(path)
    _say(place, create_key(place, passphrase=_new_passphrase(passphrase)), "Made")


@commands.command()
def rotate(path: Place = None) -> None:
    """Replace the signing key; what the old one signed can still be verified with the keyring."""
    place = read_config().key_file(path)
    _say(place, rotate_key(place, ask=ask_passphrase), "Replaced by")


def ask_passphrase() -> str | None:
    """The passphrase of a key that has one, from whoever sits at the terminal."""
    if not interactive():
        return None
    return str(typer.prompt("Passphrase of the signing key", hide_input=True, err=True))


def _new_passphrase(wanted: bool) -> str | None:
    given = os.environ.get(PASSPHRASE_VARIABLE)
    if given is not None or not wanted:
        return given
    if not interactive():
        raise BadQuestion(
            "There is nobody to ask for a passphrase.", f"Set {PASSPHRASE_VARIABLE} for this command instead."
        )
    return str(typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True))


def _say(place: Path, public: PublicKey, done: str) -> None:
    out.print(f"{done} key {public.id}.")
    out.print(f"  {place}: private; keep it to yourself")
    out.print(f"  {public_path(place)}: public; give it to readers")
    out.print(f"  {keyring_path(place)}: every public key so far, for older releases")
