"""The options that `publish` and `simulate` share, and the panels in which help shows them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from safeside.cli.typed import threshold
from safeside.releases.asking import ADP
from safeside.releases.choosing import AUTO
from safeside.releases.methods import METHODS

of_question = partial(typer.Option, rich_help_panel="The question")
of_account = partial(typer.Option, rich_help_panel="The account")
of_release = partial(typer.Option, rich_help_panel="The release")

Basemap = Annotated[Path | None, of_release(help="GeoJSON to draw beneath the map.")]
Ledger = Annotated[str | None, of_account(help="A file, or postgresql://...")]
Key = Annotated[Path | None, of_account(help="The signing key.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Out = Annotated[Path, of_release("--out", metavar="DIR")]
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
