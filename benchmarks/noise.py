"""Noise for, and added to, a million counts: this sampler, NumPy's insecure one, OpenDP's exact one.

    python -m benchmarks.noise [--json]

The contestants take turns in one process, so that a slow moment of the machine falls on all of them. Ratios
are of median times; best times are shown too. Tables are built before the clock starts; undecided draws
are resolved while it runs. It ends with an error if a ratio is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from safeside.noise.entropy import system_entropy
from safeside.noise.geometric import geometric, two_sided_geometric

COUNTS = 1_000_000
TURNS = 60
OPENDP_COUNTS = 250_000
OPENDP_TURNS = 3
TARGETS = {"1": (3.0, 1000.0), "0.1": (3.0, 1000.0), "0.01": (2.0, 1000.0), "0.000001": (None, None)}
"""For each epsilon at sensitivity 1: at least so many times as fast as NumPy, and as OpenDP."""

Contestant = Callable[[], object]


def take_turns(contestants: dict[str, Contestant], turns: int) -> dict[str, list[float]]:
    """Seconds each contestant took in each of its turns; a first turn is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(turns + 1):
        for name, act in contestants.items():
            begin = time.perf_counter()
            act()
            if turn:
                seconds[name].append(time.perf_counter() - begin)
    return seconds


def insecure(epsilon: str, counts: np.ndarray) -> Contestant:
    """NumPy's geometric plus addition, in the cheapest form: in place and without the shift to start at 0."""
    generator = np.random.default_rng(1)
    p = -np.expm1(-float(epsilon))

    def act() -> object:
        noisy = generator.geometric(p, len(counts))
        noisy += counts
        return noisy

    return act


def opendp(epsilon: str, counts: np.ndarray) -> Contestant:
    """OpenDP's geometric mechanism on a vector; its input is made before the clock starts."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = space >> dp.m.then_geometric(scale=1 / float(epsilon))
    vector = counts.tolist()
    return lambda: mechanism(vector)


def measure(epsilon: str, counts: np.ndarray) -> dict[str, dict[str, float]]:
    """Milliseconds for a million counts, median and best, for each contestant."""
    rate, entropy = Fraction(epsilon), system_entropy()
    one_sided, two_sided = geometric(rate), two_sided_geometric(rate)
    seconds = take_turns(
        {
            "safeside": lambda: one_sided.add_to(counts, entropy),
            "numpy": insecure(epsilon, counts),
            "safeside two-sided": lambda: two_sided.add_to(counts, entropy),
        },
        TURNS,
    )
    # OpenDP takes time in proportion to the length: a part of the vector is enough.
    share = OPENDP_COUNTS / len(counts)
    slow = take_turns({"opendp": opendp(epsilon, counts[:OPENDP_COUNTS])}, OPENDP_TURNS)
    seconds["opendp"] = [t / share for t in slow["opendp"]]
    return {
        name: {"median_ms": 1e3 * statistics.median(times), "best_ms": 1e3 * min(times)}
        for name, times in seconds.items()
    }


def row(epsilon: str, times: dict[str, dict[str, float]]) -> dict[str, object]:
    """The ratios beside what they have to reach."""
    ours = times["safeside"]["median_ms"]
    over_numpy, over_opendp = times["numpy"]["median_ms"] / ours, times["opendp"]["median_ms"] / ours
    want_numpy, want_opendp = TARGETS[epsilon]
    met = over_numpy >= (want_numpy or 0) and over_opendp >= (want_opendp or 0)
    return {
        "epsilon": epsilon,
        "counts": COUNTS,
        "times": times,
        "over_numpy": over_numpy,
        "over_numpy_wanted": want_numpy,
        "over_opendp": over_opendp,
        "over_opendp_wanted": want_opendp,
        "met": met,
    }


def show(result: dict[str, object]) -> str:
    """One line of the table."""
    times = result["times"]
    columns = [f"{result['epsilon']:>9}"]
    for name in ("safeside", "safeside two-sided", "numpy", "opendp"):
        columns.append(f"{times[name]['median_ms']:>10.2f} {times[name]['best_ms']:>9.2f}")
    for ratio in ("over_numpy", "over_opendp"):
        wanted = result[f"{ratio}_wanted"]
        columns.append(f"{result[ratio]:>8.1f} {'(any)' if wanted is None else f'(>= {wanted:g})':>9}")
    return "  ".join([*columns, "met" if result["met"] else "MISSED"])


def main() -> int:
    """1 if a ratio was missed."""
    parser = argparse.ArgumentParser(description="Noise for and added to a million counts.")
    parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    as_json = parser.parse_args().json
    counts = np.random.default_rng(0).integers(0, 1000, COUNTS)
    results = []
    if not as_json:
        names = ("safeside", "two-sided", "numpy", "opendp")
        print(f"noise for and added to {COUNTS:,} counts, milliseconds (median, best)")
        print(
            "  epsilon  "
            + "  ".join(f"{name:>20}" for name in names)
            + f"{'over numpy':>20}{'over opendp':>20}"
        )
    for epsilon in TARGETS:
        results.append(row(epsilon, measure(epsilon, counts)))
        if not as_json:
            print(show(results[-1]), flush=True)
    if as_json:
        print(json.dumps(results, indent=2))
    return 0 if all(result["met"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
