"""The options that say how visits are read, the same for every command that reads them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from safeside.cli.config import read_config
from safeside.errors import BadQuestion
from safeside.records import to_json
from safeside.visits import Expected, LeftOut, StayRule, VisitFormat

option = partial(typer.Option, rich_help_panel="The visits")

Visits = Annotated[
    list[str], typer.Argument(metavar="VISITS", help="CSV or Parquet: paths, a glob or a directory.")
]
Timezone = Annotated[str | None, option(help="Of the visits and of --when; never guessed.")]
ExcludeUnknown = Annotated[
    bool,
    option("--exclude-unknown-places", help="Leave out visits to places that are not listed, and say so."),
]


def declared(
    *,
    columns: Annotated[str | None, option(help="person=patient_id,time=seen_at")] = None,
    timezone: Timezone = None,
    time_format: Annotated[str | None, option(help="How times are written, where not in ISO 8601.")] = None,
    hold: Annotated[str | None, option(help="How long a sighting holds: 15min, 2h.")] = None,
    radius: Annotated[float | None, option(help="Coordinates: metres around a place.")] = None,
    h3: Annotated[int | None, option(help="Coordinates: H3 cells of this resolution.")] = None,
    stays_at_least: Annotated[
        int | None,
        option(
            metavar="MINUTES",
            help="Coordinates: only detected stays of so many minutes count, and every answer says so.",
        ),
    ] = None,
    longest_gap: Annotated[
        str | None, option(help="With --stays-at-least: a longer silence ends a stay: 30min, 2h.")
    ] = None,
    separator: Annotated[str, option(help="Of the fields in CSV files: one character, or tab.")] = ",",
    no_quotes: Annotated[
        bool,
        option("--no-quotes", help="No field of the CSV files is written in quotes: a quote is a letter."),
    ] = False,
    trust_ids: Annotated[
        bool,
        option(
            "--trust-ids", help="Identifiers that look rounded, shortened or missing (-1, unknown) are right."
        ),
    ] = False,
    trust_times: Annotated[
        bool, option("--trust-times", help="Times in 1970, before 1900 or after 2199 are right.")
    ] = False,
    trust_places: Annotated[
        bool,
        option(
            "--trust-places",
            help="Places spelt almost like a listed one are others; with --exclude-unknown-places.",
        ),
    ] = False,
    trust_coordinates: Annotated[
        bool, option("--trust-coordinates", help="Coordinates that look unknown or exchanged are right.")
    ] = False,
) -> VisitFormat:
    """What was said on the command line, and for the rest what safeside.toml says."""
    config = read_config()
    return VisitFormat(
        columns=columns if columns is not None else to_json(config.columns),
        time_format=time_format or config.time_format,
        timezone=timezone or config.timezone,
        hold=hold or config.hold,
        radius=radius if radius is not None else config.radius if h3 is None else None,
        h3_resolution=h3,
        stay_rule=_stay_rule(stays_at_least, longest_gap),
        separator=separator,
        no_quotes=no_quotes,
        trust_ids=trust_ids,
        trust_times=trust_times,
        trust_places=trust_places,
        trust_coordinates=trust_coordinates,
    )


def _stay_rule(minutes: int | None, longest_gap: str | None) -> StayRule | None:
    if minutes is not None and longest_gap is not None:
        return StayRule(minutes=minutes, longest_gap=longest_gap)
    if minutes is None and longest_gap is None:
        return None
    raise BadQuestion(
        "--stays-at-least and --longest-gap belong together, and one of them is not given.",
        "Declare how long a stay must last (--stays-at-least 10) and after how long a silence it is over "
        "(--longest-gap 30min).",
    )


def expected(
    *,
    expect_files: Annotated[int | None, option(help="Declared number of files.")] = None,
    expect_rows: Annotated[int | None, option(help="Declared number of rows.")] = None,
    expect_people: Annotated[int | None, option(help="Declared number of people.")] = None,
    expect_unlisted: Annotated[
        str | None,
        option(help="How much of the rows may be left out by --exclude-unknown-places: 60%. Not published."),
    ] = None,
    covers: Annotated[
        str | None,
        option(
            help="What the export covers: A/B, or how files are named: 'visits-%Y-%m-%d.csv'. Not published."
        ),
    ] = None,
) -> Expected:
    """What somebody who knows the data declares of them."""
    config = read_config()
    return Expected(
        files=expect_files,
        rows=expect_rows,
        people=expect_people,
        covers=covers or config.covers,
        unlisted=expect_unlisted or config.expect_unlisted,
    )


def examples(found: LeftOut) -> list[str]:
    """Some of what is left out: for the terminal of whoever holds the data, and nowhere else."""
    said = [f"  {other!r} looks like {listed!r}, which is listed." for other, listed in found.alike]
    if found.examples:
        said.append(f"  Not listed, for example: {', '.join(map(repr, found.examples))}.")
    return said
