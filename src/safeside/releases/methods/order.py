"""In which order places are asked when answers are sparse: from public knowledge only, and written down.

An order taken from the private data would be an output nobody paid for. What is offered here is the public
popularity of a place, an earlier release, a file, or chance.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np

from safeside import records, untrusted
from safeside.errors import BadFile, BadQuestion, UnsafeFile
from safeside.noise.entropy import Entropy, system_entropy
from safeside.records import Part, PlainText
from safeside.releases.answers import Label, labels
from safeside.releases.methods.base import Whole
from safeside.visits import Places

_KEY_WORDS: Final = 8


class Order(Part, frozen=True, kw_only=True):
    """How places are asked; the digest of the list as it was asked, where chance does not decide it."""

    kind: Literal["popularity", "random", "release", "file"]
    sha256: str | None = None
    release: PlainText | None = None
    """The earlier release, where its bounds are the order."""


def digest_of(named: Sequence[Label], ranks: Whole) -> str:
    """What stands for an order in a question."""
    return records.digest(records.canonical([list(named[at]) for at in ranks]))


def by_chance(number: int, entropy: Entropy | None = None) -> Whole:
    """An order drawn without a look at the data."""
    source = entropy or system_entropy()
    # Sorting by long random keys is a fair shuffle, up to a tie with probability below n^2 / 2^128.
    keys = source.uint16(number * _KEY_WORDS).reshape(_KEY_WORDS, number)
    return np.lexsort(tuple(keys)).astype(np.int64)


def read_order(wanted: str | None, places: Places, windows: Sequence[str]) -> tuple[Order, Whole | None]:
    """The order a question names (popularity, random, release:DIR or file:PATH), and the conditions in it.

    Where there are several windows, each place is asked about all of them before the next.
    """
    if wanted is None:
        wanted = "popularity" if places.popularity is not None else "random"
    kind, _, where = wanted.partition(":")
    release = None
    if kind == "random" and not where:
        return Order(kind="random"), None
    if kind == "popularity" and not where:
        ranks = _by_popularity(places)
    elif kind == "release" and where:
        release, ranks = _by_release(Path(where), places)
    elif kind == "file" and where:
        ranks = _by_file(Path(where), places)
    else:
        raise BadQuestion(
            f'"{wanted}" is not an order places can be asked in.',
            'Give `order=` as "popularity", "random", "release:DIR" (an earlier release) or "file:PATH" (a '
            "list of places).",
        )
    ranks = (ranks[:, None] + len(places) * np.arange(len(windows), dtype=np.int64)).ravel()
    named = labels(places.ids, windows, ("",))
    return Order(kind=kind, sha256=digest_of(named, ranks), release=release), ranks  # type: ignore[arg-type]


def _by_popularity(places: Places) -> Whole:
    if places.popularity is None:
        raise BadQuestion(
            "The places file has no popularity to order the places by.",
            "Add a column `popularity` from public knowledge, or choose another `order=`.",
        )
    return np.argsort(np.asarray(places.popularity), kind="stable").astype(np.int64)


def _by_release(directory: Path, places: Places) -> tuple[str, Whole]:
    from safeside.releases.release import load_release
    from safeside.releases.verify import check_files

    earlier = load_release(directory)
    # Anybody can write a list of bounds: only one that is a whole release, unaltered, is an earlier release.
    check_files(earlier)
    if earlier.simulated:
        raise BadQuestion(
            f'"{directory}" is a simulation, not a release.', "Give the directory of an earlier release."
        )
    said = earlier.answers
    most = int(said.upper.max()) + 1 if len(said) else 1
    bound: dict[str, int] = {}
    for place, upper, bounded in zip(said.places, said.upper, said.bounded, strict=True):
        bound[place] = max(bound.get(place, 0), int(upper) if bounded else most)
    keys = np.array([bound.get(place, most + 1) for place in places.ids], dtype=np.int64)
    return earlier.id, np.argsort(keys, kind="stable").astype(np.int64)


def _by_file(path: Path, places: Places) -> Whole:
    try:
        text = untrusted.read(path, untrusted.DATA_BYTES, follow=True).decode("utf-8-sig")
        rows = [row[0] for row in csv.reader(io.StringIO(text, newline="")) if row]
    except (OSError, UnsafeFile, UnicodeDecodeError, csv.Error):
        raise BadFile(
            f'The order file "{path}" cannot be read.',
            "Give a text file (UTF-8) with one place in each line, first asked first.",
        ) from None
    listed = rows[1:] if rows[:1] == ["place"] else rows
    number = {place: at for at, place in enumerate(places.ids)}
    if sorted(listed) != sorted(number):
        raise BadFile(
            f'The order file "{path}" does not list every place of the places file exactly once.',
            "Write one place in each line, each place once, and none that is not on the list.",
        )
    return np.array([number[place] for place in listed], dtype=np.int64)
