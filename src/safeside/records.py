"""What is kept on disk: typed records with a version, written in one way and read back by their type.

Every kept record names its schema, `safeside-KIND/VERSION`. The rules by which records may change are in
docs/decisions/records.md; in short: a new field is optional and its default means what its absence meant, a
field's meaning never changes, an older version is upgraded when it is read, a newer one is refused by name.
The bytes are canonical JSON (RFC 8785), so that one content has one digest in any language.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import msgspec

from safeside import untrusted
from safeside.errors import MadeByNewer

SCHEMA: Final = "schema"
"""The field of a kept record that names its kind and version."""
_FRACTION: Final = re.compile(r"-?[0-9]{1,1000}(/[1-9][0-9]{0,999})?")
_LARGEST: Final = (1 << 53) - 1
"""The largest whole number that every reader of JSON holds exactly (RFC 8785, section 3.2.2.3)."""
_FIRST_OF_FOUR: Final = 0xF0
"""The first byte, in UTF-8, of the characters that UTF-16 sorts in another place."""

PlainText = Annotated[str, msgspec.Meta(pattern=rf"^(?![\s\S]*{untrusted.CONTROL.pattern})")]
"""Text that paints nothing: what a record says is shown in terminals."""
Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A group of fields inside a record. A field at its default is not written.

    So a field that is added later leaves the bytes, and the digest, of everything older as they were.
    """

    def __post_init__(self) -> None:
        """Whatever equals its default is made that default, which msgspec knows by identity."""
        for name, default in _defaults(type(self)):
            value = getattr(self, name)
            if value is not default and value == default:
                msgspec.structs.force_setattr(self, name, default)


@cache
def _defaults(kind: type[Part]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (one.name, one.default)
        for one in msgspec.structs.fields(kind)
        if one.default is not msgspec.NODEFAULT and one.default is not None
    )


class Record(Part, frozen=True, kw_only=True):
    """A record that stands by itself in a file or a row."""

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    upgrades: ClassVar[Mapping[int, Upgrade]] = {}
    """From each older version whose fields need rewriting to the one after it."""


AnyRecord = TypeVar("AnyRecord", bound=Record)
AnyPart = TypeVar("AnyPart", bound=Part)


def canonical(value: object) -> bytes:
    """The one spelling of a record, a part, or a value of text, whole numbers, lists and mappings.

    ValueError where it holds anything that has no exact spelling: a floating-point number, a whole number
    beyond 2^53, half a character, a mapping whose names are no text.
    """
    plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_written)
    _refuse_inexact(plain)
    try:
        data = msgspec.json.encode(plain, order="sorted")
    except UnicodeEncodeError:
        raise ValueError("a text holds half a character, which no file can hold") from None
    return (
        data if data.isascii() or max(data) < _FIRST_OF_FOUR else msgspec.json.encode(_sorted_as_utf16(plain))
    )


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def encode(record: Record) -> bytes:
    """The bytes of a record that stands by itself."""
    return canonical({SCHEMA: schema_name(type(record)), **to_json(record)})


def to_json(value: Part) -> dict[str, Any]:
    """A record or part as plain mappings, lists, text and numbers, without the name of its schema."""
    plain: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_written)
    return plain


def decode(kind: type[AnyRecord], data: bytes) -> AnyRecord:
    """The record that these bytes are.

    MadeByNewer where a later version of safeside wrote them; ValueError, with the reason, where they are no
    such record, or are not spelled in the one way.
    """
    value = untrusted.parse(data)
    if not isinstance(value, dict):
        raise ValueError("it is no mapping of names to values")
    if canonical(value) != data:
        raise ValueError("it is not canonical JSON (RFC 8785)")
    record = upgraded(kind, value)
    if value[SCHEMA] == schema_name(kind) and encode(record) != data:
        raise ValueError("a field at its default is written out")
    return record


def upgraded(kind: type[AnyRecord], value: Mapping[str, Any]) -> AnyRecord:
    """The record, of today's version, that a mapping with a schema is."""
    fields = dict(value)
    version = _version(kind, fields.pop(SCHEMA, None))
    for older in range(version, kind.version):
        fields = kind.upgrades.get(older, dict)(fields)
    return convert(kind, fields)


def of_today(kind: type[AnyRecord], data: bytes | str) -> AnyRecord:
    """The record that these bytes, or this text, are, in one step, where they are of today's version.

    ValueError where not. For many records at once: their spelling is not looked at, and no reason is given.
    """
    read: AnyRecord = _reader(kind).decode(data)
    return read


@cache
def _reader(kind: type[Record]) -> msgspec.json.Decoder[Any]:
    named = Literal[schema_name(kind)]  # type: ignore[valid-type]
    written = msgspec.defstruct(kind.__name__, [(SCHEMA, named)], bases=(kind,), frozen=True, kw_only=True)
    return msgspec.json.Decoder(written, dec_hook=_read)


def convert(kind: type[AnyPart], value: object) -> AnyPart:
    """The record or part that plain values are, each field checked by its type; ValueError where not."""
    try:
        return msgspec.convert(value, kind, dec_hook=_read)
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}") from None


def schema_name(kind: type[Record]) -> str:
    """How a record of today's version names its schema."""
    return f"safeside-{kind.kind}/{kind.version}"


def json_schema(kind: type[Record]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a record as it is written today."""
    generator: Any = importlib.import_module("msgspec._json_schema")
    usual = generator.to_builtins
    # It writes defaults by this function, which knows no fractions.
    generator.to_builtins = partial(msgspec.to_builtins, enc_hook=_written)
    try:
        (inner,), parts = msgspec.json.schema_components(
            [kind], schema_hook=_described, ref_template="#/$defs/{name}"
        )
    finally:
        generator.to_builtins = usual
    whole = dict(parts.pop(kind.__name__)) if "$ref" in inner else dict(inner)
    whole["properties"] = {SCHEMA: {"const": schema_name(kind)}, **whole["properties"]}
    whole["required"] = [SCHEMA, *whole.get("required", [])]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "$defs": parts}


def _version(kind: type[Record], name: object) -> int:
    start, _, number = name.rpartition("/") if isinstance(name, str) else ("", "", "")
    version = int(number) if number.isascii() and number.isdecimal() else 0
    if start != f"safeside-{kind.kind}" or not version:
        raise ValueError(f"it does not follow the schema {schema_name(kind)}")
    if version > kind.version:
        raise MadeByNewer(
            f"This {kind.kind} was made by a newer safeside: it follows the schema {start}/{version}, and "
            f"this version reads up to {kind.version}.",
            "Install a newer safeside, then try again. Nothing is wrong with the file.",
        )
    return version


def _written(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value)
    raise NotImplementedError(f"a {type(value).__name__} has no exact spelling in a record")


def _read(kind: type, value: object) -> object:
    if kind is not Fraction:
        raise NotImplementedError(f"no record holds a {kind.__name__}")
    number = _fraction(value) if isinstance(value, str) else None
    if number is None:
        raise ValueError("a number is not written as a fraction in lowest terms")
    return number


@lru_cache
def _fraction(text: str) -> Fraction | None:
    """The number of that one spelling. Most records repeat the prices of others."""
    # Looked at first: "1e999999999" would be computed before it could be refused.
    number = Fraction(text) if _FRACTION.fullmatch(text) else None
    return number if str(number) == text else None


def _described(kind: type) -> dict[str, Any]:
    if kind is Fraction:
        return {"type": "string", "pattern": "^-?[0-9]+(/[1-9][0-9]*)?$", "description": "an exact fraction"}
    raise NotImplementedError(f"no record holds a {kind.__name__}")


def _refuse_inexact(value: Any) -> None:
    """Of plain values, whose types are exactly these. Asked of every part of every event."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return
    if kind is int:
        if abs(value) > _LARGEST:
            raise ValueError("a whole number is beyond 2^53")
    elif kind is dict and all(type(name) is str for name in value):
        for item in value.values():
            if type(item) is not str:
                _refuse_inexact(item)
    elif kind is list or kind is tuple:
        if set(map(type, value)) != {str}:
            for item in value:
                _refuse_inexact(item)
    else:
        raise ValueError(f"a {kind.__name__} has no exact spelling in a record")


def _sorted_as_utf16(value: Any) -> Any:
    """RFC 8785 sorts names by UTF-16, which differs from Unicode order beyond the first 65,536 characters."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return {name: _sorted_as_utf16(value[name]) for name in names}
    if isinstance(value, list | tuple):
        return [_sorted_as_utf16(item) for item in value]
    return value
