"""Paths, globs and folders to files, and a check that the files did not change while they were read."""

from __future__ import annotations

import errno
import glob
import os
import shlex
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from safeside.errors import BadFile, BadQuestion

TEXT: Final = (".csv", ".tsv", ".txt")
COVERS: Final = "covers.toml"
"""Beside the visits it declares what they cover (`count/coverage.py`)."""
TABLE: Final = (".parquet", ".pq")
_MOST_LINKS: Final = 64
"""More links on the way to a file than a system follows."""
_TICK: Final = 12_000_000
_COARSE: Final = 2_000_000_000
"""Nanoseconds within which two changes may get one timestamp: usually, and where file systems keep seconds.
"""


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """Size, inode, device and times of a file: whether it is still the same."""

    size: int
    modified: int
    changed: int
    file: int
    device: int
    links: tuple[tuple[int, int], ...]
    """Inode of each link on the way to the file, which may be turned to another, and when it was changed."""

    def unsure(self) -> int:
        """For how many more nanoseconds a change would get the same timestamp, and so go unnoticed."""
        return max(_unsure(self.modified, self.changed), *(_unsure(turned) for _, turned in self.links), 0)


def _unsure(*times: int) -> int:
    grain = _TICK if any(each % 10**9 for each in times) else _COARSE
    return max(0, min(grain, max(times) + grain - time.time_ns()))


@dataclass(frozen=True, kw_only=True)
class Found:
    """The files, with their stamps from before anything was read."""

    given: tuple[str | Path, ...]
    paths: tuple[Path, ...]
    stamps: tuple[Stamp, ...]

    def require_unchanged(self) -> None:
        """Refuse files that were written to, exchanged or joined by others while they were read."""
        if self.stamps != tuple(_stamp(path) for path in self.paths):
            raise BadFile("A file changed while it was read.", "Try again once nothing writes to the files.")
        if self.paths != expand(self.given):
            raise BadFile(
                "Files came or went while the visits were read.",
                "Try again once nothing writes to the folder, or name the files that are meant.",
            )


def find_files(given: tuple[str | Path, ...]) -> Found:
    """The files; waits until any later change would get another timestamp."""
    paths = expand(given)
    found = Found(given=given, paths=paths, stamps=tuple(_stamp(path) for path in paths))
    unsure = max(stamp.unsure() for stamp in found.stamps)
    if unsure:
        time.sleep(unsure / 10**9)
        found.require_unchanged()
    return found


def expand(given: Iterable[str | Path]) -> tuple[Path, ...]:
    """The files meant by paths, globs and directories, each once, in order."""
    paths: list[Path] = []
    for each in given:
        if "://" in str(each):
            raise BadQuestion(
                "Visits are opened from local files only.", "Copy the files, or give a dataframe."
            )
        path = Path(each)
        _require_text(path)
        _require_one_meaning(path)
        # A folder that a pattern matches is opened too: passing it over would lose what is in it.
        matches = [path] if path.exists() else [Path(name) for name in glob.glob(str(each), recursive=True)]  # noqa: PTH207
        found = sorted(
            {file for match in matches for file in (_inside(match) if match.is_dir() else [match])}
        )
        if not found:
            nothing = f"{each} holds no files" if path.is_dir() else f"There is no file {each}"
            raise BadFile(f"{nothing}.", "Check the path or the pattern.")
        for file in found:
            _require_text(file)
            if file.exists() and not file.is_file():
                raise BadFile(
                    f"{file} is a pipe or a device, not a file: what it gives cannot be read twice.",
                    "Write what it gives to a file, and give that.",
                )
        paths += found
    if len({path.resolve() for path in paths}) < len(paths):
        raise BadQuestion("A file is given twice.", "Give every file once.")
    return tuple(paths)


def _require_text(path: Path) -> None:
    """Refuse a file name that is not UTF-8: engines cannot take it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = str(path).encode("utf-8", "backslashreplace").decode()
        raise BadFile(
            f"The name of {shown} is not text in UTF-8.", "Rename the file or its folder, and try again."
        ) from None


def _require_one_meaning(path: Path) -> None:
    """Refuse a file name that is also a glob which matches other files."""
    pattern = str(path)
    if not glob.has_magic(pattern) or not os.path.lexists(path):
        return
    if set(map(Path, glob.glob(pattern, recursive=True))) - {path}:  # noqa: PTH207
        raise BadQuestion(
            f"{path.name} is the name of a file and a pattern that others match.",
            f"Give {shlex.quote(glob.escape(pattern))} for that file alone; for all of them, their folder or"
            " each by its name.",
        )


def _inside(folder: Path) -> list[Path]:
    """Every file of visits in a folder and the folders in it, linked ones too; what is neither text nor a
    table stops the work, unless its name says that it is not meant to be read (_SUCCESS, .crc files).
    """
    found: list[Path] = []
    others: list[str] = []
    seen: set[Path] = set()
    for root, folders, names in os.walk(folder, onerror=cannot_open, followlinks=True):
        here = Path(root).resolve()
        if here in seen:
            folders.clear()
            continue
        seen.add(here)
        known = [name for name in names if Path(name).suffix.lower() in TEXT + TABLE]
        found += [Path(root, name) for name in known]
        others += [name for name in set(names).difference(known) if name[0] not in "._" and name != COVERS]
    if others:
        more = "" if len(others) == 1 else f" and {len(others) - 1:,} more"
        are, by = ("is", "its name") if len(others) == 1 else ("are", "their names")
        raise BadFile(
            f"{folder} also holds {min(others)}{more}, which {are} neither CSV nor Parquet by {by}.",
            f"If the rest is all that is meant, give {_pattern(folder, found)} instead of the folder;"
            " otherwise unpack or rename what is missing.",
        )
    return found


def _pattern(folder: Path, files: list[Path]) -> str:
    """A glob, quoted for a shell, that matches exactly these files."""
    suffixes = {file.suffix for file in files}
    for between in ("", "**/") if len(suffixes) == 1 else ():
        pattern = f"{glob.escape(str(folder))}/{between}*{min(suffixes)}"
        if sorted(map(Path, glob.glob(pattern, recursive=True))) == sorted(files):  # noqa: PTH207
            return shlex.quote(pattern)
    return "the files by their names"


def cannot_open(error: OSError) -> NoReturn:
    raise BadFile(
        f"{Path(str(error.filename)).name} cannot be opened or read.",
        "Check that the file exists and may be read, and that its disk is whole.",
    ) from None


def _stamp(path: Path) -> Stamp:
    try:
        status, links = path.stat(), tuple(_links(path))
    except OSError as error:
        cannot_open(error)
    return Stamp(
        size=status.st_size,
        modified=status.st_mtime_ns,
        changed=status.st_ctime_ns,
        file=status.st_ino,
        device=status.st_dev,
        links=links,
    )


def _links(path: Path) -> Iterator[tuple[int, int]]:
    """Every link on the way to a file: its folders, the file, and what they point to."""
    ahead, here, found = list(reversed(path.absolute().parts)), Path(), 0
    while ahead:
        step = ahead.pop()
        # No link is left in `here`, so that it may be gone back from.
        here = here.parent if step == ".." else here / step
        status = here.lstat()
        if stat.S_ISLNK(status.st_mode):
            found += 1
            if found > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            yield status.st_ino, status.st_ctime_ns
            ahead += reversed(here.readlink().parts)
            here = here.parent
