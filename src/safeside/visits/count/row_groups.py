"""Row groups that hold nothing of a window: looked at once, and not again while the file stays the same.

Logs are written in the order of time, so a day is in few row groups of a Parquet file. Which ones, the file's
own statistics would say, and they may be wrong; then people would be missing. So the times of all rows are
read once. Of each row group is noted the first start and the last end, if all its times are plausible and
nothing is doubtful wherever it lies; otherwise the group is always read.

The notes belong to the bytes: they are kept under a keyed digest of the whole file, which a publication takes
anyway, and encrypted and authenticated by a key that only the ledger has. Whoever can write where they are
kept can take them away, and cannot change them; whoever reads them learns nothing. Declarations that decide
what is doubtful are part of the digest, and so is the version of this rule.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import narwhals as nw
import polars as pl

from safeside.progress import Progress
from safeside.visits.count.row_checks import doubtful, row_checks
from safeside.visits.read.engines import collect
from safeside.visits.read.files import short_key
from safeside.visits.read.parquet import row_groups
from safeside.visits.read.roles import TimeForm
from safeside.visits.read.source import Source
from safeside.visits.times.clocks import AFTER_1970, Stamps
from safeside.visits.times.window import LATEST, Window

_VERSION: Final = "row groups 1"
_NONCE: Final = 12
_AT_ONCE: Final = 16
_MOST_RUNS: Final = 16
"""More pieces of one file than that take longer than reading all of it."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Group:
    """A row group: its rows, and the first start and last end in microseconds, None if it is always read."""

    rows: int
    first: int | None
    last: int | None

    def may_hold(self, window: Window) -> bool:
        """Whether a row of it may touch the window, or has to be looked at anyway."""
        if self.first is None or self.last is None:
            return True
        begins, ends = ((at - _EPOCH) // timedelta(microseconds=1) for at in (window.start, window.end))
        begun = self.first <= ends if window.instant else self.first < ends
        return begun and self.last >= begins


def skip_row_groups(source: Source, window: Window, key: bytes, folder: Path, progress: Progress) -> Source:
    """The same visits without the row groups that surely hold nothing of the window and nothing doubtful."""
    if not _applies(source):
        return source
    opened = source.opened
    assert opened is not None
    kept: list[tuple[Path, tuple[int, int] | None]] = []
    for path, digest in zip(opened.paths, opened.digests, strict=True):
        notes = _Notes(folder, key, digest, source)
        groups = notes.read()
        if groups is None:
            groups = look(source, path, progress)
            notes.write(groups)
        kept += [(path, run) for run in runs(groups, window)]
    if kept == [(path, None) for path in opened.paths]:
        return source
    return source.only(opened.scan_runs(kept))


def _applies(source: Source) -> bool:
    """Stays in Parquet files, by zoned times, of which nothing but the times says whether they count."""
    return (
        source.opened is not None
        and not source.opened.text
        and bool(source.opened.digests)
        and source.roles.when is TimeForm.STAYS
        and not source.roles.movement
        and source.declared.stay_rule is None
        and all(isinstance(source.clocks[role], Stamps) for role in ("start", "end"))
    )


def runs(groups: list[Group], window: Window) -> list[tuple[int, int] | None]:
    """Which rows to read, as first row and number; [None] for all of them, where little would be gained."""
    found: list[tuple[int, int]] = []
    at = 0
    for group in groups:
        if group.may_hold(window):
            if found and sum(found[-1]) == at:
                found[-1] = (found[-1][0], found[-1][1] + group.rows)
            else:
                found.append((at, group.rows))
        at += group.rows
    if len(found) > _MOST_RUNS or 2 * sum(rows for _, rows in found) > at:
        return [None]
    return list(found)


def look(source: Source, path: Path, progress: Progress) -> list[Group]:
    """Read the times of a file, row group by row group, in the pieces in which they will be read."""
    frame = source.file(path)
    start, end = (nw.col(role).dt.timestamp("us") for role in ("start", "end"))
    clock = source.clocks["start"]
    plain = clock.since(nw.col("start"), AFTER_1970) & clock.before(nw.col("start"), LATEST)
    doubt = doubtful(row_checks(source, None, None)).fill_null(value=True)
    fine = (plain & (nw.col("end") >= nw.col("start"))).fill_null(value=False) & ~doubt
    sums = (nw.len().alias("rows"), start.sum().alias("starts"), end.sum().alias("ends"))
    asked = (*sums, start.min().alias("first"), end.max().alias("last"), fine.all().alias("fine"))
    answers: list[pl.DataFrame] = []
    at = 0
    queries = []
    for rows in row_groups(path):
        queries.append(nw.from_native(frame.to_native().slice(at, rows)).select(*asked))
        at += rows
    for begin in range(0, len(queries), _AT_ONCE):
        answers += collect(queries[begin : begin + _AT_ONCE], progress, "Looking at the times once")
    (whole,) = collect([frame.select(*sums)], progress, "Looking at the times once")
    if not answers or not pl.concat(answers).select(pl.col("rows", "starts", "ends").sum()).equals(whole):
        # Pieces that are not the whole: a footer that lies. Read everything, always.
        return [Group(rows=int(whole["rows"].item()), first=None, last=None)]
    return [_group(each) for each in answers]


def _group(answer: pl.DataFrame) -> Group:
    rows, first, last, fine = (answer[name].item() for name in ("rows", "first", "last", "fine"))
    sure = bool(fine) and first is not None and last is not None
    return Group(rows=rows, first=first if sure else None, last=last if sure else None)


class _Notes:
    """Where the notes of one file are kept: under a name, and by a key, that follow from the ledger's."""

    def __init__(self, folder: Path, key: bytes, digest: bytes, source: Source) -> None:
        columns = {role: source.roles.columns[role] for role in ("start", "end")}
        self._bound = "\n".join((_VERSION, digest.hex(), repr(columns), repr(source.declared))).encode()
        self._key = hashlib.blake2b(key=short_key(key), digest_size=32, person=b"ranges: content").digest()
        name = hashlib.blake2b(self._bound, key=short_key(key), digest_size=16, person=b"ranges: name")
        self._path = folder / f"{name.hexdigest()}.ranges"

    def read(self) -> list[Group] | None:
        """What is known; None where nothing is, or somebody changed it."""
        from cryptography.exceptions import InvalidTag  # for which counting has no other use
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            data = self._path.read_bytes()
            plain = AESGCM(self._key).decrypt(data[:_NONCE], data[_NONCE:], self._bound)
        except (OSError, InvalidTag, ValueError):
            return None
        return [Group(rows=rows, first=first, last=last) for rows, first, last in json.loads(plain)]

    def write(self, groups: list[Group]) -> None:
        """Keep it; where that cannot be, the next question looks again."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        plain = json.dumps([(each.rows, each.first, each.last) for each in groups]).encode()
        nonce = secrets.token_bytes(_NONCE)
        data = nonce + AESGCM(self._key).encrypt(nonce, plain, self._bound)
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
    """Where notes are kept unless said otherwise: the user's own cache; None for a user without a home."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "")
    if not cache.is_absolute():
        try:
            cache = Path.home() / ".cache"
        except RuntimeError:
            return None
    return cache / "safeside" / "ranges"
