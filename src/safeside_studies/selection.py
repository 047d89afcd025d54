"""Selection: how much of a day is certified at one epsilon, beside what came before and what any could do.

The day is asked place by place, and hour by hour. Only the relative popularity of places is known beforehand,
as the public list has it (right to a factor of two) or off by one more random factor, and for the hours a
rough profile of a day: both are public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import BadCounts
from safeside.mechanisms import Selection, plan_selection
from safeside.noise.entropy import simulated_entropy
from safeside_studies import sparse
from safeside_studies.city.files import HOURS
from safeside_studies.figure_style import BLACK, BLUE, GREEN, PURPLE, SKY, VERMILION, Picture, page, save
from safeside_studies.movements import DAY, Movements
from safeside_studies.results import Finding, Outcome, Sheet
from safeside_studies.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]
EPSILON: Final = 1
SPREADS: Final = (0.0, 0.6, 1.0)
"""How much further popularity is off than the list's is: the deviation of its logarithm."""
_HOURS: Final = 24
_HOUR: Final = 60
_SCALE: Final = 1_000_000
"""Popularity is turned into whole numbers by this factor; only ratios matter."""
PLACES, PLACE_HOURS = "places", "place-hours"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question: what is asked, and at which threshold."""

    what: str
    at_most: int

    @property
    def name(self) -> str:
        """As results.json has it."""
        return f"{self.what}.t{self.at_most}"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Over all days: how many conditions selection certified, what was expected, what any could do."""

    asked: Asked
    spread: float
    certified: float
    expected: float
    standard_error: float
    limit: float
    nothing: float
    """The share of draws in which nothing was certified."""

    @property
    def share(self) -> float:
        """Of the limit."""
        return self.certified / self.limit


QUESTIONS: Final = (
    Asked(what=PLACES, at_most=5),
    Asked(what=PLACE_HOURS, at_most=5),
    Asked(what=PLACE_HOURS, at_most=2),
)


def run(data: Movements, settings: Settings) -> Outcome:
    """Every question over every day, drawn many times, each claim held against a second count."""
    days = range(min(data.days, settings.repeats(7, 1)))
    many = settings.repeats(200, 5)
    found: list[Measured] = []
    parts = [(asked, spread) for asked in QUESTIONS for spread in SPREADS]
    for number, (asked, spread) in enumerate(parts):
        settings.progress(number / len(parts), f"Selection: {asked.what}, at most {asked.at_most}")
        found.append(_measure(data, asked, spread, days, many, seed=700 + number))
    before = {way: _before(data, way, days) for way in (sparse.PAPER_RANDOM, sparse.POPULAR)}
    return Outcome(
        title="Selection: a whole day for one epsilon",
        text=(
            f"ε = {EPSILON}, mean over {len(days)} days of {many} draws each; every claim was held against "
            "a second count and none was wrong. Only relative popularity is known, as it is listed (right "
            "to a factor of two) or off by one more lognormal factor, and for the hours a rough public "
            "profile. The limit is what no mechanism that is never wrong can exceed."
        ),
        pictures=[_draw(found, before, settings)],
        findings=_findings(found, before),
        sheets=[_sheet(found)],
    )


def counts_of(data: Movements, what: str, day: int) -> Whole:
    """People at each place over the day, or at each place in each of its hours."""
    if what == PLACES:
        return data.day(day)
    begin = day * DAY
    hours = [data.between(begin + _HOUR * hour, begin + _HOUR * (hour + 1)) for hour in range(_HOURS)]
    return np.stack(hours, axis=1).ravel()


def scores_of(data: Movements, what: str, spread: float, dice: np.random.Generator) -> Whole:
    """The forecast: listed popularity, off by one more factor, times the profile of the hours."""
    popularity = data.popularity * np.exp(spread * dice.standard_normal(data.places))
    known: Floats = popularity * _SCALE
    if what == PLACE_HOURS:
        known = (known[:, None] * np.array(HOURS)[None, :]).ravel()
    return np.rint(known).astype(np.int64)


def limit_of(counts: Whole, at_most: int) -> float:
    """The most that any mechanism which is never wrong can expect to certify."""
    return float(-np.expm1(-EPSILON * np.maximum(0, at_most + 1 - counts)).sum())


def _measure(
    data: Movements, asked: Asked, spread: float, days: Sequence[int], many: int, seed: int
) -> Measured:
    entropy, dice = simulated_entropy(seed), np.random.default_rng(seed)
    drawn: list[list[int]] = []
    expected, deviations, limits = [], [], []
    for day in days:
        counts = counts_of(data, asked.what, day)
        plan = plan_selection(scores_of(data, asked.what, spread, dice), asked.at_most, EPSILON)
        selection = Selection(epsilon=EPSILON, plan=plan)
        truth = recounted(data, asked.what, day)
        sizes = []
        for _ in range(many):
            released = selection.release(counts, asked.at_most, entropy=entropy)
            said = released.bounds >= 0
            if (truth[said] > released.bounds[said]).any():
                raise BadCounts("A claim is wrong.", "Report it: the mechanism or one of the counts is.")
            sizes.append(int(released.certified.sum()))
        drawn.append(sizes)
        mean, deviation = selection.moments(counts, asked.at_most)
        expected.append(mean)
        deviations.append(deviation)
        limits.append(limit_of(counts, asked.at_most))
    sizes_of = np.array(drawn)
    return Measured(
        asked=asked,
        spread=spread,
        certified=float(sizes_of.mean()),
        expected=float(np.mean(expected)),
        standard_error=float(np.linalg.norm(deviations) / np.sqrt(many) / len(drawn)),
        limit=float(np.mean(limits)),
        nothing=float((sizes_of == 0).mean()),
    )


def recounted(data: Movements, what: str, day: int) -> Whole:
    """The same counts by another code: every person, place and hour once, then grouped."""
    begin, width = day * DAY, DAY if what == PLACES else _HOUR
    windows = DAY // width
    stays = pl.DataFrame({"person": data.person, "place": data.place, "start": data.start, "end": data.end})
    inside = stays.filter(pl.col("start") < begin + DAY, pl.col("end") > begin).with_columns(
        first=(pl.max_horizontal("start", pl.lit(begin)) - begin) // width,
        last=(pl.min_horizontal("end", pl.lit(begin + DAY)) - 1 - begin) // width,
    )
    touched = inside.with_columns(window=pl.int_ranges("first", pl.col("last") + 1)).explode("window")
    people = touched.group_by("place", "window").agg(pl.col("person").n_unique())
    counts = np.zeros((data.places, windows), np.int64)
    counts[people["place"].to_numpy(), people["window"].to_numpy()] = people["person"].to_numpy()
    return counts.ravel()


def _before(data: Movements, way: str, days: Sequence[int]) -> float:
    """What sparse answers give on the same days, exactly."""
    every = [sparse.theory(way, sparse.one_day(data, day), QUESTIONS[0].at_most, EPSILON) for day in days]
    return float(np.mean([one.mean for one in every]))


def _shown(spread: float) -> str:
    return "as listed" if spread == 0 else f"off by σ = {spread:g} more"


def _draw(found: Sequence[Measured], before: dict[str, float], settings: Settings) -> Picture:
    with page(7.2, 3.4) as figure:
        panels = figure.subplots(1, len(QUESTIONS), width_ratios=[1.7, 1, 1])
        for axes, asked in zip(panels, QUESTIONS, strict=True):
            _bars(axes, asked, [one for one in found if one.asked == asked], before)
        panels[0].set_ylabel("certified in a day")
        return save(
            figure,
            settings.out,
            "selection",
            title="Certified in a day at one epsilon",
            caption=(
                f"Mean number certified, ε = {EPSILON}. Dashed: what no mechanism that is never wrong can "
                "exceed. Selection with popularity as listed and off by one more lognormal factor; left, "
                "beside sparse answers (logarithmic)."
            ),
        )


def _bars(axes: Axes, asked: Asked, found: Sequence[Measured], before: dict[str, float]) -> None:
    bars: list[tuple[str, float, str]] = []
    if asked.what == PLACES:
        bars += [
            ("SALap,\nrandom", before[sparse.PAPER_RANDOM], SKY),
            ("SAGeo,\npopular", before[sparse.POPULAR], GREEN),
        ]
        axes.set_yscale("log")
        axes.set_ylim(1, 20_000)
    colours = (BLUE, PURPLE, VERMILION)
    bars += [
        (
            f"selection\nσ = {one.spread:g}" if asked.what == PLACES else f"σ = {one.spread:g}",
            one.certified,
            colour,
        )
        for one, colour in zip(found, colours, strict=True)
    ]
    for place, (_, height, colour) in enumerate(bars):
        axes.bar(place, height, 0.7, color=colour)
        # Within the bar where the limit is near.
        inside = asked.what == PLACES and height > found[0].limit / 4
        edge, colour = ("top", "white") if inside else ("bottom", BLACK)
        axes.annotate(f"{height:,.0f}", (place, height), ha="center", va=edge, color=colour, fontsize=7)
    axes.axhline(found[0].limit, color=BLACK, linestyle="--", linewidth=1)
    axes.annotate("limit", (len(bars) - 0.55, found[0].limit), ha="right", va="bottom", fontsize=7)
    if asked.what == PLACE_HOURS:
        axes.set_ylim(0, 160_000)
        axes.set_yticks([0, 50_000, 100_000, 150_000], ["0", "50,000", "100,000", "150,000"])
    else:
        axes.set_yticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1,000", "10,000"])
    axes.set_xticks(range(len(bars)), [name for name, _, _ in bars], fontsize=6.5)
    axes.set_title(f"{asked.what}, t = {asked.at_most}")
    axes.grid(axis="x", visible=False)


def _findings(found: Sequence[Measured], before: dict[str, float]) -> list[Finding]:
    findings = [
        Finding(
            name=f"selection.{one.asked.name}.sigma{one.spread:g}",
            where="Selection",
            what=f"{one.asked.what} of a day certified at most {one.asked.at_most}, popularity "
            f"{_shown(one.spread)}",
            ours=one.certified,
            theory=one.expected,
            standard_error=one.standard_error,
            why=f"{one.share:.2f} of the limit; nothing certified in {one.nothing:.1%} of the draws.",
            form=",.0f",
        )
        for one in found
    ]
    first = found[0]
    return [
        *findings,
        Finding(
            name="selection.times_salap",
            where="Selection",
            what="times as many places of a day as the paper's SALap in random order",
            ours=first.certified / before[sparse.PAPER_RANDOM],
            form=",.0f",
        ),
        Finding(
            name="selection.times_popularity",
            where="Selection",
            what="times as many places of a day as SAGeo by popularity",
            ours=first.certified / before[sparse.POPULAR],
            form=",.1f",
        ),
    ]


def _sheet(found: Sequence[Measured]) -> Sheet:
    rows: list[tuple[str, ...]] = [
        (
            one.asked.what,
            str(one.asked.at_most),
            _shown(one.spread),
            f"{one.certified:,.0f}",
            f"{one.limit:,.0f}",
            f"{one.share:.2f}",
            f"{one.nothing:.3f}",
        )
        for one in found
    ]
    return Sheet(
        title="Certified in a day at one epsilon",
        head=("asked", "t", "popularity", "certified", "limit", "share", "nothing"),
        rows=rows,
        note="Nothing: the share of draws that certify nothing.",
    )
