"""`safeside key`: make and replace the key that signs releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from safeside.cli.config import KEY, read_config
from safeside.cli.console import out
from safeside.releases.signing import PublicKey, create_key, keyring_path, public_path, rotate

Place = Annotated[
    str | None, typer.Argument(metavar="FILE", help=f"The private key; from safeside.toml, or {KEY}.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    keys = typer.Typer(no_args_is_help=True, help="Make or replace the key that signs releases.")
    keys.command("create")(create)
    keys.command("rotate")(replace)
    app.add_typer(keys, name="key")


def create(path: Place = None) -> None:
    """Make a signing key. An existing one is never overwritten."""
    place = _place(path)
    _say(place, create_key(place), "Made")


def replace(path: Place = None) -> None:
    """Replace the signing key; what the old one signed can still be verified with the keyring."""
    place = _place(path)
    _say(place, rotate(place), "Replaced by")


def _place(path: str | None) -> Path:
    return Path(path or read_config().key or KEY)


def _say(place: Path, public: PublicKey, done: str) -> None:
    out.print(f"{done} key {public.id}.")
    out.print(f"  {place}: private; keep it to yourself", markup=False)
    out.print(f"  {public_path(place)}: public; give it to readers", markup=False)
    out.print(f"  {keyring_path(place)}: every public key so far, for older releases", markup=False)
