"""`safeside ledger`: make a ledger, look at it, check it, mend it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from safeside.cli import ledger_text as text
from safeside.cli.config import Config, read_config
from safeside.cli.console import VIOLATION, AsJson, line, out, print_either, print_json, violation
from safeside.errors import LedgerMissing, LedgerTampered
from safeside.ledger import Ledger, open_ledger
from safeside.ledger.rules import require_floor

Where = Annotated[
    str | None, typer.Option("--ledger", help="A file, or postgresql://...; from safeside.toml if left out.")
]


commands = typer.Typer(no_args_is_help=True, help="What was asked, what it cost, and what is left.")


@commands.command()
def create(
    epsilon: Annotated[str, typer.Option(help="All that may ever be spent, written exactly: 10, 0.5, 1/3.")],
    dataset: Annotated[str | None, typer.Option(help="The dataset's name; from safeside.toml.")] = None,
    delta: Annotated[str, typer.Option(help="The same for delta; 0 allows no releases with a delta.")] = "0",
    unit: Annotated[
        str, typer.Option(help="Whom one budget protects: person, person-day or person-week.")
    ] = "person",
    timezone: Annotated[
        str | None, typer.Option(help="Where days and weeks begin; from safeside.toml.")
    ] = None,
    public_balance: Annotated[
        bool,
        typer.Option(
            "--public-balance",
            help="Outsiders see what is left: a release that stops for bad input then stays charged.",
        ),
    ] = False,
    max_places_per_person: Annotated[
        int | None,
        typer.Option(help="K, for noisy counts over an interval: whoever is at more stops a release."),
    ] = None,
    people: Annotated[
        int | None, typer.Option(help="A public number that no count exceeds; published.")
    ] = None,
    ledger: Where = None,
) -> None:
    """Make a dataset with its budget, and the ledger if there is none yet. Neither can be reset."""
    config = read_config()
    url, name = config.required("ledger", ledger), config.required("dataset", dataset)
    with _made_or_opened(url, config) as book:
        book.create_dataset(
            name,
            unit,
            epsilon,
            delta,
            timezone=timezone or (config.timezone if unit != "person" else None),
            public_balance=public_balance,
            max_places_per_person=max_places_per_person,
            people=None if people is None else require_floor(people, config.people_floor or 0),
        )
        shown = book.show(name)
        out.print(line(f"Made the dataset {name} in {book.where}."))
    out.print(text.terms(shown.dataset), text.limits(shown.dataset), sep="\n")
    out.print("\nWhat the people in it are promised:", shown.promise, sep="\n")


@commands.command()
def show(
    dataset: Annotated[
        str | None, typer.Argument(help="One dataset in full; all of them if left out.")
    ] = None,
    ledger: Where = None,
    places: Annotated[
        bool, typer.Option("--places", help="List every place whose absence may have become known.")
    ] = False,
    json: AsJson = False,
) -> None:
    """What is left, what is promised, and what may have become known."""
    with _opened(ledger) as book:
        names = [dataset] if dataset else [one.name for one in book.datasets()]
        shown = [book.show(name) for name in names]
        if places:
            shown = [replace(one, leaks=book.leaks(one.dataset.name)) for one in shown]
        lost = book.forgotten()
        document = {
            "ledger": book.ledger_id,
            "events": book.head.number,
            "head": book.head.digest,
            "forgotten": lost,
            "datasets": [text.status_json(one, places=places) for one in shown],
        }
        lines: list[RenderableType] = [f"Ledger {book.ledger_id}, {book.head.number:,} events."]
    if dataset:
        lines += text.status_lines(shown[0], places=places)
    else:
        lines += [text.forgotten(lost)] if lost else []
        lines += [text.overview(shown), "Name one to see what is promised and what may have become known."]
    print_either(document, lines, as_json=json)


@commands.command()
def history(
    dataset: Annotated[str | None, typer.Option(help="Only events of this dataset.")] = None,
    ledger: Where = None,
    json: AsJson = False,
) -> None:
    """Every event, oldest first, with the questions that were asked."""
    from safeside.releases.record import in_words

    with _opened(ledger) as book:
        if dataset is not None:
            book.dataset(dataset)
        reserved = book.reservations(dataset)
        mine = {one.request for one in reserved}
        events = [event for event in book.history() if dataset is None or text.is_of(event, dataset, mine)]
        if json:
            print_json([event.to_json() for event in events])
        else:
            asked = {one.request: in_words(book.question(one).get("question")) for one in reserved}
            out.print(text.events_table(events, asked))


@commands.command()
def verify(ledger: Where = None, json: AsJson = False) -> None:
    """Read every event from the beginning and check that nothing was altered or forgotten."""
    try:
        with _opened(ledger) as book:
            found = book.check()
    except LedgerTampered as error:
        raise violation(error, as_json=json, intact=False) from None
    document = {
        "intact": not found.forgotten,
        "events": found.events,
        "head": found.head.digest,
        "forgotten": found.forgotten,
        "witnesses_lack_from": {str(path): first for path, first in found.untold.items()},
    }
    lines = [f"{found.events:,} events, each follows the one before. Head: {found.head.digest}"]
    lines += [line(text.untold(path, first)) for path, first in found.untold.items()]
    lines += [text.forgotten(found.forgotten)] if found.forgotten else []
    print_either(document, lines, as_json=json)
    if found.forgotten:
        raise typer.Exit(VIOLATION)


@commands.command()
def recover(
    release: Annotated[
        list[Path] | None, typer.Option(help="A release this ledger may have forgotten; may be repeated.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="The .pub or .keyring file those releases are checked with; yours if left out."),
    ] = None,
    witness: Annotated[
        list[Path] | None, typer.Option(help="The witness of another machine; may be repeated.")
    ] = None,
    accept_clock: Annotated[
        bool, typer.Option("--accept-clock", help="The clock is right, though behind the last event.")
    ] = False,
    ledger: Where = None,
    json: AsJson = False,
) -> None:
    """Explain what a crash left; charge again what was forgotten; make a lost database anew."""
    from safeside.releases.earlier import recover_ledger
    from safeside.releases.signing import keyring_path

    config = read_config()
    found, rebuilt = recover_ledger(
        config.required("ledger", ledger),
        releases=release or (),
        key=key or keyring_path(config.key_file()),
        witnesses=witness or (),
        accept_clock=accept_clock,
    )
    nothing = "Nothing to recover: every reservation has its release, and no event was forgotten."
    lines = [line(one) for one in text.recovery_lines(found, rebuilt)] or [nothing]
    print_either(text.recovery_json(found, rebuilt), lines, as_json=json)


@commands.command()
def link(
    first: Annotated[str, typer.Argument(help="A dataset.")],
    second: Annotated[str, typer.Argument(help="Another with the same people.")],
    ledger: Where = None,
) -> None:
    """Say that two datasets hold the same people: they then share the smaller budget, for good."""
    with _opened(ledger) as book:
        members = book.link(first, second)
        shown = book.show(first)
    out.print(line(f"{', '.join(members)} share one budget from now on."))
    out.print(text.overview([shown]))
    if shown.remaining.epsilon < 0 or shown.remaining.delta < 0:
        out.print("They have spent more than that together: nothing more can be published from any of them.")


def _opened(option: str | None) -> Ledger:
    return open_ledger(read_config().required("ledger", option))


def _made_or_opened(url: str, config: Config) -> Ledger:
    from safeside.releases.earlier import create_ledger

    try:
        return open_ledger(url)
    except LedgerMissing:
        return create_ledger(url, key=config.key_file())
