"""What the ledger refuses, and in which words.

Each of these looks at the account as it is under the lock and raises, or answers, without changing anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from safeside import exact
from safeside.errors import (
    BadFile,
    BadQuestion,
    LedgerError,
    LedgerForked,
    LedgerMissing,
    OverBudget,
    RequestConflict,
)
from safeside.exact import show
from safeside.ledger import events
from safeside.ledger.account import Dataset, Reservation, Stage
from safeside.ledger.chain import Decision
from safeside.ledger.money import Cost
from safeside.ledger.periods import check_periods, word
from safeside.ledger.state import State
from safeside.privacy.guarantee import Unit
from safeside.zones import find_zone

_LONGEST_NAME: Final = 200
PEOPLE_FLOOR: Final = 20
"""A declared number of people below this says too much about each of them; settings may raise it."""
LOOKED_AT: Final = "looked_at"
"""The part of a question that says from when until when the counting rule looks."""


def require_floor(people: int, floor: int = PEOPLE_FLOOR) -> int:
    """A public number of people that is not too small to be one."""
    number, least = exact.whole(people, "`people=`"), max(floor, PEOPLE_FLOOR)
    if number < least:
        raise BadQuestion(
            f"`people=` is {number}, below the floor of {least}.",
            f"Declare at least {least} people, or leave `people=` out.",
        )
    return number


def require_open(state: State, dataset: str, request: str, question: Mapping[str, Any]) -> None:
    """Refuse a question about a time for which a release of these people stopped at a limit.

    Whatever passes after such a stop, another value, another method or a part of the time, tells outsiders
    what the stopped one met (THEORY section 8). The same request may be run again once rows are repaired.
    This is asked again of a request that was paid for before the stop: it must not go on past it either.
    """
    own = state.reservations.get(request)
    if own is not None and (own.stopped or own.stage is not Stage.RESERVED):
        return
    start, end = _span(question)
    for one in state.reservations.values():
        first, last = _span(one.question)
        meets = start < last and first < end
        if one.stopped and one.request != request and one.dataset in state.group(dataset).members and meets:
            raise LedgerError(
                "A release about a time that this question looks at stopped at a limit of the dataset, and "
                "that time stays closed: whatever is published after such a stop tells what stopped it.",
                f'If rows were wrong, repair them and run the request "{one.request}" again, unchanged; it '
                "is paid for. Any other time can be asked about.",
            )


def _span(question: Mapping[str, Any]) -> tuple[str, str]:
    """In UTC and of one shape, so that text compares as time does; all time where a question does not say."""
    said = question.get(LOOKED_AT)
    return (str(said[0]), str(said[1])) if isinstance(said, list) and len(said) == 2 else ("", "~")


def timezone_of(unit: Unit, timezone: str | None) -> str | None:
    """The time zone a dataset of this unit is kept in: none where it has one budget for all time."""
    if unit is Unit.PERSON:
        return None
    if timezone is None:
        raise BadQuestion(
            f"A dataset with a budget for each {word(unit)} needs a time zone.",
            'Say in which time zone its days begin, for example "Asia/Tokyo".',
        )
    return find_zone(timezone).key


def find_unit(name: Unit | str) -> Unit:
    """The unit of privacy of that name."""
    try:
        return Unit(name)
    except ValueError:
        raise BadQuestion(
            f'"{name}" is not a unit of privacy.', f"Use one of: {', '.join(str(unit) for unit in Unit)}."
        ) from None


def unit_of(dataset: Dataset) -> str:
    """The unit of privacy in words."""
    return str(dataset.unit) if dataset.timezone is None else f"{dataset.unit} in {dataset.timezone}"


def require_new_name(state: State, name: str) -> None:
    """A dataset's name must not be mistaken for another's: they would be two budgets for one promise.

    Names are plain ASCII, so that no letter of another script stands for one of these, and are compared
    without what the eye passes over (docs/decisions/names.md).
    """
    if not name.isascii():
        raise BadQuestion(
            "The name of a dataset has a letter that is not plain ASCII, and some of those look like others.",
            "Use the letters a to z, digits, blanks, dots, hyphens and underscores.",
        )
    for known in state.datasets:
        if looks(known) == looks(name):
            same = "exists already" if known == name else f'cannot be told from "{known}", which exists'
            raise LedgerError(
                f'The dataset "{name}" {same}.',
                "Use it as it is, or choose another name: a budget is never reset or raised.",
            )


def looks(name: str) -> str:
    """What is left of a name for the eye: no capitals, and one letter for those that look alike."""
    alike = name.casefold().translate(_ALIKE).replace("m", "rn").replace("w", "vv")
    return re.sub(r"[^a-z0-9]+", "-", alike).strip("-") or "-"


_ALIKE: Final = str.maketrans("01i|", "olll")


def require_own_files(state: State, dataset: str, files: Iterable[str]) -> None:
    """Refuse a file that another dataset, with a budget of its own, was published from or read for."""
    members = set(state.group(dataset).members)
    others = {one for file in files for one in state.files.get(file, ())} - members
    if others:
        raise BadFile(
            f'A file of these visits belongs to {_others(tuple(sorted(others)), dataset)}: from "{dataset}" '
            "it would be published a second time, on another budget.",
            "Publish it from that dataset; or, if both hold the same people, say so with "
            "`ledger.link(...)`: they then share the smaller budget.",
        )


def check_name(name: str, kind: str) -> None:
    """Names that cannot be typed or seen are refused."""
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise BadQuestion(
            f"That is not a {kind} the ledger can write down.",
            f"Give a {kind} of 1 to {_LONGEST_NAME} printable characters, without spaces around it.",
        )


def find_dataset(state: State, name: str) -> Dataset:
    """The dataset of that name, or the names there are."""
    if name in state.datasets:
        return state.datasets[name]
    known = ", ".join(f'"{one}"' for one in sorted(state.datasets)) or "none"
    near = [one for one in state.datasets if looks(one) == looks(name)]
    hint = f'Did you mean "{near[0]}"? ' if near else ""
    raise LedgerMissing(
        f'The ledger has no dataset called "{name}".',
        f"{hint}It has: {known}. A dataset is made with `ledger.create_dataset(...)`; publishing never "
        "makes one.",
    )


def find_reservation(state: State, reservation: Reservation, where: str) -> Reservation:
    """The reservation at its present stage; refused where it was made on another chain."""
    known = state.reservations.get(reservation.request)
    if known is None or known.digest != reservation.digest:
        raise LedgerForked(
            f'The reservation for the request "{reservation.request}" is not in {where}.',
            "Nothing was published. The ledger was restored or replaced since: run "
            "`safeside.recover_ledger(...)`, then run the same command again.",
        )
    return known


def require_same(known: Reservation, dataset: str, question: Mapping[str, Any], cost: Cost) -> None:
    """A request id stands for one question, for ever."""
    if (known.dataset, known.question, known.cost) != (dataset, question, cost):
        raise RequestConflict(
            f'The request id "{known.request}" was used before, for another question.',
            "Use a new request id for a new question; the same id is for repeating the same question.",
        )


def over_budget(state: State, dataset: str, cost: Cost) -> OverBudget | None:
    """Requested, remaining and difference of the first period that has no room, exactly."""
    group, amount = state.group(dataset), cost.converted()
    for period in check_periods(group.unit, cost.periods):
        room = group.remaining(period)
        if amount.fits(room):
            continue
        name, wanted, left = "epsilon", amount.epsilon, room.epsilon
        if wanted <= left:
            name, wanted, left = "delta", amount.delta, room.delta
        where = f" in {period}" if period else ""
        shared = f", which shares its budget with {_others(group.members, dataset)}" if group.linked else ""
        return OverBudget(
            f'The release does not fit in what is left of "{dataset}"{where}{shared}. '
            f"Requested {name} {show(wanted)}, remaining {show(left)}, difference {show(wanted - left)}.",
            "Ask with a smaller epsilon or delta, or ask less. A budget cannot be raised: it is what was "
            "promised to the people in the data.",
            requested=wanted,
            remaining=left,
        )
    return None


def _others(members: tuple[str, ...], dataset: str) -> str:
    return " and ".join(f'"{one}"' for one in members if one != dataset)


def refusal(
    state: State,
    request: str,
    dataset: str,
    question: Mapping[str, Any],
    reason: str,
    *,
    ends: str | None = None,
) -> Decision:
    """The event of a refusal; none where the last one said the same."""
    what = events.Refused(
        request=request,
        dataset=dataset,
        question=events.digest(events.canonical(question)),
        reason=reason,
        ends=ends,
    )
    # Somebody who asks the same in a loop does not fill the ledger.
    return Decision() if state.refusals.get(request) == what else Decision(happenings=(what,))
