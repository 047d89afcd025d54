"""map.html where a question is about groups and the list has no coordinates: the groups as one table.

Sorted, filtered and searched by the reader, who also moves the threshold; works without a network.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from safeside.releases import map_page, pages, wording
from safeside.releases.answers import Answers
from safeside.releases.wording import Manifest
from safeside.visits import Places

_SCRIPT: Final = ("sentences.js", "answers.js", "groups.js")
_TENTHS: Final = 1_000


def fits(manifest: Manifest, places: Places) -> bool:
    """Whether there is nothing to draw a map of."""
    return bool(manifest["question"]["groups"]) and places.latitude is None


def render(manifest: Manifest, answers: Answers, places: Places) -> bytes:
    """The page, from what is published and the public list of groups."""
    question = manifest["question"]
    return pages.page(
        "groups.html",
        wording.words(question),
        style="groups.css",
        code=pages.script(_SCRIPT),
        data=_data(manifest, answers, places),
        title=wording.title(manifest),
        body_class="simulated" if manifest["simulated"] else "release",
        banner=wording.simulation(manifest),
        heading=wording.thresholds(question),
        when=wording.when(question),
        known_iso=manifest["known_on"],
        known_text=wording.known_on(manifest),
        no_slider=wording.no_slider(manifest),
        several=len(question["measures"]) > 1,
        reading=[*wording.error_side(manifest), *wording.scope(manifest)],
        promise=wording.short_promise(manifest),
        making=wording.making(manifest),
        footer=wording.footer(manifest),
    )


def _data(manifest: Manifest, answers: Answers, places: Places) -> dict[str, Any]:
    question = manifest["question"]
    grouped = question["groups"]
    share = grouped["share"]
    return {
        **map_page.said(manifest, answers),
        "words": wording.words(question).table("answer", "script", "groups"),
        "names": map_page.names(places),
        "regions": map_page.regions(places),
        "sizes": grouped["sizes"] or None,
        # What the slider begins at; the thresholds as they were asked stand in `at_most`.
        "tenths": None if share is None else int(Fraction(share) * _TENTHS),
        "date": wording.date(question),
    }
