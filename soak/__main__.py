"""`make soak`: run every long fault and load run, show it, and keep what it said in soak/latest.txt.

`python -m soak PART...` runs only these parts and renews only what the file says of them. `--small` is a
short trial of the same code: it is shown and not kept.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
LATEST = HERE / "latest.txt"
SMALL = "--small"
_HEAD = "== "


def parts() -> list[str]:
    """Every part, by name."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def main(words: list[str]) -> int:
    """Run each part in its own process; whatever it prints is what is kept."""
    reader = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    reader.add_argument("part", nargs="*", choices=[[], *parts()], help="only these; all, if left out")
    reader.add_argument(SMALL, action="store_true", help="a short trial, which is not kept")
    given = reader.parse_args(words)
    failed = False
    for name in given.part or parts():
        section, passed = run(name, small=given.small)
        failed = failed or not passed
        if not given.small:
            LATEST.write_text(renewed(LATEST.read_text() if LATEST.exists() else "", name, section))
    return int(failed)


def run(name: str, *, small: bool) -> tuple[str, bool]:
    """What the part says, with its heading, and whether it passed."""
    began = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    say(f"{_HEAD}{name}\n")
    running = subprocess.Popen(
        [sys.executable, "-m", f"soak.{name}", *([SMALL] if small else [])],
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE.parent,
    )
    assert running.stdout is not None
    said = []
    for line in running.stdout:
        say(line)
        said.append(line)
    passed = running.wait() == 0
    heading = f"{_HEAD}{name}: {'passed' if passed else 'FAILED'}\n{began}, {machine()}\n"
    return heading + "".join(said), passed


def renewed(latest: str, name: str, section: str) -> str:
    """The whole file with one section put in the place of what it said of the part before."""
    known = {one.split(":", 1)[0]: one for one in re.split(rf"(?m)^{_HEAD}", latest)}
    sections = {part: f"{_HEAD}{text.strip()}\n" for part, text in known.items() if part in parts()}
    sections[name] = f"{section.strip()}\n"
    return "\n".join(sections[part] for part in sorted(sections))


def machine() -> str:
    """What was run, and on what."""
    return (
        f"commit {commit()}, Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    )


def commit() -> str:
    """The commit that was run, and whether files differ from it."""
    try:
        name, changed = (
            subprocess.run(
                ["git", *words], capture_output=True, text=True, check=True, cwd=HERE
            ).stdout.strip()
            for words in (
                ("rev-parse", "--short", "HEAD"),
                ("status", "--porcelain", "--", "../src", "../tests", "*.py"),
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name} with changes" if changed else name


def say(text: str) -> None:
    """Show it at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
