"""map.html: the places by what is said of them, in one file that works without a network.

A map; of groups whose list has no coordinates one table. The reader moves the threshold in either.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup, escape

from safeside.decisions.states import State
from safeside.releases import pages, times, wording
from safeside.releases.answers import CODE, Answers
from safeside.releases.basemap import whole_degrees
from safeside.releases.question import Question
from safeside.releases.record import ReleaseRecord
from safeside.visits import Places

_SCRIPTS: Final = {
    "map": (
        *("sentences.js", "answers.js", "marks.js", "map.js", "labels.js", "basemap.js", "gestures.js"),
        *("card.js", "clock.js", "table.js", "page.js"),
    ),
    "groups": ("sentences.js", "answers.js", "groups.js"),
}
_SLIDER_LEAST, _SLIDER_MOST = 10, 60
_NO_BOUND: Final = -1
_TENTHS: Final = 1_000
"""What the slider counts shares in: tenths of a per cent."""


def render(
    record: ReleaseRecord, answers: Answers, places: Places, basemap: dict[str, Any] | None = None
) -> bytes:
    """The page, from what is published, the public list and the backdrop of its map."""
    latitude, longitude = places.latitude, places.longitude
    mapped = None if latitude is None or longitude is None else whole_degrees(np.stack([latitude, longitude]))
    data = {
        **said(record, answers),
        "names": None if places.name is None else _texts(places.name),
        "regions": regions(places),
        "latitude": None if mapped is None else mapped[0].tolist(),
        "longitude": None if mapped is None else mapped[1].tolist(),
        "basemap": basemap,
    }
    return page(record, data)


def page(record: ReleaseRecord, data: dict[str, Any]) -> bytes:
    """The page with these data in it: groups without coordinates are a table, everything else a map."""
    question = record.question
    kind = "map" if question.groups is None or data.get("latitude") is not None else "groups"
    sections = ("answer", "script") if kind == "map" else ("answer", "script", "groups")
    return pages.of_release(
        f"{kind}.html",
        record,
        style=f"{kind}.css",
        code=pages.script(_SCRIPTS[kind]),
        data={**data, "words": question.words.table(*sections)},
        reading=[_following(one, question) for one in wording.reading(record)],
    )


def said(record: ReleaseRecord, answers: Answers) -> dict[str, Any]:
    """The part of the page's data that follows from what is published alone."""
    question = record.question
    published = question.publish_at_least
    return {
        "ids": list(answers.targets),
        "windows": times.on_the_map(answers.windows, question.words),
        "units": times.units(answers.windows, question.words),
        "measures": list(answers.measures),
        "answers": _packed(answers, published),
        "has_lower": published,
        "level": question.method.level,
        "at_most": _thresholds(question, answers),
        "at_least": question.at_least if published else None,
        "alpha": wording.number(question, question.alpha) if published else None,
        "legend": [state.name for state in wording.shown(question)],
        "slider": record.mechanism.slider,
        "slider_most": _slider_most(question, answers),
        "known_on": record.known_on,
        **_grouped(question),
    }


def _grouped(question: Question) -> dict[str, Any]:
    """Of groups: the date, their public sizes, and the share that is asked about."""
    if question.groups is None:
        return {}
    sizes, share = question.groups.sizes, question.groups.share
    # What the slider begins at; the thresholds as they were asked stand in `at_most`.
    asked = {} if share is None else {"tenths": int(share * _TENTHS), "share": wording.percent(share)}
    return {"date": wording.date(question), "sizes": list(sizes) or None, **asked}


def regions(places: Places) -> dict[str, Any] | None:
    """Each district once, and for each place its number among them; None where nobody says."""
    if places.region is None:
        return None
    each = _texts(places.region)
    listed = sorted(set(each))
    number = {name: at for at, name in enumerate(listed)}
    return {"names": listed, "index": [number[name] for name in each]}


def _texts(column: Sequence[str | None]) -> list[str]:
    return ["" if text is None else text for text in column]


def _packed(answers: Answers, published: bool) -> dict[str, Any]:
    """Each different answer once, and for each condition its number in that list: a byte or two of it.

    A day of hours has a hundred thousand conditions and few different answers.
    """
    bound = np.where(answers.bounded, answers.upper, _NO_BOUND)
    least = answers.lower if published else np.zeros_like(answers.lower)
    rows = np.column_stack([answers.on_public_maps(published).astype(np.int64), bound, least])
    different, codes = np.unique(rows, axis=0, return_inverse=True)
    width = next(width for width in (1, 2, 4) if len(different) <= 256**width)
    raw = codes.astype(f"<u{width}").tobytes()
    said = [
        [state, None if upper == _NO_BOUND else upper, *([lower] if published else [])]
        for state, upper, lower in different.tolist()
    ]
    return {"said": said, "bytes": width, "codes": base64.b64encode(raw).decode()}


def _following(sentence: str, question: Question) -> Markup:
    """A sentence in which the threshold follows the slider."""
    said = wording.thresholds(question)
    span = Markup("&#34;<span data-threshold>{}</span>&#34;").format(said)
    return Markup(str(escape(sentence)).replace(str(escape(f'"{said}"')), str(span)))


def _thresholds(question: Question, answers: Answers) -> int | list[int]:
    own, common = question.at_most_of, question.at_most
    return [own.get(place, common) for place in answers.targets] if own else common


def _slider_most(question: Question, answers: Answers) -> int:
    """Far enough to reach nearly every place, never so far that a step is too fine to take."""
    largest = question.largest_threshold
    bounds = answers.upper[answers.bounded]
    reach = int(np.percentile(bounds, 99)) if bounds.size else 0
    wanted = max(_SLIDER_LEAST, 2 * largest, reach)
    ceiling = max(_SLIDER_MOST, largest + 1)
    if question.at_least is not None and question.publish_at_least:
        # "At most" and "at least" never stand for one place at once.
        busy = answers.upper[answers.states == CODE[State.AT_LEAST]]
        ceiling = min(ceiling, int(busy.min()) - 1) if busy.size else ceiling
    return max(largest, min(wanted, ceiling))
