"""One contestant of `benchmarks.publish`: a publication in a process of its own, which reports on itself.

python -m benchmarks._publish_once FOLDER WORLD WINDOW
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks._visit_queries import WINDOWS, peak_memory
from safeside import publish

AT_MOST, EPSILON, DATASET = 5, 1, "city"


def main() -> int:
    """Publish once and print what it took, the libraries being loaded."""
    folder, world, window = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    begin, work = time.perf_counter(), time.process_time()
    publish(
        folder / "visits.parquet",
        places=folder / "places.csv",
        when="/".join(moment.isoformat() for moment in WINDOWS[window]),
        at_most=AT_MOST,
        epsilon=EPSILON,
        dataset=DATASET,
        ledger=world / "ledger.db",
        key=world / "safeside.key",
        out=world / f"release-{window}",
    )
    took = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - work}
    print(json.dumps({**took, "peak": peak_memory()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
