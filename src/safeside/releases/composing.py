"""From a question and what was drawn for it to the files of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safeside import __version__
from safeside.decisions.states import State
from safeside.ledger.account import NO_RELEASES, Releases
from safeside.ledger.money import Budget
from safeside.privacy.guarantee import Unit
from safeside.releases import artefacts, manifest, map_page, report, statement, wording
from safeside.releases.answers import Answers
from safeside.releases.question import Question
from safeside.releases.release import MAP, REPORT, STATEMENT

_COUNTS_BEYOND: Final = 4
_COUNTS_SHOWN: Final = 25
"""How far past the threshold the curve of the report goes, to show that it is zero there."""
NO_PROMISE: Final = "This is a simulation. Nothing is promised to anybody."


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Everything around a question that a release says of itself."""

    release: str
    known_on: datetime
    simulated: bool
    promise: str
    earlier: Releases = NO_RELEASES
    """What was published from the dataset before."""
    unit: Unit = Unit.PERSON
    caps: Budget | None = None
    ledger: Mapping[str, Any] | None = None
    supersedes: str | None = None


def draft(question: Question, setting: Setting) -> dict[str, Any]:
    """The manifest before anything is drawn: everything but the answers and the files."""
    guarantee = replace(question.design.guarantee, unit=setting.unit)
    order = question.order
    return {
        "schema": manifest.SCHEMA,
        "simulated": setting.simulated,
        "release": setting.release,
        "supersedes": setting.supersedes,
        "known_on": setting.known_on.astimezone(UTC).isoformat(timespec="seconds"),
        "question": question.described(),
        "mechanism": {
            **question.design.record(),
            "order": None if order is None else {"kind": order.kind, "text": order.text},
        },
        "guarantee": {
            "kind": "adp" if len(guarantee.policy) else "dp",
            "unit": str(guarantee.unit),
            "neighbours": str(guarantee.neighbours),
            "epsilon": str(guarantee.epsilon),
            "delta": str(guarantee.delta),
            "sentence": guarantee.sentence(),
            "caps": None
            if setting.caps is None
            else {"epsilon": str(setting.caps.epsilon), "delta": str(setting.caps.delta)},
            "promise": wording.sentences(setting.promise),
            "earlier": {"number": setting.earlier.number, "digest": setting.earlier.digest},
        },
        "software": {"name": "safeside", "version": __version__},
        "ledger": None if setting.ledger is None else dict(setting.ledger),
    }


def compose(
    question: Question,
    setting: Setting,
    answers: Answers,
    order: NDArray[np.int64] | None,
    basemap: dict[str, Any] | None,
) -> dict[str, bytes]:
    """Every file of the release but its signature; release.json comes last and names the others."""
    record = draft(question, setting)
    record["answers"] = {
        **{state.name: answers.number(state) for state in State},
        "certified_at_zero": answers.certified_at_zero,
    }
    files = {
        artefacts.CSV: artefacts.as_csv(answers),
        artefacts.PARQUET: artefacts.as_parquet(answers),
        artefacts.GEOJSON: artefacts.as_geojson(record, answers, question.places),
        MAP: map_page.render(record, answers, question.places, basemap),
        REPORT: report.render(record, answers, chances(question)),
        STATEMENT: statement.render(record),
    }
    if order is not None:
        files[artefacts.ORDER] = artefacts.as_order([question.places.ids[at] for at in order])
    record["files"] = {name: manifest.file_entry(data) for name, data in files.items()}
    return {**files, manifest.FILE: manifest.encode(record)}


def chances(question: Question) -> dict[int, float]:
    """The chance of "at most" by true count, at the largest threshold; known before any data is.

    Every count up to a little beyond the threshold, or, where those are many, some at even distances.
    """
    limit = int(question.thresholds.max())
    last = limit + _COUNTS_BEYOND
    if question.people is not None:
        last = min(last, question.people)
    step = -(-(last + 1) // _COUNTS_SHOWN)
    counts = sorted({*range(0, last + 1, step), min(limit, last)})
    return {count: question.design.beta(limit, count) for count in counts}
