#!/usr/bin/env python3
"""Lines for the same behaviour, before and after: how many each room of the core had, and has, for it.

Before: the lines at a commit, less those of files that moved out of the core since (studies, planted bugs).
After: the lines of the last commit, less those that came with new behaviour: by `git blame -w -C -C`, from
one of the commits in new_behaviour.txt, or of one of the files, functions and classes that are listed there
because the commit that brought them did something else as well. Takes some minutes.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent.parent
CORE = "src/safeside/"
LISTED = Path(__file__).with_name("new_behaviour.txt")
WORKERS = 2


def room_of(path: str) -> str:
    """The folder of the core that a file stands in."""
    inside = path.removeprefix(CORE)
    return inside.split("/")[0] if "/" in inside else "(no room)"


def commits(text: str) -> tuple[str, ...]:
    """The commits of a list, each with its subject behind it; lines that begin with # are none."""
    return tuple(name for name in _names(text) if "/" not in name)


def definitions(text: str) -> dict[str, set[str]]:
    """Files of a list with their functions and classes (`path::Class.method`); "" is the whole file."""
    found: dict[str, set[str]] = {}
    for name in _names(text):
        if "/" in name:
            path, _, inside = name.partition("::")
            found.setdefault(path, set()).add(inside)
    return found


def _names(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines() if line and not line.startswith("#")]


def lines_within(source: str, names: set[str]) -> set[int]:
    """The numbers of the lines of these functions and classes; of all lines where one is ""."""
    if "" in names:
        return set(range(1, len(source.splitlines()) + 1))
    found, left = set[int](), set(names)
    waiting = [("", node) for node in ast.parse(source).body]
    for before, node in waiting:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = before + node.name
            if name in left:
                left.remove(name)
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                found |= set(range(first, (node.end_lineno or first) + 1))
            waiting += [(f"{name}.", inner) for inner in node.body]
    if left:
        raise ValueError(f"nothing is called {min(left)}")
    return found


def moved_out(renames: Iterable[tuple[str, str]]) -> set[str]:
    """The files of the core that stand elsewhere after these renames, the first of them first."""
    first: dict[str, str] = {}
    for old, new in renames:
        first[new] = first.pop(old, old)
    return {old for new, old in first.items() if old.startswith(CORE) and not new.startswith(CORE)}


def kept_lines(blamed: str, new: tuple[str, ...], within: Collection[int] = ()) -> int:
    """How many lines of `git blame -l -s` come from none of these commits and are none of these lines."""
    return sum(
        number not in within and not line.lstrip("^").startswith(new)
        for number, line in enumerate(blamed.splitlines(), 1)
    )


def before(commit: str) -> tuple[Counter[str], int]:
    """Lines of each room at a commit without what moved out, and how many lines did."""
    log = _git("log", "--reverse", "-M", "--diff-filter=R", "--name-status", "--format=", f"{commit}..HEAD")
    gone = moved_out((old, new) for _, old, new in (line.split("\t") for line in log.splitlines() if line))
    lines, out = Counter[str](), 0
    for path in _files(commit):
        number = len(_git("show", f"{commit}:{path}").splitlines())
        if path in gone:
            out += number
        else:
            lines[room_of(path)] += number
    return lines, out


def after(commit: str) -> tuple[Counter[str], Counter[str]]:
    """Lines of each room now, and those of them that serve what was there at the commit."""
    listed = LISTED.read_text(encoding="utf-8")
    new, defined = commits(listed), definitions(listed)
    paths = _files("HEAD")
    if missing := defined.keys() - set(paths):
        raise ValueError(f"there is no {min(missing)}")

    def blame(path: str) -> str:
        return _git("blame", "-w", "-C", "-C", "-l", "-s", f"{commit}..HEAD", "--", path)

    every, same = Counter[str](), Counter[str]()
    with ThreadPoolExecutor(WORKERS) as pool:
        for path, blamed in zip(paths, pool.map(blame, paths), strict=True):
            every[room_of(path)] += len(blamed.splitlines())
            within = lines_within(_git("show", f"HEAD:{path}"), defined[path]) if path in defined else ()
            same[room_of(path)] += kept_lines(blamed, new, within)
    return every, same


def table(was: Mapping[str, int], every: Mapping[str, int], same: Mapping[str, int], out: int) -> str:
    """One line for each room that was there before, their sum, and what is not compared."""
    lines = [f"{'room':<12}{'before':>8}{'same':>8}{'fewer':>8}{'new':>8}"]
    for room in sorted(was):
        new = every[room] - same[room]
        lines.append(f"{room:<12}{was[room]:>8}{same[room]:>8}{was[room] - same[room]:>8}{new:>8}")
    sums = [sum(column[room] for room in was) for column in (was, same, every)]
    lines.append(f"{'total':<12}{sums[0]:>8}{sums[1]:>8}{sums[0] - sums[1]:>8}{sums[2] - sums[1]:>8}")
    others = sum(number for room, number in every.items() if room not in was)
    lines.append(f"Not compared: {out} lines of before that moved out of the core (studies, planted bugs),")
    lines.append(f"and {others} lines in rooms that are new.")
    return "\n".join(lines)


def _files(commit: str) -> list[str]:
    listed = _git("ls-tree", "-r", "--name-only", "--end-of-options", commit, "--", CORE).splitlines()
    return [path for path in listed if path.endswith(".py")]


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(HERE), *words], capture_output=True)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


def main() -> None:
    """Print the table for a commit and the last one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("commit", help="compare with this commit")
    commit = parser.parse_args().commit
    try:
        was, out = before(commit)
        every, same = after(commit)
    except ValueError as error:
        parser.error(f"no lines at {commit}: {error}. Give a commit of this repository.")
    sys.stdout.write(table(was, every, same, out) + "\n")


if __name__ == "__main__":
    main()
