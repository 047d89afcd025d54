"""`safeside schema`: the JSON Schema of everything that is kept, for readers in other languages."""

from __future__ import annotations

import pkgutil
from typing import Annotated, Final

import typer

from safeside import records
from safeside.cli.console import print_json
from safeside.errors import BadQuestion

_RECORDS: Final = {
    "question": "safeside.releases.question:Question",
    "release": "safeside.releases.record:ReleaseRecord",
    "settings": "safeside.cli.config:Config",
    "signature": "safeside.releases.signature:Signature",
    "withdrawn": "safeside.releases.withdraw:Withdrawn",
}
"""Every kept record by its name; a command that prints one schema need not import them all."""


def schema(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(_RECORDS)}.", show_default=False)],
) -> None:
    """Print the JSON Schema (2020-12) of a record that is kept: release.json, an event and others."""
    if name not in _RECORDS:
        raise BadQuestion(f'There is no record called "{name}".', f"Use one of: {', '.join(_RECORDS)}.")
    print_json(records.json_schema(pkgutil.resolve_name(_RECORDS[name])))
