"""Whether the export covers the window: by declaration, or shown by rows on both sides of it.

An export that was cut at noon looks like one with a quiet afternoon. So a window is counted only where its
coverage was declared, or where rows lie wholly before *and* wholly after it, within one day. The day is the
same for all data, and no message names a time from them. Declarations are compared and never published.

A declaration is an interval (`A/B`), or how the files are named, which says it for every file to come:
`visits-%Y-%m-%d.csv` is one file for each local day.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final

import narwhals as nw

from safeside import untrusted
from safeside.errors import BadFile, BadQuestion, UnsafeFile
from safeside.visits.findings import Doubt, Finding
from safeside.visits.read.engines import collect
from safeside.visits.read.format import Expected, VisitFormat
from safeside.visits.read.paths import COVERS
from safeside.visits.read.source import Source
from safeside.visits.times.window import Window, local_midnight, written
from safeside.zones import find_zone

_NEAR: Final = timedelta(days=1)
"""How near to the window a row must lie to show that the input goes on beyond it."""
_PARTS: Final = {"Y": r"\d{4}", "m": r"\d{2}", "d": r"\d{2}", "H": r"\d{2}"}
_FOLDER: Final = "folder"
_TOKEN: Final = re.compile(r"%(.)|(\*)")
_DECLARE: Final = (
    '`covers="A/B"`, or covers in safeside.toml, or a file covers.toml beside the visits; where there is one '
    'file a day, named by its date, once: `covers="visits-%Y-%m-%d.csv"`'
)

Span = tuple[datetime, datetime]


@dataclass(frozen=True, kw_only=True)
class Needed:
    """What the input must cover for a question: the window, and what the counting rule looks at around it."""

    start: datetime
    end: datetime
    instant: bool

    @classmethod
    def of(cls, window: Window, declared: VisitFormat, until: datetime | None) -> Needed:
        """For a window; `until` is the moment up to which it is asked about, where it was not over."""
        before, after = declared.reach
        end = window.end + after if until is None else max(window.start, min(window.end, until))
        return cls(start=window.start - before, end=end, instant=window.instant and not after)

    def within(self, spans: Iterable[Span]) -> bool:
        """Whether the spans, put together, cover it without a gap."""
        at = self.start
        for start, end in sorted(spans):
            if start > at:
                break
            at = max(at, end)
        return at > self.end if self.instant else at >= self.end and at > self.start

    def text(self, zone: str | None) -> str:
        """From when to when, on the clock of the visits: it follows from the question alone."""
        shown = [at.astimezone(UTC if zone is None else find_zone(zone)) for at in (self.start, self.end)]
        return " to ".join(at.isoformat(timespec="minutes") for at in dict.fromkeys(shown))


def coverage(
    source: Source, window: Window, known: Expected, *, until: datetime | None = None
) -> list[Finding]:
    """Why the input may not cover the window; nothing where it does."""
    needed = Needed.of(window, source.declared, until)
    asked = needed.text(source.declared.timezone)
    said = _declarations(source, known)
    if said:
        parts = [spans for text, paths in said for spans in _spans(text, paths, source.declared)]
        if all(map(needed.within, parts)):
            return []
        reason = f"the visits must cover {asked} for this question, and are declared to cover less"
        do = (
            "Ask about a time that the export covers, or export again; or correct what is declared "
            "(`covers=`, covers in safeside.toml, or covers.toml beside the visits)."
        )
        if until is not None:
            do += " If the time was not over at the export, give its moment as `known_on=`."
    else:
        sides = _unseen_sides(source, needed)
        if not sides:
            return []
        reason = (
            f"nothing shows that the visits cover all of the time asked about ({asked}): nobody declared it, "
            f"and no row lies wholly {' or '.join(sides)} it within a day"
        )
        do = f"If the export covers it, declare so ({_DECLARE}). If it does not, export again."
    return [Finding(doubt=Doubt.COVERAGE, reason=reason, do=do)]


def _declarations(source: Source, known: Expected) -> list[tuple[str, tuple[Path, ...]]]:
    """What is declared, and of which files; each part must cover a window for all of them to do."""
    paths = () if source.opened is None else source.opened.paths
    if known.covers is not None:
        return [(written(known.covers), paths)]
    if source.opened is None:
        return []
    beside: dict[Path | None, list[Path]] = {}
    for path in paths:
        beside.setdefault(_manifest_of(path, source.opened.found.given), []).append(path)
    if None in beside and len(beside) > 1:
        raise BadFile(
            f"A file {COVERS} stands beside some of the visits, and none beside others.",
            "Write one for every folder, or one into the folder that holds them all.",
        )
    return [(_read(manifest), tuple(files)) for manifest, files in beside.items() if manifest is not None]


def _manifest_of(path: Path, given: Iterable[str | Path]) -> Path | None:
    """The file that says what a file covers: beside it, or in a folder above it that was given."""
    tops = [Path(each) for each in given]
    inside = [folder for folder in path.parents[1:] if any(top in (folder, *folder.parents) for top in tops)]
    found = (folder / COVERS for folder in (path.parent, *inside))
    return next((manifest for manifest in found if os.path.lexists(manifest)), None)


def _read(manifest: Path) -> str:
    try:
        content = tomllib.loads(untrusted.read(manifest, untrusted.KEY_BYTES, follow=True).decode())
    except (OSError, UnsafeFile, UnicodeDecodeError, tomllib.TOMLDecodeError):
        content = {}
    if set(content) != {"covers"} or not isinstance(content["covers"], str):
        raise BadFile(
            f"{COVERS} beside the visits does not say what they cover.",
            'Write one line into it, such as covers = "2024-03-01/2024-03-08", and nothing else.',
        )
    return str(content["covers"])


def _spans(text: str, paths: tuple[Path, ...], declared: VisitFormat) -> list[list[Span]]:
    """What is declared, as spans of time that together cover something: a list for each folder by itself."""
    if "%" not in text:
        window = Window.parse(text, declared.timezone)
        if window.instant:
            raise BadQuestion(
                "What the visits cover is declared as one moment.",
                'Declare an interval or a date: `covers="2024-03-01/2024-03-08"`.',
            )
        return [[(window.start, window.end)]]
    pattern = _pattern(text)
    zone = declared.local
    if zone is None or not paths:
        raise BadQuestion(
            "What the visits cover is declared by the names of files, and "
            + ("there are none." if zone is not None else "no time zone is declared for the dates in them."),
            'Declare an interval (`covers="A/B"`) for a dataframe; and the zone of the dates (`timezone=`).',
        )
    folders: dict[tuple[str, ...], list[Span]] = {}
    for path in paths:
        folder, span = _named(path, pattern, zone)
        folders.setdefault(folder, []).append(span)
    return list(folders.values())


def _pattern(text: str) -> re.Pattern[str]:
    """The names of files as a regular expression, with the parts of a date in it, and the folders that differ
    (a * before the date, in the name of a folder).
    """
    parts = [token[1] for token in _TOKEN.finditer(text) if token[1]]
    if sorted(set(parts) | {"H"}) != ["H", "Y", "d", "m"] or len(parts) != len(set(parts)):
        raise BadQuestion(
            "The names of files do not tell a date.",
            "Write them with %Y, %m and %d (and %H for hours), each once, and * for what differs: "
            '`covers="visits-%Y-%m-%d-*.csv"`.',
        )
    written, at = "", 0
    folders = text[: text.index("%")].rpartition("/")[0]
    for token in _TOKEN.finditer(text):
        written += re.escape(text[at : token.start()])
        if token[1]:
            written += f"(?P<{token[1]}>{_PARTS[token[1]]})"
        else:
            written += f"(?P<{_FOLDER}{at}>[^/]*)" if token.start() < len(folders) else "[^/]*"
        at = token.end()
    return re.compile(rf"(?:.*/)?{written}{re.escape(text[at:])}")


def _named(path: Path, pattern: re.Pattern[str], zone: tzinfo) -> tuple[tuple[str, ...], Span]:
    """The folders that differ, and the local day, or hour, that the name of a file tells."""
    found = pattern.fullmatch(path.as_posix())
    try:
        if found is None:
            raise ValueError
        said = found.groupdict()
        folder = tuple(said.pop(name) for name in list(said) if name.startswith(_FOLDER))
        part = {name: int(number) for name, number in said.items()}
        day = date(part["Y"], part["m"], part["d"])
        if "H" in part:
            hours = [datetime(day.year, day.month, day.day, part["H"], tzinfo=zone, fold=f) for f in (0, 1)]
            return folder, (hours[0].astimezone(UTC), hours[1].astimezone(UTC) + timedelta(hours=1))
        return folder, (local_midnight(day, zone), local_midnight(day + timedelta(days=1), zone))
    except (ValueError, OverflowError):
        raise BadFile(
            f"The name of {path.name} is not as it was declared to be, or tells no date (`covers=`).",
            "Give only files that are named so, or declare what they cover as an interval A/B.",
        ) from None


def _unseen_sides(source: Source, needed: Needed) -> list[str]:
    """On which sides of it no row lies, of the rows that are surely not in it."""
    first, last = source.roles.times[0], source.roles.times[-1]
    begins, ends = nw.col(first), nw.col(last)
    clock, closing = source.clocks[first], source.clocks[last]
    # A clock says of a time what *may* be, so that what is denied here is sure.
    over = ~closing.after(ends, needed.start) & ~clock.since(begins, needed.start)
    over = over & closing.since(ends, needed.start - _NEAR)
    reached = clock.at_or_before(begins, needed.end) if needed.instant else clock.before(begins, needed.end)
    beyond = ~reached & clock.before(begins, needed.end + _NEAR)
    asked = [
        nw.when(side).then(nw.lit(1)).otherwise(nw.lit(0)).max().alias(name)
        for name, side in (("before", over), ("after", beyond))
    ]
    query = source.frame.select(asked)
    (seen,) = collect([query], source.progress, "Looking for rows before and after the window")
    return [name for name in ("before", "after") if not seen[name].item()]
