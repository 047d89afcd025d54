"""Where every question is made: from the arguments of `safeside.ask`, which the command line passes on."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from safeside import exact, records, untrusted
from safeside.errors import BadQuestion, PrivacyError
from safeside.exact import Number
from safeside.groups import Domains, Where
from safeside.ledger import Dataset
from safeside.ledger.rules import PEOPLE_FLOOR, require_floor
from safeside.releases.choosing import Choice, choose, cut_windows
from safeside.releases.grouped import ARGUMENTS as OF_GROUPS
from safeside.releases.grouped import About, ask_groups, given_or_listed
from safeside.releases.methods import Conditions, Method, Whole
from safeside.releases.methods.decision import require_delta
from safeside.releases.question import VISITED, Question, Targets, common_threshold
from safeside.visits import Places, VisitFormat, When, read_places, require_free_ground
from safeside.words import Subject
from safeside.words.catalogue import ENGLISH

NOT_VISITED: Final = "not-visited"
ADP: Final = "adp"
DP: Final = "dp"


@dataclass(frozen=True, kw_only=True, eq=False)
class Inquiry:
    """A question, and the public list that it is asked about: what `publish` takes.

    Example
        >>> from safeside import ask
        >>> inquiry = ask(places=["bar", "museum"], when="2024-03-03T18:00Z", at_most=2, epsilon=1)
        >>> print(inquiry.question.at_most, len(inquiry.places))
        2 2
    """

    question: Question
    places: Places
    format: VisitFormat
    known: Whole | None = None
    """What the method knows of the places beforehand."""
    exclude_unknown_places: bool = False
    choice: Choice | None = None
    """Why this way of answering was taken, where none was asked for."""

    @cached_property
    def conditions(self) -> Conditions:
        """Every condition that is asked about."""
        return self.question.conditions(self.places.ids, self.known)


def ask(
    *,
    places: Any = None,
    when: When | None = None,
    every: str | timedelta | None = None,
    groups: Any = None,
    as_of: str | date | None = None,
    where: str | Where | None = None,
    measures: Mapping[str, str | Where] | Sequence[str] | None = None,
    domains: Domains = None,
    only_counted: bool = False,
    group_noun: str | None = None,
    epsilon: Number,
    at_most: int | str | None = None,
    method: str | None = None,
    guarantee: str = ADP,
    delta: Number = 0,
    decision: bool = False,
    max_alarms: int | None = None,
    order: str | None = None,
    profile: str | Path | None = None,
    learn_from: Sequence[str | Path] | None = None,
    max_places_per_person: int | None = None,
    people: int | None = None,
    people_floor: int | None = None,
    at_least: int | None = None,
    alpha: Number | None = None,
    publish_at_least: bool = False,
    so_far: bool = False,
    policy: str = NOT_VISITED,
    columns: Mapping[str, str] | str | None = None,
    time_format: str | None = None,
    timezone: str | None = None,
    hold: timedelta | str | None = None,
    radius: float | None = None,
    visit_format: VisitFormat | None = None,
    exclude_unknown_places: bool = False,
    noun: str | None = None,
    language: str = ENGLISH,
    dataset: Dataset | None = None,
) -> Inquiry:
    """The question that these arguments ask; nothing here has seen any data.

    Where no `method` is named, the one that certifies most on the public forecast is taken. With `every` the
    interval is cut into windows, such as the hours of a day, and every place is asked about in each of them.
    `noun` is what those who are counted are called in every sentence, one and many: "guest/guests".
    `visit_format` declares everything about the visits at once, instead of the separate arguments. Limits
    that are not named are those that the `dataset` was made with.

    Instead of `places` at some time, `groups` of people may be asked about `as_of` a date: how many of each
    are in the table, or meet the condition `where`, or each of several `measures`; the columns that these
    look at declare their `domains`. `at_most` may then be a share ("5%") of the groups' sizes. docs/groups.md
    goes from a file to a page.

    Example
        >>> from safeside import ask
        >>> inquiry = ask(places=["bar", "museum"], when="2024-03-03", timezone="Asia/Tokyo",
        ...               at_most=2, epsilon=1, max_alarms=1)
        >>> inquiry.question.windows
        ('2024-03-03T00:00:00+09:00/2024-03-04T00:00:00+09:00',)
    """
    given = dict(locals())
    form = _format(given)
    about = _about(given, form)
    listed, windows, grouped = about.listed, about.windows, about.grouped
    if policy != NOT_VISITED:
        raise PrivacyError(
            "Only one policy can be published under: that somebody was *not* at a place may become known.",
            "Leave `policy=` out. Under the opposite policy every visit could leak, and a count of "
            "visits would need noise on both sides.",
        )
    given |= {"epsilon": exact.epsilon(epsilon), "delta": exact.delta(delta)}
    given |= {"windows": windows, "zone": form.local}
    # A limit on places says nothing of how many windows one person is in.
    fixed = None if dataset is None or len(windows) > 1 else dataset.max_places_per_person
    kind, choice = choose(method, given, listed, about.at_most, fixed)
    _check_guarantee(kind, given)
    way, known = kind.asked(listed, given)
    names = (VISITED,) if grouped is None else grouped.counted.names
    known = None if known is None else np.tile(known, len(names))
    common, own = common_threshold(listed.ids, about.at_most)
    per_person = max_places_per_person
    if per_person is None and kind.takes_limit:
        # At an instant one person is at one place, by construction, and that is checked. What needs no limit
        # takes none unless told to: nothing then stops it.
        per_person = 1 if windows[0].instant else fixed if kind.needs_limit else None
    most = dataset.people if people is None and dataset is not None and kind.counts else people
    if people_floor is not None and most is None:
        raise BadQuestion(
            "`people_floor=` is the least that `people=` may be, and no number of people is used here.",
            "Give `people=` too, or leave `people_floor=` out.",
        )
    question = Question(
        targets=Targets.of(listed.ids),
        windows=tuple(window.text for window in windows),
        measures=names,
        groups=grouped,
        subject=about.subject,
        at_most=common,
        at_most_of=own,
        method=way,  # type: ignore[arg-type]
        at_least=None if at_least is None else exact.whole(at_least, "`at_least=`", least=1),
        alpha=None if alpha is None else exact.alpha(alpha),
        publish_at_least=publish_at_least,
        people=None if most is None else require_floor(most, people_floor or PEOPLE_FLOOR),
        max_places_per_person=None
        if per_person is None
        else exact.whole(per_person, "`max_places_per_person=`", least=1),
        forecast=way.forecast(known),
        reading=declared(form, exclude_unknown_places=exclude_unknown_places),
        timezone=form.timezone if grouped is None else None,
        so_far=so_far,
        language=language,
    )
    question.check()
    return Inquiry(
        question=question,
        places=listed,
        format=form,
        known=known,
        exclude_unknown_places=exclude_unknown_places,
        choice=choice,
    )


ARGUMENTS: Final = frozenset(inspect.signature(ask).parameters)
"""The names of everything that can be said in a question."""


def _about(given: Mapping[str, Any], form: VisitFormat) -> About:
    if (given["places"] is None) == (given["groups"] is None):
        raise BadQuestion(
            "A question is about the places of a list, or about the groups of one.",
            "Give `places=` and `when=`, or `groups=` and `as_of=`.",
        )
    if given["groups"] is not None:
        return ask_groups(given, form)
    for name in OF_GROUPS:
        if given[name]:
            raise BadQuestion(
                f"`{name}=` is about groups of people, and the question is about visits to places.",
                f"Leave `{name}=` out, or give `groups=` instead of `places=`.",
            )
    if given["when"] is None:
        raise BadQuestion(
            "Nothing says which time is asked about.",
            'Give `when=` as an instant ("2024-03-03T18:00+09:00"), a day or an interval.',
        )
    places = given["places"]
    # A list that was put together by hand is looked at like any other.
    listed = read_places(places.table if isinstance(places, Places) else places)
    require_free_ground(listed, form)
    windows = cut_windows(given["when"], given["every"], form.timezone)
    do = "Give `at_most=`, or a column `at_most` in the places file with a number for every place."
    limits = given_or_listed(listed, given["at_most"], "visitors", do)
    return About(listed=listed, windows=windows, at_most=limits, subject=Subject.named(given["noun"]))


def _format(given: Mapping[str, Any]) -> VisitFormat:
    """What is declared about the visits, at once or in parts, never both: one of them would be ignored."""
    names = ("columns", "time_format", "timezone", "hold", "radius")
    whole, parts = given["visit_format"], {name: given[name] for name in names if given[name] is not None}
    if whole is not None and parts:
        raise BadQuestion(
            "A whole `VisitFormat(...)` was given, and a part of it beside it, which would be ignored.",
            "Put `columns=`, `time_format=`, `timezone=`, `hold=` and `radius=` into it, or give them alone.",
        )
    return whole or VisitFormat(**parts)


def _check_guarantee(kind: type[Method], given: Mapping[str, Any]) -> None:
    if given["guarantee"] not in (ADP, DP):
        raise BadQuestion(f'There is no guarantee "{given["guarantee"]}".', 'Give `guarantee="adp"` or "dp".')
    ordinary = given["guarantee"] == DP
    if not ordinary and (given["delta"] or given["decision"]):
        raise BadQuestion(
            "`delta=` and `decision=True` belong to ordinary differential privacy.",
            'Leave them out, or ask for it with `guarantee="dp"`.',
        )
    if ordinary and not kind.ordinary:
        raise BadQuestion(
            f'The method "{kind.tag()}" is never wrong under the asymmetric definition only.',
            'Leave `guarantee="dp"` out, or ask about an instant or with `max_places_per_person=` instead.',
        )
    if ordinary:
        require_delta(given["delta"])


def require_declared(question: Question, dataset: Dataset) -> None:
    """Refuse any limit but those of the dataset: one found by trial is the data's own maximum."""
    named, fixed = question.max_places_per_person, dataset.max_places_per_person
    if question.window.instant and named == 1:
        named = None
    instead = "Ask about an instant, or with `max_alarms=`, which needs no such limit."
    _require_same("max_places_per_person", named, fixed, dataset.name, instead)
    instead = "It only sharpens the answers of busy places."
    _require_same("people", question.people, dataset.people, dataset.name, instead)


def _require_same(argument: str, named: int | None, fixed: int | None, dataset: str, instead: str) -> None:
    if named is not None and named != fixed:
        made = f"with `{argument}={fixed}`" if fixed is not None else f"without `{argument}=`"
        raise BadQuestion(
            f'`{argument}=` is {named}, and the dataset "{dataset}" was made {made}.',
            f"Leave `{argument}=` out. A limit that is chosen for each question can be found by trial, and "
            f"is then the data's own largest number, published; so it is fixed when the dataset is made. "
            f"{instead}",
        )


def declared(visits: VisitFormat, *, exclude_unknown_places: bool) -> dict[str, str]:
    """How the data are to be read, as it is recorded before they are opened: what differs from the usual."""
    given, usual = asdict(visits), asdict(VisitFormat())
    del given["timezone"]  # it stands in the question
    said = {name: _written(value) for name, value in given.items() if value != usual[name]}
    return {**said, "exclude_unknown_places": "true"} if exclude_unknown_places else said


def _written(value: Any) -> str:
    """As text; what has parts as JSON."""
    parts = {str(name): str(part) for name, part in value.items()} if isinstance(value, Mapping) else value
    text = records.canonical(parts).decode() if isinstance(parts, dict | tuple | bool) else str(parts)
    return untrusted.visible(text)
