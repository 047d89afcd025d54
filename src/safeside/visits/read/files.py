"""Files of visits: recognised, fingerprinted, and scanned by Polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from safeside.errors import BadFile, BadQuestion
from safeside.progress import Progress
from safeside.visits.findings import LEGIBLE, Doubt, Finding
from safeside.visits.read.csv_bytes import CHUNK, TextFile, inspect_text
from safeside.visits.read.fingerprint import Fingerprint
from safeside.visits.read.parquet import LegacyTimes, legacy_times, only_footer
from safeside.visits.read.paths import TABLE, TEXT, Found, cannot_open, find_files

_MAGIC: Final = b"PAR1"
_WRITTEN_ALL: Final = "_SUCCESS"
Run = tuple[Path, tuple[int, int] | None]
"""Rows of a table: so many from some row on, or all of them."""
END_IT: Final = "Export the file again, or, if it is whole, end its last line with a line break."


@dataclass(frozen=True, kw_only=True)
class Opened:
    """Files that exist, are of one kind, and whose columns are known."""

    found: Found
    text: bool
    columns: tuple[str, ...]
    separator: str = ","
    quotes: bool = True
    empty: frozenset[Path] = frozenset()
    """Text files without so much as a header."""
    types: tuple[dict[str, pl.DataType], ...] = ()
    """Of the columns of each table."""
    old: tuple[LegacyTimes, ...] = ()
    rows: int
    findings: tuple[Finding, ...]
    fingerprint: str | None
    fingerprints: tuple[str, ...]
    """Of each file that holds rows."""
    digests: tuple[bytes, ...]
    """Keyed, of each file; none where no key was given."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files, in order."""
        return self.found.paths

    @property
    def filled(self) -> tuple[Path, ...]:
        """The files that have a header at least."""
        return tuple(path for path in self.paths if path not in self.empty)

    def scan(self, only: Path | None = None, *, by: str | None = None) -> pl.LazyFrame:
        """The rows of all files, or of one, not yet read; of tables by a condition on a column, if named."""
        paths = list(self.filled) if only is None else [only]
        if self.text:
            return pl.scan_csv(
                paths,
                separator=self.separator,
                quote_char='"' if self.quotes else None,
                infer_schema=False,
                truncate_ragged_lines=False,
                glob=False,
            )
        return self._tables(paths, by)

    def scan_runs(
        self,
        kept: Iterable[Run],
        chosen: Sequence[str],
        *,
        by: str | None = None,
    ) -> pl.LazyFrame:
        """These columns of runs of rows; of the others each file may have its own, which cannot be joined."""
        runs = [
            self._tables([path], by).select(chosen)
            if run is None
            else self._tables([path]).select(chosen).slice(*run)
            for path, run in kept
        ]
        return pl.concat(runs) if runs else self._tables(list(self.paths[:1])).select(chosen).slice(0, 0)

    def _tables(self, paths: list[Path], by: str | None = None) -> pl.LazyFrame:
        """The rows of tables, read by a condition that all meet, on the column `by`.

        Without one, and in a slice, Polars believes the footer's numbers of rows, and loses those beyond them
        in silence. With one it reads what the pages of the other columns hold, or fails.
        """
        # No row group is skipped on the word of its statistics: whoever wrote them may have been wrong.
        rows = pl.scan_parquet(
            paths, use_statistics=False, glob=False, hive_partitioning=False, extra_columns="ignore"
        )
        if by is not None:
            rows = rows.filter(pl.col(by).is_null() | pl.col(by).is_not_null())
        old = self.old[0].utc
        if not old:
            return rows
        # A column that nobody uses may be of another type here than in the first file, or missing.
        held = rows.collect_schema().items()
        utc = [name for name, kind in held if name in old and getattr(kind, "time_zone", "") is None]
        return rows.with_columns(pl.col(utc).dt.replace_time_zone("UTC"))

    def require_same_types(self, columns: Iterable[str]) -> None:
        """Refuse tables that hold the same column in different ways."""
        chosen = list(columns)
        for path, types, old in zip(self.paths, self.types, self.old, strict=False):
            for column in chosen:
                same = (column in old.utc) == (column in self.old[0].utc)
                if types.get(column) != self.types[0][column] or not same:
                    raise BadFile(
                        f"Column {column} of {path.name} is missing, or of another type than before.",
                        "Write all files with the same columns and types.",
                    )

    def legacy_times(self, columns: Iterable[str]) -> list[str]:
        """Which of these columns hold INT96 times, whose zone the file does not tell."""
        old = {name for each in self.old for name in each.int96}
        return [column for column in columns if column in old and self._naive(column)]

    def _naive(self, column: str) -> bool:
        return getattr(self.types[0][column], "time_zone", None) is None

    @property
    def illegible(self) -> list[Finding]:
        """Findings because of which the rows cannot be parsed."""
        return [finding for finding in self.findings if finding.stops and finding.doubt not in LEGIBLE]

    def require_unchanged(self) -> None:
        """Refuse what was read of files that changed meanwhile."""
        self.found.require_unchanged()


def fingerprint_of(opened: Opened | None, lines: Iterable[str], key: bytes | None) -> str | None:
    """One fingerprint of the files' bytes; where there are none, of what was counted, line by line."""
    if opened is not None or key is None:
        return None if opened is None else opened.fingerprint
    digest = Fingerprint(key)
    feed = digest.file(0)
    assert feed is not None
    for line in lines:
        feed(f"{line}\n".encode())
    return digest.text()


def open_files(
    visits: str | Path | Iterable[str | Path],
    separator: str,
    fingerprint: Fingerprint,
    progress: Progress,
    *,
    quotes: bool = True,
) -> Opened:
    """Inspect every file once, and open them all."""
    try:
        found = find_files((visits,) if isinstance(visits, str | Path) else tuple(visits))
        kinds = {_is_text(path) for path in found.paths}
        if len(kinds) > 1:
            raise BadQuestion("Some of the files are text and some are Parquet.", "Give files of one kind.")
        if kinds == {True}:
            return _open_text(found, separator, fingerprint, progress, quotes=quotes)
        return _open_tables(found, fingerprint, progress)
    except OSError as error:
        cannot_open(error)


def detect_separator(source: str | Path) -> str:
    """The separator of a list of places, where its first line has only one candidate; else a comma."""
    try:
        if not Path(source).is_file():
            return ","
        with Path(source).open("rb") as stream:
            first = stream.readline(CHUNK)
    except OSError:  # reported when the list is read
        return ","
    other = [mark for mark in ";\t|" if mark.encode() in first]
    return other[0] if len(other) == 1 and b"," not in first else ","


def _is_text(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix in TEXT + TABLE:
        return suffix in TEXT
    with path.open("rb") as stream:
        return stream.read(4) != _MAGIC


def _open_text(
    found: Found, separator: str, fingerprint: Fingerprint, progress: Progress, *, quotes: bool
) -> Opened:
    looked: list[TextFile] = []
    for path, stamp in zip(found.paths, found.stamps, strict=True):
        feed = fingerprint.file(stamp.size)
        looked.append(inspect_text(path, separator, feed=feed, progress=progress, quotes=quotes))
    rows = sum(each.records for each in looked)
    findings: list[Finding] = []
    for each in looked:
        findings += [_excused(finding, each.path, rows) for finding in each.findings]
        if not each.ended:
            findings.append(_cut_off(each))
        if not each.records and not any(finding.stops for finding in each.findings):
            findings.append(_excused(_no_rows(each.path), each.path, rows))
    whole = [each for each in looked if each.columns]
    for each in whole:
        _require_header(each, whole[0], separator)
    return Opened(
        found=found,
        text=True,
        separator=separator,
        quotes=quotes,
        empty=frozenset(each.path for each in looked if not each.columns),
        columns=whole[0].columns if whole else (),
        rows=rows,
        findings=tuple(findings),
        fingerprint=fingerprint.text(),
        fingerprints=fingerprint.files(each.records for each in looked),
        digests=fingerprint.digests,
    )


def _require_header(file: TextFile, first: TextFile, separator: str) -> None:
    # Rows may be in a header with line breaks, and messages quote the names of columns.
    if any("\n" in name or "\r" in name for name in file.columns):
        raise BadFile(
            f"The header of {file.path.name} has a line break inside quotes.",
            "Look for a stray quote in the first line, or take the line break out of the name.",
        )
    if file.columns != first.columns:
        raise BadFile(
            f"The columns of {file.path.name} differ from those of {first.path.name}.",
            "Write all files with the same columns in the same order.",
        )
    if len(set(file.columns)) < len(file.columns):
        raise BadFile(
            f"{file.path.name} has two columns of the same name, or several without one.",
            "Give every column a name of its own in the first line.",
        )
    if len(file.columns) == 1:
        other = [mark for mark in ";\t|," if mark != separator and mark in file.columns[0]]
        if other:
            name = "tab" if other[0] == "\t" else other[0]
            raise BadFile(
                f"{file.path.name} has one column when split at {separator}.",
                f'Declare the separator (`separator="{name}"`).',
            )


def _open_tables(found: Found, fingerprint: Fingerprint, progress: Progress) -> Opened:
    types: list[dict[str, pl.DataType]] = []
    old: list[LegacyTimes] = []
    held: list[int] = []
    for path, stamp in zip(found.paths, found.stamps, strict=True):
        fingerprint.read(path, stamp.size, progress)
        _require_table(path, stamp.size)
        with _readable(path):
            table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            types.append(dict(table.collect_schema()))
            old.append(legacy_times(path))
            held.append(int(table.select(pl.len()).collect().item()))
    rows = sum(held)
    findings = [
        # That there are no rows is the footer's word, on which an engine reads nothing of the file.
        _excused(_no_rows(path), path, rows) if only_footer(path) else _no_rows(path)
        for path, here in zip(found.paths, held, strict=True)
        if not here
    ]
    return Opened(
        found=found,
        text=False,
        columns=tuple(types[0]),
        types=tuple(types),
        old=tuple(old),
        rows=rows,
        findings=tuple(findings),
        fingerprint=fingerprint.text(),
        fingerprints=fingerprint.files(held),
        digests=fingerprint.digests,
    )


def _require_table(path: Path, size: int) -> None:
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


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever fails in a table into an error of ours."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError) as error:
        if "time zone" in str(error):
            raise BadFile(
                f"{path.name} tells the time of a zone that is not in the tz database, such as +05:30.",
                "Write the times in UTC, or in a zone with a name, such as Asia/Kolkata.",
            ) from None
        raise BadFile(f"{path.name} is damaged.", "Copy or export the file again.") from None


def _cut_off(file: TextFile) -> Finding:
    """The last line has no line end; its last column is named where that field may be cut off, too."""
    return Finding(
        doubt=Doubt.CUT_OFF,
        column="" if file.closed or not file.columns else file.columns[-1],
        reason=f"the last line of {file.path.name} does not end, so the file may have been cut off",
        do="Export it again, or, if it is whole, declare the number of rows in all files (`Expected(rows=)`)."
        if file.closed
        else END_IT,
    )


def _excused(finding: Finding, path: Path, rows: int) -> Finding:
    """An empty part file of Spark is fine where other parts hold rows and `_SUCCESS` says that all parts were
    written.
    """
    nothing = finding.doubt in (Doubt.EMPTY, Doubt.NO_ROWS)
    if not (nothing and rows and path.name.startswith("part-") and (path.parent / _WRITTEN_ALL).is_file()):
        return finding
    reason = f"{finding.reason}; the mark {_WRITTEN_ALL} beside it says that all parts are there"
    return replace(finding, reason=reason, do="Nothing.", stops=False)


def _no_rows(path: Path) -> Finding:
    return Finding(
        doubt=Doubt.NO_ROWS,
        reason=f"{path.name} has no rows",
        do="Export the file again, leave it out, or declare how many rows there are in all files"
        " (`Expected(rows=)`).",
    )
