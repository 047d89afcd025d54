"""A question about groups of people: who is counted, on which date, and of how many.

It is a question like any other: its targets are the groups of a public list, its one window the date, its
measures the conditions that people are counted by. What is special stands here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.errors import BadQuestion, LimitBroken
from safeside.groups import GroupCounts, Measures, measures, read_groups
from safeside.groups.shares import limits, parse_share
from safeside.groups.table import require_people_format
from safeside.mechanisms.counts import thresholds_for
from safeside.privacy.guarantee import Unit
from safeside.privacy.policy import Policy
from safeside.records import Part, PlainText
from safeside.releases.methods.base import Positive, Whole
from safeside.visits import Counts, Places, VisitFormat, Window
from safeside.words import Subject, said

_OF_MEASURES: Final = ("where", "measures", "domains", "only_counted")
ARGUMENTS: Final = ("as_of", *_OF_MEASURES, "group_noun")
"""The arguments of `ask` that are about groups alone."""
OF_VISITS: Final = ("when", "every", "exclude_unknown_places", "so_far", "profile", "learn_from")


class Grouped(Part, frozen=True, kw_only=True):
    """What a question about groups asks beside its targets and thresholds."""

    as_of: PlainText
    """The date that the table of people, and the sizes of the groups, are of."""
    counted: Measures
    sizes: tuple[Positive, ...] = ()
    """How many people are publicly known to be in each group, in the order of the list."""
    share: Fraction | None = None
    """The share of each group that the threshold is, rounded down to whole people."""

    @property
    def window(self) -> str:
        """The date as the one moment that the question is about."""
        return f"{self.as_of}T00:00:00+00:00"

    def limits(self) -> Whole | None:
        """The thresholds that follow from the share."""
        return None if self.share is None else limits(np.array(self.sizes), self.share)

    def policy(self, targets: Sequence[str]) -> Policy:
        """Of every condition that is counted, exactly as it is counted, that it is not true of you."""
        named = [f"{one.name} ({one.where})" if one.where.terms else one.name for one in self.counted.all]
        return Policy.not_visited(targets, *(f"{one} on {self.as_of}" for one in named))

    def require_within(self, counts: Whole) -> None:
        """Stop where a count is above the public size of its group: that limit is broken."""
        if self.sizes and (counts.reshape(-1, len(self.sizes)) > np.array(self.sizes)).any():
            raise LimitBroken(
                "More people are counted in a group than its listed size.",
                "Look for rows that are wrong: people of another date, or several ids for one person.",
            )

    def check(self, windows: tuple[str, ...], names: tuple[str, ...], number: int) -> None:
        """Refuse what could not have been asked."""
        self.counted.check()
        if (windows, names) != ((self.window,), self.counted.names) or len(self.sizes) not in (0, number):
            raise BadQuestion(
                "The date, the measures or the sizes of the groups are not as they are asked about.",
                "Use `safeside.ask`.",
            )
        if self.share is not None and not (self.sizes and 0 <= self.share < 1):
            raise _no_sizes()


def _no_sizes() -> BadQuestion:
    return BadQuestion(
        "A share is asked about, and the list of groups has no sizes.",
        "Add a column `size` to the list: how many people are publicly known to be in each group on that "
        "date. Or give `at_most=` as a number of people.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class About:
    """The targets, the time and the thresholds of a question, about places or about groups."""

    listed: Places
    windows: tuple[Window, ...]
    at_most: Whole
    subject: Subject
    grouped: Grouped | None = None


def ask_groups(given: Mapping[str, Any], form: VisitFormat) -> About:
    """What is asked about groups, from the arguments of `ask`; nothing here has seen any data."""
    for name in OF_VISITS:
        if given[name]:
            raise BadQuestion(
                f"`{name}=` is about visits to places, and the question is about groups.",
                f"Leave `{name}=` out. The date that the table is of goes into `as_of=`.",
            )
    dataset = given["dataset"]
    if dataset is not None and dataset.unit is not Unit.PERSON:
        raise BadQuestion(
            f"The dataset protects a {dataset.unit}, and being counted in a group is not over with the day.",
            'Pay from a dataset that was made with `unit="person"`.',
        )
    require_people_format(form)
    groups = given["groups"]
    listed = read_groups(groups.table.rename({"place": "group"}) if isinstance(groups, Places) else groups)
    at_most, share = thresholds(listed, given["at_most"])
    if listed.size is not None and (at_most >= listed.size).all():
        raise BadQuestion(
            'No group has more people than the number asked about: "at most" is true of each without any '
            "data.",
            "Ask about a smaller number, or about a share (5%).",
        )
    grouped = Grouped(
        as_of=_date(given["as_of"]),
        counted=measures(**{name: given[name] for name in _OF_MEASURES}),
        sizes=() if listed.size is None else tuple(listed.size.tolist()),
        share=share,
    )
    called = Subject.named(given["group_noun"] or "group/groups")
    people = given["noun"] or "person counted/people counted"
    return About(
        listed=listed,
        windows=(Window.parse(grouped.window),),
        at_most=at_most,
        subject=Subject.named(people, verb="belong", place=called.one, places=called.many),
        grouped=grouped,
    )


def _date(given: str | date | None) -> str:
    try:
        if given is None or isinstance(given, datetime):
            raise ValueError
        return date.fromisoformat(given).isoformat() if isinstance(given, str) else given.isoformat()
    except ValueError:
        raise BadQuestion(
            "A question about groups needs the date that the table of people is of.",
            'Give it as `as_of="2026-09-01"`.',
        ) from None


def thresholds(listed: Places, at_most: int | str | None) -> tuple[Whole, Fraction | None]:
    """The threshold of each group, and the share that they are of its size, if one was given."""
    if isinstance(at_most, str):
        share = parse_share(at_most)
        if listed.size is None:
            raise _no_sizes()
        return limits(listed.size, share), share
    do = (
        "Give `at_most=` as a number or, where the list has sizes, as a share (5%); or the list a column "
        "`at_most`."
    )
    return given_or_listed(listed, at_most, "people", do), None


def given_or_listed(listed: Places, at_most: int | str | None, counted: str, do: str) -> Whole:
    """The threshold that was given for all targets, or those that the list has."""
    if at_most is not None:
        name = "`at_most=`"
        return thresholds_for(len(listed), exact.whole(at_most, name), name=name).copy()
    if listed.at_most is None:
        raise BadQuestion(f"Nothing says how many {counted} to ask about.", do)
    return listed.at_most


def as_counts(found: GroupCounts, grouped: Grouped) -> Counts:
    """Exact counts of people in groups, measure by measure, as those of visits stand."""
    return Counts(
        places=found.groups,
        windows=(Window.parse(grouped.window),),
        values=found.values.ravel(),
        rows=found.rows,
        people=None,
        most_places_per_person=found.most_groups_per_person,
        findings=found.findings,
        exclusions=found.exclusions,
        reading=said("counted.row", date=grouped.as_of),
        fingerprint=found.fingerprint,
    )
