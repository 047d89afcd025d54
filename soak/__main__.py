"""`make soak`: run every long fault and load run, show it, and keep the result in soak/latest.txt."""

from __future__ import annotations

import datetime
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """Run each module in its own process; the result is written only when all have run."""
    modules = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_"))
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    lines = [f"{today}, Python {platform.python_version()}, {platform.machine()}"]
    failed = []
    for name in modules:
        print(f"== soak.{name}", flush=True)  # noqa: T201
        run = subprocess.run(
            [sys.executable, "-m", f"soak.{name}"], capture_output=True, text=True, check=False
        )
        sys.stdout.write(run.stdout + run.stderr)
        lines += ["", f"== {name}: {'passed' if run.returncode == 0 else 'FAILED'}", run.stdout.strip()]
        if run.returncode:
            failed.append(name)
    (HERE / "latest.txt").write_text("\n".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
