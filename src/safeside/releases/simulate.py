"""The same files from given counts, without a ledger: to try things out, to teach, to test.

Nothing here protects anybody, and every file says so: a simulation is marked in release.json, in the data
files, on the map, in the report and in the statement, carries no signature, and is refused by `verify`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from safeside import untrusted
from safeside.errors import BadCounts, BadFile, UnsafeFile
from safeside.mechanisms.counts import people_counts
from safeside.noise.entropy import Entropy, simulated_entropy
from safeside.releases.basemap import read_basemap
from safeside.releases.composing import NO_PROMISE, Setting, compose
from safeside.releases.designs import Asked, Whole
from safeside.releases.question import Question, Terms, ask
from safeside.releases.release import Release, hold
from safeside.releases.staging import Staging
from safeside.visits import Places, Window, read_places

WHEN: Final = "2000-01-01T18:00:00+00:00"
"""The moment a simulation is about when none is given."""
COUNTED: Final = "The counts of this simulation were given; nobody's visits were read."


def simulate(
    counts: Mapping[str, int] | str | Path,
    *,
    out: str | Path,
    terms: Terms | None = None,
    places: Any = None,
    when: str = WHEN,
    timezone: str | None = None,
    seed: int | None = None,
    basemap: str | Path | None = None,
    known_on: datetime | None = None,
    **asked: Any,
) -> Release:
    """Answer a question about given counts; `seed` repeats a simulation exactly.

    The question is given as for `publish`: `simulate(counts, at_most=2, epsilon=1, out="trial")`.
    """
    chosen = terms or Terms(**asked)
    given = dict(counts) if isinstance(counts, Mapping) else _read(Path(counts))
    listed = read_places(places if places is not None else sorted(given))
    values = _aligned(given, listed)
    question = ask(listed, Window.parse(when, timezone), chosen, timezone=timezone, counted=(COUNTED,))
    people_counts(values, question.people)
    entropy = None if seed is None else simulated_entropy(seed)
    staging = Staging(out=Path(out), request="simulation")
    staging.require_possible()
    setting = Setting(
        release="simulation",
        known_on=known_on or datetime.now(UTC),
        simulated=True,
        promise=NO_PROMISE,
    )
    backdrop = None if basemap is None else read_basemap(basemap)
    with staging.turn():
        files = _files(question, setting, values, entropy, backdrop)
        staging.clear()
        staging.appear(files)
    return hold(Path(out), files)


def _files(
    question: Question,
    setting: Setting,
    values: Whole,
    entropy: Entropy | None,
    backdrop: dict[str, Any] | None,
) -> dict[str, bytes]:
    order = None if question.order is None else question.order.settle(values.size, entropy)
    asked = Asked(places=question.places.ids, counts=values, thresholds=question.thresholds, order=order)
    drawn = question.design.answer(asked, entropy)
    return compose(question, setting, drawn.answers, order, backdrop)


def _read(path: Path) -> dict[str, int]:
    """A CSV file with the columns `place` and `count`."""
    try:
        text = untrusted.read(path, untrusted.DATA_BYTES, follow=True).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnsafeFile, UnicodeDecodeError, csv.Error):
        raise _refuse(path, "cannot be read") from None
    if not rows or not {"place", "count"} <= rows[0].keys():
        raise _refuse(path, "has no rows, or no columns `place` and `count`")
    given: dict[str, int] = {}
    for line, row in enumerate(rows, start=2):
        place, count = row["place"], row["count"]
        if not place or place in given or count is None or not count.strip().isdecimal():
            raise _refuse(path, f"is wrong in line {line}: each place once, each count a whole number")
        given[place] = int(count)
    return given


def _aligned(given: Mapping[str, int], listed: Places) -> Whole:
    if given.keys() != set(listed.ids):
        raise BadCounts(
            "The counts are not those of the places: one is missing, or one is not on the list.",
            "Give a count for every place of the places file, 0 where nobody is, and for no other.",
        )
    return np.array([given[place] for place in listed.ids], dtype=np.int64)


def _refuse(path: Path, why: str) -> BadFile:
    return BadFile(
        f'The counts file "{path}" {why}.', "Give a CSV file (UTF-8) with the columns `place` and `count`."
    )
