"""A publisher's desk in miniature: data, list, ledger and key, and the real `publish` on scripted randomness.

Everything stands in one temporary directory that is put back as it was before each release, so that two
releases differ by their data and their randomness alone.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar
from unittest import mock

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside import exact, records
from safeside.exact import Ball
from safeside.ledger import create_ledger, open_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.mechanisms.laws import Law
from safeside.noise.entropy import Entropy, simulated_entropy
from safeside.privacy.account import Budget
from safeside.releases.asking import ask
from safeside.releases.files import compose
from safeside.releases.publish import publish
from safeside.releases.record import SIGNATURE
from safeside.releases.release import Release, hold
from safeside.releases.signing import create_key
from safeside.visits import Expected, Places

WHEN: Final = "2021-06-03T12:00:00+00:00"
_KNOWN_ON: Final = datetime(2021, 6, 10, tzinfo=UTC)
_DATASET: Final = "city"
_NOBODY: Final = "allow_nobody"
"""An argument that is about the run, not the question."""
_CAP: Final = Fraction(100)
_DELTA_CAP: Final = Fraction(1, 2)
_WORD: Final = 16
CELLS: Final = 1 << _WORD
_MANY: Final = 4
"""Cells of one value, of which some are not at a border."""
_EDGE: Final = Fraction(1, 1 << 10)
"""How near the edge of its region a number lies, in parts of its width."""
STEADY: Final = "Z"
"""A place at which there is always exactly one person, so that somebody is counted on every dataset."""
HOURS: Final = {"when": "2021-06-03T11:00:00+00:00/2021-06-03T13:00:00+00:00", "every": "1h"}
"""A question about two windows; everybody is there in both, unless marked `LATER`."""
TWO_HOURS: Final[Mapping[str, Any]] = {"when": HOURS["when"]}
"""An interval, in which one person may be at several places."""
TWO_PLACES_A_PERSON: Final[Mapping[str, Any]] = {"max_places_per_person": 2}
"""A limit that the dataset is made with."""
LATER: Final = "+"
"""A place with this mark is visited in the second hour only."""


Condition = tuple[str, int]
"""A place, and the number of its window; or a group, and that of a measure."""
replaced = mock.patch.object
"""Put something else in the place of an attribute, for as long as the block lasts."""


class Scripted:
    """Randomness that is written down beforehand; what is asked beyond it comes from a fixed stream."""

    simulated: Final = False
    """It stands in for the system's source, which is what a release is drawn from."""

    def __init__(self, words: Sequence[int] | NDArray[np.uint16] = (), *, seed: int = 0) -> None:
        self._words = np.asarray(words, dtype=np.uint16)
        self._rest = simulated_entropy(seed)
        self.taken = 0
        """How many 16-bit numbers were asked for."""

    def uint16(self, n: int) -> NDArray[np.uint16]:
        self.taken += n
        given, self._words = self._words[:n], self._words[n:]
        return given if given.size == n else np.concatenate([given, self._rest.uint16(n - given.size)])

    def bits(self, n: int) -> int:
        # A single draw takes its first bits as one number.
        return int(self.uint16(1)[0]) if n == _WORD else self._rest.bits(n)


def words_for(law: Law, most: int) -> list[int]:
    """For each value 0..most of the noise, a 16-bit word that the sampler turns into it."""
    return words_that_draw(lambda source: law.add_to(np.zeros(CELLS, dtype=np.int64), source), most)


def words_that_draw(sampler: Callable[[Entropy], NDArray[np.int64]], most: int) -> list[int]:
    """For each value 0..most, a word that leads to it; the sampler is asked for one draw a cell."""
    values = sampler(Scripted(np.arange(CELLS, dtype=np.uint16)))
    # The cells of a value lie side by side; the one at each border may need more bits. The next is so near
    # the border that with other noise it leads to another value: with more where it is the last, with less
    # where it is the first.
    cells = [np.flatnonzero(values == value) for value in range(most + 1)]
    return [
        int(found[found.size // 2 if found.size < _MANY else 1 if value % 2 else -2])
        for value, found in enumerate(cells)
    ]


def just_below(high: Ball, width: Ball) -> tuple[int, ...]:
    """A number below this bound, within its region, as four 16-bit numbers, the last digits first."""
    return _limbs(exact.lower(high) - exact.lower(width) * _EDGE)


def just_above(low: Ball, width: Ball) -> tuple[int, ...]:
    """A number above this bound, within its region, in the same way."""
    return _limbs(exact.upper(low) + exact.lower(width) * _EDGE)


def _limbs(number: Fraction) -> tuple[int, ...]:
    word = int(number * (1 << 64))
    return tuple(word >> shift & 0xFFFF for shift in (0, 16, 32, 48))


@dataclass(frozen=True, kw_only=True)
class Made:
    """One release: every file as bytes, and what the ledger keeps of it."""

    files: Mapping[str, bytes]
    charged: Fraction
    """What the ledger holds for it, net of what came back."""
    charged_delta: Fraction
    release: Release
    """As it was read from the disk again."""

    def answers(self) -> dict[Condition, tuple[str, int | None]]:
        """State and upper bound of each place in each window, or of each group by each measure."""
        return {condition: (row["state"], row["upper_bound"]) for condition, row in self._rows()}

    def lower_bounds(self) -> dict[Condition, int]:
        """What there are at least: for certain, or at the confidence that was asked for."""
        return {condition: row["lower_bound"] for condition, row in self._rows()}

    def _rows(self) -> Iterator[tuple[Condition, dict[str, Any]]]:
        return by_condition(pl.read_csv(self.files["answers.csv"]).to_dicts())

    def other_than_follows(self, places: Places) -> str | None:
        """A file that is not what answers and question alone give, if there is one."""
        record = msgspec.structs.replace(self.release.record, answers={}, files={})
        made = compose(record, self.release.answers, self.release.conditions, places)
        # Made by whoever holds the key, and about the other files.
        others = (name for name in self.files if name != SIGNATURE and made[name] != self.release.file(name))
        return next((f"{name} is not what follows from answers and question" for name in others), None)

    def outcome(self) -> dict[str, int]:
        """What was drawn of all conditions together; nothing where the method publishes no such thing."""
        drawn: dict[str, int] = json.loads(self.files["release.json"]).get("outcome", {})
        return drawn


def by_condition(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[Condition, dict[str, Any]]]:
    """Rows of answers with their conditions: windows are numbered by time, measures as they come."""
    target = "group" if "group" in rows[0] else "place"
    again = "measure" if "measure" in rows[0] else "window" if target == "place" else "as_of"
    names = list(dict.fromkeys(row[again] for row in rows))
    number = {name: at for at, name in enumerate(sorted(names) if again == "window" else names)}
    for row in rows:
        yield (row[target], number[row[again]]), row


class Desk:
    """One publisher. A dataset lists, for each person, the places they are at."""

    def __init__(self, home: Path, listed: Mapping[str, Sequence[Any]], limits: Mapping[str, Any]) -> None:
        self._home, self._kept = home / "desk", home / "kept"
        self._kept.mkdir(parents=True)
        pl.DataFrame(listed).write_csv(self._kept / "list.csv")
        create_key(self._kept / "key", now=_KNOWN_ON)
        self._kept.rename(self._home)
        with create_ledger(self._home / "ledger.db", now=_KNOWN_ON) as ledger:
            ledger.create_dataset(_DATASET, "person", _CAP, _DELTA_CAP, now=_KNOWN_ON, **limits)
        shutil.copytree(self._home, self._kept)

    def publish(
        self, dataset: Sequence[frozenset[str]], entropy: Entropy | None, terms: Mapping[str, Any]
    ) -> Made:
        """Put everything back as it was at first, write the dataset, publish, and read what came out."""
        shutil.rmtree(self._home)
        shutil.copytree(self._kept, self._home)
        self.table(dataset).write_csv(self._home / "data.csv")
        out = self._home / "release"
        publish(
            self._home / "data.csv",
            dataset=_DATASET,
            ledger=self._home / "ledger.db",
            key=self._home / "key",
            out=out,
            known_on=_KNOWN_ON,
            request_id="r-audit",
            entropy=entropy,
            expected=self.expected,
            **self._asked(terms),
        )
        files = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
        charged = self.charged()
        return Made(
            files=_without_chance(files),
            charged=charged.epsilon,
            charged_delta=charged.delta,
            release=hold(out, files),
        )

    def charged(self) -> Budget:
        """What the ledger holds for everything so far."""
        with open_ledger(self._home / "ledger.db") as ledger:
            return Budget(epsilon=_CAP, delta=_DELTA_CAP) - ledger.remaining(_DATASET)

    def places(self, terms: Mapping[str, Any]) -> Places:
        """The list as a question with these terms reads it."""
        return ask(**{name: value for name, value in self._asked(terms).items() if name != _NOBODY}).places

    def _asked(self, terms: Mapping[str, Any]) -> dict[str, Any]:
        return {self.about: self._home / "list.csv", **self.always, **terms}

    about: ClassVar[str] = "places"
    """The argument that names the list of what is asked about."""
    always: ClassVar[Mapping[str, Any]] = {"when": WHEN}
    """What is asked unless the terms say otherwise."""
    expected: ClassVar[Expected] = Expected(unlisted="100%")
    """What is declared of the data, and not published: as much as there is may be left out."""

    def table(self, dataset: Sequence[frozenset[str]]) -> pl.DataFrame:
        """Stays of two hours around noon; and somebody before and after, so that the file covers the time."""
        stays = [(f"person {number}", place) for number, one in enumerate(dataset) for place in sorted(one)]
        rows = [
            (person, place.removesuffix(LATER), 12 if place.endswith(LATER) else 11, 13)
            for person, place in [*stays, ("steady", STEADY)]
        ]
        rows += [("early", STEADY, 1, 2), ("late", STEADY, 22, 23)]
        return pl.DataFrame(
            {
                "person": [row[0] for row in rows],
                "place": [row[1] for row in rows],
                "start": [f"2021-06-03T{row[2]:02}:30:00+00:00" for row in rows],
                "end": [f"2021-06-03T{row[3]:02}:30:00+00:00" for row in rows],
            }
        )


def _without_chance(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files without the ledger's reference, which is drawn by chance, and without what hashes it."""
    record = json.loads(files["release.json"])
    reference = record["ledger"]["reference"].encode()
    record["files"] = {name: entry["bytes"] for name, entry in record["files"].items()}
    envelope = json.loads(files["signature.json"])
    signed = {**json.loads(base64.b64decode(envelope["payload"])), "sha256": ""}
    signature = {"keyid": envelope["signatures"][0]["keyid"], "signed": signed}
    read = {
        **files,
        "release.json": records.canonical(record),
        "signature.json": records.canonical(signature),
    }
    return {name: data.replace(reference, b"REFERENCE") for name, data in read.items()}


def desk(
    places: Sequence[str],
    limits: Sequence[int],
    popularity: Sequence[int] | None = None,
    of_dataset: Mapping[str, int] = MappingProxyType({}),
) -> AbstractContextManager[Desk]:
    """A publisher of visits to these places, which stand on a map, and to the steady one."""
    listed: dict[str, Sequence[Any]] = {"place": [*places, STEADY], "at_most": [*limits, 1]}
    steps = [step / 1000 for step in range(len(places) + 1)]
    listed |= {"latitude": [35 + step for step in steps], "longitude": [139 + step for step in steps]}
    listed |= {} if popularity is None else {"popularity": popularity}
    return opened(Desk, listed, of_dataset)


Kind = TypeVar("Kind", bound=Desk)


@contextmanager
def opened(
    kind: type[Kind], listed: Mapping[str, Sequence[Any]], of_dataset: Mapping[str, int]
) -> Iterator[Kind]:
    """A publisher in a directory of their own, which is gone afterwards; `of_dataset` are its limits."""
    with tempfile.TemporaryDirectory(prefix="safeside-audit-") as directory:
        home = Path(directory).resolve()
        # The second witness belongs to the desk and is put back with it.
        with mock.patch.dict(os.environ, {STATE_VARIABLE: str(home / "desk" / "state")}):
            yield kind(home, listed, of_dataset)
