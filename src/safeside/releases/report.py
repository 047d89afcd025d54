"""report.html: the release for those who answer for it. Pictures first, then tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import numpy as np
from markupsafe import Markup

from safeside.decisions.states import State
from safeside.releases import charts, pages, wording
from safeside.releases.answers import Answers
from safeside.releases.question import Question
from safeside.releases.record import ReleaseRecord
from safeside.words import Words

_BARS: Final = 24


_STYLES: Final = {
    State.AT_MOST: "at-most",
    State.AT_LEAST: "at-least",
    State.UNCLEAR: "unclear",
    State.NOT_ASKED: "not-asked",
}


def render(record: ReleaseRecord, answers: Answers, chances: Mapping[int, float]) -> bytes:
    """The page; `chances[f]` is the chance of "at most" at a true count of f, known before any data was."""
    question, say = record.question, record.question.words
    return pages.page(
        "report.html",
        say,
        style="report.css",
        heading=wording.heading(question),
        question=wording.thresholds(question),
        states=charts.share_bar(_pieces(record)),
        states_caption=say("report.states" if question.repeats == 1 else "report.states-answers"),
        figures=_figures(record, answers, chances),
        reading=wording.reading(record),
        promise=wording.promise(record),
        not_promised=wording.not_promised(record),
        tables=[_answer_rows(record), _parameter_rows(record)],
        making=wording.making(record),
        **wording.frame(record) | {"title": say("title.report", title=wording.title(record))},
    )


def _pieces(record: ReleaseRecord) -> list[charts.Piece]:
    question, say, parts = record.question, record.question.words, wording.parts(record)
    total = sum(number for _, _, number in parts)
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


def _figures(
    record: ReleaseRecord, answers: Answers, chances: Mapping[int, float]
) -> list[tuple[Markup, str]]:
    question, say = record.question, record.question.words
    figures = [_histogram(question, answers)] if record.mechanism.slider else []
    if not chances:
        return figures
    limit = question.largest_threshold
    picture = charts.curve(chances, limit, title=say("report.chance-title"), limit=say("report.chance-limit"))
    asked = say("report.chance-if-asked") if wording.in_turn(question) else ""
    grouped = question.groups
    if grouped is not None and grouped.share is not None:
        said = wording.percent(grouped.share)
        caption = say("report.chance-share", n=limit, share=said, asked=asked)
    else:
        caption = say("report.chance-own" if question.at_most_of else "report.chance", n=limit, asked=asked)
    return [*figures, (picture, caption)]


def _histogram(question: Question, answers: Answers) -> tuple[Markup, str]:
    say, several = question.words, "" if question.repeats == 1 else "-answers"
    bounds, threshold = answers.upper[answers.bounded], None if question.at_most_of else question.at_most
    kind = "bounds"
    if question.groups is not None and question.groups.share is not None:
        # In per cent of those listed, rounded up: the side on which it is true.
        sizes = np.tile(np.array(answers.sizes), len(answers.measures))[answers.bounded]
        bounds, threshold, kind = -(-100 * bounds // sizes), int(100 * question.groups.share), "shares"
    last = min(_BARS, int(bounds.max()) + 1) if bounds.size else 1
    bars = np.bincount(np.minimum(bounds, last), minlength=last + 1).tolist()
    picture = charts.histogram(
        bars,
        threshold,
        last_is_more=bool(bars[-1]),
        title=say(f"report.{kind}-title"),
        most_words=wording.answers(question, max(1, *bars)),
    )
    return picture, say(f"report.{kind}{several}")


def _answer_rows(record: ReleaseRecord) -> list[tuple[str, str]]:
    question, say = record.question, record.question.words
    rows = [(words, say.number(number)) for _, words, number in wording.parts(record)]
    rows.append((say("report.row.zero"), say.number(record.answers["certified_at_zero"])))
    rows.append((say("report.row.places"), say.number(question.targets.number)))
    parts = {"windows": len(question.windows), "measures": len(question.measures)}
    return [*rows, *((say(f"report.row.{name}"), say.number(n)) for name, n in parts.items() if n > 1)]


def _parameter_rows(record: ReleaseRecord) -> list[tuple[str, str]]:
    mechanism, guarantee, question = record.mechanism, record.guarantee, record.question
    say, exactly, caps = question.words, partial(wording.number, question), guarantee.caps
    rows = {
        "definition": say(f"guarantee.definition.{guarantee.kind}"),
        "unit": say(f"guarantee.unit.{guarantee.unit}"),
        "mechanism": mechanism.name,
        "epsilon": exactly(guarantee.epsilon),
        "delta": exactly(guarantee.delta),
        "rate": f"e^-{exactly(mechanism.rate)}",
        "max-places-per-person": question.max_places_per_person,
        "alarms": getattr(question.method, "alarms", None),
        "pad": None if mechanism.pad is None else 2 * mechanism.pad,
        "margin": mechanism.margin,
        "alpha": question.alpha_each,
        "people": question.people,
        "cap-epsilon": None if caps is None else exactly(caps.epsilon),
        "cap-delta": None if caps is None else exactly(caps.delta),
    }
    return [(say(f"report.row.{name}"), str(value)) for name, value in rows.items() if value is not None]
