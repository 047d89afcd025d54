"""`safeside check`: everything that would stop a count, before anything is asked or spent."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from safeside.cli import publish_options as options
from safeside.cli.config import read_config
from safeside.cli.console import VIOLATION, out, print_json, spinner
from safeside.visits import Finding, Manifest, Report, VisitFormat, Window, check_visits, read_places


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(
    visits: Annotated[
        list[str], typer.Argument(metavar="VISITS...", help="CSV or Parquet: paths, a glob or a directory.")
    ],
    places: Annotated[
        Path, typer.Option(help="The public list of places.", rich_help_panel=options.QUESTION)
    ],
    when: Annotated[
        str | None,
        typer.Option(help="An instant, or an interval A/B, to check too.", rich_help_panel=options.QUESTION),
    ] = None,
    max_places_per_person: options.MaxPlaces = None,
    columns: Annotated[
        str | None, typer.Option(help="person=patient_id,time=seen_at", rich_help_panel=options.DATA)
    ] = None,
    timezone: options.TimeZone = None,
    time_format: Annotated[
        str | None,
        typer.Option(help="How times are written, where not in ISO 8601.", rich_help_panel=options.DATA),
    ] = None,
    hold: Annotated[
        str | None, typer.Option(help="How long a sighting holds: 15min, 2h.", rich_help_panel=options.DATA)
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="Coordinates: metres around a place.", rich_help_panel=options.DATA)
    ] = None,
    h3: Annotated[
        int | None,
        typer.Option(help="Coordinates: H3 cells of this resolution.", rich_help_panel=options.DATA),
    ] = None,
    separator: Annotated[str, typer.Option(help="Of CSV files.", rich_help_panel=options.DATA)] = ",",
    exclude_unknown_places: Annotated[
        bool,
        typer.Option(
            "--exclude-unknown-places",
            help="Leave out visits to places that are not listed, and say so.",
            rich_help_panel=options.DATA,
        ),
    ] = False,
    trust_ids: Annotated[
        bool,
        typer.Option(
            "--trust-ids",
            help="Identifiers that look rounded or shortened are right.",
            rich_help_panel=options.DATA,
        ),
    ] = False,
    trust_coordinates: Annotated[
        bool,
        typer.Option(
            "--trust-coordinates",
            help="Coordinates that look unknown or exchanged are right.",
            rich_help_panel=options.DATA,
        ),
    ] = False,
    expect_files: Annotated[
        int | None, typer.Option(help="Declared number of files.", rich_help_panel=options.DATA)
    ] = None,
    expect_rows: Annotated[
        int | None, typer.Option(help="Declared number of rows.", rich_help_panel=options.DATA)
    ] = None,
    expect_people: Annotated[
        int | None, typer.Option(help="Declared number of people.", rich_help_panel=options.DATA)
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Look at visits for everything that would make a count wrong, and say on which lines it is."""
    config = read_config()
    zone = timezone or config.timezone
    declared = VisitFormat(
        columns=columns if columns is not None else dict(config.columns),
        time_format=time_format or config.time_format,
        timezone=zone,
        hold=hold or config.hold,
        radius=radius if radius is not None else config.radius if h3 is None else None,
        h3_resolution=h3,
        separator=separator,
        trust_ids=trust_ids,
        trust_coordinates=trust_coordinates,
    )
    with spinner() as progress:
        report = check_visits(
            visits[0] if len(visits) == 1 else visits,
            read_places(places),
            None if when is None else Window.parse(when, zone),
            declared,
            max_places_per_person=max_places_per_person,
            exclude_unknown_places=exclude_unknown_places,
            manifest=Manifest(files=expect_files, rows=expect_rows, people=expect_people),
            progress=progress,
        )
    if as_json:
        print_json(_plain(report))
    else:
        _show(report)
    if not report.fine:
        raise typer.Exit(VIOLATION)


def _show(report: Report) -> None:
    about = [] if report.rows is None else [f"{report.rows:,} rows"]
    about += [] if report.people is None else [f"{report.people:,} people"]
    files = f"{report.files:,} file{'' if report.files == 1 else 's'}"
    out.print(f"Looked at {files}: {', '.join(about)}.", markup=False)
    for title, findings in (("Wrong", report.errors), ("Note", report.notes)):
        for finding in findings:
            out.print(f"{title}: {finding.sentence()}", markup=False)
            out.print(f"  What to do: {finding.do}", markup=False)
    for sentence in (report.reading, *report.exclusions):
        out.print(sentence, markup=False)
    if report.fine:
        out.print("Nothing here stops a count.")
    else:
        out.print(f"{len(report.errors)} of these would stop a count. Nothing was counted.")


def _plain(report: Report) -> dict[str, object]:
    return {
        "fine": report.fine,
        "files": report.files,
        "rows": report.rows,
        "people": report.people,
        "most_places_per_person": report.most_places_per_person,
        "reading": report.reading,
        "exclusions": list(report.exclusions),
        "findings": [_finding(finding) for finding in report.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {**asdict(finding), "doubt": finding.doubt.value, "sentence": finding.sentence()}
