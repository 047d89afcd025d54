"""The question: everything that is chosen, and chosen from public knowledge alone.

A choice made after a look at the data is an output nobody paid for, so all of them stand in one record, which
is written into the ledger before the data is opened (docs/definitions.md), published in release.json, and
checked by the same rules when it is asked and when a release is verified. `asking.py` makes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from safeside import exact, records
from safeside.errors import BadQuestion
from safeside.ledger.rules import PEOPLE_FLOOR, require_floor
from safeside.records import Part, PlainText, Record
from safeside.releases.grouped import Grouped
from safeside.releases.methods import AnyMethod, Conditions, Whole
from safeside.releases.methods.base import Forecast, Number, Positive
from safeside.releases.times import clock
from safeside.visits import Window, Windows, hull
from safeside.words import Subject, Words, said
from safeside.words.catalogue import ENGLISH, require_language
from safeside.zones import find_zone

VISITED = "visited"


class Targets(Part, frozen=True, kw_only=True):
    """The list that a question is about: how many there are, and which, by one digest."""

    number: Positive
    sha256: str

    @classmethod
    def of(cls, targets: Sequence[str]) -> Targets:
        """Those of this list, in this order."""
        # As JSON, so that no two lists are one text, whatever stands in an identifier.
        return cls(number=len(targets), sha256=records.digest(records.canonical(list(targets))))


class Series(Part, frozen=True, kw_only=True):
    """The plan of releases that a question belongs to, and which of its windows it asks about."""

    plan: PlainText
    window: Number


class Question(Record, frozen=True, kw_only=True):
    """At each target, in each window, for each measure: is the count at most a number?

    Example
        >>> from safeside import ask
        >>> question = ask(places=["bar", "museum"], when="2024-03-03T18:00Z", at_most=2, epsilon=1).question
        >>> print(question.targets.number, question.windows[0], question.subject.many)
        2 2024-03-03T18:00:00+00:00 known infected visitors
    """

    kind: ClassVar[str] = "question"

    targets: Targets
    windows: Annotated[tuple[PlainText, ...], msgspec.Meta(min_length=1)]
    """An instant, or an interval A/B, each with its offset from UTC."""
    measures: tuple[PlainText, ...] = (VISITED,)
    at_most: Number
    """The threshold of every condition that has none of its own; of equally frequent ones the smallest."""
    at_most_of: dict[PlainText, Number] = msgspec.field(default_factory=dict)
    method: AnyMethod
    at_least: Number | None = None
    alpha: Fraction | None = None
    """How often "at least" may be wrong: of one place, or, where it is published, of any place."""
    publish_at_least: bool = False
    people: Number | None = None
    """A public number that no count exceeds."""
    max_places_per_person: Positive | None = None
    """The most places one person is counted at, which the counting enforces; None where unlimited."""
    forecast: Forecast | None = None
    subject: Subject = Subject()
    language: PlainText = ENGLISH
    """Of every sentence that the release says."""
    reading: dict[PlainText, PlainText] = msgspec.field(default_factory=dict)
    """How the visits are read and what is left out, as it was declared."""
    groups: Grouped | None = None
    """What is asked about groups of people, where the targets are such."""
    timezone: PlainText | None = None
    so_far: bool = False
    """The time asked about was not over: the release says that it speaks of it so far."""
    series: Series | None = None

    @property
    def target(self) -> str:
        """What a target is called in files."""
        return "place" if self.groups is None else "group"

    @property
    def each_window(self) -> tuple[Window, ...]:
        """Every window that is asked about, in order."""
        return _parsed(self.windows)

    @property
    def window(self) -> Window:
        """The time asked about: the one window, or from the beginning of the first to the end of the last."""
        return hull(self.each_window)

    @property
    def time(self) -> str:
        """The time asked about as text, with the number of windows where there are several."""
        parts = len(self.windows)
        return self.windows[0] if parts == 1 else f"{self.window.text} ({parts} windows)"

    @property
    def repeats(self) -> int:
        """How many conditions there are for each target."""
        return len(self.windows) * len(self.measures)

    @property
    def number(self) -> int:
        """How many conditions there are."""
        return self.targets.number * self.repeats

    @property
    def max_conditions(self) -> int | None:
        """The most conditions that one person can satisfy; None where nothing says."""
        most = self.max_places_per_person
        return most if most is None or self.groups is None else most * self.groups.counted.most_of_a_person

    @property
    def largest_threshold(self) -> int:
        """The largest number that any target is asked about."""
        return max(self.at_most, *self.at_most_of.values(), 0)

    @property
    def share(self) -> Fraction | None:
        """The share of each group that is asked about, where it is one."""
        return None if self.groups is None else self.groups.share

    @property
    def alpha_each(self) -> Fraction | None:
        """How often "at least" may be wrong for one place."""
        if self.alpha is None:
            return None
        return self.alpha / self.number if self.publish_at_least else self.alpha

    @property
    def words(self) -> Words:
        """What the release speaks in."""
        return Words(language=self.language, subject=self.subject)

    def conditions(self, targets: Sequence[str], known: Whole | None = None) -> Conditions:
        """Every condition, for the list of targets that the question names by its digest."""
        own, common = self.at_most_of, self.at_most
        limits = np.array([own.get(target, common) for target in targets], dtype=np.int64)
        at_most = np.tile(limits, self.repeats)
        return Conditions(question=self, targets=tuple(targets), at_most=at_most, known=known)

    def check(self) -> None:
        """Refuse what cannot be asked, or not answered yet; whoever asks and whoever verifies does this."""
        if self.groups is not None:
            self.groups.check(self.windows, self.measures, self.targets.number)
        elif self.measures != (VISITED,):
            raise BadQuestion("Visits have one measure.", "Use `safeside.ask`.")
        require_language(self.language)
        if tuple(one.text for one in self.each_window) != self.windows:
            raise BadQuestion("The window is not written as it is asked about.", "Use `safeside.ask`.")
        Windows(each=self.each_window)  # such as can be counted together
        if self.timezone is not None:
            find_zone(self.timezone)
        if self.so_far and self.window.instant:
            raise BadQuestion(
                "A moment has come or it has not: there is no `so_far=True` of it.",
                "Leave `so_far=True` out, or ask about an interval.",
            )
        exact.epsilon(self.method.epsilon)
        if self.people is not None:
            require_floor(self.people, PEOPLE_FLOOR)
            if not self.method.counts:
                raise BadQuestion(
                    "A declared number of people changes nothing in an answer of this kind.",
                    "Leave `people=` out with `max_alarms=` and with `decision=True`.",
                )
        if self.max_places_per_person is not None and not self.method.takes_limit:
            raise BadQuestion(
                "A limit on the places of one person changes nothing in an answer of this kind.",
                "Leave `max_places_per_person=` out.",
            )
        self._check_at_least()
        self.method.check(self)

    def _check_at_least(self) -> None:
        if self.at_least is None:
            if self.alpha is not None or self.publish_at_least:
                raise BadQuestion(
                    "`alpha=` and `publish_at_least=True` belong to `at_least=`, which was not given.",
                    'Give `at_least=` too, or leave them out: "at most" is never wrong and needs no error '
                    "rate.",
                )
            return
        if not self.method.counts:
            raise BadQuestion(
                "`at_least=` needs a noisy count of every place, which `max_alarms=` and `decision=True` do "
                "not give.",
                "Ask without `at_least=`, or with `max_places_per_person=`.",
            )
        most = self.largest_threshold
        if self.at_least <= most:
            raise BadQuestion(
                f"`at_least={self.at_least}` and at most {most} can both be true of one place.",
                "Give `at_least=` a number above every `at_most=`.",
            )
        if self.alpha is None or exact.alpha(self.alpha) == 0:
            raise BadQuestion(
                '"At least" is never certain, and no error rate above 0 was given for it.',
                "Give `alpha=`, for example 0.001: the probability with which it may be wrong.",
            )

    def rule(self) -> str:
        """The part of the counting rule that the question fixes."""
        if self.groups is not None:
            return self.groups.counted.rule()
        if len(self.windows) > 1:
            return said("counted.windows")
        return said("counted.instant" if self.window.instant else "counted.interval")

    def recorded(self) -> dict[str, Any]:
        """As the ledger has it."""
        return {records.SCHEMA: records.schema_name(type(self)), **records.to_json(self)}

    def identity(self) -> str:
        """Stands for what is asked, however it is said, apart from the time, which has several spellings."""
        # How long each of several windows is tells a day from its hours, and hours from other parts of it.
        parts = tuple(str(one.end - one.start) for one in self.each_window)
        timeless = msgspec.structs.replace(
            self, windows=parts if len(parts) > 1 else ("1",), subject=Subject(), language=ENGLISH
        )
        return records.digest(records.encode(timeless))


@lru_cache(maxsize=64)
def _parsed(windows: tuple[str, ...]) -> tuple[Window, ...]:
    """The moments carry their offsets, so that the zones of this machine have no say in them."""
    return tuple(map(Window.parse, windows))


def common_threshold(targets: Sequence[str], limits: Whole) -> tuple[int, dict[str, int]]:
    """The number most places share, which is written once, and the others'; of equally frequent ones the
    smallest.
    """
    listed = limits.tolist()
    common = Counter(sorted(listed)).most_common(1)[0][0]
    return common, {place: limit for place, limit in zip(targets, listed, strict=True) if limit != common}


def require_time(window: Window, known_on: datetime, *, so_far: bool) -> None:
    """Nobody can have been anywhere at a time that has not come: "at most 0" of tomorrow is no answer."""
    follows = ""
    if known_on < window.start:
        was = "had not come"
        do = "Ask about a time that has passed. If it has, check `timezone=` and `known_on=`."
    elif known_on < window.end and not so_far:
        was = "was not over"
        do = (
            "Wait until it is over; or ask about the part that has passed, up to that moment; or give "
            "`so_far=True`, and every statement says that the time was not over."
        )
    elif known_on >= window.end and so_far:
        was, follows = "was over", ", so `so_far=True` would not be true"
        do = "Leave `so_far=True` out."
    else:
        return
    moment = known_on.astimezone(clock(window.text, None)).isoformat(timespec="seconds")
    raise BadQuestion(
        f"The time asked about ({window.text}) {was} at the moment the data speak from ({moment}){follows}.",
        do,
    )
