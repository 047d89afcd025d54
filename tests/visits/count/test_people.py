"""What counts: where a stay begins and ends, what a sighting holds, which rows belong to which question."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest
from tests.visits.making import DAY, NOON, PLACES, at, count_visits, places, table, write_csv, write_parquet
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadNumber, BadQuestion
from safeside.visits import Doubt, Expected, VisitFormat, Window, read_places

HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)
KEY = b"a key of sixteen bytes or more"


def at_bar(rows: list[Stay], window: Window = DAY, **more: object) -> int:
    return int(count_visits(table(rows), places(), window, **more).values[0])


@pytest.mark.parametrize(
    ("start", "end", "counts"),
    [
        (DAY.start - HOUR, DAY.start, False),
        (DAY.start - HOUR, DAY.start + TICK, True),
        (DAY.start, DAY.start, True),
        (DAY.start - TICK, DAY.start - TICK, False),
        (DAY.end - TICK, DAY.end + HOUR, True),
        (DAY.end, DAY.end + HOUR, False),
        (DAY.end, DAY.end, False),
        (DAY.start - HOUR, DAY.end + HOUR, True),
        (DAY.start + HOUR, DAY.start + HOUR, True),
    ],
)
def test_a_stay_counts_in_every_interval_it_touches(start: object, end: object, counts: bool) -> None:
    """A stay lasts from its start up to, not including, its end; one of no length is its start."""
    assert at_bar([Stay("a", "bar", start, end)]) == counts


@pytest.mark.parametrize(
    ("start", "end", "counts"),
    [
        (NOON.start - HOUR, NOON.start, False),
        (NOON.start - HOUR, NOON.start + TICK, True),
        (NOON.start, NOON.start + HOUR, True),
        (NOON.start, NOON.start, True),
        (NOON.start + TICK, NOON.start + HOUR, False),
    ],
)
def test_a_stay_covers_an_instant(start: object, end: object, counts: bool) -> None:
    assert at_bar([Stay("a", "bar", start, end)], NOON) == counts


def test_people_are_counted_and_not_events() -> None:
    rows = [Stay("a", "bar", DAY.start + by * HOUR, DAY.start + by * HOUR) for by in range(10)]
    assert at_bar(rows) == 1


def test_every_listed_place_is_answered_and_none_other() -> None:
    counted = count_visits(table([Stay("a", "gym", DAY.start, DAY.end)]), places(), DAY)
    assert counted.places.ids == PLACES
    assert counted.values.tolist() == [0, 0, 1, 0, 0]
    assert counted.values.dtype == "int64"


def test_whoever_leaves_when_the_other_stay_begins_is_at_one_place() -> None:
    rows = [Stay("a", "bar", NOON.start - HOUR, NOON.start), Stay("a", "gym", NOON.start, NOON.start + HOUR)]
    counted = count_visits(table(rows), places(), NOON)
    assert counted.values.tolist() == [0, 0, 1, 0, 0]
    assert counted.most_places_per_person == 1


class TestSightings:
    @staticmethod
    def count(rows: list[tuple[str, str, object]], window: Window, hold: str) -> list[int]:
        frame = pl.DataFrame(rows, schema=["person", "place", "time"], orient="row")
        return count_visits(frame, places(), window, VisitFormat(hold=hold)).values.tolist()

    def test_the_last_one_that_still_holds_says_where_a_person_is(self) -> None:
        rows = [
            ("a", "bar", NOON.start - 2 * HOUR),
            ("a", "gym", NOON.start - HOUR),
            ("a", "museum", NOON.start + TICK),
        ]
        assert self.count(rows, NOON, "3h") == [0, 0, 1, 0, 0]
        assert self.count(rows, NOON, "1h") == [0, 0, 1, 0, 0]
        assert self.count(rows, NOON, "59min") == [0, 0, 0, 0, 0]

    def test_in_an_interval_each_one_that_holds_counts(self) -> None:
        rows = [
            ("a", "bar", DAY.start - HOUR),
            ("a", "gym", DAY.start - HOUR - TICK),
            ("a", "museum", DAY.end - TICK),
        ]
        assert self.count(rows, DAY, "1h") == [1, 0, 0, 1, 0]
        assert self.count(rows, DAY, "0s") == [0, 0, 0, 1, 0]

    def test_two_last_ones_are_two_places(self) -> None:
        rows = [("a", "bar", NOON.start - HOUR), ("a", "gym", NOON.start - HOUR)]
        with pytest.raises(BadFile, match="two places"):
            self.count(rows, NOON, "2h")

    def test_an_instant_needs_a_time_that_they_hold(self) -> None:
        with pytest.raises(BadQuestion, match="hold for no time"):
            self.count([("a", "bar", NOON.start)], NOON, "0s")
        frame = pl.DataFrame({"person": ["a"], "place": ["bar"], "time": [NOON.start]})
        with pytest.raises(BadQuestion, match="not how long they stayed"):
            count_visits(frame, places(), DAY)


class TestTheDeclaredMost:
    rows: ClassVar = [Stay("a", place, DAY.start, DAY.end) for place in PLACES[:3]]

    def test_it_is_checked_in_an_interval(self) -> None:
        assert count_visits(table(self.rows), places(), DAY).most_places_per_person is None
        fine = count_visits(table(self.rows), places(), DAY, max_places_per_person=3)
        assert fine.most_places_per_person == 3
        with pytest.raises(BadFile, match="more places than the declared 2"):
            count_visits(table(self.rows), places(), DAY, max_places_per_person=2)

    def test_it_is_one_at_an_instant_unless_declared(self) -> None:
        with pytest.raises(BadFile, match="two places"):
            count_visits(table(self.rows), places(), NOON)
        assert count_visits(table(self.rows), places(), NOON, max_places_per_person=3).values.sum() == 3

    def test_nothing_is_capped(self) -> None:
        assert count_visits(table(self.rows), places(), DAY, max_places_per_person=99).values.sum() == 3

    @pytest.mark.parametrize("most", [0, -1, 1.5, True])
    def test_what_it_cannot_be(self, most: object) -> None:
        with pytest.raises(BadNumber):
            count_visits(table(self.rows), places(), DAY, max_places_per_person=most)


class TestFiles:
    rows: ClassVar = [Stay("007", "bar", DAY.start, DAY.end), Stay("07x", "bar", DAY.start, DAY.end)]

    def test_identifiers_keep_their_zeros(self, tmp_path: Path) -> None:
        rows = [Stay(person, "bar", DAY.start, DAY.end) for person in ("007", "070", "700")]
        path = write_csv(table(rows), tmp_path / "visits.csv")
        assert count_visits(path, places(), DAY).values[0] == 3

    def test_globs_lists_and_directories(self, tmp_path: Path) -> None:
        for number, row in enumerate(self.rows):
            write_csv(table([row]), tmp_path / f"{number}.csv")
        for visits in (str(tmp_path / "*.csv"), [tmp_path / "0.csv", str(tmp_path / "1.csv")], tmp_path):
            counted = count_visits(visits, places(), DAY, expected=Expected(files=2, rows=2, people=2))
            assert counted.values[0] == 2
            assert (counted.rows, counted.people) == (2, 2)

    def test_a_name_with_brackets_is_a_name(self, tmp_path: Path) -> None:
        path = write_parquet(table(self.rows), tmp_path / "visits[1].parquet")
        assert count_visits(path, places(), DAY).values[0] == 2

    def test_a_manifest_that_disagrees_stops(self, tmp_path: Path) -> None:
        path = write_parquet(table(self.rows), tmp_path / "visits.parquet")
        for wrong in (Expected(files=2), Expected(rows=3), Expected(people=1)):
            with pytest.raises(BadFile, match=r"declared, and there (is|are)"):
                count_visits(path, places(), DAY, expected=wrong)

    def test_columns_by_another_name_and_others_beside_them(self, tmp_path: Path) -> None:
        frame = (
            table(self.rows)
            .rename({"person": "patient_id"})
            .with_columns(note=pl.lit('said "hi",\nand left'))
        )
        path = write_csv(frame, tmp_path / "visits.csv")
        known = Expected(rows=len(self.rows))
        counted = count_visits(path, places(), DAY, VisitFormat(columns="person=patient_id"), expected=known)
        assert counted.values[0] == 2
        assert [found.doubt for found in counted.findings] == [Doubt.LINE_BREAK, Doubt.UNUSED_COLUMNS]

    def test_one_column_type_in_all_files(self, tmp_path: Path) -> None:
        write_parquet(table(self.rows), tmp_path / "a.parquet")
        write_parquet(table([Stay(7, "bar", DAY.start, DAY.end)]), tmp_path / "b.parquet")
        with pytest.raises(BadFile, match="of another type"):
            count_visits(tmp_path, places(), DAY)

    def test_columns_that_nobody_uses_may_differ(self, tmp_path: Path) -> None:
        write_parquet(table(self.rows[:1]), tmp_path / "a.parquet")
        write_parquet(table(self.rows[1:]).with_columns(extra=pl.lit(1)), tmp_path / "b.parquet")
        assert count_visits(tmp_path, places(), DAY).values[0] == 2

    def test_a_file_that_changes_while_it_is_read(self, tmp_path: Path) -> None:
        path = write_parquet(table(self.rows), tmp_path / "visits.parquet")

        def write_meanwhile(done: float | None, what: str) -> None:
            if what == "Counting people":
                write_parquet(table(self.rows * 2), path)

        with pytest.raises(BadFile, match=r"changed while it was read|cannot be read to the end"):
            count_visits(path, places(), DAY, progress=write_meanwhile)


class TestFingerprints:
    rows: ClassVar = [Stay("a", "bar", DAY.start, DAY.end)]

    def test_of_files_they_are_of_the_bytes(self, tmp_path: Path) -> None:
        for write, name in ((write_csv, "v.csv"), (write_parquet, "v.parquet")):
            path = write(table(self.rows), tmp_path / name)
            first = count_visits(path, places(), DAY, key=KEY).fingerprint
            assert first is not None
            assert len(first) == 64
            assert count_visits(path, places(), NOON, key=KEY).fingerprint == first
            assert count_visits(path, places(), DAY, key=KEY + b"!").fingerprint != first
            write(table([*self.rows, Stay("b", "gym", DAY.start, DAY.end)]), path)
            assert count_visits(path, places(), DAY, key=KEY).fingerprint != first

    def test_of_dataframes_they_are_of_the_counts(self) -> None:
        first = count_visits(table(self.rows), places(), DAY, key=KEY).fingerprint
        assert count_visits(table(self.rows * 2), places(), DAY, key=KEY).fingerprint == first
        assert (
            count_visits(table([Stay("a", "gym", DAY.start, DAY.end)]), places(), DAY, key=KEY).fingerprint
            != first
        )
        assert count_visits(table(self.rows), places(), NOON, key=KEY).fingerprint != first

    def test_two_files_are_not_one(self, tmp_path: Path) -> None:
        write_csv(table(self.rows), tmp_path / "a.csv")
        alone = count_visits(tmp_path, places(), DAY, key=KEY).fingerprint
        write_csv(table([Stay("b", "gym", DAY.start, DAY.end)]), tmp_path / "b.csv")
        assert count_visits(tmp_path, places(), DAY, key=KEY).fingerprint != alone

    def test_without_a_key_there_is_none(self) -> None:
        assert count_visits(table(self.rows), places(), DAY).fingerprint is None
        with pytest.raises(BadQuestion, match="shorter than 16 bytes"):
            count_visits("nowhere.csv", places(), DAY, key=b"short")


@pytest.mark.parametrize(
    ("layout", "written", "counts"),
    [
        (None, "2024-03-03T10:00:00Z", 1),
        (None, "2024-03-03T10:00:00.5+00:00", 1),
        (None, "2024-03-03 10:00:00+0000", 1),
        (None, "2024-03-03T10:00Z", 1),
        (None, "2024-03-03T10:00:00.1234567Z", 1),
        ("%d/%m/%Y %H:%M %z", "03/03/2024 19:00 +0900", 1),
        ("%d/%m/%Y %H:%M", "03/03/2024 19:00", 1),
        ("%m/%d/%Y %I:%M %p", "03/03/2024 07:00 PM", 1),
        ("%Y-%m-%d %H:%M:%S.%f", "2024-03-03 10:00:00.25", 1),
        ("%m/%d/%Y %H:%M", "04/03/2024 19:00", 0),
        ("epoch-s", "1709460000", 1),
        ("epoch-ms", "1709460000000", 1),
    ],
)
def test_times_as_they_are_written(tmp_path: Path, layout: str | None, written: str, counts: int) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(f"person,place,start,end\na,bar,{written},{written}\n")
    declared = VisitFormat(time_format=layout, timezone="Asia/Tokyo")
    assert count_visits(path, places(), DAY, declared).values[0] == counts


def test_digits_beyond_a_microsecond_make_no_stay_shorter(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(
        "person,place,start,end\n"
        "a,bar,2024-03-02T10:00:00.0000000Z,2024-03-02T15:00:00.0000001Z\n"
        "b,bar,2024-03-02T10:00:00.0000000Z,2024-03-02T15:00:00.0000000Z\n"
    )
    assert count_visits(path, places(), DAY).values[0] == 1


def test_an_end_that_lies_beyond_all_calendars_is_an_end(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("person,place,start,end\na,bar,2024-03-01T10:00:00Z,9999-12-31T23:59:59Z\n")
    assert count_visits(path, places(), DAY).values[0] == 1


def test_stays_given_by_dates_last_to_the_end_of_the_day(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("person,place,start,end\na,bar,2024-03-01,2024-03-02\nb,bar,2024-03-02,2024-03-03\n")
    frame = pl.read_csv(path, try_parse_dates=True)
    assert count_visits(frame, places(), DAY, VisitFormat(timezone="Asia/Tokyo")).values[0] == 1


def test_what_the_answer_must_say() -> None:
    rows = [Stay("1.5E+9", "bar", DAY.start, DAY.end), Stay("b", "elsewhere", DAY.start, DAY.end)]
    counted = count_visits(
        table(rows),
        places(),
        DAY,
        VisitFormat(trust_ids=True),
        exclude_unknown_places=True,
        expected=Expected(unlisted="50%"),
    )
    assert counted.reading == "A visit is a stay at the place, from its start up to its end."
    assert counted.exclusions == (
        "Visits to places that are not on the list are not counted.",
        "Identifiers that look rounded, shortened or missing are taken as they are written.",
    )


def test_a_list_given_as_a_dataframe() -> None:
    listed = read_places(pl.DataFrame({"place": [3, 1, 2]}))
    frame = table([Stay("a", "2", at("2024-03-03T00:00Z"), at("2024-03-03T01:00Z"))])
    assert count_visits(frame, listed, DAY).values.tolist() == [0, 1, 0]
