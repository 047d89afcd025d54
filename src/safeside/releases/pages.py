"""Pages that are one file: style, script and data inside, and no way to fetch anything from anywhere.

The browser is told so in the page itself (Content-Security-Policy): nothing may be loaded, and no script but
the one whose digest is named may run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from safeside import __version__, untrusted
from safeside.releases import wording
from safeside.releases.answers import CODE, STATES
from safeside.words import Words

if TYPE_CHECKING:
    from safeside.releases.record import ReleaseRecord


def asset(name: str) -> str:
    """A file that is part of the package."""
    return resources.files("safeside.releases").joinpath("assets", name).read_text(encoding="utf-8")


def script(names: Iterable[str]) -> str:
    """Several source files as one closed script, which knows the states by the numbers they have here."""
    parts = "\n".join([states(), *map(asset, names)])
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def states() -> str:
    """The one coding of states, for the script of a page."""
    names = ", ".join(f'"{state.name}"' for state in STATES)
    constants = ", ".join(state.name for state in STATES)
    return f"const STATES = [{names}];\nconst [{constants}] = [{', '.join(map(str, CODE.values()))}];"


def policy(code: str | None) -> str:
    """What the page may do: nothing but draw itself."""
    allowed = "'none'"
    if code is not None:
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        allowed = f"'sha256-{digest}'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def data_block(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_DATA: Final = re.compile(rb'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def read_data(page: bytes) -> dict[str, Any]:
    """The data a page shows; nothing where it holds none."""
    found = _DATA.findall(page)
    try:
        value = untrusted.parse(found[0]) if len(found) == 1 else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


# A name that a template asks for and nobody gave is an error, and every value is text unless it is Markup.
_TEMPLATES: Final = Environment(
    loader=FunctionLoader(asset),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(
    template: str, words: Words, *, style: str, code: str | None = None, data: Any = None, **values: Any
) -> bytes:
    """The page: the template filled with values, which are escaped; style, script and data stand as they are.

    `words` says what the template itself says; `style` names a file of the package; `code` is a whole script,
    and `data` what it reads.
    """
    filled = _TEMPLATES.get_template(template).render(
        say=words,
        csp=policy(code),
        version=__version__,
        style=Markup(asset(style)),
        script=None if code is None else Markup(code),
        data=Markup(data_block(data)),
        **values,
    )
    return f"{filled}\n".encode()


def of_release(template: str, record: ReleaseRecord, **values: Any) -> bytes:
    """A page of a release, whose template asks `wording` for what is said in it."""
    given = {"title": wording.title(record), **values}
    return page(
        template, record.question.words, record=record, question=record.question, wording=wording, **given
    )
