"""300 small changes to the code, each of which its room's tests must notice.

A change (a mutant) turns one `<` into `<=`, one `+` into `-`, one number into the next, one condition into
its opposite. They are chosen by a fixed seed among all there are in the rooms that decide what is counted,
drawn, paid and published. Which tests reach a line is found once, with coverage; a mutant is then run against
the tests of its room that reach it, until one fails. What survives is listed, with the reason where it is
known (soak/_survivors.txt): a change that alters nothing, or a test that is missing.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import concurrent.futures
import hashlib
import json
import os
import py_compile
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from soak import _mutants, _warm
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
_LONGEST, _SLOWER = 60, 10
"""A mutant that takes so many seconds, and so many times what its tests took together, hangs: it counts as
noticed, and the report says how many did."""
_FAILED, _UNUSABLE = ("1", "2"), ("3", "4")
_SOME_FAILED = 1
"""What pytest ends with where tests fail. One that fails before anything is changed can notice nothing."""
_STATEMENT = 12
"""How many lines a statement is long at most, for the most part."""
_HANGS = "it hangs"
_ENDS = "'] : "
"""How the name of a mutant ends, and what stands between it and the reason."""
_ANYWHERE = 0
"""Where the tests stand, among those of each line, that reach a file at all."""


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What became of a mutant."""

    mutant: Mutant
    noticed: bool
    how: str


def main(words: list[str]) -> int:
    """Choose, run, list the survivors; fails where one has no explanation, or some were not run."""
    reader = argparse.ArgumentParser(prog="python -m soak.mutation", description=__doc__)
    reader.add_argument("--small", action="store_true", help="a few mutants of one small room")
    reader.add_argument("--room", action="append", choices=list(ROOMS), help="only of these rooms")
    reader.add_argument("--again", type=Path, help="only those that survived, by what an earlier run wrote")
    reader.add_argument("--number", type=int, help="how many of all rooms together")
    reader.add_argument("--keep", type=Path, help="a directory: a run that was interrupted goes on from it")
    reader.add_argument("--report", action="store_true", help="run nothing; say what --keep has so far")
    given = reader.parse_args(words)
    rooms = given.room or (["decisions"] if given.small else list(ROOMS))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="safeside-mutants-") as directory:
        home = given.keep or Path(directory)
        home.mkdir(exist_ok=True)
        mutants = chosen(rooms, given.number or NUMBER)[: SMALL_NUMBER if given.small else None]
        if given.again is not None:
            survived = [line for line in given.again.read_text().splitlines() if "SURVIVED" in line]
            mutants = [one for one in mutants if any(one.name in line for line in survived)]
        journal = Journal(home / "fates.txt", mutants)
        if not given.report:
            with Workers(home) as workers:
                for room in rooms:
                    workers.run([one for one in journal.left() if one.room == room], journal)
            journal.spent(time.monotonic() - began)
        return report(journal, rooms, home)


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
                ranked.append((rank, replace(mutant, nth=seen[mutant.name])))
    ranked.sort(key=lambda one: one[0])
    return [mutant for _, mutant in ranked[:number] if mutant.room in rooms]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Which tests of a room reach each line of its code, quickest first, and what each takes."""

    tests: Mapping[str, Mapping[int, list[str]]]
    seconds: Mapping[str, float]

    def of(self, mutant: Mutant) -> list[str]:
        """Where a line has no tests of its own it is the rest of a statement that begins above it."""
        lines = self.tests.get(mutant.file, {})
        if mutant.line not in _inside_functions(ROOT / mutant.file):
            return lines.get(_ANYWHERE, [])
        first = max(_ANYWHERE, mutant.line - _STATEMENT) + 1
        above = [line for line in lines if first <= line <= mutant.line]
        return lines[max(above)] if above else []


def reached(home: Path, room: str) -> Reach:
    """Run the tests of a room once, with coverage; what was found of the same files before is taken."""
    kept = home / f"reached-{room}-{_digest(room)}.json"
    if not kept.exists():
        kept.write_text(json.dumps(_measured(home, room)))
    tests, seconds = json.loads(kept.read_text())
    by_line = {file: {int(line): names for line, names in lines.items()} for file, lines in tests.items()}
    return Reach(tests=by_line, seconds=seconds)


def _digest(room: str) -> str:
    """Of a room's code and its tests, as they are now."""
    folders = [ROOT / "src/safeside" / room, *(ROOT / one for one in ROOMS[room])]
    files = [path for folder in folders for path in (folder, *sorted(folder.rglob("*.py"))) if path.is_file()]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


def _measured(home: Path, room: str) -> tuple[dict[str, dict[int, list[str]]], dict[str, float]]:
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
    failing = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if ended.returncode not in (0, _SOME_FAILED):
        raise SystemExit(f"The tests of {room} cannot be run:\n{ended.stdout[-3000:]}")
    (home / f"failing-{room}.txt").write_text("".join(f"{line}\n" for line in failing))
    import coverage

    whole = coverage.Coverage(config_file=str(settings))
    whole.combine([str(home)], keep=False)
    times: dict[str, float] = {}
    for part in home.glob(f"whole-{room}.*"):
        for line in part.read_text().splitlines():
            seconds, _, name = line.partition(" ")
            times[name] = times.get(name, 0) + float(seconds)
    found: dict[str, dict[int, list[str]]] = {}
    measured = whole.get_data()
    for file in measured.measured_files():
        lines = measured.contexts_by_lineno(file)
        anywhere = {test for contexts in lines.values() for test in contexts}
        each = found[str(Path(file).relative_to(ROOT))] = {}
        # What runs when a module is loaded (a constant, a default) is reached by whoever uses the module,
        # whichever test happened to load it, and also where it was loaded before the first test began.
        each[_ANYWHERE] = sorted(anywhere & times.keys(), key=lambda one: times[one])
        for at in lines.keys() & _inside_functions(Path(file)):
            tests = [one for one in lines[at] if one in times]
            each[at] = sorted(tests, key=lambda one: times[one]) or each[_ANYWHERE]
    return found, times


def _inside_functions(path: Path) -> set[int]:
    """The lines of bodies of functions."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, functions)]
    return {line for body in bodies for line in range(body[0].lineno, (body[-1].end_lineno or 0) + 1)}


class Journal:
    """What became of each mutant, on the disk as soon as it is known.

    A mutant is known by its name, not by where it stands: a run goes on after other lines have changed.
    """

    def __init__(self, path: Path, mutants: list[Mutant]) -> None:
        self._path, self.mutants = path, mutants
        self._turn = threading.Lock()

    def _lines(self, begin: str | tuple[str, ...]) -> list[list[str]]:
        text = self._path.read_text() if self._path.exists() else ""
        return [line.split("\t") for line in text.splitlines() if line.startswith(begin)]

    def fates(self) -> list[Fate]:
        """Of those that were run."""
        known = {
            (nth, name): (word, how) for word, _, nth, name, how in self._lines(("noticed\t", "SURVIVED\t"))
        }
        return [
            Fate(mutant=one, noticed=known[key][0] == "noticed", how=known[key][1])
            for one in self.mutants
            if (key := (str(one.nth), one.name)) in known
        ]

    def left(self) -> list[Mutant]:
        """Those that were not."""
        done = {fate.mutant for fate in self.fates()}
        return [one for one in self.mutants if one not in done]

    def add(self, fate: Fate) -> None:
        """Another one."""
        word = "noticed" if fate.noticed else "SURVIVED"
        mutant = fate.mutant
        self._write(f"{word}\t{mutant.place}\t{mutant.nth}\t{mutant.name}\t{fate.how}\n")

    def spent(self, seconds: float) -> None:
        """How long this run took."""
        self._write(f"took\t{seconds:.0f}\n")

    def seconds(self) -> float:
        """How long all runs took that came to an end."""
        return sum(float(said) for _, said in self._lines("took\t"))

    def _write(self, line: str) -> None:
        with self._turn, self._path.open("a") as file:
            file.write(line)
        sys.stderr.write(line)


class Workers:
    """Processes with copies of the sources of their own, which are kept warm from mutant to mutant."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._free: queue.Queue[tuple[Path, subprocess.Popen[str]]] = queue.Queue()
        self._all: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        for number in range(WORKERS):
            copy = self._home / f"copy-{number}"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
            # Compiled once, and compared by content: a mutant may have its original's size and time.
            compileall.compile_dir(
                copy / "src", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
            )
            process = subprocess.Popen(
                [sys.executable, "-m", "soak._warm"],
                cwd=ROOT,
                env=_environment(copy / "src"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._all.append(process)
            self._free.put((copy, process))
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._all:
            process.kill()
            process.wait()

    def run(self, mutants: list[Mutant], journal: Journal) -> None:
        """Mutants of one room, as many at once as there are workers."""
        if not mutants:
            return
        reach = reached(self._home, mutants[0].room)

        def one(mutant: Mutant) -> None:
            copy, process = self._free.get()
            try:
                journal.add(_fate(mutant, copy, process, reach))
            finally:
                self._free.put((copy, process))

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(one, mutants))


def _fate(mutant: Mutant, copy: Path, process: subprocess.Popen[str], reach: Reach) -> Fate:
    tests = reach.of(mutant)
    if not tests:
        return Fate(mutant=mutant, noticed=False, how="no test of its room reaches it")
    path = copy / mutant.file
    original = path.read_text()
    path.write_text(mutant.applied(original))
    try:
        said = _said(process, copy, tests, reach)
    finally:
        path.write_text(original)
    if said == _warm.HANGS:
        return Fate(mutant=mutant, noticed=True, how=_HANGS)
    # Tests that can no longer be collected notice it too, unless they cannot be collected anyway.
    unusable = said in _UNUSABLE and _said(process, copy, tests, reach) == "0"
    noticed = said in _FAILED or said.startswith("-") or unusable
    return Fate(mutant=mutant, noticed=noticed, how="" if noticed else f"{len(tests)} tests reach it")


def _said(process: subprocess.Popen[str], copy: Path, tests: list[str], reach: Reach) -> str:
    """Run tests on the sources in the copy until one fails: what pytest ended with, or that it hangs."""
    listed = copy / "tests.txt"
    listed.write_text("\n".join(tests))
    longest = _LONGEST + _SLOWER * sum(reach.seconds[one] for one in tests)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{longest:.0f} {listed}\n")
    process.stdin.flush()
    said = process.stdout.readline().strip()
    if not said:
        raise SystemExit("A process that runs mutants has ended: nothing is known of this one.")
    return said


def _environment(sources: Path, **more: str) -> dict[str, str]:
    """These sources first; nothing that a mutant compiles is kept."""
    kept = {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, "HYPOTHESIS_STORAGE_DIRECTORY": tempfile.gettempdir(), **more}


def report(journal: Journal, rooms: list[str], home: Path) -> int:
    """How many of each room were noticed, and every one that was not."""
    fates, left = journal.fates(), journal.left()
    took = f" in {journal.seconds() / 60:.0f} minutes" if journal.seconds() else ""
    say(f"{len(fates)} of {len(journal.mutants)} mutants by seed {SEED} were run{took}")
    for room in rooms:
        ours = [fate for fate in fates if fate.mutant.room == room]
        hung = sum(fate.how == _HANGS for fate in ours)
        rest = sum(one.room == room for one in left)
        more = f"; {rest} NOT RUN" if rest else ""
        say(
            f"  {room}: {sum(fate.noticed for fate in ours)} of {len(ours)} noticed "
            f"({hung} because it hangs){more}"
        )
        failing = home / f"failing-{room}.txt"
        for line in failing.read_text().splitlines() if failing.exists() else []:
            say(f"    left out, as it fails before anything is changed: {line.split(' ')[1]}")
    reasons = explained()
    unexplained = 0
    for fate in sorted((one for one in fates if not one.noticed), key=lambda one: one.mutant.name):
        reason = reasons.get(fate.mutant.name)
        unexplained += reason is None
        say(f"  survived: {fate.mutant.name} ({fate.mutant.place}; {fate.how}): {reason or 'NOT EXPLAINED'}")
    return int(unexplained > 0 or bool(left))


def explained() -> dict[str, str]:
    """Why survivors may survive: one in each line, its name, then ` : `, then the reason."""
    lines = SURVIVORS.read_text().splitlines() if SURVIVORS.exists() else []
    parts = [line.partition(_ENDS) for line in lines]
    return {f"{name}{_ENDS[:2]}": reason for name, found, reason in parts if found}


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
