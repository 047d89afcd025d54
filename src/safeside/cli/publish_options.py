"""The options that `publish`, `simulate` and `check` share, and the panels in which help shows them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from safeside.cli.shared_options import threshold
from safeside.releases.asking import ADP
from safeside.releases.choosing import AUTO
from safeside.releases.methods import METHODS

of_question = partial(typer.Option, rich_help_panel="The question")
of_account = partial(typer.Option, rich_help_panel="The account")
of_release = partial(typer.Option, rich_help_panel="The release")
of_groups = partial(typer.Option, rich_help_panel="Groups of people, instead of places")

Basemap = Annotated[Path | None, of_release(help="GeoJSON to draw beneath the map.")]
Ledger = Annotated[str | None, of_account(help="A file, or postgresql://...")]
Key = Annotated[Path | None, of_account(help="The signing key.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Out = Annotated[Path, of_release("--out", metavar="DIR")]
Groups = Annotated[
    Path | None, of_groups(help="The public list of groups (group; name, size, at_most, region ...).")
]
_METHODS: Final = f"{AUTO}, {', '.join(METHODS)}"


def question(
    *,
    epsilon: Annotated[str, of_question(help="The price, written exactly: 1, 0.1, 1/3.")],
    at_most: Annotated[
        str | None,
        of_question(help='The t of "at most t", or of groups a share: 5%; else at_most of the list.'),
    ] = None,
    method: Annotated[
        str | None,
        of_question(help=f"{_METHODS}; else by the other options, or the one that certifies most."),
    ] = None,
    delta: Annotated[str, of_question(help="With --guarantee dp.")] = "0",
    guarantee: Annotated[str, of_question(help="adp, or dp: ordinary (epsilon, delta).")] = ADP,
    decision: Annotated[
        bool, of_question("--decision", help="With dp: one bit for each place instead of counts.")
    ] = False,
    max_places_per_person: Annotated[
        int | None, of_question(help="K, as the dataset was made with it.")
    ] = None,
    max_alarms: Annotated[
        int | None, of_question(help="Ask places in turn and stop after so many alarms.")
    ] = None,
    order: Annotated[
        str | None, of_question(help="With --max-alarms: popularity, random, release:DIR or file:PATH.")
    ] = None,
    every: Annotated[
        str | None, of_question(help="Cut the interval into windows: 1h, 1d; each is asked about.")
    ] = None,
    profile: Annotated[
        Path | None,
        of_question(help="With selection: how busy each hour usually is (CSV: hour, weight; day)."),
    ] = None,
    learn_from: Annotated[
        list[Path] | None,
        of_question(help="With selection: an earlier release whose answers move the forecast."),
    ] = None,
    at_least: Annotated[int | None, of_question(help='Also say "at least" this many, rarely wrong.')] = None,
    alpha: Annotated[str | None, of_question(help='How often "at least" may be wrong.')] = None,
    publish_at_least: Annotated[
        bool,
        of_question(
            "--publish-at-least",
            help='Show "at least" on the public map; alpha is then for the whole release.',
        ),
    ] = False,
    people: Annotated[int | None, of_question(help="N, as the dataset was made with it.")] = None,
    noun: Annotated[str | None, of_question(help='Who is counted, one and many: "guest/guests".')] = None,
) -> dict[str, Any]:
    """What is asked, as it was typed: arguments of `safeside.ask`."""
    given = dict(locals())
    return {**given, "at_most": None if at_most is None else threshold(at_most)}


def conditions(
    *,
    where: Annotated[
        str | None,
        of_groups(help="Who of all people is counted: mmr=no, dose in 0, 1, age<12; joined by and."),
    ] = None,
    measure: Annotated[
        list[str] | None, of_groups(help="NAME: CONDITION; several are counted at once.", metavar="MEASURE")
    ] = None,
    domain: Annotated[
        list[str] | None,
        of_groups(
            help="Every value a column of a condition may hold: mmr=yes,no or age=0..120.", metavar="DOMAIN"
        ),
    ] = None,
    only_counted: Annotated[
        bool, of_groups("--only-counted", help="The table lists nobody but those who are counted.")
    ] = False,
) -> dict[str, Any]:
    """Who is counted, as it was typed: arguments of `safeside.groups.measures`."""
    return {"where": where, "measures": measure, "domains": domain, "only_counted": only_counted}


def asked(
    *,
    as_of: Annotated[
        str | None, of_groups(metavar="DATE", help="The date that the table of people is of.")
    ] = None,
    group_noun: Annotated[
        str | None, of_groups(metavar="ONE/MANY", help="What the groups are called: school/schools.")
    ] = None,
) -> dict[str, Any]:
    """The other arguments of `safeside.ask` about groups."""
    return dict(locals())
