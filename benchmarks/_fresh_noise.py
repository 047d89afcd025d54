"""One contestant of `benchmarks.noise` in a process of its own: prints the seconds that it took.

    python -m benchmarks._fresh_noise safeside|numpy EPSILON COUNTS

NumPy and the counts, which both need, are there before the clock starts; the library's import and its tables
are on the clock.
"""

from __future__ import annotations

import sys
import time

import numpy as np


def main() -> None:
    """Add noise to the counts once."""
    name, epsilon, counts = sys.argv[1], sys.argv[2], np.full(int(sys.argv[3]), 7)
    begin = time.perf_counter()
    if name == "safeside":
        from safeside.mechanisms import AGeo

        AGeo(epsilon=epsilon).release(counts)
    else:
        noisy = np.random.default_rng(1).geometric(-np.expm1(-float(epsilon)), len(counts))
        noisy += counts
    print(time.perf_counter() - begin)


if __name__ == "__main__":
    main()
