"""The same files from given counts, without a ledger: to try things out, to teach, to test.

Nothing here protects anybody, and every file says so: a simulation is marked in release.json, in the data
files, on the map, in the report and in the statement, carries no signature, and is refused by `verify`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from safeside import untrusted
from safeside.errors import BadCounts, BadFile, UnsafeFile
from safeside.mechanisms.counts import people_counts
from safeside.noise.entropy import simulated_entropy
from safeside.releases.answers import Label
from safeside.releases.asking import ask
from safeside.releases.basemap import backdrop
from safeside.releases.files import compose
from safeside.releases.methods import Conditions, Whole
from safeside.releases.record import Promised, ReleaseRecord, written
from safeside.releases.release import Release, hold
from safeside.releases.staging import Staging
from safeside.visits import When

WHEN: Final = "2000-01-01T18:00:00+00:00"
"""The moment a simulation is about when none is given."""
AS_OF: Final = "2000-01-01"
"""The date that a simulation of groups is about when none is given."""
_LABELS: Final = (("place", "window"), ("group", "measure"))


def simulate(
    counts: Mapping[str, int] | Mapping[tuple[str, str], int] | str | Path,
    *,
    out: str | Path,
    places: Any = None,
    when: When = WHEN,
    groups: Any = None,
    as_of: str | date | None = None,
    seed: int | None = None,
    basemap: str | Path | None = None,
    known_on: datetime | None = None,
    **asked: Any,
) -> Release:
    """Answer a question about given counts; `seed` repeats a simulation exactly.

    The question is given as for `publish`: `simulate(counts, at_most=2, epsilon=1, out="trial")`. A count has
    its place as its key, or, where the question has several windows, its place and the window's text. Groups
    of people are asked about with `groups`; a count has its group as its key, and the measure where there are
    several.

    Example
        >>> from safeside import simulate
        >>> made = simulate({"library": 7, "museum": 0}, out="release", at_most=2, epsilon=1, seed=1)
        >>> print(made.summary())
        Simulation. Saturday 1 January 2000, 18:00 (UTC).
        At most 2 known infected visitors: 1 of 2 places.
        Cannot say: 1 place.
    """
    given = _labelled(counts) if isinstance(counts, Mapping) else _read(Path(counts))
    if groups is not None:
        inquiry = ask(groups=groups, as_of=as_of or AS_OF, places=places, **asked)
    else:
        listed = places if places is not None else sorted({label[0] for label in given})
        inquiry = ask(places=listed, when=when, as_of=as_of, **asked)
    question, method = inquiry.question, inquiry.question.method
    values = _aligned(given, inquiry.conditions)
    people_counts(values, question.people)
    if question.groups is not None:
        question.groups.require_within(values)
    entropy = None if seed is None else simulated_entropy(seed)
    staging = Staging(out=Path(out), request="simulation")
    staging.require_possible()
    shapes = backdrop(basemap, inquiry.places)
    with staging.turn():
        conditions = replace(inquiry.conditions, known=method.settled(inquiry.conditions, entropy))
        drawn = method.draw(conditions, values, entropy)
        record = ReleaseRecord(
            release="simulation",
            simulated=True,
            known_on=written(known_on or datetime.now(UTC)),
            question=question,
            counted=(question.words("simulation.counted"),),
            mechanism=method.stated(conditions),
            outcome=dict(drawn.outcome),
            guarantee=Promised.of(conditions),
        )
        files = compose(record, method.states(conditions, drawn), conditions, inquiry.places, shapes)
        staging.clear()
        staging.appear(files)
    return hold(Path(out), files)


def _labelled(counts: Mapping[Any, int]) -> dict[Label, int]:
    return {(key,) if isinstance(key, str) else tuple(key): count for key, count in counts.items()}


def _read(path: Path) -> dict[Label, int]:
    """A CSV file with the columns `place` and `count`, and `window` where there are several.

    Of groups: `group` and `count`, and `measure` where there are several.
    """
    try:
        text = untrusted.read(path, untrusted.DATA_BYTES, follow=True).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnsafeFile, UnicodeDecodeError, csv.Error):
        raise _refuse(path, "cannot be read") from None
    named = next((one for one in _LABELS if rows and {one[0], "count"} <= rows[0].keys()), None)
    if named is None:
        raise _refuse(path, "has no rows, or no columns `place` and `count` (`group` and `count`)")
    names = tuple(name for name in named if name in rows[0])
    given: dict[Label, int] = {}
    for line, row in enumerate(rows, start=2):
        label, count = tuple(row[name] for name in names), row["count"]
        if not all(label) or label in given or count is None or not count.strip().isdecimal():
            raise _refuse(path, f"is wrong in line {line}: each {names[0]} once, each count a whole number")
        given[label] = int(count)
    return given


def _aligned(given: Mapping[Label, int], asked: Conditions) -> Whole:
    said = asked.question.target
    each = "in every window" if asked.question.groups is None else "by every measure"
    if given.keys() != set(asked.labels):
        raise BadCounts(
            f"The counts are not those of the {said}s: one is missing, or one is not on the list.",
            f"Give a count for every {said} of the {said}s file ({each}, where there are several), 0 where "
            "nobody is, and for no other.",
        )
    return np.array([given[label] for label in asked.labels], dtype=np.int64)


def _refuse(path: Path, why: str) -> BadFile:
    return BadFile(
        f'The counts file "{path}" {why}.',
        "Give a CSV file (UTF-8) with the columns `place` and `count`, or, of groups, `group` and `count`.",
    )
