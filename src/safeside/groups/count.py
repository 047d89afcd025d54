"""Exact counts of people in each listed group, by each measure, on any engine that visits use.

Nobody is left out: a row without a group, of a group that is not listed, or with a value outside its declared
domain stops the work. A person stands in one row of a group; being in several groups needs a limit that was
declared with the dataset, since one person then changes several counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import LimitBroken
from safeside.groups.measures import Measures
from safeside.groups.table import is_counted, open_people, people_checks, require_people_format
from safeside.progress import Progress, quiet
from safeside.visits import Doubt, Expected, Finding, Places, Report, VisitFormat
from safeside.visits.count.row_checks import any_of
from safeside.visits.count.scan import align, parsed_rows, require_all_rows
from safeside.visits.count.stops import no_rows, settle_by_rows, unmet_expectations, whole_input
from safeside.visits.count.wrong_rows import SHOWN, failing, flags, unlisted
from safeside.visits.findings import RowLocation, amount, stop_on
from safeside.visits.read.dataframes import ROW
from safeside.visits.read.engines import collect, count_by, distinct_rows
from safeside.visits.read.files import fingerprint_of
from safeside.visits.read.source import Source, open_paths, reading, row_not_found_again
from safeside.words import Subject, Words, said

Whole = NDArray[np.int64]
_FLAG: Final = "measure "
_WORDS: Final = Words(subject=Subject(verb="belong", place="group", places="groups"))


@dataclass(frozen=True, kw_only=True)
class GroupCounts:
    """Exact numbers of people, for the curator only: nothing of this is published as it is.

    `values` has a row for each measure and a column for each group, in the order of the list.
    """

    groups: Places
    measures: Measures
    values: Whole
    rows: int
    most_groups_per_person: int
    findings: tuple[Finding, ...]
    exclusions: tuple[str, ...]
    fingerprint: str | None


def count_people(
    people: Any,
    groups: Places,
    measures: Measures | None = None,
    fmt: VisitFormat | None = None,
    *,
    max_groups_per_person: int = 1,
    expected: Expected | None = None,
    key: bytes | None = None,
    on_files: Callable[[tuple[str, ...]], object] | None = None,
    progress: Progress = quiet,
) -> GroupCounts:
    """Count the people of each listed group, or stop and say why that cannot be done for certain.

    `people` is a path, a glob, a list of paths, or a dataframe of any engine, with a row for each person and
    the group they are in. A group of which nobody is counted has the count 0.

    Example
        >>> import polars as pl
        >>> from safeside.groups import count_people, measures, read_groups
        >>> pupils = pl.DataFrame({
        ...     "person": ["ana", "ben", "chi"],
        ...     "group": ["north", "north", "south"],
        ...     "mmr": ["no", "yes", "yes"],
        ... })
        >>> unvaccinated = measures(where="mmr=no", domains={"mmr": ["no", "yes"]})
        >>> count_people(pupils, read_groups(["north", "south"]), unvaccinated).values.tolist()
        [[1, 0]]
    """
    counted, declared, known = measures or Measures(), fmt or VisitFormat(), expected or Expected()
    counted.check()
    require_people_format(declared)
    opened = open_paths(people, declared, key=key, progress=progress)
    with reading(opened, "people"):
        source = open_people(people, opened, declared, counted, progress)
        findings = settle_by_rows(source, known)
        stop_on(findings)
        tally = _scan(source, counted)
        stop_on(_wrong(source, tally, groups, counted, known))
        if opened is not None and on_files is not None:
            on_files(opened.fingerprints)
        stop_on(_several(tally.most_groups, max_groups_per_person), LimitBroken)
    values: Whole = np.stack([tally.values(groups, f"{_FLAG}{i}") for i in range(len(counted.all))])
    return GroupCounts(
        groups=groups,
        measures=counted,
        values=values,
        rows=tally.rows,
        most_groups_per_person=tally.most_groups,
        findings=tuple(findings),
        exclusions=(said("counted.trust-ids"),) if declared.trust_ids else (),
        fingerprint=fingerprint_of(opened, _lines(groups, values), key),
    )


def check_people(
    people: Any,
    groups: Places,
    measures: Measures | None = None,
    fmt: VisitFormat | None = None,
    *,
    expected: Expected | None = None,
    progress: Progress = quiet,
) -> Report:
    """Report everything that would stop a count of these people; nothing is counted.

    Example
        >>> import polars as pl
        >>> from safeside.groups import check_people, read_groups
        >>> pupils = pl.DataFrame({"person": ["ana", "ben"], "group": ["north", None]})
        >>> print(check_people(pupils, read_groups(["north"])).findings[0].reason)
        no group
    """
    counted, declared, known = measures or Measures(), fmt or VisitFormat(), expected or Expected()
    counted.check()
    require_people_format(declared)
    opened = open_paths(people, declared, key=None, progress=progress)
    if opened is not None and opened.illegible:
        return Report(findings=opened.findings, files=len(opened.paths), rows=None)
    with reading(opened, "people"):
        source = open_people(people, opened, declared, counted, progress)
        findings = settle_by_rows(source, known)
        tally = _scan(source, counted)
        findings += _wrong(source, tally, groups, counted, known)
        findings += [] if shown_whole(groups, counted, known) else [_NOT_SHOWN]
        if not tally.faults:
            findings += _several(tally.most_groups, 1)
    return Report(
        findings=tuple(findings),
        files=0 if opened is None else len(opened.paths),
        rows=tally.rows,
        reading=_WORDS.again(counted.rule()),
    )


@dataclass(frozen=True, kw_only=True)
class _Tally:
    """The result of one scan."""

    by_group: pl.DataFrame
    """For each group in the table its rows, and how many of them meet each measure."""
    people: pl.DataFrame
    """For each group in the table how many distinct people it has."""
    most_groups: int
    faults: list[Finding]

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.by_group["rows"].sum())

    def values(self, groups: Places, column: str) -> Whole:
        """A column in the order of the list; groups of which the table has no row count 0."""
        values, _ = align(self.by_group.select("place", people=pl.col(column)), groups)
        return values


def _scan(source: Source, counted: Measures) -> _Tally:
    """Everything that is asked of the rows, in one pass where the engine can."""
    checks = list(people_checks(source, counted))
    measured = [is_counted(source, counted, one).alias(f"{_FLAG}{i}") for i, one in enumerate(counted.all)]
    # A doubtful row loses its group, so that the counts themselves tell of it, whatever else is asked.
    sure = nw.when(~any_of(check.wrong for check in checks)).then(nw.col("place")).alias("place")
    frame = source.frame.select("person", sure, *measured)
    pairs = distinct_rows(frame.select("person", "place"))
    sums = [nw.col(f"{_FLAG}{i}").sum() for i in range(len(counted.all))]
    by_group = frame.group_by("place").agg(nw.len().alias("rows"), *sums)
    each = count_by(pairs, ["person"], "groups").select(nw.col("groups").max())
    queries = [
        by_group,
        count_by(pairs, ["place"], "people"),
        each,
        source.frame.select(*flags(source, checks), parsed_rows()),
    ]
    found, people, most, seen = collect(queries, source.progress, "Counting people", key=["place"])
    require_all_rows(source, int(seen["rows"].item() or 0))
    return _Tally(
        by_group=found,
        people=people,
        most_groups=int(most["groups"].item() or 0),
        faults=failing(source, checks, seen),
    )


def _wrong(
    source: Source, tally: _Tally, groups: Places, counted: Measures, known: Expected
) -> list[Finding]:
    """Everything because of which people cannot be counted for certain."""
    if tally.faults:
        return tally.faults
    if tally.by_group["place"].null_count():
        raise row_not_found_again()
    return [
        *no_rows(source, known, tally.rows),
        *_unlisted(source, tally, groups),
        *_twice(source, tally),
        *unmet_expectations(source, known, *whole_input(source, known)),
        *_other_sizes(tally, groups, counted, known),
    ]


def _unlisted(source: Source, tally: _Tally, groups: Places) -> list[Finding]:
    """People in a group that is not on the list, who would be in no count."""
    _, unknown = align(tally.people, groups)
    if not unknown:
        return []
    do = "List every group that people may be in; nobody is left out of the count."
    if tally.people.height == len(unknown):
        do = (
            "No group of the table is on the list: check that it is the list of these groups, and that the "
            "column is the right one (`columns=`)."
        )
    said = "in the table and not on the list"
    return [unlisted(source, groups, unknown, Doubt.UNKNOWN_GROUP, "group", said, do)]


def _twice(source: Source, tally: _Tally) -> list[Finding]:
    """Whether a person has two rows in one group, as in a table of doses or of visits."""
    extra = tally.rows - int(tally.people["people"].sum())
    if not extra:
        return []
    return [
        Finding(
            doubt=Doubt.TWICE,
            column=source.roles.columns["person"],
            rows=extra,
            first=_repeated_rows(source) if source.engine == "polars" else (),
            reason="a person who stands in one group more than once",
            do="Write one row for each person and group: which of two rows is right, nobody can tell.",
        )
    ]


def _repeated_rows(source: Source) -> tuple[RowLocation, ...]:
    """The first rows that repeat a person of a group, in the order of the files."""
    parts = list(source.parts())
    asked = [frame.select(ROW, "person", "place") for frame, _ in parts]
    found = [collect([one], source.progress, "Looking for the rows")[0].sort(ROW) for one in asked]
    rows = pl.concat([part.with_columns(part=pl.lit(i)) for i, part in enumerate(found)])
    again = rows.filter(~pl.struct("person", "place").is_first_distinct()).head(SHOWN)
    return tuple(
        place
        for part, row in again.select("part", ROW).iter_rows()
        for place in source.where(parts[part][1], [row])
    )


def _several(most: int, limit: int) -> list[Finding]:
    if most <= limit:
        return []
    if limit == 1:
        reason = "someone is in two groups"
        do = (
            "Correct rows that are wrong. Where people can be in several groups, the dataset has to be made "
            'with `max_places_per_person=`, or ask by `method="selection"`, which needs no such number.'
        )
    else:
        reason = f"someone is in more groups than the declared {limit}"
        do = 'Correct rows that are wrong. Selection (`method="selection"`) needs no such number.'
    return [Finding(doubt=Doubt.TWO_GROUPS, reason=reason, do=do)]


_NOT_SHOWN: Final = Finding(
    doubt=Doubt.COVERAGE,
    reason="nothing shows that the table is whole: people who are missing from it would be missed in silence",
    do="Declare how many rows it has (`Expected(rows=)`), as the system says that it was exported from.",
    stops=False,
)


def shown_whole(groups: Places, counted: Measures, known: Expected) -> bool:
    """Whether missing rows would be noticed: by their declared number, or by the sizes of the groups."""
    return known.rows is not None or (groups.size is not None and counted.everybody)


def _other_sizes(tally: _Tally, groups: Places, counted: Measures, known: Expected) -> list[Finding]:
    """Where a table of everybody has other numbers of people than are publicly known to be in the groups.

    That somebody is in such a table is not hidden, so this tells nothing of those who are counted.
    """
    if groups.size is None or not counted.everybody:
        return []
    rows = tally.values(groups, "rows")
    found = []
    if known.rows is None and (fewer := int((rows < groups.size).sum())):
        so = "people may be missing, and so uncounted"
        do = (
            "Export the whole table of the date that the sizes are of; or, if it is whole, declare how many "
            "rows it has (`Expected(rows=)`)."
        )
        found.append(_other_size(fewer, "fewer", so, do))
    if more := int((rows > groups.size).sum()):
        so = "a share of that size would be false"
        do = "Correct the sizes, or export the table of the date that they are of."
        found.append(_other_size(more, "more", so, do))
    return found


def _other_size(number: int, which: str, so: str, do: str) -> Finding:
    than = "its listed size" if number == 1 else "their listed sizes"
    reason = f"{amount(number, 'group has', 'groups have')} {which} rows than {than}: {so}"
    return Finding(doubt=Doubt.OTHER_SIZE, reason=reason, do=do)


def _lines(groups: Places, values: Whole) -> Iterator[str]:
    """The counts as lines of text, by which people in a dataframe are recognised."""
    for group, counts in zip(groups.ids, values.T.tolist(), strict=True):
        yield f"{len(group.encode())}:{group}={counts}"
