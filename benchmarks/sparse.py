"""A million SAGeo queries against AGeo on the same counts, in one run.

SAGeo must take no more than 3 times as long, whether it runs to the end (alarms are rare or many are
allowed) or stops early.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from safeside.mechanisms import AGeo, SAGeo

QUERIES = 1_000_000
LIMIT = 3.0
ROUNDS = 15


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of several rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> int:
    """Print the ratios; 1 if one is above the limit."""
    crowd = np.random.default_rng(1)
    counts = crowd.poisson(0.3, QUERIES).astype(np.int64)
    each = crowd.integers(0, 12, QUERIES)
    print(f"{QUERIES:,} queries, best of {ROUNDS} rounds, limit {LIMIT:g} times AGeo")
    missed = False
    for epsilon in (1, 0.1):
        plain = AGeo(epsilon=epsilon)
        base = best(lambda plain=plain: plain.release(counts))
        print(f"epsilon {epsilon}: AGeo {base * 1e3:.2f} ms")
        cases = (
            ("one alarm, one threshold for all", SAGeo(epsilon_each=epsilon), 400),
            ("every query asked, a threshold each", SAGeo(epsilon_each=epsilon, alarms=QUERIES), each),
            ("every query asked, threshold 0: many alarms", SAGeo(epsilon_each=epsilon, alarms=QUERIES), 0),
        )
        for what, sparse, limits in cases:
            asked = sparse.release(counts, limits).asked
            took = best(lambda sparse=sparse, limits=limits: sparse.release(counts, limits))
            missed |= took > LIMIT * base
            print(f"  SAGeo {took * 1e3:6.2f} ms, ratio {took / base:.2f} ({what}; {asked:,} asked)")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
