#!/usr/bin/env python3
"""Lines for the same behaviour, before and after: how many each room of the core had, and has, for it.

Before: the lines at a commit, less those of files that moved out of the core since (studies, planted bugs).
After: the history since is replayed, and every line knows how much of it came with new behaviour. Lines that
one of the commits in new_behaviour.txt added are new; lines that another commit put in the place of others
are as new as those were, and where they are more than those, the rest is old. What a commit deletes in one
place and adds in another is treated as one such exchange.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent.parent
CORE = "src/safeside/"
LISTED = Path(__file__).with_name("new_behaviour.txt")


def room_of(path: str) -> str:
    """The folder of the core that a file stands in."""
    inside = path.removeprefix(CORE)
    return inside.split("/")[0] if "/" in inside else "(no room)"


def commits(text: str) -> tuple[str, ...]:
    """The commits of a list, each with its subject behind it; lines that begin with # are none."""
    return tuple(line.split()[0] for line in text.splitlines() if line and not line.startswith("#"))


def moved_out(renames: Iterable[tuple[str, str]]) -> set[str]:
    """The files of the core that stand elsewhere after these renames, the first of them first."""
    first: dict[str, str] = {}
    for old, new in renames:
        first[new] = first.pop(old, old)
    return {old for new, old in first.items() if old.startswith(CORE) and not new.startswith(CORE)}


def replayed(files: dict[str, list[float]], commit: Commit, *, new: bool) -> None:
    """Bring how new each line of each file is to the state after a commit."""
    taken, room, moved = 0.0, [0, 0], dict[str, list[float | None]]()
    for change in commit:
        lines, at = files.pop(change.old, []), 0
        after: list[float | None] = []
        for begin, gone, added in change.hunks:
            after += lines[at:begin]
            lost, at = lines[begin : begin + gone], begin + gone
            if new:
                after += [1.0] * added
            elif lost and added:
                after += [sum(lost) / max(gone, added)] * added
            else:
                taken, room = taken + sum(lost), [room[0] + gone, room[1] + added]
                after += [None] * added
        if change.new:
            moved[change.new] = after + lines[at:]
    elsewhere = taken / max(*room, 1)
    files |= {path: [elsewhere if one is None else one for one in each] for path, each in moved.items()}


class Change(NamedTuple):
    """What a commit did to a file: its names ("" where there is none), and what became of which lines."""

    old: str
    new: str
    hunks: list[tuple[int, int, int]]
    """How many lines stand before, how many go, how many come."""


Commit = list[Change]


def changes(patch: str) -> Commit:
    """The files of a patch that `git log -p -U0 -M` prints."""
    return [_change(one) for one in re.split(r"(?m)^diff --git ", patch)[1:]]


def _change(patch: str) -> Change:
    head, hunks = patch.splitlines()[0], list[tuple[int, int, int]]()
    for begin, gone, added in re.findall(r"(?m)^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", patch):
        lost = int(gone or 1)
        hunks.append((int(begin) - (lost > 0), lost, int(added or 1)))
    old, new = head.removeprefix("a/").split(" b/")
    kind = patch.split("\n@@", 1)[0]
    return Change("" if "\nnew file" in kind else old, "" if "\ndeleted file" in kind else new, hunks)


def before(commit: str) -> tuple[Counter[str], int]:
    """Lines of each room at a commit without what moved out, and how many lines did."""
    log = _git("log", "--reverse", "-M", "--diff-filter=R", "--name-status", "--format=", f"{commit}..HEAD")
    gone = moved_out((old, new) for _, old, new in (line.split("\t") for line in log.splitlines() if line))
    lines, out = Counter[str](), 0
    for path in _files(commit):
        number = len(_lines(commit, path))
        if path in gone:
            out += number
        else:
            lines[room_of(path)] += number
    return lines, out


def after(commit: str) -> tuple[Counter[str], Counter[str]]:
    """Lines of each room now, and those of them that serve what was there at the commit."""
    new = commits(LISTED.read_text(encoding="utf-8"))
    files = {path: [0.0] * len(_lines(commit, path)) for path in _files(commit)}
    log = _git("log", "--reverse", "-p", "-U0", "-M", "--format=%x00%H", f"{commit}..HEAD", "--", "src/*.py")
    for each in log.split("\0")[1:]:
        name, _, patch = each.partition("\n")
        replayed(files, changes(patch), new=name.startswith(new))
    every, same = Counter[str](), Counter[str]()
    for path in _files("HEAD"):
        number = len(_lines("HEAD", path))
        if number != len(files[path]):
            raise ValueError(f"the history of {path} does not lead to what it is")
        every[room_of(path)] += number
        same[room_of(path)] += number - sum(files[path])
    return every, Counter({room: round(number) for room, number in same.items()})


def table(was: Mapping[str, int], every: Mapping[str, int], same: Mapping[str, int], out: int) -> str:
    """One line for each room, their sum, and what is not compared."""
    rows = {
        room: (was.get(room, 0), same.get(room, 0), every.get(room, 0)) for room in sorted({*was, *every})
    }
    rows["total"] = tuple(map(sum, zip(*rows.values(), strict=True)))
    lines = [f"{'room':<12}{'before':>8}{'same':>8}{'fewer':>8}{'new':>8}"]
    for room, (before, kept, now) in rows.items():
        lines.append(f"{room:<12}{before:>8}{kept:>8}{before - kept:>8}{now - kept:>8}")
    lines.append(f"Not compared: {out} lines of before that moved out of the core (studies, planted bugs).")
    return "\n".join(lines)


def _files(commit: str) -> list[str]:
    listed = _git("ls-tree", "-r", "--name-only", "--end-of-options", commit, "--", CORE).splitlines()
    return [path for path in listed if path.endswith(".py")]


def _lines(commit: str, path: str) -> list[str]:
    return _git("show", f"{commit}:{path}").splitlines()


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
