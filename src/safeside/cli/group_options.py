"""The options of questions about groups of people."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

_option = partial(typer.Option, rich_help_panel="Groups of people, instead of places")

Groups = Annotated[
    Path | None, _option(help="The public list of groups (group; name, size, at_most, region ...).")
]


def conditions(
    *,
    where: Annotated[
        str | None, _option(help="Who of all people is counted: mmr=no, dose in 0, 1, age<12; joined by and.")
    ] = None,
    measure: Annotated[
        list[str] | None, _option(help="NAME: CONDITION; several are counted at once.", metavar="MEASURE")
    ] = None,
    domain: Annotated[
        list[str] | None,
        _option(
            help="Every value a column of a condition may hold: mmr=yes,no or age=0..120.", metavar="DOMAIN"
        ),
    ] = None,
    only_counted: Annotated[
        bool, _option("--only-counted", help="The table lists nobody but those who are counted.")
    ] = False,
) -> dict[str, Any]:
    """Who is counted, as it was typed: arguments of `safeside.groups.measures`."""
    return {"where": where, "measures": measure, "domains": domain, "only_counted": only_counted}


def asked(
    *,
    as_of: Annotated[
        str | None, _option(metavar="DATE", help="The date that the table of people is of.")
    ] = None,
    group_noun: Annotated[
        str | None, _option(metavar="ONE/MANY", help="What the groups are called: school/schools.")
    ] = None,
) -> dict[str, Any]:
    """The other arguments of `safeside.ask` about groups."""
    return dict(locals())
