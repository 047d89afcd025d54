"""report.html: the release for those who answer for it. Pictures first, then tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import numpy as np
from markupsafe import Markup

from safeside.decisions.states import State
from safeside.releases import charts, pages, statement, wording
from safeside.releases.answers import Answers
from safeside.releases.wording import Manifest
from safeside.words import Words

_BARS: Final = 24


_STYLES: Final = {
    State.AT_MOST: "at-most",
    State.AT_LEAST: "at-least",
    State.UNCLEAR: "unclear",
    State.NOT_ASKED: "not-asked",
}


def render(manifest: Manifest, answers: Answers, chances: Mapping[int, float]) -> bytes:
    """The page; `chances[f]` is the chance of "at most" at a true count of f, known before any data was."""
    question, one = manifest["question"], wording.repeats(manifest["question"]) == 1
    say = wording.words(question)
    return pages.page(
        "report.html",
        say,
        style="report.css",
        title=say("title.report", title=wording.title(manifest)),
        body_class="simulated" if manifest["simulated"] else "release",
        banner=wording.simulation(manifest),
        heading=wording.when(question),
        question=wording.thresholds(question),
        known_iso=manifest["known_on"],
        known_text=wording.known_on(manifest),
        states=charts.share_bar(_pieces(manifest)),
        states_caption=say("report.states" if one else "report.states-answers"),
        figures=_figures(manifest, answers, chances),
        reading=[*wording.error_side(manifest), *wording.scope(manifest)],
        promise=wording.promise(manifest),
        not_promised=statement.not_promised(manifest),
        tables=[_answer_rows(manifest), _parameter_rows(manifest)],
        making=wording.making(manifest),
        footer=wording.footer(manifest),
    )


def _pieces(manifest: Manifest) -> list[charts.Piece]:
    question, parts = manifest["question"], statement.parts(manifest)
    total = sum(number for _, _, number in parts)
    say = wording.words(question)
    return [
        charts.Piece(
            name=_STYLES[state],
            number=number,
            words=words,
            detail=say(
                "report.share",
                places=wording.answers_of(question, number),
                share=_percent(number, total, say),
            ),
        )
        for state, words, number in parts
    ]


def _percent(number: int, total: int, say: Words) -> str:
    """Never rounded to all or nothing when it is neither."""
    if number in (0, total):
        return f"{100 * number // max(1, total)} %"
    share = 100 * number / total
    return say("report.under") if share < 0.1 else say("report.over") if share > 99.9 else f"{share:.1f} %"


def _figures(manifest: Manifest, answers: Answers, chances: Mapping[int, float]) -> list[tuple[Markup, str]]:
    question, own = manifest["question"], bool(manifest["question"]["at_most_of"])
    say, figures = wording.words(question), []
    if manifest["mechanism"]["slider"]:
        figures.append(_histogram(manifest, answers))
    if not chances:
        return figures
    limit = max([question["at_most"] or 0, *question["at_most_of"].values()])
    picture = charts.curve(chances, limit, title=say("report.chance-title"), limit=say("report.chance-limit"))
    asked = say("report.chance-if-asked") if wording.in_turn(manifest) else ""
    caption = say("report.chance-own" if own else "report.chance", n=limit, asked=asked)
    return [*figures, (picture, caption)]


def _histogram(manifest: Manifest, answers: Answers) -> tuple[Markup, str]:
    question = manifest["question"]
    say, one = wording.words(question), wording.repeats(question) == 1
    bounds = answers.upper[answers.bounded]
    last = min(_BARS, int(bounds.max()) + 1) if bounds.size else 1
    bars = np.bincount(np.minimum(bounds, last), minlength=last + 1).tolist()
    picture = charts.histogram(
        bars,
        None if question["at_most_of"] else question["at_most"],
        last_is_more=bool(bars[-1]),
        title=say("report.bounds-title"),
        most_words=wording.answers(question, max(1, *bars)),
    )
    return picture, say("report.bounds" if one else "report.bounds-answers")


def _answer_rows(manifest: Manifest) -> list[tuple[str, str]]:
    question = manifest["question"]
    say, windows = wording.words(question), len(question["windows"])
    rows = [(words, say.number(number)) for _, words, number in statement.parts(manifest)]
    rows.append((say("report.row.zero"), say.number(manifest["answers"]["certified_at_zero"])))
    rows.append((say("report.row.places"), say.number(question["places"]["number"])))
    parts = {"windows": windows, "measures": len(question["measures"])}
    return [*rows, *((say(f"report.row.{name}"), say.number(n)) for name, n in parts.items() if n > 1)]


def _parameter_rows(manifest: Manifest) -> list[tuple[str, str]]:
    mechanism, guarantee, question = manifest["mechanism"], manifest["guarantee"], manifest["question"]
    say, exactly = wording.words(question), partial(wording.number, question)
    caps = guarantee["caps"] or {}
    rows = {
        "definition": say(f"guarantee.definition.{guarantee['kind']}"),
        "unit": say(f"guarantee.unit.{guarantee['unit']}"),
        "mechanism": mechanism["name"],
        "epsilon": exactly(guarantee["epsilon"]),
        "delta": exactly(guarantee["delta"]),
        "rate": f"e^-{exactly(mechanism['rate'])}",
        "max-places-per-person": question["max_places_per_person"],
        "alarms": question["method"].get("alarms"),
        "pad": None if mechanism["pad"] is None else 2 * mechanism["pad"],
        "margin": mechanism["margin"],
        "alpha": question["alpha_of_each_place"],
        "people": question["people"],
        "cap-epsilon": exactly(caps["epsilon"]) if caps else None,
        "cap-delta": exactly(caps["delta"]) if caps else None,
    }
    return [(say(f"report.row.{name}"), str(value)) for name, value in rows.items() if value is not None]
