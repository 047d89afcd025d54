"""Files of visits: found, recognised, fingerprinted, and opened out of core by Polars."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from safeside.errors import BadFile, BadQuestion
from safeside.progress import Progress
from safeside.visits.csvfile import CHUNK, TextFile, inspect_text
from safeside.visits.footer import old_times
from safeside.visits.report import LEGIBLE, Doubt, Finding
from safeside.visits.whichfiles import TABLE, TEXT, Found, find_files, unopened

_MAGIC: Final = b"PAR1"


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

    def old_times(self, columns: Iterable[str]) -> list[str]:
        """Which of these columns hold times of the old kind, that does not say whose clock it shows."""
        naive = [column for column in columns if self.types and self.types[0][column] == pl.Datetime("ns")]
        try:
            old = {name for path in self.paths for name in old_times(path)} if naive else set[str]()
        except EOFError:
            raise _damaged(self.paths[0]) from None
        return [column for column in naive if column in old]

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
    try:
        found = find_files((visits,) if isinstance(visits, str | Path) else tuple(visits))
        kinds = {_is_text(path) for path in found.paths}
        if len(kinds) > 1:
            raise BadQuestion("Some of the files are text and some are Parquet.", "Give files of one kind.")
        open_ = _open_text if kinds == {True} else _open_tables
        return open_(found, separator, fingerprint, progress)
    except OSError as error:
        unopened(error)


def shown_separator(source: str | Path) -> str:
    """What separates the fields of a list of places, where its first line leaves no doubt; else a comma."""
    try:
        if not Path(source).is_file():
            return ","
        with Path(source).open("rb") as stream:
            first = stream.readline(CHUNK)
    except OSError:  # for whoever reads the list to say
        return ","
    other = [mark for mark in ";\t|" if mark.encode() in first]
    return other[0] if len(other) == 1 and b"," not in first else ","


def _is_text(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix in TEXT + TABLE:
        return suffix in TEXT
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
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if "time zone" in str(error):
            raise BadFile(
                f"{path.name} tells the time of a zone that is not in the tz database, such as +05:30.",
                "Write the times in UTC, or in a zone with a name, such as Asia/Kolkata.",
            ) from None
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
