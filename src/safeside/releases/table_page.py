"""map.html where a question is about groups and the list has no coordinates: the groups as one table.

Sorted, filtered and searched by the reader, who also moves the threshold; works without a network.
"""

from __future__ import annotations

from typing import Any, Final

from safeside.releases import map_page, pages, wording
from safeside.releases.answers import Answers
from safeside.releases.record import ReleaseRecord
from safeside.visits import Places

_SCRIPT: Final = ("sentences.js", "answers.js", "groups.js")


def fits(record: ReleaseRecord, places: Places) -> bool:
    """Whether there is nothing to draw a map of."""
    return record.question.groups is not None and places.latitude is None


def render(record: ReleaseRecord, answers: Answers, places: Places) -> bytes:
    """The page, from what is published and the public list of groups."""
    question = record.question
    return pages.page(
        "groups.html",
        question.words,
        style="groups.css",
        code=pages.script(_SCRIPT),
        data=_data(record, answers, places),
        heading=wording.thresholds(question),
        when=wording.heading(question),
        no_slider=wording.no_slider(record),
        several=len(question.measures) > 1,
        reading=wording.reading(record),
        promise=wording.short_promise(record),
        making=wording.making(record),
        **wording.frame(record),
    )


def _data(record: ReleaseRecord, answers: Answers, places: Places) -> dict[str, Any]:
    question = record.question
    return {
        **map_page.said(record, answers),
        "words": question.words.table("answer", "script", "groups"),
        "names": map_page.names(places),
        "regions": map_page.regions(places),
    }
