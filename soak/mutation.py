"""300 small changes to the code, each of which its room's tests must notice.

A change (a mutant) turns one `<` into `<=`, one `+` into `-`, one number into the next, one condition into
its opposite. They are chosen by a fixed seed among all there are in the rooms that decide what is counted,
drawn, paid and published. Which tests reach a line is found once, with coverage; a mutant is then run against
the tests of its room that reach it, until one fails. What survives is listed, with the reason where it is
known (soak/_survivors.txt): a change that alters nothing, or a test that is missing.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from soak import _mutants
from soak._mutants import Mutant

ROOT = Path(__file__).parents[1]
SEED = 15
NUMBER, SMALL_NUMBER = 300, 6
WORKERS = 2
ROOMS: Mapping[str, tuple[str, ...]] = {
    "noise": ("tests/noise", "tests/distribution"),
    "mechanisms": ("tests/mechanisms",),
    "decisions": ("tests/decisions",),
    "visits": ("tests/visits", "tests/messages"),
    "ledger": ("tests/ledger", "tests/faults/test_ledger_kill.py", "tests/messages"),
    "releases": ("tests/releases", "tests/faults", "tests/messages"),
}
SURVIVORS = Path(__file__).parent / "_survivors.txt"
_LONGEST = 600
"""Seconds after which a mutant that hangs counts as noticed; the report says how many did."""
_FAILED, _INTERRUPTED, _UNUSABLE = 1, 2, 4
_HANGS = "it hangs"


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What became of a mutant."""

    mutant: Mutant
    noticed: bool
    how: str


def main(words: list[str]) -> int:
    """Choose, run, list the survivors; fails where one has no explanation."""
    reader = argparse.ArgumentParser(prog="python -m soak.mutation", description=__doc__)
    reader.add_argument("--small", action="store_true", help="a few mutants of one small room")
    reader.add_argument("--room", action="append", choices=list(ROOMS), help="only of these rooms")
    reader.add_argument("--again", type=Path, help="only those that survived, by what an earlier run wrote")
    reader.add_argument("--number", type=int, help="how many of all rooms together")
    given = reader.parse_args(words)
    rooms = given.room or (["decisions"] if given.small else list(ROOMS))
    number = given.number or NUMBER
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="safeside-mutants-") as directory:
        home = Path(directory)
        mutants = chosen(rooms, number)[: SMALL_NUMBER if given.small else None]
        if given.again is not None:
            survived = [line for line in given.again.read_text().splitlines() if "SURVIVED" in line]
            mutants = [one for one in mutants if any(one.name in line for line in survived)]
        reached = {room: _reached(home, room) for room in rooms}
        fates = run(home, mutants, reached)
    return report(fates, rooms, time.monotonic() - began)


def chosen(rooms: list[str], number: int) -> list[Mutant]:
    """Of so many out of all there are, by a fixed seed, those of these rooms.

    Each has a rank of its own, so that a change elsewhere, or a file that moves, leaves the choice as it is.
    """
    seen: Counter[str] = Counter()
    ranked = []
    for room in ROOMS:
        for path in sorted((ROOT / "src/safeside" / room).rglob("*.py")):
            for mutant in _mutants.of_file(path, room, ROOT):
                seen[mutant.name] += 1
                rank = hashlib.sha256(f"{SEED} {seen[mutant.name]} {mutant.name}".encode()).digest()
                ranked.append((rank, mutant))
    ranked.sort(key=lambda one: one[0])
    return [mutant for _, mutant in ranked[:number] if mutant.room in rooms]


def _reached(home: Path, room: str) -> dict[tuple[str, int], list[str]]:
    """The tests of a room that reach each line of its code, quickest first."""
    data = home / f"coverage-{room}"
    settings = home / f"{room}.cfg"
    settings.write_text(
        f"[run]\ndata_file = {data}\nsource = {ROOT / 'src/safeside' / room}\nparallel = true\n"
    )
    where = home / f"whole-{room}"
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "soak._contexts", "-n", str(WORKERS)]
    environment = _environment(ROOT / "src", SAFESIDE_CONTEXTS=str(settings), SAFESIDE_TIMES=str(where))
    ended = subprocess.run(
        [sys.executable, *words, "--dist", "loadgroup", *ROOMS[room]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"The tests of {room} fail before anything is changed:\n{ended.stdout[-3000:]}")
    import coverage

    whole = coverage.Coverage(config_file=str(settings))
    whole.combine([str(home)], keep=False)
    times: dict[str, float] = {}
    for part in home.glob(f"whole-{room}.*"):
        for line in part.read_text().splitlines():
            seconds, _, name = line.partition(" ")
            times[name] = float(seconds)
    found: dict[tuple[str, int], list[str]] = {}
    measured = whole.get_data()
    for file in measured.measured_files():
        name = str(Path(file).relative_to(ROOT))
        lines = measured.contexts_by_lineno(file)
        anywhere = {test for contexts in lines.values() for test in contexts}
        for line, contexts in lines.items():
            # What runs when a module is loaded (a constant, a default) is reached by whoever uses the module.
            tests = {one for one in contexts if one in times} or anywhere & times.keys()
            found[name, line] = sorted(tests, key=lambda one: times[one])
    return found


def run(
    home: Path, mutants: list[Mutant], reached: Mapping[str, Mapping[tuple[str, int], list[str]]]
) -> list[Fate]:
    """Each in a copy of the sources of its own, as many at once as there are workers."""
    copies: queue.Queue[Path] = queue.Queue()
    for number in range(WORKERS):
        copy = home / f"copy-{number}"
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        copies.put(copy)
    done = 0

    def one(mutant: Mutant) -> Fate:
        nonlocal done
        copy = copies.get()
        try:
            fate = _fate(mutant, copy, reached[mutant.room].get((mutant.file, mutant.line), []))
        finally:
            copies.put(copy)
        done += 1
        word = "noticed" if fate.noticed else "SURVIVED"
        sys.stderr.write(f"{done} of {len(mutants)}: {word} {mutant.place} {mutant.name} {fate.how}\n")
        return fate

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(one, mutants))


def _fate(mutant: Mutant, copy: Path, tests: list[str]) -> Fate:
    if not tests:
        return Fate(mutant=mutant, noticed=False, how="no test of its room reaches it")
    path = copy / mutant.file
    original = path.read_text()
    path.write_text(mutant.applied(original))
    listed = copy / "tests.txt"
    listed.write_text("\n".join(tests))
    try:
        code = _run(copy, listed)
    except subprocess.TimeoutExpired:
        return Fate(mutant=mutant, noticed=True, how=_HANGS)
    finally:
        path.write_text(original)
    # Tests that can no longer be collected notice it too, unless they cannot be collected anyway.
    noticed = code in (_FAILED, _INTERRUPTED) or (code == _UNUSABLE and not _run(copy, listed))
    return Fate(mutant=mutant, noticed=noticed, how="" if noticed else f"{len(tests)} tests reach it")


def _run(copy: Path, listed: Path) -> int:
    """Run the listed tests on the sources in the copy until one fails: what pytest ended with."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"@{listed}"],
        cwd=ROOT,
        env=_environment(copy / "src"),
        capture_output=True,
        timeout=_LONGEST,
        check=False,
    ).returncode


def _environment(sources: Path, **more: str) -> dict[str, str]:
    """These sources first; nothing compiled is kept, as a mutant may have its original's size and time."""
    kept = {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, "HYPOTHESIS_STORAGE_DIRECTORY": tempfile.gettempdir(), **more}


def report(fates: list[Fate], rooms: list[str], seconds: float) -> int:
    """How many of each room were noticed, and every one that was not."""
    say(f"{len(fates)} mutants by seed {SEED} in {seconds / 60:.0f} minutes")
    for room in rooms:
        ours = [fate for fate in fates if fate.mutant.room == room]
        hung = sum(fate.how == _HANGS for fate in ours)
        say(
            f"  {room}: {sum(fate.noticed for fate in ours)} of {len(ours)} noticed ({hung} because it hangs)"
        )
    reasons = explained()
    unexplained = 0
    for fate in sorted((one for one in fates if not one.noticed), key=lambda one: one.mutant.name):
        reason = reasons.get(fate.mutant.name)
        unexplained += reason is None
        say(f"  survived: {fate.mutant.name} ({fate.mutant.place}; {fate.how}): {reason or 'NOT EXPLAINED'}")
    return int(unexplained > 0)


def explained() -> dict[str, str]:
    """Why survivors may survive: one in each line, its name, then ` : `, then the reason."""
    lines = SURVIVORS.read_text().splitlines() if SURVIVORS.exists() else []
    return dict(line.split(" : ", 1) for line in lines if " : " in line)


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
