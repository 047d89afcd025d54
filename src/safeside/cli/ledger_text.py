"""How a ledger is put in words, tables and JSON. Amounts are printed in full, never rounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from safeside.cli.console import line, table
from safeside.exact import show
from safeside.ledger import Budget, Dataset, Event, Leak, Rebuilt, Recovery, Reservation, Status, events
from safeside.ledger.periods import WORD
from safeside.privacy.guarantee import Unit


def terms(dataset: Dataset) -> str:
    """A dataset's budget in one line."""
    each = "" if dataset.unit is Unit.PERSON else f" for each {WORD[dataset.unit]} in {dataset.timezone}"
    return f"Budget{each}: {amount(dataset.cap)}."


def limits(dataset: Dataset) -> str:
    """What its questions are asked with, and what to ask where there is no limit."""
    said = []
    if dataset.max_places_per_person is not None:
        said.append(
            f"A person is counted at no more than {dataset.max_places_per_person:,} places over an interval; "
            "whoever was at more stops the release, and closes that time to every question."
        )
    if dataset.people is not None:
        said.append(f"No count is above {dataset.people:,}; one that is stops the release in the same way.")
    if not said:
        said.append("Limits: none, and none can be added.")
    return f"{' '.join(said)} Instants, and intervals by selection or with --max-alarms, need no limit."


def amount(budget: Budget) -> str:
    """An epsilon, and a delta if there is one."""
    delta = f", delta {show(budget.delta)}" if budget.delta else ""
    return f"epsilon {show(budget.epsilon)}{delta}"


def overview(shown: list[Status]) -> Table:
    """One line for each dataset."""
    rows = [
        (
            one.dataset.name,
            str(one.dataset.unit),
            amount(one.cap),
            amount(one.remaining),
            _releases(one),
            ", ".join(one.shares_with),
        )
        for one in shown
    ]
    return table(("dataset", "unit", "budget", "least left", "releases", "shares with"), rows)


def _releases(one: Status) -> str:
    apart = {"withdrawn": one.withdrawn, "unfinished": one.unfinished}
    also = ", ".join(f"{number:,} {said}" for said, number in apart.items() if number)
    return f"{one.releases:,} ({also})" if also else f"{one.releases:,}"


def status_lines(one: Status, *, places: bool) -> Iterator[RenderableType]:
    """One dataset in full."""
    if one.forgotten:
        yield Text(forgotten(one.forgotten), "bold red")
    yield f"Dataset {line(one.dataset.name)}. {terms(one.dataset)}"
    yield limits(one.dataset)
    if one.shares_with:
        yield f"Shares a budget of {amount(one.cap)} with {line(', '.join(one.shares_with))}."
    period = "all time" if one.dataset.unit is Unit.PERSON else WORD[one.dataset.unit]
    spent = [(each.name, amount(each.spent), amount(each.remaining)) for each in one.periods]
    yield table((period, "spent", "left"), spent)
    yield (
        f"{one.releases:,} published, {one.withdrawn:,} withdrawn and still charged, {one.unfinished:,} paid "
        "for and unfinished."
    )
    if one.returned:
        yield f"Sparse releases returned epsilon {show(one.returned)}, which can be spent again."
    if one.last is not None:
        yield _more(one, one.last)
    for sentence in (*one.sentences, one.promise):
        yield f"\n{sentence}"
    if one.leaks:
        yield "\n" + one.words("ledger.leaks")
        asked = [(_times(leak), f"{len(leak.targets):,}", f"{leak.questions:,}") for leak in one.leaks]
        yield table(("when", "places", "questions"), asked)
    if places:
        for leak in one.leaks:
            yield from (line(f"{_times(leak)}  {target}") for target in leak.targets)


def _more(one: Status, last: Reservation) -> str:
    noun = "release" if one.more_like_last == 1 else "releases"
    many = f"{one.more_like_last:,} more {noun} like the last ({amount(last.charged)}) would fit"
    if one.more_in_fresh_period is None:
        return f"{many}."
    unit = WORD[one.dataset.unit]
    return f"{many} in the same {unit}, {one.more_in_fresh_period:,} in a {unit} not asked about yet."


def _times(leak: Leak) -> str:
    return leak.first if leak.first == leak.last else f"from {leak.first} to {leak.last}"


def forgotten(number: int) -> str:
    """The warning of a ledger that was restored or copied."""
    events_ = "event" if number == 1 else "events"
    return (
        f"This ledger has forgotten {number:,} {events_} that it once held. Nothing can be published until "
        "`safeside ledger recover` was run."
    )


def untold(path: Path, first: int) -> str:
    """A witness that lags behind: no fault by itself, and worth a look where only this machine writes."""
    return (
        f'The witness "{path}" does not hold event {first:,} or what follows it: another machine, a process '
        "that was killed, or something other than safeside wrote it. The next event completes it."
    )


def events_table(history: list[Event], asked: Mapping[str, str | None]) -> Table:
    """The history, a line for each event, with what was asked where something was."""
    rows = []
    for event in history:
        moment = event.time.strftime("%Y-%m-%d %H:%M:%S")
        question = asked.get(event.action.request) if isinstance(event.action, events.Charged) else None
        what = describe(event) if question is None else f"{describe(event)}. {question}"
        rows.append((str(event.number), moment, event.action.kind, what))
    return table(("event", "time (UTC)", "kind", "what"), rows)


def describe(event: Event) -> str:
    """An event in a few words."""
    match event.action:
        case events.LedgerCreated(ledger=ledger):
            return ledger
        case events.DatasetCreated(name=name, caps=caps):
            return f"{name}: {amount(caps.budget)} for each {caps.unit}"
        case events.Charged() as action:
            return f"{action.request}: {amount(action.charged)} of {action.dataset}"
        case events.FilesRead(dataset=dataset, files=files):
            return f"{dataset}: {len(files):,} new input {'file' if len(files) == 1 else 'files'}"
        case events.Resumed(request=request):
            return f"{request}: taken up by another run"
        case events.Committed(request=request, manifest=manifest):
            return f"{request}: release {manifest[:16]}"
        case events.Returned(request=request, epsilon=epsilon):
            return f"{request}: epsilon {show(epsilon)}"
        case events.Withdrawn(request=request, reason=reason):
            return f"{request}: {reason}"
        case events.Refused(request=request, reason=reason, ends=ends):
            return f"{request}: {reason}" + ("" if ends is None else "; its reservation went back in full")
        case events.Stopped(request=request):
            return f"{request}: stopped at a limit; stays charged, and its time closed"
        case events.Linked(first=first, second=second):
            return f"{first} and {second} hold the same people"
        case events.Found() as action:
            gone = action.lost()
            return f"lost and found: {gone.action.kind}, {describe(gone)}"
        case events.Checkpoint(snapshot=snapshot):
            return f"the account so far, {snapshot[:16]}"
        case events.ClockSet(reason=reason):
            return reason
        case _:
            return ""


def is_of(event: Event, dataset: str, requests: set[str]) -> bool:
    """Whether an event concerns a dataset, whose requests these are."""
    action = event.action
    while isinstance(action, events.Found):
        action = action.lost().action
    names = {getattr(action, name, None) for name in ("dataset", "name", "first", "second")}
    return dataset in names or getattr(action, "request", None) in requests


def recovery_lines(found: Recovery, rebuilt: Rebuilt | None = None) -> Iterator[str]:
    """What recovering did and found, in sentences; none where there was nothing to recover."""
    if rebuilt is not None:
        last = rebuilt.last.strftime("%Y-%m-%d %H:%M UTC")
        yield f"Made the ledger anew from its witness: {rebuilt.events:,} events, the last of {last}."
        if rebuilt.aside is not None:
            yield f"What was there is kept as {rebuilt.aside}."
        yield (
            "A draw that was committed and had not appeared cannot be finished, because its key was in the "
            "database alone: it stays charged. If another machine has used this ledger, run the same command "
            "there, or here with --witness and its witness."
        )
    if found.clock_set:
        yield "The clock is accepted as right."
    if found.restored:
        yield f"Put back {found.restored:,} events exactly as they were."
    for one in found.recharged:
        yield f"Charged again: {_request(one)}."
    for request, epsilon in found.returned:
        yield f"Returned epsilon {show(epsilon)} that the release {request} did not use."
    for one in found.unfinished:
        yield (
            f"Unfinished: {_request(one)}. It was paid for before the data was read, and no release was "
            "committed: publishing stopped on the way. Run the same `safeside publish` again to finish it; "
            "it is not charged twice. Otherwise it stays spent, because nobody can know what was seen."
        )


def _request(one: Reservation) -> str:
    when = one.time.strftime("%Y-%m-%d %H:%M UTC")
    return f"{one.request} ({amount(one.charged)} of {one.dataset}, reserved {when}, event {one.number})"


def recovery_json(found: Recovery, rebuilt: Rebuilt | None = None) -> dict[str, Any]:
    """The same for programs."""
    return {
        "rebuilt": None if rebuilt is None else {"events": rebuilt.events, "kept": rebuilt.aside},
        "restored": found.restored,
        "clock_set": found.clock_set,
        "recharged": [_reservation(one) for one in found.recharged],
        "returned": [{"request": request, "epsilon": epsilon} for request, epsilon in found.returned],
        "unfinished": [_reservation(one) for one in found.unfinished],
    }


def status_json(one: Status, *, places: bool) -> dict[str, Any]:
    """A dataset's account for programs; every amount is exact text."""
    return {
        "dataset": one.dataset.name,
        "unit": one.dataset.unit,
        "timezone": one.dataset.timezone,
        "max_places_per_person": one.dataset.max_places_per_person,
        "people": one.dataset.people,
        "cap": one.cap,
        "standing": one.standing,
        "remaining": one.remaining,
        "periods": [
            {"period": each.name, "spent": each.spent, "remaining": each.remaining} for each in one.periods
        ],
        "shares_with": one.shares_with,
        "releases": one.releases,
        "withdrawn": one.withdrawn,
        "unfinished": one.unfinished,
        "returned": one.returned,
        "last": None if one.last is None else _reservation(one.last),
        "more_like_last": one.more_like_last,
        "more_in_fresh_period": one.more_in_fresh_period,
        "guarantee": one.sentences,
        "promise": one.promise,
        "leaks": [
            {"first": leak.first, "last": leak.last, "questions": leak.questions, "places": len(leak.targets)}
            | ({"targets": leak.targets} if places else {})
            for leak in one.leaks
        ],
        "forgotten": one.forgotten,
    }


def _reservation(one: Reservation) -> dict[str, Any]:
    return {
        "request": one.request,
        "dataset": one.dataset,
        "event": one.number,
        "stage": one.stage,
        "manifest": one.manifest,
        "charged": one.charged,
        "kind": one.cost.kind,
    }
