"""The options of questions about groups of people."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

PANEL: Final = "Groups of people, instead of places"

_option = partial(typer.Option, rich_help_panel=PANEL)

Groups = Annotated[
    Path | None, _option(help="The public list of groups (group; name, size, at_most, region ...).")
]
AsOf = Annotated[str | None, _option(metavar="DATE", help="The date that the table of people is of.")]
WhereOf = Annotated[
    str | None,
    _option("--where", help="Who of all people is counted: mmr=no, dose in 0, 1, age<12; joined by and."),
]
Measure = Annotated[
    list[str] | None, _option(help="NAME: CONDITION; several are counted at once.", metavar="MEASURE")
]
Domain = Annotated[
    list[str] | None,
    _option(help="Every value a column of a condition may hold: mmr=yes,no or age=0..120.", metavar="DOMAIN"),
]
OnlyCounted = Annotated[
    bool, _option("--only-counted", help="The table lists nobody but those who are counted.")
]
GroupNoun = Annotated[
    str | None, _option(metavar="ONE/MANY", help="What the groups are called: school/schools.")
]


def conditions(
    *,
    where: WhereOf = None,
    measure: Measure = None,
    domain: Domain = None,
    only_counted: OnlyCounted = False,
) -> dict[str, Any]:
    """Who is counted, as it was typed: arguments of `safeside.groups.measures`."""
    return {"where": where, "measures": measure, "domains": domain, "only_counted": only_counted}


def asked(*, as_of: AsOf = None, group_noun: GroupNoun = None) -> dict[str, Any]:
    """The other arguments of `safeside.ask` about groups."""
    return dict(locals())
