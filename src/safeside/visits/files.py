"""Files of visits: found, recognised, fingerprinted, and opened out of core by Polars."""

from __future__ import annotations

import glob
import hashlib
import os
import shlex
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import polars as pl

from safeside.errors import BadFile, BadQuestion
from safeside.progress import Progress
from safeside.visits.csvfile import CHUNK, TextFile, inspect_text
from safeside.visits.report import LEGIBLE, Doubt, Finding

_TEXT: Final = (".csv", ".tsv", ".txt")
_TABLE: Final = (".parquet", ".pq")
_MAGIC: Final = b"PAR1"
_TICK: Final = 12_000_000
_COARSE: Final = 2_000_000_000
"""Nanoseconds within which two changes of a file may bear the same time: on disks of today, and on such as
keep whole seconds only.
"""


class Fingerprint:
    """A keyed digest of the files' bytes: whoever has the key can tell that the same files were used."""

    def __init__(self, key: bytes | None) -> None:
        self._hash = (
            None
            if key is None
            else hashlib.blake2b(key=_short(key), digest_size=32, person=b"safeside visits")
        )

    def file(self, size: int) -> None:
        """Begin a file: its length keeps two files from being taken for one."""
        if self._hash is not None:
            self._hash.update(f"file {size}\n".encode())

    @property
    def feed(self) -> Callable[[bytes], object] | None:
        """What takes the bytes, or None where no fingerprint is wanted."""
        return None if self._hash is None else self._hash.update

    def text(self) -> str | None:
        """The fingerprint, once everything was fed."""
        return None if self._hash is None else self._hash.hexdigest()


def _short(key: bytes) -> bytes:
    if len(key) < 16:
        raise BadQuestion(
            "The key is shorter than 16 bytes.", "Make one with `safeside key`, and keep it secret."
        )
    return key if len(key) <= 64 else hashlib.blake2b(key).digest()


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """Which file a name leads to, and when it was last changed in any way, its own times included."""

    size: int
    modified: int
    changed: int
    file: int
    device: int

    def unsure(self) -> int:
        """For how many nanoseconds more a change would not show, because it would bear the same time."""
        whole = not (self.modified % 10**9 or self.changed % 10**9)
        grain = _COARSE if whole else _TICK
        return max(0, min(grain, max(self.modified, self.changed) + grain - time.time_ns()))


@dataclass(frozen=True, kw_only=True)
class Found:
    """The files that were meant, as they were when nobody had read them yet."""

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


@dataclass(frozen=True, kw_only=True)
class Opened:
    """Files that exist, are of one kind, and whose columns are known."""

    found: Found
    text: bool
    separator: str
    columns: tuple[str, ...]
    types: tuple[dict[str, pl.DataType], ...]
    rows: int
    findings: tuple[Finding, ...]
    fingerprint: str | None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files, in order."""
        return self.found.paths

    def scan(self, only: Path | None = None) -> pl.LazyFrame:
        """The rows of all files, or of one, not yet read."""
        paths = list(self.paths) if only is None else [only]
        if self.text:
            return pl.scan_csv(
                paths, separator=self.separator, infer_schema=False, truncate_ragged_lines=False, glob=False
            )
        # No row group is skipped on the word of its statistics: whoever wrote them may have been wrong.
        return pl.scan_parquet(
            paths, use_statistics=False, glob=False, hive_partitioning=False, extra_columns="ignore"
        )

    def require_same_types(self, columns: Iterable[str]) -> None:
        """Refuse tables that hold the same column in different ways."""
        for path, types in zip(self.paths, self.types, strict=False):
            for column in columns:
                if types.get(column) != self.types[0][column]:
                    raise BadFile(
                        f"Column {column} of {path.name} is missing, or of another type than before.",
                        "Write all files with the same columns and types.",
                    )

    @property
    def illegible(self) -> list[Finding]:
        """What is wrong with the files so that their rows cannot even be looked at."""
        return [finding for finding in self.findings if finding.stops and finding.doubt not in LEGIBLE]

    def require_unchanged(self) -> None:
        """Refuse what was read of files that changed meanwhile."""
        self.found.require_unchanged()


def open_files(
    visits: str | Path | Iterable[str | Path], separator: str, fingerprint: Fingerprint, progress: Progress
) -> Opened:
    """Look at every file once, and open them all."""
    found = _find((visits,) if isinstance(visits, str | Path) else tuple(visits))
    try:
        kinds = {_is_text(path) for path in found.paths}
        if len(kinds) > 1:
            raise BadQuestion("Some of the files are text and some are Parquet.", "Give files of one kind.")
        open_ = _open_text if kinds == {True} else _open_tables
        return open_(found, separator, fingerprint, progress)
    except OSError as error:
        _unopened(error)


def shown_separator(source: str | Path) -> str:
    """What separates the fields of a list of places, where its first line leaves no doubt; else a comma."""
    if not Path(source).is_file():
        return ","
    with Path(source).open("rb") as stream:
        first = stream.readline(CHUNK)
    other = [mark for mark in ";\t|" if mark.encode() in first]
    return other[0] if len(other) == 1 and b"," not in first else ","


def _find(given: tuple[str | Path, ...]) -> Found:
    """The files meant, once a change of any of them would show."""
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
        # A folder that a pattern matches is opened too: passing it over would lose what is in it.
        matches = [path] if path.exists() else [Path(name) for name in glob.glob(str(each), recursive=True)]  # noqa: PTH207
        found = sorted(
            {file for match in matches for file in (_inside(match) if match.is_dir() else [match])}
        )
        if not found:
            raise BadFile(f"There is no file {each}.", "Check the path or the pattern.")
        paths += found
    if len({path.resolve() for path in paths}) < len(paths):
        raise BadQuestion("A file is given twice.", "Give every file once.")
    return tuple(paths)


def _inside(folder: Path) -> list[Path]:
    """Every file of visits in a folder and the folders in it, linked ones too; what is neither text nor a
    table stops the work, unless its name says that it is not meant to be read (_SUCCESS, .crc files).
    """
    found: list[Path] = []
    others: list[str] = []
    seen: set[Path] = set()
    for root, folders, names in os.walk(folder, onerror=_unopened, followlinks=True):
        here = Path(root).resolve()
        if here in seen:
            folders.clear()
            continue
        seen.add(here)
        known = [name for name in names if Path(name).suffix.lower() in _TEXT + _TABLE]
        found += [Path(root, name) for name in known]
        others += [name for name in set(names).difference(known) if name[0] not in "._"]
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
    """What to write for exactly these files, as a shell takes it."""
    suffixes = {file.suffix for file in files}
    for between in ("", "**/") if len(suffixes) == 1 else ():
        pattern = f"{glob.escape(str(folder))}/{between}*{min(suffixes)}"
        if sorted(map(Path, glob.glob(pattern, recursive=True))) == sorted(files):  # noqa: PTH207
            return shlex.quote(pattern)
    return "the files by their names"


def _unopened(error: OSError) -> NoReturn:
    raise BadFile(
        f"{Path(str(error.filename)).name} cannot be opened.", "Check that the file exists and may be read."
    ) from None


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError as error:
        _unopened(error)
    return Stamp(
        size=status.st_size,
        modified=status.st_mtime_ns,
        changed=status.st_ctime_ns,
        file=status.st_ino,
        device=status.st_dev,
    )


def _is_text(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix in _TEXT + _TABLE:
        return suffix in _TEXT
    with path.open("rb") as stream:
        return stream.read(4) != _MAGIC


def _open_text(found: Found, separator: str, fingerprint: Fingerprint, progress: Progress) -> Opened:
    looked: list[TextFile] = []
    for path, stamp in zip(found.paths, found.stamps, strict=True):
        fingerprint.file(stamp.size)
        looked.append(inspect_text(path, separator, feed=fingerprint.feed, progress=progress))
    findings = [finding for each in looked for finding in each.findings]
    for each in looked:
        if not each.ended:
            findings.append(_cut_off(each.path))
        if not each.records and not any(finding.stops for finding in each.findings):
            findings.append(_no_rows(each.path))
    whole = [each for each in looked if each.columns]
    for each in whole:
        _require_one_line(each)
        _require_header(each, whole[0], separator)
    return Opened(
        found=found,
        text=True,
        separator=separator,
        columns=whole[0].columns if whole else (),
        types=(),
        rows=sum(each.records for each in looked),
        findings=tuple(findings),
        fingerprint=fingerprint.text(),
    )


def _require_one_line(file: TextFile) -> None:
    """Refuse a header with line breaks: it may hold rows, whose values no message must repeat."""
    if any("\n" in name or "\r" in name for name in file.columns):
        raise BadFile(
            f"The header of {file.path.name} has a line break inside quotes.",
            "Look for a stray quote in the first line, or take the line break out of the name.",
        )


def _require_header(file: TextFile, first: TextFile, separator: str) -> None:
    if file.columns != first.columns:
        raise BadFile(
            f"The columns of {file.path.name} differ from those of {first.path.name}.",
            "Write all files with the same columns in the same order.",
        )
    twice = [name for name in file.columns if file.columns.count(name) > 1 or not name.strip()]
    if twice:
        raise BadFile(
            f"{file.path.name} has a column without a name, or two of the same name.",
            "Give every column a name of its own in the first line.",
        )
    if len(file.columns) == 1:
        other = [mark for mark in ";\t|," if mark != separator and mark in file.columns[0]]
        if other:
            name = "tab" if other[0] == "\t" else shlex.quote(other[0])
            raise BadFile(
                f"{file.path.name} has one column when split at {separator}.",
                f"Declare the separator (--separator {name}).",
            )


def _open_tables(found: Found, separator: str, fingerprint: Fingerprint, progress: Progress) -> Opened:
    findings: list[Finding] = []
    types: list[dict[str, pl.DataType]] = []
    rows = 0
    for path, stamp in zip(found.paths, found.stamps, strict=True):
        fingerprint.file(stamp.size)
        if fingerprint.feed is not None:
            _feed(path, stamp.size, fingerprint.feed, progress)
        types.append(_schema(path, stamp.size))
        here = _row_count(path)
        rows += here
        if not here:
            findings.append(_no_rows(path))
    return Opened(
        found=found,
        text=False,
        separator=separator,
        columns=tuple(types[0]),
        types=tuple(types),
        rows=rows,
        findings=tuple(findings),
        fingerprint=fingerprint.text(),
    )


def _feed(path: Path, size: int, feed: Callable[[bytes], object], progress: Progress) -> None:
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            feed(chunk)
            progress(stream.tell() / size, f"Reading {path.name}")


def _schema(path: Path, size: int) -> dict[str, pl.DataType]:
    if not size:
        raise BadFile(f"{path.name} is empty.", "Export the file again, or leave it out.")
    with path.open("rb") as stream:
        head = stream.read(4)
        stream.seek(max(0, size - 4))
        tail = stream.read(4)
    if head != _MAGIC:
        raise BadFile(f"{path.name} is not a Parquet file.", "Give CSV files the ending .csv.")
    if tail != _MAGIC:
        raise BadFile(f"{path.name} is cut off.", "Copy or export the file again.")
    try:
        return dict(pl.scan_parquet(path, glob=False, hive_partitioning=False).collect_schema())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(path) from None


def _row_count(path: Path) -> int:
    try:
        counted = pl.scan_parquet(path, glob=False, hive_partitioning=False).select(pl.len()).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(path) from None
    return int(counted.item())


def _damaged(path: Path) -> BadFile:
    return BadFile(f"{path.name} is damaged.", "Copy or export the file again.")


def _cut_off(path: Path) -> Finding:
    return Finding(
        doubt=Doubt.CUT_OFF,
        reason=f"the last line of {path.name} does not end, so the file may have been cut off",
        do="Export it again, or, if it is whole, declare the number of rows in all files (--expect-rows).",
    )


def _no_rows(path: Path) -> Finding:
    return Finding(
        doubt=Doubt.NO_ROWS,
        reason=f"{path.name} has no rows",
        do="Export the file again, leave it out, or declare that there are no rows (--expect-rows 0).",
    )
