"""Limits that a question is asked with: fixed with the dataset, never found by trial.

The most places of one person, K, and the most people there are, N, are published. Raised after a release
stopped because of them, they are the data's own maximum, published: the ratio is infinite, whatever is
charged (THEORY section 8). So a question is asked with the dataset's limits or with none, and after a stop
its time is closed to every other question (`ledger.rules.require_open`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from safeside.errors import BadQuestion, LimitBroken
from safeside.ledger import Dataset
from safeside.releases.question import Terms
from safeside.visits import Counts, Window

CLOSED: Final = (
    'Nothing was published. The budget stays reserved for the request "{request}", and the time it asked '
    "about is closed to every other question, value and method: once rows that were wrong are repaired, "
    "running the same command again finishes it and spends nothing more."
)


def with_limits(terms: Terms, dataset: Dataset, window: Window) -> Terms:
    """The terms with the limits of the dataset; refused where they name any other."""
    limit, people = dataset.max_places_per_person, dataset.people
    named = terms.max_places_per_person
    if named is not None and named != limit and not (window.instant and named == 1):
        raise _not_declared("max_places_per_person", named, limit, dataset)
    if terms.people is not None and terms.people != people:
        raise _not_declared("people", terms.people, people, dataset)
    # Sparse answers need no limit and take none unless told to: nothing then stops them.
    sparse = terms.max_alarms is not None
    return replace(
        terms,
        max_places_per_person=limit if named is None and not window.instant and not sparse else named,
        people=people if terms.people is None and not sparse and not terms.decision else terms.people,
    )


def _not_declared(argument: str, named: int, fixed: int | None, dataset: Dataset) -> BadQuestion:
    made = f"with `{argument}={fixed}`" if fixed is not None else f"without `{argument}=`"
    instead = (
        "Ask about an instant, or with `max_alarms=`, which needs no such limit."
        if argument != "people"
        else "It only sharpens the answers of busy places."
    )
    return BadQuestion(
        f'`{argument}=` is {named}, and the dataset "{dataset.name}" was made {made}.',
        f"Leave `{argument}=` out. A limit that is chosen for each question can be found by trial, and is "
        f"then the data's own largest number, published; so it is fixed when the dataset is made. {instead}",
    )


def require_within(counts: Counts, people: int | None, *, allow_nobody: bool) -> None:
    """Stop where a count breaks a limit; by how much, or where, is not said."""
    if people is not None and int(counts.values.max()) > people:
        raise LimitBroken(
            f"A count is larger than {people}, the number of people that the dataset was made with.",
            "Look for rows that are wrong: two sources under one list of places, or several people's "
            "identifiers for one.",
        )
    if not allow_nobody and not counts.values.any():
        raise LimitBroken(
            "Nobody in these visits was at any of the places at the time asked about "
            f"({counts.window.text}).",
            "Check that the file is of that day and that `timezone=` is right. If nobody was there, confirm "
            "it with `allow_nobody=True`; that is not published.",
        )
