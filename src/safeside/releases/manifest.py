"""release.json: what was asked, how it was answered, what is promised, and the digest of every file.

The file has one spelling for one content (sorted, indented, no floating point), so that its SHA-256, which
the ledger keeps and the signature covers, stands for the whole release. docs/releases.md has the schema.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from safeside import untrusted
from safeside.errors import BadRelease, UnsafeFile

SCHEMA: Final = "safeside-release/1"
FILE: Final = "release.json"
SIGNATURE: Final = "signature.json"

_NUMBER, _TEXT, _YES = int, str, bool
_LISTED: Final = object()
"""A list of sentences."""
_BY_PLACE: Final = object()
"""A mapping from places to whole numbers."""
FILES: Final = object()
"""A mapping from file names to their size and digest."""


class _Maybe:
    """Null, or of this shape."""

    def __init__(self, shape: object) -> None:
        self.shape = shape


_COST: Final = {
    "kind": _TEXT,
    "epsilon": _TEXT,
    "delta": _TEXT,
    "each": _Maybe(_TEXT),
    "periods": _LISTED,
}
_BUDGET: Final = {"epsilon": _TEXT, "delta": _TEXT}
SHAPE: Final[Mapping[str, object]] = {
    "schema": _TEXT,
    "simulated": _YES,
    "release": _TEXT,
    "supersedes": _Maybe(_TEXT),
    "known_on": _TEXT,
    "question": {
        "when": _TEXT,
        "start": _TEXT,
        "end": _TEXT,
        "instant": _YES,
        "so_far": _YES,
        "timezone": _Maybe(_TEXT),
        "places": {"number": _NUMBER, "sha256": _TEXT},
        "at_most": _Maybe(_NUMBER),
        "at_most_of": _BY_PLACE,
        "at_least": _Maybe(_NUMBER),
        "alpha": _Maybe(_TEXT),
        "alpha_of_each_place": _Maybe(_TEXT),
        "publish_at_least": _YES,
        "people": _Maybe(_NUMBER),
        "counted": _LISTED,
    },
    "mechanism": {
        "name": _TEXT,
        "epsilon": _TEXT,
        "delta": _TEXT,
        "rate": _TEXT,
        "places_per_person": _Maybe(_NUMBER),
        "alarms": _Maybe(_NUMBER),
        "margin": _Maybe(_NUMBER),
        "pad": _Maybe(_NUMBER),
        "order": _Maybe({"kind": _TEXT, "text": _TEXT}),
        "slider": _YES,
    },
    "guarantee": {
        "kind": _TEXT,
        "unit": _TEXT,
        "neighbours": _TEXT,
        "epsilon": _TEXT,
        "delta": _TEXT,
        "sentence": _TEXT,
        "caps": _Maybe(_BUDGET),
        "promise": _LISTED,
        "earlier": {"number": _NUMBER, "digest": _TEXT},
    },
    "software": {"name": _TEXT, "version": _TEXT},
    "ledger": _Maybe({"id": _TEXT, "dataset": _TEXT, "reference": _TEXT, "cost": _COST}),
    "answers": {
        "AT_MOST": _NUMBER,
        "AT_LEAST": _NUMBER,
        "UNCLEAR": _NUMBER,
        "NOT_ASKED": _NUMBER,
        "certified_at_zero": _NUMBER,
    },
    "files": FILES,
}


def encode(manifest: Mapping[str, Any]) -> bytes:
    """The one spelling of this manifest."""
    check_shape(manifest, SHAPE, "release.json")
    return _spell(manifest)


def _spell(manifest: Mapping[str, Any]) -> bytes:
    return (
        json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    ).encode()


def decode(data: bytes) -> dict[str, Any]:
    """The manifest these bytes spell; BadRelease where they spell none."""
    manifest = parse(data, FILE)
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise BadRelease(
            f"release.json does not follow the schema {SCHEMA}.",
            "Use the version of safeside that made the release, or a newer one; if that is this one, ask the "
            "publisher for the release again.",
        )
    check_shape(manifest, SHAPE, "release.json")
    if _spell(manifest) != data:
        raise bad("release.json is not spelled as safeside spells it")
    return manifest


def read(directory: Path, name: str, limit: int = untrusted.MANIFEST_BYTES) -> bytes:
    """A file of a release; OSError where there is none, BadRelease where it is not one a release has."""
    try:
        return untrusted.read(directory / name, limit)
    except UnsafeFile as error:
        raise bad(error.what.rstrip(".")) from None


def parse(data: bytes, name: str) -> Any:
    """The JSON of a release's file, within the limits that keep a hostile one from doing harm."""
    try:
        return untrusted.parse(data)
    except ValueError:
        raise bad(f"{name} is not JSON, or not as a release has it") from None


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def file_entry(data: bytes) -> dict[str, Any]:
    """A published file as the manifest names it."""
    return {"bytes": len(data), "sha256": digest(data)}


def bad(why: str) -> BadRelease:
    """The release is not what was published."""
    return BadRelease(
        f"This release was altered or is incomplete: {why}.",
        "Do not use it. Ask the publisher for the release again, and tell them what you found.",
    )


def check_shape(value: object, shape: object, where: str) -> None:
    """Refuse a record of other fields, or other kinds of value, than its schema has."""
    if isinstance(shape, _Maybe):
        if value is not None:
            check_shape(value, shape.shape, where)
    elif isinstance(shape, Mapping):
        if not isinstance(value, Mapping) or value.keys() != shape.keys():
            raise bad(f"{where} has other fields than the schema")
        for name, inner in shape.items():
            check_shape(value[name], inner, f"{where}, {name},")
    elif not _fits(value, shape):
        raise bad(f"{where} is of another kind than the schema has")


def _fits(value: object, shape: object) -> bool:
    if shape is _TEXT:
        return _plain(value)
    if shape is _LISTED:
        return isinstance(value, list) and all(map(_plain, value))
    if shape is _BY_PLACE:
        return isinstance(value, dict) and all(map(_plain, value)) and all(map(_whole, value.values()))
    if shape is FILES:
        entries = value.values() if isinstance(value, dict) else [None]
        return all(
            isinstance(entry, dict)
            and entry.keys() == {"bytes", "sha256"}
            and _whole(entry["bytes"])
            and isinstance(entry["sha256"], str)
            for entry in entries
        )
    return _whole(value) if shape is _NUMBER else isinstance(shape, type) and isinstance(value, shape)


def _plain(value: object) -> bool:
    """Text that paints nothing: what a release says is shown in terminals."""
    return isinstance(value, str) and untrusted.CONTROL.search(value) is None


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
