"""In which order places are asked when answers are sparse: from public knowledge only, and written down.

An order taken from the private data would be an output nobody paid for. What is offered here is the public
popularity of a place, an earlier release, a file, or chance.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside import untrusted
from safeside.errors import BadFile, BadQuestion, UnsafeFile
from safeside.noise.entropy import Entropy, system_entropy
from safeside.releases.artefacts import places_digest
from safeside.releases.contents import check_contents
from safeside.releases.release import load
from safeside.visits import Places

POPULARITY: Final = "popularity"
RANDOM: Final = "random"
RELEASE: Final = "release"
FILE: Final = "file"
KINDS: Final = (POPULARITY, RANDOM, RELEASE, FILE)
_KEY_WORDS: Final = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Order:
    """How places are asked: `ranks` lists their numbers, first asked first; None until chance decides."""

    kind: str
    text: str
    ranks: NDArray[np.int64] | None

    def record(self, places: Places) -> dict[str, str]:
        """As the question has it, before anything is drawn."""
        if self.ranks is None:
            return {"kind": self.kind, "sha256": ""}
        return {"kind": self.kind, "sha256": places_digest([places.ids[at] for at in self.ranks])}

    def settle(self, number: int, entropy: Entropy | None = None) -> NDArray[np.int64]:
        """The order itself; a random one is drawn here, without a look at the data."""
        if self.ranks is not None:
            return self.ranks
        source = entropy or system_entropy()
        # Sorting by long random keys is a fair shuffle, up to a tie with probability below n^2 / 2^128.
        keys = source.uint16(number * _KEY_WORDS).reshape(_KEY_WORDS, number)
        return np.lexsort(tuple(keys)).astype(np.int64)


def read_order(wanted: str | None, places: Places) -> Order:
    """The order a question names: popularity, random, release:DIR or file:PATH."""
    if wanted is None:
        wanted = POPULARITY if places.popularity is not None else RANDOM
    kind, _, where = wanted.partition(":")
    if kind == POPULARITY and not where:
        return _by_popularity(places)
    if kind == RANDOM and not where:
        return Order(kind=RANDOM, text="The places were asked in an order drawn by chance.", ranks=None)
    if kind == RELEASE and where:
        return _by_release(Path(where), places)
    if kind == FILE and where:
        return _by_file(Path(where), places)
    raise BadQuestion(
        f'"{wanted}" is not an order places can be asked in.',
        'Give `order=` as "popularity", "random", "release:DIR" (an earlier release) or "file:PATH" (a '
        "list of places).",
    )


def _by_popularity(places: Places) -> Order:
    if places.popularity is None:
        raise BadQuestion(
            "The places file has no popularity to order the places by.",
            "Add a column `popularity` from public knowledge, or choose another `order=`.",
        )
    return Order(
        kind=POPULARITY,
        text="The places were asked from the least to the most popular, as the public list has it.",
        ranks=np.argsort(np.asarray(places.popularity), kind="stable").astype(np.int64),
    )


def _by_release(directory: Path, places: Places) -> Order:
    earlier = load(directory)
    # Anybody can write a list of bounds: only one that is a whole release, unaltered, is an earlier release.
    check_contents(earlier)
    if earlier.simulated:
        raise BadQuestion(
            f'"{directory}" is a simulation, not a release.', "Give the directory of an earlier release."
        )
    said = earlier.answers
    most = int(said.upper.max()) + 1 if len(said) else 1
    bound = {
        place: int(upper) if bounded else most
        for place, upper, bounded in zip(said.places, said.upper, said.bounded, strict=True)
    }
    keys = np.array([bound.get(place, most + 1) for place in places.ids], dtype=np.int64)
    return Order(
        kind=RELEASE,
        text=f"The places were asked by the upper bounds of the earlier release {earlier.id}, lowest first.",
        ranks=np.argsort(keys, kind="stable").astype(np.int64),
    )


def _by_file(path: Path, places: Places) -> Order:
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
    return Order(
        kind=FILE,
        text="The places were asked in an order given beforehand in a file.",
        ranks=np.array([number[place] for place in listed], dtype=np.int64),
    )
