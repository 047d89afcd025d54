"""The options that `publish` and `simulate` share, and the panels in which help shows them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from safeside.releases.asking import ADP
from safeside.releases.choosing import AUTO
from safeside.releases.methods import METHODS

_DIGITS: Final = re.compile("[0-9]{1,18}")
QUESTION, ACCOUNT, OUTPUT = "The question", "The account", "The release"

AtMost = Annotated[
    str | None,
    typer.Option(
        help='The t of "at most t", or of groups a share: 5%; else at_most of the list.',
        rich_help_panel=QUESTION,
    ),
]
Epsilon = Annotated[
    str, typer.Option(help="The price, written exactly: 1, 0.1, 1/3.", rich_help_panel=QUESTION)
]
Delta = Annotated[str, typer.Option(help="With --guarantee dp.", rich_help_panel=QUESTION)]
Method = Annotated[
    str | None,
    typer.Option(
        help=f"{AUTO}, {', '.join(METHODS)}; else by the other options, or the one that certifies most.",
        rich_help_panel=QUESTION,
    ),
]
GuaranteeKind = Annotated[
    str, typer.Option("--guarantee", help="adp, or dp: ordinary (epsilon, delta).", rich_help_panel=QUESTION)
]
Decision = Annotated[
    bool,
    typer.Option(
        "--decision", help="With dp: one bit for each place instead of counts.", rich_help_panel=QUESTION
    ),
]
MaxPlaces = Annotated[
    int | None,
    typer.Option(
        "--max-places-per-person", help="K, as the dataset was made with it.", rich_help_panel=QUESTION
    ),
]
MaxAlarms = Annotated[
    int | None,
    typer.Option(help="Ask places in turn and stop after so many alarms.", rich_help_panel=QUESTION),
]
OrderOf = Annotated[
    str | None,
    typer.Option(
        "--order",
        help="With --max-alarms: popularity, random, release:DIR or file:PATH.",
        rich_help_panel=QUESTION,
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        help="Cut the interval into windows: 1h, 1d; each is asked about.", rich_help_panel=QUESTION
    ),
]
Profile = Annotated[
    Path | None,
    typer.Option(
        help="With selection: how busy each hour usually is (CSV: hour, weight; day).",
        rich_help_panel=QUESTION,
    ),
]
LearnFrom = Annotated[
    list[Path] | None,
    typer.Option(
        help="With selection: an earlier release whose answers move the forecast.", rich_help_panel=QUESTION
    ),
]
AtLeast = Annotated[
    int | None, typer.Option(help='Also say "at least" this many, rarely wrong.', rich_help_panel=QUESTION)
]
Alpha = Annotated[
    str | None, typer.Option(help='How often "at least" may be wrong.', rich_help_panel=QUESTION)
]
PublishAtLeast = Annotated[
    bool,
    typer.Option(
        "--publish-at-least",
        help='Show "at least" on the public map; alpha is then for the whole release.',
        rich_help_panel=QUESTION,
    ),
]
People = Annotated[
    int | None, typer.Option(help="N, as the dataset was made with it.", rich_help_panel=QUESTION)
]
Noun = Annotated[
    str | None,
    typer.Option(help='Who is counted, one and many: "guest/guests".', rich_help_panel=QUESTION),
]
Basemap = Annotated[
    Path | None, typer.Option(help="GeoJSON to draw beneath the map.", rich_help_panel=OUTPUT)
]
Ledger = Annotated[str | None, typer.Option(help="A file, or postgresql://...", rich_help_panel=ACCOUNT)]
Key = Annotated[Path | None, typer.Option(help="The signing key.", rich_help_panel=ACCOUNT)]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", rich_help_panel=OUTPUT)]


def question(
    *,
    epsilon: Epsilon,
    at_most: AtMost = None,
    method: Method = None,
    delta: Delta = "0",
    guarantee: GuaranteeKind = ADP,
    decision: Decision = False,
    max_places_per_person: MaxPlaces = None,
    max_alarms: MaxAlarms = None,
    order: OrderOf = None,
    every: Every = None,
    profile: Profile = None,
    learn_from: LearnFrom = None,
    at_least: AtLeast = None,
    alpha: Alpha = None,
    publish_at_least: PublishAtLeast = False,
    people: People = None,
    noun: Noun = None,
) -> dict[str, Any]:
    """What is asked, as it was typed: arguments of `safeside.ask`."""
    given = dict(locals())
    return {
        **given,
        "at_most": int(at_most) if at_most is not None and _DIGITS.fullmatch(at_most) else at_most,
    }
