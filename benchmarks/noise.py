"""Noise for, and added to, counts: the public mechanisms, NumPy's insecure draws, OpenDP's exact ones.

    python -m benchmarks.noise [--json] [--part one|many|opendp|fresh|grid]

From one count to a hundred million. Contestants take turns, so that a slow moment of the machine falls on all
of them; ratios are of median times. In one process tables are built before the clock starts; in a fresh one
the library's import and its tables are on the clock. It ends with an error if something that has to be
reached is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from safeside.mechanisms import AGeo, ALap, Laplace, TwoSidedGeometric

MOST_FOR_ONE = 15.0
"""Microseconds that one count may take."""
MOST_ON_A_GRID = 0.25
"""Microseconds that one exact value may take: a hundredth of what handling them one by one took."""
FRESH_COUNTS = 100_000_000
FRESH_TURNS = 5
OPENDP_COUNTS = 250_000
OVER_NUMPY = {
    10_000: {"1": 1.0, "0.1": 1.0, "0.01": 1.0, "0.001": 1.0, "0.000001": 1.0},
    1_000_000: {"1": 3.0, "0.1": 3.0, "0.01": 2.0, "0.001": None, "0.000001": None},
    FRESH_COUNTS: {"1": 1.0, "0.01": 1.0, "0.000001": 1.0},
}
"""For each number of counts and each epsilon: at least so many times as fast as NumPy, where anything is."""
OVER_OPENDP = 1000.0

Contestant = Callable[[], object]


@dataclass(kw_only=True)
class Row:
    """One line of the table: microseconds for the whole vector, and the ratios that must be reached."""

    what: str
    epsilon: str
    counts: int
    micros: dict[str, float]
    wanted: dict[str, float] = field(default_factory=dict)
    """At least so many times as fast as the contestant named."""
    at_most: float | None = None
    """At most so many microseconds."""

    @property
    def met(self) -> bool:
        within = self.at_most is None or self.micros["safeside"] <= self.at_most
        return within and all(self.ratio(name) >= least for name, least in self.wanted.items())

    def ratio(self, name: str) -> float:
        """How many times as fast as this contestant."""
        return self.micros[name] / self.micros["safeside"]

    def __str__(self) -> str:
        others = [name for name in self.micros if name != "safeside"]
        shown = [f"{name} {self.micros[name]:,.1f} ({self.ratio(name):.2f} times)" for name in others]
        limits = [f"at least {least:g} times {name}" for name, least in self.wanted.items()]
        if self.at_most is not None:
            limits.append(f"at most {self.at_most:g}")
        verdict = f"limit {', '.join(limits)}: {'met' if self.met else 'MISSED'}" if limits else "no limit"
        what = f"{self.what}, epsilon {self.epsilon}, {self.counts:,}:"
        return f"{what:<58} safeside {self.micros['safeside']:,.1f}; {'; '.join(shown)}  [{verdict}]"


def take_turns(contestants: dict[str, Contestant], turns: int) -> dict[str, float]:
    """Median microseconds of each contestant's turns; a first turn is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(turns + 1):
        for name, act in contestants.items():
            begin = time.perf_counter()
            act()
            if turn:
                seconds[name].append(time.perf_counter() - begin)
    return {name: 1e6 * statistics.median(times) for name, times in seconds.items()}


def insecure(epsilon: str, counts: np.ndarray, *, both: bool = False) -> Contestant:
    """NumPy's geometric plus addition, in the cheapest form: in place and without the shift to start at 0."""
    generator = np.random.default_rng(1)
    p = -np.expm1(-float(epsilon))

    def act() -> object:
        noisy = generator.geometric(p, len(counts))
        if both:
            noisy -= generator.geometric(p, len(counts))
        noisy += counts
        return noisy

    return act


def opendp(kind: str, epsilon: str, counts: np.ndarray) -> Contestant:
    """OpenDP's mechanism on a vector; its input is made before the clock starts."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    number = "i64" if kind == "geometric" else "f64"
    space = dp.vector_domain(dp.atom_domain(T=number, nan=False)), dp.l1_distance(T=number)
    then = dp.m.then_geometric if kind == "geometric" else dp.m.then_laplace
    mechanism = space >> then(scale=1 / float(epsilon))
    vector = counts.tolist() if kind == "geometric" else counts.astype(float).tolist()
    return lambda: mechanism(vector)


def one_count() -> Iterable[Row]:
    """What a service that answers one question at a time meets."""
    count = np.array([7])
    for epsilon in ("1", "0.1", "0.000001"):
        mechanism = AGeo(epsilon=epsilon)
        micros = take_turns(
            {
                "safeside": lambda mechanism=mechanism: mechanism.release(count),
                "numpy": insecure(epsilon, count),
                "opendp": opendp("geometric", epsilon, count),
            },
            2000,
        )
        yield Row(what="AGeo", epsilon=epsilon, counts=1, micros=micros, at_most=MOST_FOR_ONE)


def many_counts() -> Iterable[Row]:
    """Vectors of ten thousand and of a million counts, with NumPy."""
    for number, turns in ((10_000, 500), (1_000_000, 40)):
        counts = np.random.default_rng(0).integers(0, 1000, number)
        for epsilon, least in OVER_NUMPY[number].items():
            wanted = {} if least is None else {"numpy": least}
            micros = against_numpy(AGeo(epsilon=epsilon), epsilon, counts, turns)
            yield Row(what="AGeo", epsilon=epsilon, counts=number, micros=micros, wanted=wanted)
            micros = against_numpy(TwoSidedGeometric(epsilon=epsilon), epsilon, counts, turns // 2)
            yield Row(what="two-sided", epsilon=epsilon, counts=number, micros=micros)


def with_opendp() -> Iterable[Row]:
    """The same vectors with OpenDP, which is too slow to take turns."""
    for number, turns in ((10_000, 500), (1_000_000, 40)):
        counts = np.random.default_rng(0).integers(0, 1000, number)
        for epsilon, least in OVER_NUMPY[number].items():
            ours = take_turns({"safeside": partial(AGeo(epsilon=epsilon).release, counts)}, turns)
            held = least is not None and number == 1_000_000
            yield Row(
                what="AGeo",
                epsilon=epsilon,
                counts=number,
                micros={**ours, **slow(epsilon, counts)},
                wanted={"opendp": OVER_OPENDP} if held else {},
            )


def against_numpy(
    mechanism: AGeo | TwoSidedGeometric, epsilon: str, counts: np.ndarray, turns: int
) -> dict[str, float]:
    """The mechanism and NumPy's nearest to it."""
    both = isinstance(mechanism, TwoSidedGeometric)
    return take_turns(
        {"safeside": lambda: mechanism.release(counts), "numpy": insecure(epsilon, counts, both=both)}, turns
    )


def slow(epsilon: str, counts: np.ndarray) -> dict[str, float]:
    """OpenDP, which takes time in proportion to the length: a part of the vector is enough."""
    part = counts[:OPENDP_COUNTS]
    (micros,) = take_turns({"opendp": opendp("geometric", epsilon, part)}, 2).values()
    return {"opendp": micros * len(counts) / len(part)}


def fresh_process() -> Iterable[Row]:
    """A hundred million counts in a process of its own: memory is new, nothing is warm, no table is built."""
    for epsilon, least in OVER_NUMPY[FRESH_COUNTS].items():
        seconds: dict[str, list[float]] = {"safeside": [], "numpy": []}
        for _ in range(FRESH_TURNS):
            for name, took in seconds.items():
                command = [sys.executable, "-m", "benchmarks._fresh_noise", name, epsilon, str(FRESH_COUNTS)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                took.append(float(done.stdout))
        yield Row(
            what="AGeo, fresh process",
            epsilon=epsilon,
            counts=FRESH_COUNTS,
            micros={name: 1e6 * statistics.median(took) for name, took in seconds.items()},
            wanted={} if least is None else {"numpy": least},
        )


def on_a_grid() -> Iterable[Row]:
    """Exact values with exponential and Laplace noise on a grid of 1/1024: counts, and sums of cents."""
    number = 10_000
    counts = np.random.default_rng(0).integers(0, 1000, number)
    cents = [Fraction(int(count), 100) for count in counts]
    generator = np.random.default_rng(1)
    for kind, draw in ((ALap, generator.exponential), (Laplace, generator.laplace)):
        mechanism = kind(epsilon=1, grid="1/1024")
        contestants = {
            "safeside": lambda mechanism=mechanism: mechanism.release(counts),
            "numpy": lambda draw=draw: draw(size=number) + counts,
            "safeside, fractions": lambda mechanism=mechanism: mechanism.release(cents),
        }
        micros = take_turns(contestants, 200)
        yield Row(
            what=kind.__name__,
            epsilon="1",
            counts=number,
            micros={**micros, **take_turns({"opendp": opendp("laplace", "1", counts)}, 3)},
            at_most=MOST_ON_A_GRID * number,
        )


PARTS = {
    "one": one_count,
    "many": many_counts,
    "opendp": with_opendp,
    "fresh": fresh_process,
    "grid": on_a_grid,
}


def main() -> int:
    """1 if something that has to be reached was missed."""
    parser = argparse.ArgumentParser(description="Noise for and added to counts.")
    parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    parser.add_argument("--part", choices=list(PARTS), help="measure one part only")
    options = parser.parse_args()
    rows = []
    if not options.json:
        print("median microseconds for the whole vector, and how many times as fast as each other contestant")
    for name, part in PARTS.items():
        if options.part not in (None, name):
            continue
        for row in part():
            rows.append(row)
            if not options.json:
                print(row, flush=True)
    if options.json:
        print(json.dumps([{**asdict(row), "met": row.met} for row in rows], indent=2))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
