"""What Python calls an argument or a function, said as the option or the command of the command line.

Errors, findings and previews come from rooms that know Python alone, and name arguments and functions in
backticks: `at_most=`, `guarantee="dp"`, `so_far=True`, `Expected(rows=0)`, `safeside.create_key(...)`.
"""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any, Final

OPTIONS: Final = {
    "count": "true-count",
    "domains": "domain",
    "files": "expect-files",
    "h3_resolution": "h3",
    "max_conditions": "sensitivity",
    "measures": "measure",
    "minutes": "stays-at-least",
    "releases": "release",
    "rows": "expect-rows",
    "unlisted": "expect-unlisted",
    "witnesses": "witness",
}
"""Options that have another name than the argument."""

COMMANDS: Final = {
    "safeside.create_key": "key create",
    "safeside.create_ledger": "ledger create",
    "safeside.publish": "publish",
    "safeside.recover_ledger": "ledger recover",
    "safeside.rotate_key": "key rotate",
    "safeside.simulate": "simulate",
    "ledger.create_dataset": "ledger create",
    "ledger.history": "ledger history",
    "ledger.link": "ledger link",
}
"""Functions, and methods of an open ledger, that are a command."""

ARGUMENT: Final = re.compile(r"`(?:(?:Expected|StayRule)\()?([a-z]\w*)=([^`]*?)\)?`")
CALL: Final = re.compile(r"`((?:safeside|ledger)\.\w+)\((?:\.\.\.)?(?:, (\w+)=([^`]*))?\)`")


def as_typed(text: str) -> str:
    """A message for Python as a message for whoever types commands."""
    return ARGUMENT.sub(lambda one: _option(one[1], one[2]), CALL.sub(_command, text))


def _command(called: re.Match[str]) -> str:
    if called[1] not in COMMANDS:
        return called[0]
    typed = f"safeside {COMMANDS[called[1]]}"
    return f"`{typed} {_option(called[2], called[3])}`" if called[2] else f"`{typed}`"


def _option(name: str, value: str) -> str:
    option = "--" + OPTIONS.get(name, name).replace("_", "-")
    if value in ("", "True"):
        return option
    try:
        given = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return f"{option} {value}"
    # An option that takes several is given once for each.
    return " ".join(f"{option} {_typed(one)}" for one in (given if isinstance(given, list) else [given]))


def _typed(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{key}={one}" for key, one in value.items())
    text = str(value)
    return text if re.fullmatch(r"[\w/.:%+-]+", text) else shlex.quote(text)
