"""A release in a notebook: its summary, and its map in a frame that can reach nothing around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from safeside.errors import ReleaseError
from safeside.releases import map_page, pages
from safeside.releases.files import MAP, copies

if TYPE_CHECKING:
    from safeside.releases.release import Release

_LARGEST: Final = 4 << 20
"""Bytes of a page that a notebook still keeps with ease."""
_FRAME: Final = Markup(
    '<iframe sandbox="allow-scripts" srcdoc="{page}" title="{title}" '
    'style="width: 100%; height: 36rem; border: 1px solid #8888"></iframe>'
)


def shown(release: Release) -> str:
    """HTML for a notebook.

    A release that somebody else made is not trusted to run its own script: the page is made anew, by our
    template and script, from the data in it, and only where those are the answers.
    """
    text = Markup('<pre style="white-space: pre-wrap">{}</pre>').format(release.summary())
    page = _page(release)
    where = Markup("<p><code>{}</code></p>").format(release.map)
    frame = "" if page is None else _FRAME.format(page=page.decode(), title=release.summary())
    return str(text + frame + where)


def _page(release: Release) -> bytes | None:
    try:
        if not copies.map_data(release):
            return None
        data = pages.read_data(release.file(MAP).decode(errors="replace"))
        page = map_page.page(release.record, data)
    except (OSError, ReleaseError):
        return None
    return page if len(page) <= _LARGEST else None
