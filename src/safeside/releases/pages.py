"""Pages that are one file: style, script and data inside, and no way to fetch anything from anywhere.

The browser is told so in the page itself (Content-Security-Policy): nothing may be loaded, and no script but
the one whose digest is named may run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from string import Template
from typing import Any, Final

from safeside import untrusted


def asset(name: str) -> str:
    """A file that is part of the package."""
    return resources.files("safeside.releases").joinpath("assets", name).read_text(encoding="utf-8")


def script(names: Iterable[str]) -> str:
    """Several source files as one closed script."""
    parts = "\n".join(asset(name) for name in names)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def policy(code: str | None) -> str:
    """What the page may do: nothing but draw itself."""
    allowed = "'none'" if code is None else f"'sha256-{_digest(code)}'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(code: str) -> str:
    return base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


def data_block(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_DATA: Final = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def read_data(page: str) -> dict[str, Any]:
    """The data a page shows; nothing where it holds none."""
    found = _DATA.findall(page)
    try:
        value = untrusted.parse(found[0].encode()) if len(found) == 1 else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def paragraphs(sentences: Iterable[str]) -> str:
    """Each text as a paragraph."""
    return "".join(f"<p>{html.escape(text)}</p>" for text in sentences)


def fill(template: str, values: Mapping[str, str]) -> bytes:
    """The page; every value is HTML already."""
    return Template(asset(template)).substitute(values).encode()
