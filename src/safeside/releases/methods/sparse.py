"""Sparse answers: places are asked in an order fixed beforehand, until the last alarm allowed.

An order taken from the private data would be an output nobody paid for. What is offered here is the public
popularity of a place, an earlier release, a file, or chance; and it is written down.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np

from safeside import exact, records, untrusted
from safeside.decisions.compare import Outlook, chances
from safeside.decisions.states import State
from safeside.errors import BadFile, BadQuestion, UnsafeFile
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.sequences import Answer
from safeside.mechanisms.sparse import NO_VALUE
from safeside.noise.entropy import Entropy, system_entropy
from safeside.privacy.account import Cost
from safeside.records import Part, PlainText
from safeside.releases.answers import CODE, Answers, Label, labels
from safeside.releases.methods.base import Conditions, Drawn, Mechanism, Method, Positive, Whole
from safeside.visits import Places

if TYPE_CHECKING:
    from safeside.releases.question import Question

_MOST_IN_TURN = 50_000
_NOT_ASKED = -1
"""Among the values: this place was not reached. Any other is a bound."""
_KEY_WORDS: Final = 8


OrderKind = Literal["popularity", "random", "release", "file"]


class Order(Part, frozen=True, kw_only=True):
    """How places are asked; the digest of the list as it was asked, where chance does not decide it."""

    kind: OrderKind
    sha256: str | None = None
    release: PlainText | None = None
    """The earlier release, where its bounds are the order."""


class SparseCounts(Method, frozen=True, kw_only=True, tag="sparse"):
    """Each place in turn; quiet answers are free, and asking stops after so many alarms."""

    alarms: Positive
    order: Order

    own_arguments = ("max_alarms", "order")
    needs_limit = False
    file = "order.csv"
    possible = frozenset({State.AT_MOST, State.UNCLEAR, State.NOT_ASKED})

    @classmethod
    def asked(cls, places: Places, given: Mapping[str, Any]) -> tuple[Method, Whole | None]:
        if given["max_alarms"] is None and given["order"] is not None:
            raise BadQuestion(
                "`order=` belongs to `max_alarms=`: otherwise every place is asked, and order says nothing.",
                "Leave `order=` out, or give `max_alarms=`.",
            )
        given_alarms = 1 if given["max_alarms"] is None else given["max_alarms"]
        alarms = exact.whole(given_alarms, "`max_alarms=`", least=1)
        order, ranks = read_order(given["order"], places, [window.text for window in given["windows"]])
        return cls(epsilon=given["epsilon"], alarms=alarms, order=order), ranks

    @classmethod
    def certifies(cls, outlook: Outlook) -> float | None:
        # Quietest first; an expected alarm ends it long before so many.
        order = np.argsort(outlook.scores, kind="stable")[:_MOST_IN_TURN]
        counts, limits = outlook.counts[order], outlook.limits[order]
        asked = SAGeo(epsilon_each=outlook.epsilon, alarms=1).reached(counts, limits)
        return float((asked * chances(counts, limits, outlook.epsilon)).sum())

    def check(self, question: Question) -> None:
        if len(question.measures) > 1:
            raise BadQuestion(
                "Groups are asked in turn by one measure only.",
                'Ask without `max_alarms=`, or with `method="selection"`, or about one measure at a time.',
            )

    def mechanism(self, asked: Conditions) -> SAGeo:
        alarms = exact.whole(self.alarms, "`max_alarms=`", least=1)
        most = asked.question.max_conditions
        each = self.epsilon / (alarms if most is None else min(alarms, most))
        return SAGeo(epsilon_each=each, alarms=alarms, max_conditions=most, policy=asked.policy)

    def stated(self, asked: Conditions) -> Mechanism:
        used = self.mechanism(asked)
        return Mechanism(name=used.name, rate=used.rate())

    def cost(self, asked: Conditions, periods: tuple[str, ...]) -> Cost:
        each = exact.fraction(self.mechanism(asked).epsilon_each)
        return Cost(kind=self.kind, epsilon=self.epsilon, periods=periods, epsilon_each=each)

    def settled(self, asked: Conditions, entropy: Entropy | None = None) -> Whole:
        if asked.known is not None:
            return asked.known
        source, number = entropy or system_entropy(), len(asked)
        # Sorting by long random keys is a fair shuffle, up to a tie with probability below n^2 / 2^128.
        keys = source.uint16(number * _KEY_WORDS).reshape(_KEY_WORDS, number)
        return np.lexsort(tuple(keys)).astype(np.int64)

    def draw(self, asked: Conditions, counts: Whole, entropy: Entropy | None = None) -> Drawn:
        order = asked.known
        assert order is not None, "the order is fixed before anything is drawn"
        order = order[~asked.certain[order]]  # what is true without any data is not asked
        sparse = self.mechanism(asked).release(counts[order], asked.at_most[order], entropy=entropy)
        bounds = np.where(sparse.values == NO_VALUE, asked.at_most[order], sparse.values)
        values = asked.at_most.copy()
        values[order] = np.where(sparse.answers == Answer.NOT_ASKED, _NOT_ASKED, bounds)
        return Drawn(values=values, simulated=sparse.simulated, alarms=sparse.alarms)

    def states(self, asked: Conditions, drawn: Drawn) -> Answers:
        values = drawn.values
        reached = values != _NOT_ASKED
        quiet = reached & (values <= asked.at_most)
        states = np.full(values.size, CODE[State.UNCLEAR], dtype=np.uint8)
        states[quiet] = CODE[State.AT_MOST]
        states[~reached] = CODE[State.NOT_ASKED]
        return asked.answered(
            states=states,
            upper=np.where(quiet, asked.at_most, values),
            lower=np.zeros(values.size, dtype=np.int64),
            bounded=reached,
        )

    def values_behind(self, _asked: Conditions, answers: Answers) -> tuple[Whole, ...]:
        return (np.where(answers.bounded, np.maximum(0, answers.upper), _NOT_ASKED),)

    def why_impossible(self, asked: Conditions, answers: Answers, _outcome: Mapping[str, int]) -> str | None:
        """Asked is a beginning of the order, which ended at the last alarm allowed or with the last place."""
        order = asked.known
        assert order is not None
        if self.order.sha256 is not None and digest_of(asked.labels, order) != self.order.sha256:
            return "the order in which places were asked is not the one in the question"
        states = answers.states[order[~asked.certain[order]]]
        reached = states != CODE[State.NOT_ASKED]
        number, alarms = int(reached.sum()), int((states == CODE[State.UNCLEAR]).sum())
        stopped = number < states.size
        ended = bool(number) and states[number - 1] == CODE[State.UNCLEAR]
        fits = alarms <= self.alarms and (not stopped or (alarms == self.alarms and ended))
        if reached[:number].all() and fits:
            return None
        return "the places asked are not those the order and the alarms allow"

    def expected(self, asked: Conditions) -> float:
        nobody = np.zeros(asked.at_most.size, dtype=np.int64)
        reached, open_ = np.ones(asked.at_most.size), ~asked.certain
        reached[open_] = self.mechanism(asked).reached(nobody[open_], asked.at_most[open_])
        return float((reached * self._quiet(asked)).mean())

    def write_known(self, asked: Conditions) -> bytes:
        """order.csv: the conditions in the order they were asked in, which is public."""
        assert asked.known is not None
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_heading(asked))
        writer.writerows(map(asked.labels.__getitem__, asked.known.tolist()))
        return text.getvalue().encode()

    def read_known(self, asked: Conditions, data: bytes) -> Whole:
        try:
            rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
        except (UnicodeDecodeError, csv.Error):
            raise ValueError("order.csv cannot be read") from None
        number = {label: at for at, label in enumerate(asked.labels)}
        order = np.array([number.get(tuple(row), _NOT_ASKED) for row in rows[1:]], dtype=np.int64)
        if rows[:1] != [_heading(asked)] or not np.array_equal(np.sort(order), np.arange(len(number))):
            raise ValueError("order.csv does not list every place once")
        return order


def _heading(asked: Conditions) -> list[str]:
    return [asked.question.target, "window"][: len(asked.labels[0])]


def digest_of(named: Sequence[Label], ranks: Whole) -> str:
    """What stands for an order in a question."""
    return records.digest(records.canonical([list(named[at]) for at in ranks]))


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
    order = Order(kind=cast(OrderKind, kind), sha256=digest_of(named, ranks), release=release)
    return order, ranks


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
    most = int(said.upper.max()) + 1
    largest = np.where(said.bounded, said.upper, most).reshape(-1, len(said.targets)).max(axis=0)
    bound = dict(zip(said.targets, largest.tolist(), strict=True))
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
