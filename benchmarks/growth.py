"""How the time of counting and of publishing grows: with visits, people, places and windows.

    python -m benchmarks.growth [--of windows] [--figure docs/figures/growth.png]

Made-up visits of half an hour, spread evenly over people, places and a week, in a Parquet file in no order.
One of the numbers grows and the others stay as `USUAL` says. Measured is the processor's time, which other
work on the machine disturbs least, once the libraries are loaded and everything was done once before: of
`count_visits` for a day, and of a whole `publish` for an hour. Windows of an hour are counted and published
together, in one pass over the visits, and, for comparison, published one after the other. The slope is that
of the logarithms between the last two points: 1 where twice as much takes twice as long. It ends with an
error where one is above 1.25.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from safeside.ledger import Ledger, create_ledger
from safeside.releases.publish import publish
from safeside.releases.signing import create_key
from safeside.visits import Expected, Window, count_visits, read_places, split
from safeside_studies.figure_style import BLUE, GREEN, VERMILION, Line, draw_line, page, save

STEEPEST = 1.25
TURNS = 3
BEGIN = datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC"))
WEEK = timedelta(days=7)
COVERS = f"{BEGIN.isoformat()}/{(BEGIN + WEEK).isoformat()}"
COUNTING = Line(label="counting a day", colour=BLUE, dash="-", marker="o")
PUBLISHING = Line(label="publishing an hour, all included", colour=VERMILION, dash="--", marker="s")
TOGETHER = replace(COUNTING, label="counting them in one pass")
AT_ONCE = replace(PUBLISHING, label="publishing them as one release")
ONE_BY_ONE = Line(label="publishing one after the other", colour=GREEN, dash=":", marker="^")


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much there is of what is made up."""

    visits: int = 1_000_000
    people: int = 200_000
    places: int = 5_835


USUAL = Size()
SIZES = {
    "visits": (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    "people": (1_000, 10_000, 100_000, 1_000_000),
    "places": (100, 1_000, 10_000, 100_000),
}
LABELS = {**{of: of for of in SIZES}, "windows": "windows of one hour"}
HOURS = (1, 2, 4, 8, 16)
HOUR = "PT1H"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Seconds of the processor for each number."""

    of: str
    line: Line
    numbers: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def slope(self) -> float:
        """Of the logarithms, between the last two points."""
        wider, longer = (each[-1] / each[-2] for each in (self.numbers, self.seconds))
        return math.log(longer) / math.log(wider)


def make(folder: Path, size: Size) -> None:
    """Visits and a list of places, made up."""
    dice = np.random.default_rng(1)
    start = dice.integers(0, int(WEEK.total_seconds()) - 1800, size.visits)
    at = {"start": start, "end": start + 1800}
    pl.DataFrame(
        {
            "person": dice.integers(0, size.people, size.visits),
            "place": dice.integers(0, size.places, size.visits),
            **{name: pl.Series(BEGIN.timestamp() + seconds) for name, seconds in at.items()},
        }
    ).with_columns(
        pl.format("p{}", pl.col("person").cast(pl.String).str.zfill(8)).alias("person"),
        pl.format("s{}", pl.col("place").cast(pl.String).str.zfill(6)).alias("place"),
        (pl.col("start", "end") * 10**6).cast(pl.Int64).cast(pl.Datetime("us", "UTC")),
    ).write_parquet(folder / "visits.parquet", row_group_size=250_000)
    pl.DataFrame(
        {
            "place": [f"s{number:06}" for number in range(size.places)],
            "latitude": dice.uniform(35.5, 35.9, size.places),
            "longitude": dice.uniform(139.4, 139.9, size.places),
        }
    ).write_csv(folder / "places.csv")


def timed(work: Callable[[], object], *, turns: int = TURNS, before: int = 1) -> float:
    """Seconds of the processor, the middle one of some turns after `before` that do not count."""
    taken = []
    for _ in range(before + turns):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return statistics.median(taken[before:])


def hours(number: int, first: int = 0) -> str:
    """An interval of so many hours."""
    start = BEGIN + timedelta(hours=first)
    return f"{start.isoformat()}/{(start + timedelta(hours=number)).isoformat()}"


def count(folder: Path, window: Window | tuple[Window, ...]) -> float:
    """Seconds for counting one window, or several together."""
    places = read_places(folder / "places.csv")
    known = Expected(covers=COVERS)
    return timed(lambda: count_visits(folder / "visits.parquet", places, window, expected=known))


class Publisher:
    """Publishes one interval after another from one dataset."""

    def __init__(self, folder: Path, places: int) -> None:
        self.folder, self.done = folder, 0
        create_key(folder / "safeside.key")
        self.ledger: Ledger = create_ledger(folder / "ledger.db")
        self.ledger.create_dataset("made up", "person", 1000, max_places_per_person=places)

    def publish(self, when: str, every: str | None = None) -> None:
        """One interval, as one window or as many."""
        self.done += 1
        publish(
            self.folder / "visits.parquet",
            places=self.folder / "places.csv",
            when=when,
            every=every,
            at_most=5,
            epsilon=1,
            dataset="made up",
            ledger=self.ledger,
            key=self.folder / "safeside.key",
            out=self.folder / "releases" / str(self.done),
            covers=COVERS,
            again=True,
        )

    def publish_next_hour(self) -> None:
        """The hour after the last one."""
        self.publish(hours(1, self.done))


def grow(of: str) -> list[Curve]:
    """Both curves for one number that grows."""
    counted, published = [], []
    for number in SIZES[of]:
        size = replace(USUAL, **{of: number})
        with TemporaryDirectory() as made:
            make(Path(made), size)
            counted.append(count(Path(made), Window.parse(hours(24))))
            publisher = Publisher(Path(made), size.places)
            published.append(timed(publisher.publish_next_hour))
            publisher.ledger.close()
    return [
        Curve(of=of, line=line, numbers=SIZES[of], seconds=tuple(seconds))
        for line, seconds in ((COUNTING, counted), (PUBLISHING, published))
    ]


def grow_windows() -> list[Curve]:
    """More and more windows: counted in one pass, published together, and published one by one."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        make(folder, USUAL)
        counted = [count(folder, split(Window.parse(hours(number)), HOUR)) for number in HOURS]
        publisher = Publisher(folder, USUAL.places)
        at_once = [timed(partial(publisher.publish, hours(number), HOUR), turns=1) for number in HOURS]
        publisher.ledger.close()
    with TemporaryDirectory() as made:
        make(Path(made), USUAL)
        publisher = Publisher(Path(made), USUAL.places)
        publisher.publish_next_hour()
        each = [timed(publisher.publish_next_hour, turns=1, before=0) for _ in range(max(HOURS))]
        publisher.ledger.close()
    one_by_one = [sum(each[:number]) for number in HOURS]
    return [
        Curve(of="windows", line=line, numbers=HOURS, seconds=tuple(seconds))
        for line, seconds in ((TOGETHER, counted), (AT_ONCE, at_once), (ONE_BY_ONE, one_by_one))
    ]


def draw(curves: Sequence[Curve], path: Path) -> None:
    """One panel for each number that grows."""
    panels = list(dict.fromkeys(curve.of for curve in curves))
    with page(7.2, 5.6) as figure:
        for axes, of in zip(figure.subplots(2, 2).flat, panels, strict=True):
            for curve in curves:
                if curve.of == of:
                    label = f"{curve.line.label}\n(slope {curve.slope:.2f})"
                    draw_line(axes, replace(curve.line, label=label), curve.numbers, curve.seconds)
            axes.set(xscale="log", yscale="log", title=of.capitalize(), xlabel=LABELS[of])
            axes.set_ylabel("seconds of the processor")
            bottom, top = axes.get_ylim()
            axes.set_ylim(bottom, top * (top / bottom) ** 0.7)  # room for what the curves are called
            axes.legend(loc="upper left")
        with TemporaryDirectory() as made:
            saved = save(figure, Path(made), "growth", title="Growth", caption="")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(saved.png.read_bytes())


def main() -> int:
    """1 if something grows faster than what it is about."""
    parser = argparse.ArgumentParser(description="How the time of counting and publishing grows.")
    parser.add_argument("--figure", type=Path, help="where to draw it, as PNG")
    parser.add_argument("--of", nargs="+", choices=LABELS, default=list(LABELS), help="what grows; all")
    asked = parser.parse_args()
    if asked.figure is not None and set(asked.of) != set(LABELS):
        parser.error("the figure shows everything that grows: leave --of out")
    with TemporaryDirectory() as notes:
        os.environ["XDG_CACHE_HOME"] = notes
        curves: list[Curve] = []
        for of in asked.of:
            curves += grow_windows() if of == "windows" else grow(of)
    for curve in curves:
        points = ", ".join(f"{n:,}: {s:.3f}" for n, s in zip(curve.numbers, curve.seconds, strict=True))
        print(
            f"{curve.of}, {curve.line.label}: slope {curve.slope:.2f}; limit {STEEPEST}: "
            f"{'met' if curve.slope <= STEEPEST else 'MISSED'}; seconds {points}",
            flush=True,
        )
    print(f"load of the machine when this ended: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    if asked.figure is not None:
        draw(curves, asked.figure)
    return int(any(curve.slope > STEEPEST for curve in curves))


if __name__ == "__main__":
    sys.exit(main())
