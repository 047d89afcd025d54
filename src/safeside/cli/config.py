"""safeside.toml: what is the same in every command, written down once.

Only what a person would otherwise type again each day stands here; nothing in it can weaken a promise. It is
read from the directory in which the command runs, and an option on the command line always wins.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from safeside import untrusted
from safeside.errors import BadQuestion, StoreUnavailable, UnsafeFile

FILE: Final = "safeside.toml"
KEY: Final = "safeside.key"
LEDGER: Final = "ledger.db"
ROLES: Final = (
    "person",
    "place",
    "start",
    "end",
    "time",
    "date",
    "latitude",
    "longitude",
    "accuracy",
    "state",
)
"""What a column of the visits can be."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The settings of one project; None where nothing is said."""

    ledger: str | None = None
    dataset: str | None = None
    key: str | None = None
    timezone: str | None = None
    time_format: str | None = None
    hold: str | None = None
    radius: int | float | None = None
    people_floor: int | None = None
    covers: str | None = None
    expect_unlisted: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def to_toml(self) -> str:
        """The file that reads back as these settings."""
        lines = ["# Settings of safeside commands run in this directory; options on the command line win."]
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "columns" and value is not None:
                lines.append(f"{one.name} = {_spell(value)}")
        lines += ["", "# What the columns of the visits are called.", "[columns]"]
        lines += [f"{role} = {_spell(name)}" for role, name in self.columns.items()]
        return "\n".join(lines) + "\n"


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "ledger": (str,),
    "dataset": (str,),
    "key": (str,),
    "timezone": (str,),
    "time_format": (str,),
    "hold": (str,),
    "radius": (int, float),
    "people_floor": (int,),
    "covers": (str,),
    "expect_unlisted": (str,),
    "columns": (dict,),
}


def read_config(directory: Path | str = ".") -> Config:
    """The settings of a directory; none where it has no safeside.toml."""
    path = Path(directory) / FILE
    try:
        data = tomllib.loads(untrusted.read(path, untrusted.KEY_BYTES, follow=True).decode())
    except FileNotFoundError:
        return Config()
    except (OSError, UnsafeFile) as error:
        why = os.strerror(error.errno or 0) if isinstance(error, OSError) else "it is not a plain file"
        raise StoreUnavailable(
            f'"{path}" cannot be read ({why}).', "Make it a file that this user can read."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadQuestion(
            f'"{path}" is not TOML ({error}).', "Repair the line, or write a new file with `safeside init`."
        ) from None
    return _checked(data, path)


def _checked(data: dict[str, Any], path: Path) -> Config:
    for name, value in data.items():
        if name not in _KINDS:
            raise _unknown("setting", name, tuple(_KINDS), path)
        if not isinstance(value, _KINDS[name]) or isinstance(value, bool):
            raise BadQuestion(
                f'"{name}" in "{path}" is a {type(value).__name__}.',
                f"Write it as in {name} = {_EXAMPLES.get(name, _spell('...'))}.",
            )
    for role, column in data.get("columns", {}).items():
        if role not in ROLES:
            raise _unknown("role of a column", role, ROLES, path)
        if not isinstance(column, str):
            raise BadQuestion(
                f'The column for "{role}" in "{path}" is not a name.', f'Write it as in {role} = "my column".'
            )
    return Config(**data)


_EXAMPLES: Final = {
    "radius": "50",
    "people_floor": "20",
    "covers": '"visits-%Y-%m-%d.csv"',
    "expect_unlisted": '"60%"',
    "columns": '{ person = "id" }',
}


def _unknown(kind: str, name: str, known: tuple[str, ...], path: Path) -> BadQuestion:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f'Did you mean "{near[0]}"?' if near else f"Use one of: {', '.join(known)}."
    return BadQuestion(f'"{path}" has a {kind} called "{name}", which safeside does not know.', hint)


def required(option: str | None, configured: str | None, flag: str, setting: str) -> str:
    """What was typed, or else what was written down; an error that names both ways where it is neither."""
    chosen = option if option is not None else configured
    if chosen is None:
        raise BadQuestion(
            f"No {setting.replace('_', ' ')} is given.",
            f"Give it with {flag}, or once for all as `{setting} = ...` in {FILE} (see `safeside init`).",
        )
    return chosen


def _spell(value: str | int | float) -> str:
    """A TOML value; JSON's strings are TOML's."""
    return json.dumps(value, ensure_ascii=False)
