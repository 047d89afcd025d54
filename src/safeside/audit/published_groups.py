"""Publishing about groups of people, audited: every transcript of tiny questions through the real `publish`.

A count has noise that only goes up, and no bound is above the public size of its group: so all noise from
there on leads to one answer, and with small sizes every transcript there is can be listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

import polars as pl

from safeside import exact
from safeside.audit.case import Case, Check
from safeside.audit.published import Dataset, Pairs, Region, Way, exactly
from safeside.audit.published_recorded import recorded
from safeside.audit.publishing import Condition, Desk, Made, Scripted, opened, words_for
from safeside.audit.short_text import show_pair
from safeside.errors import InputError
from safeside.mechanisms.laws import Up

GROUPS: Final = ("A", "B")
_SIZES: Final = (2, 1)
_NOT_COUNTED: Final = "2"
"""The doses of somebody who is in no count."""
_DOSES: Final[Mapping[str, Any]] = {"dose": range(3)}


def _people(*given: str) -> Dataset:
    """Two people of group A and one of group B, by their doses: A0 is in A and has none."""
    return tuple(frozenset({one}) for one in given)


_ALL: Final = _people("A0", "A1", "B0")
_IN_TWO: Final[Pairs] = (
    ((frozenset({"A0", "B0"}), *_people("A1")), (frozenset({"A2", "B2"}), *_people("A1"))),
)
"""One person in both groups, who is in two measures of each; or in none."""
_TWO_GROUPS: Final = {"max_places_per_person": 2}
PAIRS: Final[Pairs] = (
    (_ALL, _people("A0", "A2", "B0")),
    (_ALL, _people("A0", "A1", "B2")),
    # The last of those counted leaves: where nobody is counted there is noise all the same.
    (_people("A2", "A0", "B2"), _people("A2", "A2", "B2")),
)


class GroupDesk(Desk):
    """One publisher of a table of people. A dataset lists each person, with their group and doses."""

    about: ClassVar[str] = "groups"
    always: ClassVar[Mapping[str, Any]] = {"as_of": "2021-06-03", "allow_nobody": True}

    def table(self, dataset: Sequence[frozenset[str]]) -> pl.DataFrame:
        rows = [(f"person {at}", one[0], one[1:]) for at, person in enumerate(dataset) for one in person]
        return pl.DataFrame(rows, schema=["person", "group", "dose"], orient="row")


class CountedDesk(GroupDesk):
    """The same where the table lists nobody but those who are counted."""

    def table(self, dataset: Sequence[frozenset[str]]) -> pl.DataFrame:
        return super().table(dataset).filter(pl.col("dose") != _NOT_COUNTED).drop("dose")


@dataclass(frozen=True, kw_only=True)
class GroupWay(Way):
    """One question about groups: which doses each measure counts, and the share that is asked about."""

    counted: tuple[str, ...]
    """For each measure the doses that it counts."""
    share: Fraction | None = None
    sizes: tuple[int, int] = _SIZES
    pairs: Pairs = PAIRS
    whole: bool = True
    kind: type[GroupDesk] = GroupDesk

    def desk(self) -> AbstractContextManager[Desk]:
        return opened(self.kind, {"group": GROUPS, "size": self.sizes}, self.of_dataset)

    def limit(self, target: str) -> int | None:  # noqa: ARG002
        """What "at most" says of every group; None of a share, which is compared by itself."""
        return self.terms["at_most"] if self.share is None else None

    def threshold(self, target: str) -> int | None:
        size = self.sizes[GROUPS.index(target)]
        return self.limit(target) if self.share is None else int(self.share * size)

    def counts(self, dataset: Dataset) -> dict[Condition, int]:
        people = [one for person in dataset for one in person]
        return {
            (group, measure): sum(one[0] == group and one[1:] in doses for one in people)
            for measure, doses in enumerate(self.counted)
            for group in GROUPS
        }

    def regions(self, true: Mapping[Condition, int]) -> Iterator[Region]:
        """All noise: by its value up to the size of the group, and from there on as one."""
        law = Up(self.each or self.epsilon)
        words = words_for(law, max(self.sizes))
        rooms = [self.sizes[GROUPS.index(group)] - count for (group, _), count in true.items()]
        for noise in itertools.product(*(range(room + 1) for room in rooms)):
            with exact.precision(exact.PMF_BITS):
                mass = exact.ball(1)
                for value, room in zip(noise, rooms, strict=True):
                    mass = mass * (law.exactly(value) if value < room else law.at_least(value))
            yield Region(words=tuple(words[value] for value in noise), mass=mass)

    def claims(self, made: Made) -> dict[Condition, tuple[str, int | None]]:
        sizes = dict(zip(GROUPS, self.sizes, strict=True))
        return {
            condition: (state, None if upper == sizes[condition[0]] else upper)
            for condition, (state, upper) in made.answers().items()
        }

    def false_answer(self, dataset: Dataset, made: Made) -> str | None:
        """A bound, or a share, that is not true of the dataset."""
        if (false := super().false_answer(dataset, made)) is not None:
            return false
        true, table = list(self.counts(dataset).values()), pl.read_csv(made.files["answers.csv"])
        for count, row in zip(true, table.iter_rows(named=True), strict=True):
            share = Fraction(count, self.sizes[GROUPS.index(row["group"])])
            said = None
            if row["upper_percent"] is not None and 100 * share > Fraction(str(row["upper_percent"])):
                said = f"at most {row['upper_percent']} %"
            elif self.share is not None and row["state"] == "AT_MOST" and share > self.share:
                said = f"at most {exact.show(100 * self.share)} %"
            if said is not None:
                return f"says {said} of group {row['group']}, of {show_pair((dataset, dataset))}: false"
        return None


_HALF: Final[Mapping[str, Any]] = {"epsilon": 1, "at_most": "50%", "domains": _DOSES}
_TWO_DOSES: Final = {**_HALF, "measures": {"none": "dose=0", "one": "dose=1"}}
_NESTED: Final = {**_HALF, "measures": {"none": "dose=0", "fewer than two": "dose<2"}}
_LISTED: Final[Mapping[str, Any]] = {"epsilon": 1, "at_most": "50%"}
GROUPED: Final = (
    GroupWay(
        name="two measures that nobody is in at once",
        terms=_TWO_DOSES,
        counted=("0", "1"),
        share=Fraction(1, 2),
    ),
    GroupWay(
        name="two measures that one person is in at once",
        terms=_NESTED,
        counted=("0", "01"),
        share=Fraction(1, 2),
        each=Fraction(1, 2),
    ),
    GroupWay(
        name="two groups and two measures of one person",
        terms={**_NESTED, **_TWO_GROUPS},
        counted=("0", "01"),
        share=Fraction(1, 2),
        each=Fraction(1, 4),
        pairs=_IN_TWO,
        of_dataset=_TWO_GROUPS,
    ),
    GroupWay(
        name="a table of those counted",
        terms=_LISTED,
        counted=("01",),
        share=Fraction(1, 2),
        # Half of three people, and a third of them, are no whole numbers.
        sizes=(3, 1),
        # A table that lists nobody is refused.
        pairs=PAIRS[:2],
        kind=CountedDesk,
    ),
)
_ONE_MEASURE: Final[Mapping[str, Any]] = {"where": "dose<2", "domains": _DOSES}
_METHODS: Final[Mapping[str, Mapping[str, Any]]] = {
    "in turn": {"max_alarms": 1, "order": "random"},
    "at least": {"at_least": 2, "alpha": "0.3"},
    "padded": {"guarantee": "dp", "delta": "0.01"},
    "decision": {"guarantee": "dp", "delta": "0.01", "decision": True},
    "selection": {"method": "selection"},
}
RECORDED: Final = (
    *GROUPED,
    *(
        GroupWay(
            name=name,
            terms={**_ONE_MEASURE, "epsilon": 1, "at_most": 1, **terms},
            counted=("01",),
            own_numbers=name != "decision",
        )
        for name, terms in _METHODS.items()
    ),
    GroupWay(
        name="selection, two measures",
        terms={**_NESTED, **_METHODS["selection"]},
        counted=("0", "01"),
        share=Fraction(1, 2),
    ),
)
"""Every method there is, on groups."""


def groups() -> Iterator[Case | Check]:
    """Every row about publishing groups."""
    for way in GROUPED:
        setting = f"eps = {exact.show(way.epsilon)}; groups, {way.name}: every transcript through publish"
        yield Case(name="published", setting=setting, tight=True, run=partial(exactly, way))
    for way in RECORDED:
        setting = f"groups, {way.name}: the same randomness on neighbours"
        yield Check(name="published", setting=setting, run=partial(recorded, way))
    yield Check(name="published", setting="groups: whoever cannot be placed stops the release", run=doubtful)


_DOUBTFUL: Final = {
    "no value": _people("A0", "A", "B2"),
    "a value that is not in the domain": _people("A0", "A3", "B2"),
    "no group": (*_people("A0", "A2"), frozenset({" 2"})),
    "a group that is not listed": _people("A0", "A2", "C2"),
    "two groups": (frozenset({"A0", "B0"}), *_people("A2")),
}


def doubtful() -> str | None:
    """Nobody is left out: a row that cannot be counted for certain stops the release."""
    way = GROUPED[0]
    with way.desk() as table:
        for fault, dataset in _DOUBTFUL.items():
            try:
                table.publish(dataset, Scripted(), way.terms)
            except InputError:
                continue
            return f"a release is published although somebody has {fault}"
    return None
