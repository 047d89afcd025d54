"""Row groups of Parquet files that hold nothing of a window: measured once, then skipped.

Logs are written in the order of time, so a day is in few row groups. The file's own statistics would say in
which; but they may be wrong, and then people would be missing. So the times of the rows themselves are read
once: for each row group the first start and the last end, if all its times are plausible and no row of it is
doubtful whatever its time; otherwise the group is always read. Where there are many, some neighbours are
measured as if they were one. Nor is the number of rows in a row group believed: where the pages hold others
than the footer says, all is read as if there were no notes. In a file that is not sorted by time every row
group spans every window: the first and the last are measured first, and if both may hold part of the window
the others are left unmeasured.

Measurements belong to the bytes of a file: they are kept under a keyed digest of it, which a publication
computes anyway, and encrypted and authenticated by a key that only the ledger has. Whoever can write to the
cache can delete measurements but not change them. They are bound to the declarations that decide what is
doubtful, and to the versions of the programs that decided it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Final

import msgspec
import narwhals as nw
import polars as pl

from safeside import untrusted
from safeside.errors import UnsafeFile
from safeside.visits.count.row_checks import doubtful, row_checks
from safeside.visits.read.engines import collect
from safeside.visits.read.files import Run
from safeside.visits.read.fingerprint import short_key
from safeside.visits.read.parquet import row_groups
from safeside.visits.read.roles import TimeForm
from safeside.visits.read.source import Source
from safeside.visits.times.clocks import AFTER_1970, Stamps
from safeside.visits.times.window import LATEST, Window

_VERSION: Final = f"row groups 6, polars {pl.__version__}"
_NONCE: Final = 12
_AT_ONCE: Final = 16
_FEW: Final = 2
"""Row groups of a file in which every one is the first or the last."""
MOST_GROUPS: Final = 64
"""Each takes a query, and that some time, however few rows it has."""
_MOST_RUNS: Final = 16
"""More pieces of one file than that take longer than reading all of it."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MEASURING: Final = "Measuring row groups"


@dataclass(frozen=True, kw_only=True)
class RowGroup:
    """A row group: its rows, and the first start and last end in microseconds, None if it is always read."""

    rows: int
    first: int | None = None
    last: int | None = None
    measured: bool = False

    def may_hold(self, window: Window) -> bool:
        """Whether a row of it may touch the window, or has to be read anyway."""
        if self.first is None or self.last is None:
            return True
        begins, ends = ((at - _EPOCH) // timedelta(microseconds=1) for at in (window.start, window.end))
        begun = self.first <= ends if window.instant else self.first < ends
        return begun and self.last >= begins


def skip_row_groups(source: Source, window: Window, key: bytes, folder: Path) -> Source:
    """The same visits without row groups that certainly hold nothing of the window and nothing doubtful."""
    if not _applies(source):
        return source
    opened = source.opened
    assert opened is not None
    kept: list[Run] = []
    new: list[tuple[_Notes, list[RowGroup]]] = []
    for path, digest in zip(opened.paths, opened.digests, strict=True):
        notes = _Notes(folder, key, digest, source)
        known = notes.read()
        groups = measure(source, path, window, known)
        new += [(notes, groups)] if groups != known else []
        kept += [(path, run) for run in runs(groups, window)]
    if new:
        # The digests were taken before: nothing may be noted under them of bytes that came later.
        opened.require_unchanged()
    for notes, groups in new:
        notes.write(groups)
    if kept == [(path, None) for path in opened.paths]:
        return source
    return source.only(kept)


def _applies(source: Source) -> bool:
    """Stays with zoned times in Parquet files, where only the times decide which rows count."""
    return (
        source.opened is not None
        and not source.opened.text
        # The meaning of text is told from the first value of all files, not of each.
        and not source.texts & {"start", "end"}
        and bool(source.opened.digests)
        and source.roles.when is TimeForm.STAYS
        and not source.roles.movement
        and source.declared.stay_rule is None
        and all(isinstance(source.clocks[role], Stamps) for role in ("start", "end"))
    )


def runs(groups: list[RowGroup], window: Window) -> list[tuple[int, int] | None]:
    """Which rows to read, as first row and number; [None] for all of them, where little would be saved."""
    found: list[tuple[int, int]] = []
    at = 0
    for group in groups:
        if group.may_hold(window):
            if found and sum(found[-1]) == at:
                found[-1] = (found[-1][0], found[-1][1] + group.rows)
            else:
                found.append((at, group.rows))
        at += group.rows
    if len(found) > _MOST_RUNS or 2 * sum(rows for _, rows in found) >= at:
        return [None]
    return list(found)


def measure(source: Source, path: Path, window: Window, known: list[RowGroup] | None) -> list[RowGroup]:
    """The row groups of a file, measured as far as that may help with the window."""
    groups = _together(row_groups(path)) if known is None else known
    if known is None and 0 < len(groups) <= _FEW:
        # Measuring the ends alone does not show whether the pieces are the whole file; here they are all.
        return measure_all(source, path, groups)
    if known is None and groups:
        ends = [0, len(groups) - 1]
        for number, measured in zip(ends, with_ranges(source, ask(source, path, groups, ends)), strict=True):
            groups[number] = measured
    useless = all(group.may_hold(window) for group in groups)
    if useless or all(group.measured for group in groups):
        return groups
    return measure_all(source, path, groups)


def _together(rows: list[int]) -> list[RowGroup]:
    """Row groups as they are measured: each alone or, where there are many, some neighbours as if one."""
    some = -(-len(rows) // MOST_GROUPS) or 1
    return [RowGroup(rows=sum(rows[at : at + some])) for at in range(0, len(rows), some)]


def measure_all(source: Source, path: Path, groups: list[RowGroup]) -> list[RowGroup]:
    """All row groups, in the pieces in which they will be read, if together they are the whole file.

    A piece ends where the footer says. What the pages hold of each of the two times is found by a condition
    on the other: of the column of the condition itself, Polars may read too few rows.
    """
    rows, starts, ends = _rows()
    by = source.roles.columns
    held = [
        nw.from_native(source.file(path, by=by["end"]).to_native().select(rows, starts)),
        nw.from_native(source.file(path, by=by["start"]).to_native().select(rows, ends)),
    ]
    wholes = collect(held, source.progress, _MEASURING, apart=True)
    answers = ask(source, path, groups, range(len(groups)))
    same = all(answers.select(pl.col(whole.columns).sum()).equals(whole) for whole in wholes)
    if not same or answers["rows"].to_list() != [group.rows for group in groups]:
        # The footer's numbers of rows are wrong: always read everything.
        return [RowGroup(rows=int(wholes[0]["rows"].item()), measured=True)]
    return with_ranges(source, answers)


def ask(source: Source, path: Path, groups: list[RowGroup], chosen: Collection[int]) -> pl.DataFrame:
    """A row for each chosen row group: its rows, the extremes of its times, and whether they are in order."""
    times = source.file(path).select("start", "end").to_native()
    start, end = pl.col("start"), pl.col("end")
    asked = (
        *_rows(),
        start.min().alias("first"),
        start.max().alias("latest"),
        end.max().alias("last"),
        ((start.count() == pl.len()) & (end.count() == pl.len()) & (start <= end).all()).alias("in_order"),
    )
    begins = [0, *accumulate(group.rows for group in groups)]
    queries = [times.slice(begins[number], groups[number].rows).select(*asked) for number in chosen]
    answers = []
    for begin in range(0, len(queries), _AT_ONCE):
        some = map(nw.from_native, queries[begin : begin + _AT_ONCE])
        answers += collect([*some], source.progress, _MEASURING, apart=True)
    return pl.concat(answers)


def _rows() -> tuple[pl.Expr, ...]:
    """By which it is told whether pieces of a file are all of its rows."""
    start, end = (pl.col(role).to_physical().sum() for role in ("start", "end"))
    return pl.len().alias("rows"), start.alias("starts"), end.alias("ends")


def with_ranges(source: Source, answers: pl.DataFrame) -> list[RowGroup]:
    """What was measured; without a range where a row may be doubtful, which is always read.

    A row passes every check if it has both times, its start lies within bounds, and its end is no earlier:
    after such a start no end is doubtful. So all rows pass where all have both times in their order, and the
    first start and the latest lie within bounds. The checks themselves are asked, each with the last end.
    """
    start, end = nw.col("start"), nw.col("end")
    clock = source.clocks["start"]
    plain = clock.since(start, AFTER_1970) & clock.before(start, LATEST)
    doubt = doubtful(row_checks(source, None, None)).fill_null(value=True)
    fine = (plain & (end >= start)).fill_null(value=False) & ~doubt
    sure = answers["in_order"]
    for role in ("first", "latest"):
        extremes = nw.from_native(answers.select(start=role, end="last"))
        sure &= extremes.select(fine=fine).to_native()["fine"]
    first, latest, last = (pl.col(name).dt.timestamp("us") for name in ("first", "latest", "last"))
    # Times of unlike units are compared in the coarser one: a start may be later than its end by less than
    # that, and then later than the last end.
    micros = answers.with_columns(sure=sure).select("rows", first, last, pl.col("sure") & (latest <= last))
    return [
        RowGroup(rows=rows, first=first if fine else None, last=last if fine else None, measured=True)
        for rows, first, last, fine in micros.iter_rows()
    ]


class _Notes:
    """The measurements of one file in the cache, under a name and a key derived from the ledger's key."""

    def __init__(self, folder: Path, key: bytes, digest: bytes, source: Source) -> None:
        from safeside import __version__  # here, where it makes no circle of modules

        columns = {role: source.roles.columns[role] for role in ("start", "end")}
        self._bound = "\n".join(
            (_VERSION, __version__, digest.hex(), repr(columns), repr(source.declared))
        ).encode()
        self._key = hashlib.blake2b(key=short_key(key), digest_size=32, person=b"ranges: content").digest()
        name = hashlib.blake2b(self._bound, key=short_key(key), digest_size=16, person=b"ranges: name")
        self._path = folder / f"{name.hexdigest()}.ranges"

    def read(self) -> list[RowGroup] | None:
        """The row groups; None where nothing is kept, or it was changed."""
        from cryptography.exceptions import InvalidTag  # only loaded here
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            data = untrusted.read(self._path, untrusted.MANIFEST_BYTES)
            plain = AESGCM(self._key).decrypt(data[:_NONCE], data[_NONCE:], self._bound)
        except (OSError, UnsafeFile, InvalidTag, ValueError):
            return None
        return msgspec.json.decode(plain, type=list[RowGroup])

    def write(self, groups: list[RowGroup]) -> None:
        """Keep them; where that fails, the next question measures again."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE)
        data = nonce + AESGCM(self._key).encrypt(nonce, msgspec.json.encode(groups), self._bound)
        part = self._path.with_suffix(f".{secrets.token_hex(8)}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(data)
            part.replace(self._path)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def default_cache() -> Path | None:
    """The user's cache folder for measurements; None for a user without a home."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "")
    if not cache.is_absolute():
        try:
            cache = Path.home() / ".cache"
        except RuntimeError:
            return None
    return cache / "safeside" / "ranges"
