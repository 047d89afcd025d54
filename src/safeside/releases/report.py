"""report.html: the release for those who answer for it. Pictures first, then tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import numpy as np

from safeside.releases import pages, wording
from safeside.releases.answers import Answers
from safeside.releases.question import Question
from safeside.releases.record import ReleaseRecord

_BARS: Final = 24


def render(record: ReleaseRecord, answers: Answers, chances: Mapping[int, float]) -> bytes:
    """The page; `chances[f]` is the chance of "at most" at a true count of f, known before any data was."""
    question, say = record.question, record.question.words
    kind, several = (
        "bounds" if question.share is None else "shares",
        "" if question.repeats == 1 else "-answers",
    )
    bars, threshold = _bars(question, answers) if record.mechanism.slider else ([], None)
    return pages.of_release(
        "report.html",
        record,
        style="report.css",
        title=say("title.report", title=wording.title(record)),
        parts=[
            (state.name, words, number, _share(number, question))
            for state, words, number in wording.parts(record)
        ],
        bars=bars,
        threshold=threshold,
        bars_title=say(f"report.{kind}-title"),
        bars_caption=say(f"report.{kind}{several}"),
        chances=chances,
        chances_caption=_chances_caption(question),
        tables=[_answer_rows(record), _parameter_rows(record)],
    )


def _share(number: int, question: Question) -> str:
    """How many of all; in per cent never rounded to all or nothing when it is neither."""
    say, share = question.words, 100 * number / question.number
    percent = f"{share:.0f} %" if number in (0, question.number) else f"{share:.1f} %"
    if 0 < share < 0.1:
        percent = say("report.under")
    elif 99.9 < share < 100:
        percent = say("report.over")
    return say("report.share", places=wording.answers_of(question, number), share=percent)


def _bars(question: Question, answers: Answers) -> tuple[list[int], int | None]:
    """How many answers have each upper bound, the last for all that are larger; and the threshold."""
    bounds, threshold = answers.upper[answers.bounded], None if question.at_most_of else question.at_most
    if question.share is not None:
        # In per cent of those listed, rounded up: the side on which it is true.
        sizes = np.tile(np.array(answers.sizes), len(answers.measures))[answers.bounded]
        bounds, threshold = -(-100 * bounds // sizes), int(100 * question.share)
    last = min(_BARS, int(bounds.max()) + 1) if bounds.size else 1
    return np.bincount(np.minimum(bounds, last), minlength=last + 1).tolist(), threshold


def _chances_caption(question: Question) -> str:
    say, share = question.words, question.share
    own = "report.chance-own" if question.at_most_of else "report.chance"
    return say(
        own if share is None else "report.chance-share",
        n=question.largest_threshold,
        share="" if share is None else wording.percent(share),
        asked=say("report.chance-if-asked") if wording.in_turn(question) else "",
    )


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
