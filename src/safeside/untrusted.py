"""Files and text that others may have written: read within limits, and shown without painting a terminal.

Whoever may write beside a release can put a pipe, a device, a link, a file without end or JSON without bottom
there. Everything read from such a place goes through `read` and `parse`, which refuse all of these; whatever
comes from such a place and is shown goes through `visible`.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
from pathlib import Path
from typing import Any, Final

from safeside.errors import UnsafeFile

MANIFEST_BYTES: Final = 1 << 26
"""The most that is read of a file of one record (64 MiB): a manifest, a signature, a notice."""
DATA_BYTES: Final = 1 << 30
"""The most that is read of a data file or page of a release (1 GiB)."""
KEY_BYTES: Final = 1 << 20
"""The most that is read of a key, a keyring or the settings (1 MiB)."""
_DEPTH: Final = 32
VALUES: Final = 1 << 25
"""The most values that one file of JSON may hold."""
_DIGITS: Final = 19
"""As many as the largest 64-bit integer has."""

_PAINTS: Final = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
CONTROL: Final = re.compile(f"[{_PAINTS}]")
"""Control characters, line and paragraph separators, and the marks that turn the direction of text."""
_HIDDEN: Final = re.compile(f"[{_PAINTS}\ud800-\udfff\ufeff]")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def visible(text: str, *, keep: str = "") -> str:
    """The text with every character that could paint over others written out, as in \\x1b."""
    return _HIDDEN.sub(lambda one: one[0] if one[0] in keep else _written_out(one[0]), text)


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def read(path: Path | str, limit: int, *, follow: bool = False) -> bytes:
    """The bytes of a plain file of at most `limit` bytes; OSError where there is none to read.

    A link is refused unless `follow` says that whoever named the path may have meant one.
    """
    path = Path(path)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _unsafe(path, "is a link") from None
        if error.errno == errno.ENXIO:
            raise _unsafe(path, "is not a plain file") from None
        raise
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise _unsafe(path, "is not a plain file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            # The size is looked at first, and not believed: the file may grow meanwhile.
            data = file.read(limit + 1) if status.st_size <= limit else None
    finally:
        os.close(handle)
    if data is None or len(data) > limit:
        raise _unsafe(path, f"is larger than {limit:,} bytes")
    return data


def parse(data: bytes, *, most_values: int = VALUES) -> Any:
    """The value that JSON in UTF-8 spells, once and plainly; ValueError where it is anything else.

    Refused are names that occur twice in one object, numbers that no 64-bit integer or finite float holds,
    text that cannot be written as UTF-8, and values that lie deeper, or are more, than in any file of ours.
    """
    if data.count(b",") + data.count(b"[") + data.count(b"{") > most_values:
        raise ValueError("more values than are read")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_no_constant,
        )
        if _SURROGATE.search(data):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if _deeper_than(value, _DEPTH):
        raise ValueError("nested too deeply")
    return value


def _deeper_than(value: Any, depth: int) -> bool:
    """Whether something lies deeper than that; level by level: recursion is what is attacked."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(depth):
        inside = (one.values() if isinstance(one, dict) else one for one in level)
        level = [inner for values in inside for inner in values if isinstance(inner, dict | list)]
        if not level:
            return False
    return bool(level)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _integer(text: str) -> int:
    if len(text.removeprefix("-")) > _DIGITS:
        raise ValueError("a number with too many digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number beyond all that is counted")
    return value


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _unsafe(path: Path, why: str) -> UnsafeFile:
    return UnsafeFile(
        f'"{visible(str(path))}" {why}, and is not read.',
        "Look at who may write to its directory, and put the file itself there.",
    )
