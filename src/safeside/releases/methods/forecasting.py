"""What a question says beforehand of how busy each place is in each window: public knowledge, and outputs.

The list's own column `expected` or `popularity`, times a profile of the hours, moved by what earlier releases
published. None of it is private; one made from private data would be an output nobody paid for.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from safeside.decisions import forecast as rules
from safeside.decisions.forecast import Whole
from safeside.errors import BadQuestion
from safeside.mechanisms.ladder import NO_BOUND
from safeside.releases.times import Span, clock
from safeside.visits import Places, Window

if TYPE_CHECKING:
    from safeside.releases.release import Release

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Forecasted:
    """A score for each condition, and where it comes from."""

    scores: Whole
    usual: NDArray[np.float64]
    """What the list and the profile say of it, before any release moved it."""
    sources: tuple[str, ...]
    learned: tuple[str, ...] = ()
    """The digests of the releases that were learned from."""


def read_forecast(
    places: Places,
    windows: Sequence[Window],
    zone: tzinfo | None = None,
    profile: str | Path | None = None,
    learn_from: Sequence[str | Path] | None = None,
) -> Forecasted:
    """The forecast for every place in every window, window by window."""
    known, source = _base(places)
    weights = _weights(windows, zone, profile)
    usual = np.multiply.outer(np.asarray(weights, np.float64), known).ravel()
    scores, sources = rules.scores(known, weights), [source]
    if profile is not None:
        sources.append("a profile of the hours")
    learned = [_earlier(directory) for directory in learn_from or ()]
    learned.sort(key=lambda release: release.record.question.each_window[0].start)
    if learned:
        scores = rules.moved(scores, _moves(learned, places.ids, windows))
        sources.append(f"the answers of {len(learned)} earlier release{'s' if len(learned) > 1 else ''}")
    digests = tuple(release.digest for release in learned)
    return Forecasted(scores=scores, usual=usual, sources=tuple(sources), learned=digests)


def _base(places: Places) -> tuple[NDArray[np.float64], str]:
    """What the list says of each place, and the name of the column."""
    for name in ("expected", "popularity", "size"):
        column = getattr(places, name)
        if column is not None:
            return column.astype(np.float64), f"the column {name} of the list"
    return np.ones(len(places)), "nothing but the list"


def _weights(windows: Sequence[Window], zone: tzinfo | None, profile: str | Path | None) -> list[int]:
    """How busy each window usually is: the profile's weight, or the same for all."""
    if profile is None:
        return [1] * len(windows)
    hours = rules.read_profile(profile)
    weights = [hours.of_window(one.start, one.end, zone or clock(one.text, None)) for one in windows]
    # Nobody expected in any of them: what is known of the places still tells them apart.
    return weights if any(weights) else [1] * len(windows)


def _earlier(directory: str | Path) -> Release:
    """A release by selection, whole and unaltered: anybody could write such files."""
    from safeside.releases.files.answers import CSV
    from safeside.releases.methods.selection import SelectedConditions
    from safeside.releases.record import bad, described
    from safeside.releases.release import load_release
    from safeside.releases.verify import check_files

    release = load_release(directory)
    check_files(release)
    if release.simulated or not isinstance(release.record.question.method, SelectedConditions):
        raise BadQuestion(
            f'"{directory}" is not a release that was answered by selection.',
            "Give `learn_from=` directories of earlier releases that were.",
        )
    # Learned from are the bytes that were signed, whatever happens to the directory meanwhile.
    held = {name: release.file(name) for name in (CSV, SelectedConditions.file)}
    for name, data in held.items():
        if described(data) != release.record.files[name]:
            raise bad(f"{name} is not the file that was signed")
    return replace(release, held=held)


def _moves(learned: Sequence[Release], targets: Sequence[str], windows: Sequence[Window]) -> Whole:
    """How far each condition was moved by the answers, day after day, up to the day asked about."""
    moves: Whole = np.zeros(len(targets) * len(windows), dtype=np.int64)
    day = None
    for release in learned:
        begins = release.record.question.each_window[0].start
        moves = rules.after_days(moves, 0 if day is None else max(0, (begins - day) // _DAY))
        day = begins
        here, there = _shared(release, targets, windows)
        certified, halvings = _said(release)
        moves[here] = rules.after_release(moves[here], certified[there], halvings[there])
    assert day is not None
    return rules.after_days(moves, max(0, (windows[0].start - day) // _DAY))


def _shared(release: Release, targets: Sequence[str], windows: Sequence[Window]) -> tuple[Whole, Whole]:
    """The conditions asked about that the release answered at the same time of the day, in both orders."""
    hours = map(_hour, release.record.question.each_window)
    answered = {one: at for at, one in enumerate(itertools.product(hours, release.answers.targets))}
    asked = enumerate(itertools.product(map(_hour, windows), targets))
    pairs = [(at, answered[one]) for at, one in asked if one in answered]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _hour(window: Window) -> tuple[str, timedelta]:
    """The time of the day at which a window begins, on its own clock, and its length."""
    return f"{Span.of(window.text).start:%H:%M:%S}", window.end - window.start


def _said(release: Release) -> tuple[NDArray[np.bool_], Whole]:
    """What was certified; and, of what the drawn component left out, how often its chance was halved."""
    from safeside.releases.methods.selection import COMPONENT

    asked, answers = release.conditions, release.answers
    bounds = np.where(answers.bounded, answers.upper, NO_BOUND)
    halvings: Whole = np.zeros(bounds.size, dtype=np.int64)
    component = release.record.outcome.get(COMPONENT)
    if component is not None:
        rest = asked.plan.order[asked.plan.tested :]
        exponents = asked.plan.components[component].exponents(rest.size).astype(np.int64)
        halvings[rest] = np.where(bounds[rest] == NO_BOUND, exponents, 0)
    return (bounds != NO_BOUND) & (bounds <= asked.at_most), halvings
