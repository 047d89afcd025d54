"""safeside.toml: what is the same in every command, written down once.

Only what a person would otherwise type again each day stands here; nothing in it can weaken a promise. It is
read from the directory in which the command runs, and an option on the command line always wins.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from safeside import records, untrusted
from safeside.errors import BadQuestion, StoreUnavailable, UnsafeFile
from safeside.names import did_you_mean
from safeside.records import Part, Record

FILE: Final = "safeside.toml"
KEY: Final = "safeside.key"
LEDGER: Final = "ledger.db"


class Columns(Part, frozen=True, kw_only=True):
    """What each column of the visits is called, by the role it has."""

    person: str | None = None
    place: str | None = None
    start: str | None = None
    end: str | None = None
    time: str | None = None
    date: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    accuracy: str | None = None
    state: str | None = None
    group: str | None = None


ROLES: Final = Columns.__struct_fields__
"""What a column of the visits can be."""


class Config(Record, frozen=True, kw_only=True):
    """The settings of one project; None where nothing is said."""

    kind: ClassVar[str] = "settings"
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
    columns: Columns = Columns()

    def key_file(self, option: str | Path | None = None) -> Path:
        """The private key: as it was typed, or as it was written down, or under the usual name."""
        return Path(option or self.key or KEY)

    def required(self, setting: str, option: str | None) -> str:
        """The ledger or the dataset: as it was typed, or else as it was written down."""
        chosen: str | None = option if option is not None else getattr(self, setting)
        if chosen is None:
            raise BadQuestion(
                f"No {setting} is given.",
                f"Give it with --{setting}, or once for all as `{setting} = ...` in {FILE} "
                "(see `safeside init`).",
            )
        return chosen

    def to_toml(self) -> str:
        """The file that reads back as these settings."""
        given = {records.SCHEMA: records.schema_name(Config), **records.to_json(self)}
        columns = given.pop("columns", {})
        lines = [
            "# Settings of safeside commands run in this directory; options on the command line win.",
            *(f"{name} = {_spell(value)}" for name, value in given.items()),
            "\n# What the columns of the data are called.",
            "[columns]",
            *(f"{name} = {_spell(value)}" for name, value in columns.items()),
        ]
        return "\n".join(lines) + "\n"


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
    """The settings; a file that names no schema, as one written by hand, is read as version 1."""
    name = data.setdefault(records.SCHEMA, f"safeside-{Config.kind}/1")
    try:
        return records.upgraded(Config, data)
    except ValueError:
        _explain(data, path)
        raise BadQuestion(
            f'"{path}" follows the schema {_spell(name)}, which safeside does not know.',
            f"Write {records.SCHEMA} = {_spell(records.schema_name(Config))}, or leave it out.",
        ) from None


def _explain(data: Mapping[str, Any], path: Path) -> None:
    """Refuse the first setting that has another name, or another kind of value, than there is."""
    _require_known("setting", data, (records.SCHEMA, *Config.__struct_fields__), path)
    if isinstance(columns := data.get("columns"), dict):
        _require_known("role of a column", columns, ROLES, path)
    for field in msgspec.structs.fields(Config):
        try:
            msgspec.convert(data.get(field.name, field.default), field.type)
        except msgspec.ValidationError:
            raise BadQuestion(
                f'"{field.name}" in "{path}" is not of the kind it should be.',
                f"Write it as in {field.name} = {_EXAMPLES.get(field.name, _spell('...'))}.",
            ) from None


_EXAMPLES: Final = {
    "radius": "50",
    "people_floor": "20",
    "covers": '"visits-%Y-%m-%d.csv"',
    "expect_unlisted": '"60%"',
    "columns": '{ person = "id" }',
}


def _require_known(kind: str, given: Iterable[str], known: Sequence[str], path: Path) -> None:
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known).strip() or f"Use one of: {', '.join(known)}."
            raise BadQuestion(f'"{path}" has a {kind} called "{name}", which safeside does not know.', hint)


def _spell(value: object) -> str:
    """A TOML value; JSON's strings are TOML's."""
    return json.dumps(value, ensure_ascii=False)
