"""report.html: the release for those who answer for it. Pictures first, then tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from markupsafe import Markup

from safeside.releases import charts, pages, statement, wording
from safeside.releases.answers import Answers
from safeside.releases.wording import Manifest

_BARS: Final = 24


def render(manifest: Manifest, answers: Answers, chances: Mapping[int, float]) -> bytes:
    """The page; `chances[f]` is the chance of "at most" at a true count of f, known before any data was."""
    return pages.page(
        "report.html",
        style="report.css",
        title=f"Report: {wording.title(manifest)}",
        body_class="simulated" if manifest["simulated"] else "release",
        banner=wording.SIMULATION if manifest["simulated"] else None,
        heading=wording.when(manifest["question"]),
        question=wording.thresholds(manifest["question"]),
        known_iso=manifest["known_on"],
        known_text=wording.known_on(manifest),
        states=charts.share_bar(_parts(manifest)),
        states_caption="What is said of the places, all of them.",
        figures=_figures(manifest, answers, chances),
        reading=[*wording.error_side(manifest), *wording.scope(manifest)],
        promise=wording.promise(manifest),
        not_promised=statement.not_promised(manifest),
        tables=[_answer_rows(manifest), _parameter_rows(manifest)],
        making=wording.making(manifest),
        footer=wording.footer(manifest),
    )


def _parts(manifest: Manifest) -> list[tuple[str, str, int]]:
    question, answers = manifest["question"], manifest["answers"]
    published = question["publish_at_least"]
    parts = [("at-most", wording.thresholds(question), answers["AT_MOST"])]
    if published:
        parts.append(("at-least", wording.at_least(question["at_least"]), answers["AT_LEAST"]))
    unclear = answers["UNCLEAR"] + (0 if published else answers["AT_LEAST"])
    parts.append(("unclear", wording.CANNOT_SAY, unclear))
    if manifest["mechanism"]["alarms"] is not None:
        parts.append(("not-asked", wording.NOT_ASKED, answers["NOT_ASKED"]))
    return parts


def _figures(manifest: Manifest, answers: Answers, chances: Mapping[int, float]) -> list[tuple[Markup, str]]:
    question = manifest["question"]
    threshold = None if question["at_most_of"] else question["at_most"]
    figures = []
    if manifest["mechanism"]["slider"]:
        bounds = answers.upper[answers.bounded]
        last = min(_BARS, int(bounds.max()) + 1) if bounds.size else 1
        bars = np.bincount(np.minimum(bounds, last), minlength=last + 1).tolist()
        picture = charts.histogram(bars, threshold, last_is_more=bool(bars[-1]))
        figures.append(
            (picture, "Places by the upper bound published for them. The true number is never larger.")
        )
    limit = max([question["at_most"] or 0, *question["at_most_of"].values()])
    which = "the largest number asked about" if question["at_most_of"] else f"at most {limit}"
    if not chances:
        return figures
    figures.append(
        (
            charts.curve(chances, limit),
            f'The chance that a place gets the answer "{which}", by the true number of known infected '
            f"visitors{', if it is asked' if manifest['mechanism']['alarms'] is not None else ''}. "
            f"It is the same for every place{' with that number' if question['at_most_of'] else ''} and was "
            "known before any data was read.",
        )
    )
    return figures


def _answer_rows(manifest: Manifest) -> list[tuple[str, str]]:
    rows = [(words, f"{number:,}") for _, words, number in _parts(manifest)]
    return [
        *rows,
        (
            "Certified at 0: shown for certain to have had nobody, a fact about everybody",
            f"{manifest['answers']['certified_at_zero']:,}",
        ),
        ("Places on the list", f"{manifest['question']['places']['number']:,}"),
    ]


def _parameter_rows(manifest: Manifest) -> list[tuple[str, str]]:
    mechanism, guarantee, question = manifest["mechanism"], manifest["guarantee"], manifest["question"]
    definition = {"adp": "Asymmetric differential privacy", "dp": "Differential privacy"}
    rows = [
        ("Definition", definition.get(guarantee["kind"], guarantee["kind"])),
        ("Unit of privacy", guarantee["unit"]),
        ("Mechanism", mechanism["name"]),
        ("Epsilon of this release", wording.number(guarantee["epsilon"])),
        ("Delta of this release", wording.number(guarantee["delta"])),
        (
            "Noise for each place: ratio of neighbouring probabilities",
            f"e^-{wording.number(mechanism['rate'])}",
        ),
    ]
    optional = (
        ("Most places one person can be counted at", mechanism["max_places_per_person"]),
        ("Alarms after which asking stops", mechanism["alarms"]),
        ("Largest noise", None if mechanism["pad"] is None else 2 * mechanism["pad"]),
        ("Margin of the lower bound", mechanism["margin"]),
        ("Error rate of each lower bound", question["alpha_of_each_place"]),
        ("Declared number of people", question["people"]),
    )
    rows += [(name, str(value)) for name, value in optional if value is not None]
    if guarantee["caps"]:
        rows.append(
            ("Epsilon of everything from this dataset, at most", wording.number(guarantee["caps"]["epsilon"]))
        )
        rows.append(
            ("Delta of everything from this dataset, at most", wording.number(guarantee["caps"]["delta"]))
        )
    return rows
