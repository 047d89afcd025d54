"""`make bench`: every benchmark in turn, each comparing with its peers in one run and printing ratios."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run each benchmark in its own process; the number that missed their ratio."""
    names = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("_"))
    missed = []
    for name in names:
        print(f"== benchmarks.{name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            missed.append(name)
    print("all ratios met" if not missed else f"missed: {', '.join(missed)}")
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())
