"""How a question is written down: exactly, and its long parts once.

A list of five thousand places asked about every hour would be most of the ledger. A value that is long is
kept apart under its digest, which stands in the event in its place and is hashed with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from safeside.ledger import events
from safeside.ledger.state import tampered
from safeside.ledger.store import Rows

_LONG: Final = 2048


def shorten(question: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The question as it is stored, and the long values that are kept apart."""
    stored: dict[str, Any] = {}
    documents = {}
    for name, value in question.items():
        text = events.canonical(value)
        # A short value that looks like a reference (a place may be called "document") is kept apart too.
        if len(text) > _LONG or (isinstance(value, Mapping) and events.DOCUMENT in value):
            key = events.digest(text)
            documents[key] = text
            stored[name] = {events.DOCUMENT: key, "length": len(text)}
        else:
            stored[name] = json.loads(text)
    return stored, documents


def lengthen(rows: Rows, value: Any) -> Any:
    """The value as it was asked."""
    if isinstance(value, dict) and events.DOCUMENT in value:
        body = rows.document(value[events.DOCUMENT])
        return None if body is None else json.loads(body)
    return value


def check(rows: Rows, event: events.Event) -> None:
    """Every long part of a question is there, and is what was asked."""
    for key in events.documents_of(event.what):
        body = rows.document(key)
        if body is None or events.digest(body) != key:
            raise tampered(event.number, "a part of its question is missing or was altered")
