"""`safeside generate`: a synthetic city, or county of schools, to try everything on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from safeside.cli.console import Spinner, out, table
from safeside.cli.installed import needs_studies


def generate(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the files go.")],
    kind: Annotated[
        Literal["city", "schools"], typer.Option(help="A city of visits, or a county of schools.")
    ] = "city",
    schools: Annotated[int, typer.Option(help="How many schools the county has.")] = 1_200,
    people: Annotated[int, typer.Option(help="How many people live there.")] = 10_338,
    places: Annotated[int, typer.Option(help="How many places are on the public list.")] = 5_835,
    days: Annotated[int, typer.Option(help="How many days, from Friday, 20 December 2013.")] = 7,
    seed: Annotated[int, typer.Option(help="One seed, one city, on every machine.")] = 1,
    homes: Annotated[
        bool, typer.Option("--homes", help="Also write time at home, at places not on the list.")
    ] = False,
    integer_ids: Annotated[
        bool, typer.Option("--integer-ids", help="Whole numbers as ids, for benchmarks.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a city that is there.")] = False,
    describe: Annotated[
        bool, typer.Option("--describe", help="Print the figures the city is calibrated to.")
    ] = False,
) -> None:
    """Write a synthetic city: visits.parquet (private); places.csv, hours.csv, basemap.geojson (public).

    Or a county: pupils.csv (private) and schools.csv (public).
    """
    with needs_studies("generate"):
        from safeside_studies import city, county

    if kind == "schools":
        made = county.generate(directory, schools=schools, seed=seed, overwrite=overwrite)
        out.print(f"{made.pupils}: {made.county.school.size:,} pupils, with age and doses (mmr)")
        out.print(f"{made.schools}: {schools:,} schools with their sizes, public")
        return
    with Spinner() as progress:
        files = city.generate(
            directory,
            people=people,
            places=places,
            days=days,
            seed=seed,
            homes=homes,
            integer_ids=integer_ids,
            overwrite=overwrite,
            progress=progress,
        )
    out.print(f"{files.visits}: {files.rows:,} visits of {people:,} people over {days} days")
    out.print(f"{files.places}: {places:,} places, public")
    out.print(f"{files.hours}: how busy each hour usually is, a public guess")
    out.print(f"{files.basemap}: for the map, public")
    if describe:
        out.print(table(("figure", "this city", "the paper"), city.describe(directory).lines()))
