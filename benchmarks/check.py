"""`check --when` against the count of the same window: time and the most memory of a process.

    python -m benchmarks.check [--visits 20000000] [--ids integer words] [--turns 5]

Each runs alone in a process of its own, in turns. Ratios are medians over the turns of check divided by
count; it ends with an error if one is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from benchmarks._visit_queries import WINDOWS
from benchmarks.visits import RAW, city, take_turns

MOST_TIME = 2.0
MOST_MEMORY = 1.5


def main() -> int:
    """1 if a ratio was missed."""
    parser = argparse.ArgumentParser(description="Checking a window against counting it.")
    parser.add_argument("--visits", type=int, default=20_000_000)
    parser.add_argument("--ids", nargs="+", choices=sorted(RAW), default=["integer", "words"])
    parser.add_argument("--window", nargs="+", choices=sorted(WINDOWS), default=["day", "week"])
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args()
    missed = 0
    for ids in asked.ids:
        folder = city(asked.visits, ids)
        for window in asked.window:
            taken = take_turns(("safeside", "safeside check"), folder, window, asked.turns)
            count, check = taken["safeside"], taken["safeside check"]
            pairs = zip(check.seconds, count.seconds, strict=True)
            time, memory = statistics.median(a / b for a, b in pairs), check.peak / count.peak
            met = time <= MOST_TIME and memory <= MOST_MEMORY
            missed += not met
            print(
                f"{asked.visits:,} visits, {ids} ids, one {window}: count {count.best:.2f} s"
                f" {count.peak / 1e6:,.0f} MB, check {check.best:.2f} s {check.peak / 1e6:,.0f} MB;"
                f" time {time:.2f} (at most {MOST_TIME}), memory {memory:.2f} (at most {MOST_MEMORY}):"
                f" {'met' if met else 'MISSED'}",
                flush=True,
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
