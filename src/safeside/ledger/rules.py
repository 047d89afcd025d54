"""The rules of the ledger: what is allowed at a place of the list, and in which words it is refused.

They stand here once. Admitting a new event and believing an old one ask the same functions, each of which
looks at the account and raises, or answers, without changing anything. Of a new event more is asked in two
places: the request id that somebody types (`check_name`), and of a commit that its time is open
(`require_open`), since a recovery also commits what was published long before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from safeside import exact, records
from safeside.errors import BadFile, BadQuestion, LedgerError, LedgerMissing, OverBudget, RequestConflict
from safeside.exact import show
from safeside.ledger import events
from safeside.ledger.account import Dataset, Impossible, Reservation, Stage, looked_at, skeleton
from safeside.ledger.periods import WORD, check_periods
from safeside.ledger.refusals import clock_behind
from safeside.privacy.account import ZERO, Budget, Caps, Cost
from safeside.privacy.guarantee import Unit
from safeside.zones import find_zone

if TYPE_CHECKING:
    from safeside.ledger.lookup import Account

_LONGEST_NAME: Final = 200
SLACK: Final = timedelta(minutes=2)
"""Clocks of several machines differ a little."""
PEOPLE_FLOOR: Final = 20
"""A declared number of people below this says too much about each of them; settings may raise it."""


def require(allowed: bool, why: str) -> None:
    """Believe an event only where the rules allow it; whoever adds one has asked before."""
    if not allowed:
        raise Impossible(why)


def may_follow(state: Account, action: events.Action, time: datetime) -> None:
    """Something can be the next event: dated, and the first one exactly where there is none before it."""
    require(not _is_behind(state, action, time), "it is dated before the event it follows")
    require((state.head.number == 0) == isinstance(action, events.LedgerCreated), "a ledger begins once")


def _is_behind(state: Account, action: events.Action, time: datetime) -> bool:
    """Whether this is before the last event; only what sets the clock may be dated so."""
    return state.time is not None and time < state.time and not isinstance(action, events.ClockSet)


def date(state: Account, action: events.Action, now: datetime | None) -> datetime:
    """The time of a new event; ClockBackwards where the clock is further behind than clocks differ."""
    time = now or datetime.now(UTC)
    if time.tzinfo is None:
        raise BadQuestion("The moment has no time zone.", "Give it with one, for example in UTC.")
    last = state.time
    if last is None or not _is_behind(state, action, time):
        return time
    if last - time > SLACK:
        raise clock_behind(time, last)
    return last


def may_create(state: Account, action: events.DatasetCreated) -> None:
    """A dataset can be made: of a new name, with caps that can be spent from, and limits that protect.

    Its name must not be mistaken for another's: they would be two budgets for one promise. Names are plain
    ASCII, so that no letter of another script stands for one of these, and are compared without what the eye
    passes over (docs/decisions/names.md).
    """
    name = action.name
    check_name(name, "dataset")
    if not name.isascii():
        raise BadQuestion(
            "The name of a dataset has a letter that is not plain ASCII, and some of those look like others.",
            "Use the letters a to z, digits, blanks, dots, hyphens and underscores.",
        )
    for known in state.datasets:
        if skeleton(known) == skeleton(name):
            same = "exists already" if known == name else f'cannot be told from "{known}", which exists'
            raise LedgerError(
                f'The dataset "{name}" {same}.',
                "Use it as it is, or choose another name: a budget is never reset or raised.",
            )
    usable(action.caps)
    if action.max_places_per_person is not None:
        exact.whole(action.max_places_per_person, "`max_places_per_person=`", least=1)
    if action.people is not None:
        require_floor(action.people)


def may_reserve(state: Account, action: events.Reserved) -> None:
    """A question can be paid for: of a dataset, under a new request, about an open time, within the caps."""
    state.dataset(action.dataset)
    _require_price(action)
    if state.reservation(action.request) is not None:
        raise _used(action.request)
    require_open(state, action.dataset, action.request, action.question)
    require_within_budget(state, action.dataset, action.cost, action.charged)


def may_charge_again(state: Account, action: events.Charged, request: str) -> None:
    """Something that was published, or may have been, can be charged here, whether or not it fits."""
    group = state.group(action.dataset)
    _require_price(action)
    require(state.reservation(request) is None, "its request was reserved before")
    if not group.closed:
        check_periods(group.unit, action.cost.periods)


def _require_price(action: events.Charged) -> None:
    """What enters the account is what the price converts to, not a word more or less."""
    require(action.charged == action.cost.under_policy(), "it charges another amount than its price")


def require_open(state: Account, dataset: str, request: str, question: Mapping[str, Any]) -> None:
    """Refuse a question about a time for which a release of these people stopped at a limit.

    Whatever passes after such a stop, another value, another method or a part of the time, tells outsiders
    what the stopped one met (docs/threat-model.md). The same request may be run again once rows are repaired.
    This is asked again of a request that was paid for before the stop: it must not go on past it either.
    """
    if not state.stopped:
        return
    own = state.reservation(request)
    if own is not None and (own.stopped or own.stage is not Stage.RESERVED):
        return
    start, end = looked_at(question)
    members = state.group(dataset).members
    for other, (owner, first, last) in state.stopped.items():
        if other != request and owner in members and start < last and first < end:
            raise LedgerError(
                "A release about a time that this question looks at stopped at a limit of the dataset, and "
                "that time stays closed: whatever is published after such a stop tells what stopped it.",
                f'If rows were wrong, repair them and run the request "{other}" again, unchanged; it '
                "is paid for. Any other time can be asked about.",
            )


def require_within_budget(state: Account, dataset: str, cost: Cost, amount: Budget) -> None:
    """OverBudget, with requested, remaining and difference of the first period that has no room, exactly.

    `amount` is what the cost converts to.
    """
    group = state.group(dataset)
    for period in check_periods(group.unit, cost.periods):
        room = group.remaining(period)
        if amount.fits(room):
            continue
        name, wanted, left = "epsilon", amount.epsilon, room.epsilon
        if wanted <= left:
            name, wanted, left = "delta", amount.delta, room.delta
        where = f" in {period}" if period else ""
        shared = f", which shares its budget with {_others(group.members, dataset)}" if group.linked else ""
        raise OverBudget(
            f'The release does not fit in what is left of "{dataset}"{where}{shared}. '
            f"Requested {name} {show(wanted)}, remaining {show(left)}, difference {show(wanted - left)}.",
            "Ask with a smaller epsilon or delta, or ask less. A budget cannot be raised: it is what was "
            "promised to the people in the data.",
            requested=wanted,
            remaining=left,
        )


def require_same(known: Reservation, dataset: str, question: Mapping[str, Any], cost: Cost) -> None:
    """A request id stands for one question, for ever."""
    if (known.dataset, known.question, known.cost) != (dataset, question, cost):
        raise _used(known.request)


def _used(request: str) -> RequestConflict:
    return RequestConflict(
        f'The request id "{request}" was used before, for another question.',
        "Use a new request id for a new question; the same id is for repeating the same question.",
    )


def may_commit(one: Reservation, action: events.Committed) -> None:
    """What was drawn can be fixed: once, with a number of alarms exactly where the release is sparse."""
    require_alarms(one, action)
    if one.stage is not Stage.RESERVED:
        raise RequestConflict(
            f'The request "{one.request}" was committed before, with another release.',
            "Keep the release that was committed and delete this one: noise is drawn once.",
        )


def require_alarms(one: Reservation, action: events.Committed) -> None:
    """Alarms are counted by what they cost."""
    if (action.alarms is None) != (one.cost.epsilon_each is None) or (action.alarms or 0) < 0:
        raise BadQuestion(
            "The number of alarms belongs to sparse releases, and to all of them.",
            "Give a number of alarms exactly where the reservation has a price for each alarm.",
        )


def returnable(state: Account, one: Reservation) -> Fraction:
    """What of a reservation may come back (docs/proofs/refunds.md).

    Only what published alarms show was not used; and, where datasets were linked since, nothing: their
    common total was not fixed before the draw, which is what makes a refund sound.
    """
    if one.alarms is None or one.returned is not None:
        return ZERO
    if one.number <= state.group(one.dataset).linked or one.recharged:
        return ZERO
    return one.cost.unused(one.alarms)


def may_return(state: Account, one: Reservation, amount: Fraction) -> None:
    """Only what was not used comes back, and once."""
    most = returnable(state, one)
    if not 0 < amount <= most:
        raise LedgerError(
            f'{show(amount)} cannot be returned of the request "{one.request}": at most '
            f"{show(most)} was paid for, published as not used, and not returned before.",
            "Return only what the published alarms of a committed sparse release show was not used.",
        )


def may_withdraw(one: Reservation | None, request: str) -> Reservation:
    """Only what was published can be taken back."""
    if one is None or one.stage is not Stage.COMMITTED:
        raise LedgerMissing(
            f'The ledger knows of no release published for the request "{request}".',
            "Look up the request id in release.json, or in `ledger.history()`.",
        )
    return one


def endable(state: Account, one: Reservation) -> bool:
    """Whether a reservation may go back in full when its question is refused before anything is drawn.

    Only while a single run knows of it: of any other nobody can say that it has not drawn.
    """
    members = state.group(one.dataset).members
    public = any(state.datasets[name].public_balance for name in members)
    alone = not one.recharged and not one.resumed and not one.stopped
    return one.stage is Stage.RESERVED and alone and not public


def may_end(state: Account, one: Reservation, dataset: str) -> bool:
    """Whether a refused question about a dataset may return this reservation."""
    return one.dataset == dataset and endable(state, one)


def stoppable(one: Reservation) -> bool:
    """Whether a release may stop at a limit: once, and before anything is drawn for it."""
    return one.stage is Stage.RESERVED and not one.stopped


def may_link(state: Account, first: str, second: str) -> None:
    """Two datasets can share a budget."""
    one, two = state.dataset(first), state.dataset(second)
    require(state.group(first) is not state.group(second), "its datasets share a budget already")
    if (one.unit, one.timezone) != (two.unit, two.timezone):
        raise LedgerError(
            f'"{first}" protects a {_unit_of(one)}, "{second}" a {_unit_of(two)}: their budgets do '
            "not add up.",
            "Link only datasets with the same unit of privacy and the same time zone.",
        )


def require_own_files(state: Account, dataset: str, files: Iterable[str]) -> None:
    """Refuse a file that another dataset, with a budget of its own, was published from or read for."""
    members = set(state.group(dataset).members)
    others = {one for file in files for one in state.lookup("file", file) or ()} - members
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


def usable(caps: Caps) -> Caps:
    """Caps that can be spent from: an epsilon above zero, a delta below one, a time zone where one counts."""
    exact.epsilon(caps.epsilon)
    exact.delta(caps.delta)
    if caps.unit is Unit.PERSON:
        return replace(caps, timezone=None)
    if caps.timezone is None:
        raise BadQuestion(
            f"A dataset with a budget for each {WORD[caps.unit]} needs a time zone.",
            'Say in which time zone its days begin, for example "Asia/Tokyo".',
        )
    return replace(caps, timezone=find_zone(caps.timezone).key)


def find_unit(name: Unit | str) -> Unit:
    """The unit of privacy of that name."""
    try:
        return Unit(name)
    except ValueError:
        raise BadQuestion(
            f'"{name}" is not a unit of privacy.', f"Use one of: {', '.join(str(unit) for unit in Unit)}."
        ) from None


def _unit_of(dataset: Dataset) -> str:
    return str(dataset.unit) if dataset.timezone is None else f"{dataset.unit} in {dataset.timezone}"


def require_floor(people: int, floor: int = PEOPLE_FLOOR) -> int:
    """A public number of people that is not too small to be one."""
    number, least = exact.whole(people, "`people=`"), max(floor, PEOPLE_FLOOR)
    if number < least:
        raise BadQuestion(
            f"`people=` is {number}, below the floor of {least}.",
            f"Declare at least {least} people, or leave `people=` out.",
        )
    return number


def refusal_key(action: events.Refused) -> str:
    """One text for each refusal, by which the same one is known when it comes again."""
    return records.digest(records.canonical(action))


def _others(members: tuple[str, ...], dataset: str) -> str:
    return " and ".join(f'"{one}"' for one in members if one != dataset)
