"""What counted as a visit and what was left out, in sentences that every answer carries."""

from __future__ import annotations

from datetime import timedelta

from safeside.visits.read.format import When
from safeside.visits.read.format import Where as Form
from safeside.visits.read.source import Source
from safeside.visits.times.clocks import LocalDates
from safeside.visits.times.window import in_words


def exclusions(source: Source, *, exclude_unknown_places: bool) -> tuple[str, ...]:
    """Sentences that every answer must carry."""
    declared = source.declared
    said = []
    if exclude_unknown_places and source.roles.where is Form.PLACES:
        said.append("Visits to places that are not on the list are not counted.")
    if declared.at_least is not None:
        said.append(declared.at_least.sentence())
    if source.roles.movement:
        said.append(f"Only records in state {' or '.join(declared.stay_states)} are counted.")
    if declared.trust_ids:
        said.append("Identifiers that look rounded, shortened or missing are taken as they are written.")
    if declared.trust_times:
        said.append("Times in 1970, before 1900 or after 2199 are taken as they are written.")
    if declared.trust_places and exclude_unknown_places and source.roles.where is Form.PLACES:
        said.append("A place that is written almost like a listed one is another place.")
    if declared.trust_coordinates and source.roles.where is Form.COORDINATES:
        said.append("Coordinates that look unknown or exchanged are taken as they are written.")
    return tuple(said)


def whole_days(source: Source) -> bool:
    """Whether every row stands for whole local days, however short the time asked about is."""
    dated = source.roles.when is When.STAYS and isinstance(source.clocks["start"], LocalDates)
    return dated or source.roles.when is When.DATES


def describe(source: Source) -> str:
    """What counts as a visit, in one sentence."""
    declared = source.declared
    at = "the place"
    if declared.radius is not None:
        wider = " and the accuracy of the fix" if "accuracy" in source.roles.columns else ""
        at = f"a point within {declared.radius:g} m{wider} of the place"
    elif declared.h3_resolution is not None:
        rings = "1 ring" if declared.h3_rings == 1 else f"{declared.h3_rings} rings"
        cells = f"resolution {declared.h3_resolution}, {rings}"
        at = f"a point in one of the H3 cells ({cells}) of the place"
    if source.roles.when is When.DATES:
        return f"A visit is a date on which the person was at {at}; it counts for the whole local day."
    if whole_days(source):
        return f"A visit is a stay at {at}, from its first day to its last; both count as whole local days."
    if source.roles.when is When.STAYS or declared.at_least is not None:
        return f"A visit is a stay at {at}, from its start up to its end."
    return (
        f"A visit is a sighting at {at}, which holds for {in_words(declared.held or timedelta(0))} after it."
    )
