"""Pairs packed into one number and sorted: the same counts as sets of pairs, or left to the general plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.visits.making import DAY, NOON, count_visits, scanned

from safeside.errors import BadFile
from safeside.visits import Expected, Window, read_places
from safeside.visits.count.packing import PEEKED
from safeside.visits.count.scan import is_wide
from safeside.visits.count.sorted_keys import Layout, Tuning, count_keys
from safeside.visits.count.spans import FIRST, LAST
from safeside.visits.read.files import Opened

PLACES = read_places([str(number) for number in range(8)])
WHOLE = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7)), max_size=60)


@given(pairs)
def test_keys_give_people_per_place_and_the_most_places(rows: list[tuple[int, int]]) -> None:
    keys = pl.Series([person << 3 | place for person, place in rows], dtype=pl.Int64)
    for block, some, parts in ((1, 1000, 8), (3, 4, 3), (1 << 18, 1000, 1)):
        tuning = Tuning(batch=block, sample=some)
        counted = count_keys(keys, Layout(place=3), per_person=True, parts=parts, tuning=tuning)
        truth = Counter(place for _, place in set(rows))
        assert counted.steps.tolist() == [[truth[place] for place in range(8)]]
        each = Counter(person for person, _ in set(rows))
        assert counted.most == max(each.values(), default=0)
        assert counted.again.size == 0, "nobody asked"


@given(pairs, st.sampled_from([Layout(place=3), Layout(place=3, windows=5)]), st.booleans())
def test_what_several_keys_share_is_listed_once(
    rows: list[tuple[int, int]], layout: Layout, alone: bool
) -> None:
    """Person and place, or the person alone; in however many parts and batches."""
    span = layout.span
    numbers = [(person << 3 | place) << span | (person + place) % 5 * (span > 0) for person, place in rows]
    shared = layout.rest if alone else span
    many = Counter(number >> shared for number in numbers)
    for block, some, parts in ((1, 1000, 8), (3, 4, 3), (1 << 18, 1000, 1)):
        counted = count_keys(
            pl.Series(numbers, dtype=pl.Int64),
            layout,
            per_person=False,
            parts=parts,
            shared=shared,
            tuning=Tuning(batch=block, sample=some),
        )
        assert sorted(counted.again.tolist()) == sorted(one for one, times in many.items() if times > 1)


@pytest.mark.parametrize("layout", [Layout(place=3), Layout(place=5, windows=5)])
def test_a_number_that_does_not_fit_has_no_key(layout: Layout) -> None:
    """The largest that fit do; one more would stand where another person, place or window stands."""
    largest = {
        "number": (1 << layout.person) - 1,
        "place": (1 << layout.place) - 1,
        FIRST: layout.windows - 1,
        LAST: layout.windows - 1,
    }
    beyond = [{name: value + 1} for name, value in largest.items()] + [{name: -1} for name in largest]
    rows = pl.DataFrame([largest, *({**largest, **one} for one in beyond)])
    asked = {"number", "place"} if layout.windows == 1 else set(largest)
    fitting = [True, *(set(one).isdisjoint(asked) for one in beyond)]
    assert rows.select(layout.key().is_not_null()).to_series().to_list() == fitting


spans = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda ends: (min(ends), max(ends)))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), spans), max_size=60))
def test_keys_with_spans_give_people_per_place_and_window(
    rows: list[tuple[int, int, tuple[int, int]]],
) -> None:
    """Overlapping, adjoining and separate spans of one person at one place, cut into batches anywhere."""
    layout = Layout(place=2, windows=5)
    numbers = [((person << 2 | place) << 3 | first) << 3 | last for person, place, (first, last) in rows]
    there = {
        (person, place, window) for person, place, (first, last) in rows for window in range(first, last + 1)
    }
    truth = Counter((place, window) for _, place, window in there)
    each = Counter(person for person, _, _ in there)
    for block, some, parts in ((1, 1000, 8), (3, 4, 3), (1 << 18, 1000, 1)):
        tuning = Tuning(batch=block, sample=some)
        keys = pl.Series(numbers, dtype=pl.Int64)
        counted = count_keys(keys, layout, per_person=True, parts=parts, tuning=tuning)
        assert counted.steps.tolist() == [[truth[place, window] for place in range(4)] for window in range(5)]
        assert counted.most == max(each.values(), default=0)


@given(pairs.filter(bool), st.sampled_from(WHOLE), st.sampled_from(WHOLE), st.integers(0, 3))
def test_whole_numbers_of_any_kind_count_like_sets(
    rows: list[tuple[int, int]], person: pl.DataType, place: pl.DataType, far: int
) -> None:
    """Also when people are numbered up to the last bit that their type has."""
    least, most = (pl.select(end(person)).item() for end in (_least, _most))
    number = {0: lambda n: n, 1: lambda n: most - n, 2: lambda n: least + n, 3: lambda n: n * 3}[far]
    frame = _visits([(number(who), where) for who, where in rows], person, place)
    counts = count_visits(frame, PLACES, DAY, max_places_per_person=8)
    truth = Counter(where for _, where in set(rows))
    assert counts.values.tolist() == [truth[int(place)] for place in PLACES.ids]
    assert counts.most_places_per_person == max(Counter(who for who, _ in set(rows)).values())


WRITTEN = [str, "{:04}".format, "p{:07}".format, "p{}".format, "stay-2 {:02}".format]


@given(
    pairs.filter(bool),
    st.sampled_from(WRITTEN),
    st.sampled_from([*WRITTEN, lambda n: f"venue {'abcdefgh'[n]}"]),
    st.sampled_from([None, "x1", "p1", "00000", "p00", "1e3", "+1", "１"]),
)
def test_numbers_written_as_text_count_like_sets(
    rows: list[tuple[int, int]],
    person: Callable[[int], str],
    place: Callable[[int], str],
    other: str | None,
) -> None:
    """Also where one person is called by something else, wherever the general plan would count that."""
    named = [(person(who), place(where)) for who, where in rows]
    named += [] if other is None else [(other, place(3))]
    frame = _visits(named, pl.String, pl.String)
    listed = read_places([place(number) for number in range(8)])
    general, packed = (scanned(frame, listed, DAY, Tuning(pack=pack)) for pack in (False, True))
    assert packed.values.tolist() == general.values.tolist()
    assert sorted(packed.unknown) == sorted(general.unknown)
    assert (packed.odd_ids, packed.most_places) == (general.odd_ids, general.most_places)
    if other is None:
        people = Counter(where for _, where in set(named))
        assert packed.values.tolist() == [people[where] for where in listed.ids]
        assert packed.most_places == max(Counter(who for who, _ in set(named)).values())


def test_numbers_written_as_text_are_packed(tmp_path: Path) -> None:
    """Not left to the engine's distinct, in files of either kind."""
    frame = _visits([(f"p{number:05}", f"s{number % 8}") for number in range(5000)], pl.String, pl.String)
    frame.write_parquet(tmp_path / "visits.parquet")
    frame.with_columns(pl.col("start", "end").dt.to_string("%FT%TZ")).write_csv(tmp_path / "visits.csv")
    listed = read_places([f"s{number}" for number in range(9)])
    for visits in (frame, tmp_path / "visits.parquet", tmp_path / "visits.csv"):
        tally = scanned(visits, listed, DAY)
        assert tally.packed
        assert tally.values.tolist() == [625] * 8 + [0]


def test_people_called_by_words_are_packed() -> None:
    """Visited twice or not; and a word for nobody among them is found on that way as well."""
    rows = [(f"{number:04}-x", number % 8) for number in range(3000)] * 2
    frame = _visits(rows, pl.String, pl.Int64)
    odd = _visits([*rows, ("unknown", 3)], pl.String, pl.Int64)
    assert scanned(frame, PLACES, DAY).packed
    assert scanned(odd, PLACES, DAY).packed
    for most in (None, 8):
        assert count_visits(frame, PLACES, DAY, max_places_per_person=most).values.tolist() == [375] * 8
        with pytest.raises(BadFile, match="a word or a number for a missing value"):
            count_visits(odd, PLACES, DAY, max_places_per_person=most)


@given(pairs.filter(bool), st.sampled_from([1, 2, 3, 10]), st.booleans())
def test_people_of_one_hash_are_not_counted_as_one(
    rows: list[tuple[int, int]], bits: int, per_person: bool
) -> None:
    """Neither at one place nor, where the places of each person are counted, at several."""
    named = [(f"{who}-{'x' * who}", where) for who, where in rows]
    frame = _visits(named, pl.String, pl.Int64)
    tally = scanned(frame, PLACES, DAY, Tuning(hash_bits=bits), per_person=per_person)
    truth = Counter(where for _, where in set(rows))
    assert tally.values.tolist() == [truth[int(place)] for place in PLACES.ids]
    each = Counter(who for who, _ in set(rows))
    assert tally.most_places == (max(each.values()) if per_person else None)


def test_people_of_one_hash_are_left_to_the_engine() -> None:
    frame = _visits([(f"{who}-x", 3) for who in range(5)], pl.String, pl.Int64)
    assert scanned(frame, PLACES, DAY).packed
    assert not scanned(frame, PLACES, DAY, Tuning(hash_bits=2)).packed


def test_memory_is_saved_where_a_window_is_wide() -> None:
    assert is_wide(DAY)
    assert not is_wide(NOON)


def test_rows_that_the_parser_lost_stop_packed_counting_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [f"p{number:05},3,2020-03-03T12:00:00Z,2020-03-03T13:00:00Z" for number in range(50)]
    (tmp_path / "visits.csv").write_text("\n".join(["person,place,start,end", *rows, ""]))
    window = Window.parse("2020-03-03/2020-03-04", "UTC")
    assert scanned(tmp_path / "visits.csv", PLACES, window).packed
    assert count_visits(tmp_path / "visits.csv", PLACES, window).values.sum() == 50
    whole = Opened.scan
    monkeypatch.setattr(Opened, "scan", lambda self, **by: whole(self, **by).head(49))
    with pytest.raises(BadFile, match="50 rows, and 49 were read"):
        count_visits(tmp_path / "visits.csv", PLACES, window)


def test_the_general_plan_takes_over_in_the_middle_of_the_data() -> None:
    """The first rows fit into one number each, one later row does not."""
    rows = [(number, number % 8) for number in range(PEEKED + 10)] + [(2**62, 3)]
    counts = count_visits(_visits(rows, pl.Int64, pl.Int64), PLACES, DAY)
    assert counts.values.sum() == len(rows)


def test_peeking_at_large_files_spares_a_scan(tmp_path: Path) -> None:
    """Where identifiers never fit, and where they do, the counts are the same with and without it."""
    for far in (0, 2**62):
        rows = [(number + far, number % 8) for number in range(50)]
        _visits(rows, pl.Int64, pl.Int64).write_parquet(tmp_path / f"{far}.parquet")
        for small in (10, 100):
            tally = scanned(tmp_path / f"{far}.parquet", PLACES, DAY, Tuning(peek_above=small))
            assert tally.values.sum() == len(rows)
            assert tally.packed == (not far)


def test_a_doubtful_row_stops_packed_counting_too() -> None:
    rows = [(number, number % 8) for number in range(PEEKED + 10)]
    frame = _visits(rows, pl.Int64, pl.Int64)
    for column, why in (("person", "no person"), ("place", "no place"), ("start", "no start")):
        last = pl.when(pl.int_range(pl.len()) < len(rows) - 1).then(pl.col(column)).alias(column)
        with pytest.raises(BadFile, match=why):
            count_visits(frame.with_columns(last), PLACES, DAY)


@pytest.mark.parametrize("far", [15, 900])
def test_places_that_are_not_listed_are_not_lost(far: int) -> None:
    """Whether there is a counter for their number or not, and whether it is written as text or not."""
    rows = [(1, 3), (2, 9), (3, far)]
    for kind in (pl.Int64, pl.String):
        frame = _visits(rows, pl.Int64, pl.Int64).with_columns(pl.col("place").cast(kind))
        with pytest.raises(BadFile, match="2 places are visited and not listed"):
            count_visits(frame, PLACES, DAY)
        expected = Expected(unlisted="67%")
        counted = count_visits(frame, PLACES, DAY, exclude_unknown_places=True, expected=expected)
        assert counted.values.sum() == 1


def test_a_listed_place_with_zeros_in_front_is_no_whole_number() -> None:
    """Visits that name places by whole numbers never name it, whatever its number is."""
    frame = _visits([(1, 3)], pl.Int64, pl.Int64)
    with pytest.raises(BadFile, match="1 place is visited and not listed"):
        count_visits(frame, read_places(["003", "004"]), DAY)


def test_one_person_at_two_places_at_an_instant_is_found() -> None:
    with pytest.raises(BadFile, match="two places"):
        count_visits(_visits([(1, 3), (1, 4)], pl.Int64, pl.Int64, window=NOON), PLACES, NOON)


def _least(kind: pl.DataType) -> pl.Expr:
    return kind.min()


def _most(kind: pl.DataType) -> pl.Expr:
    return kind.max()


def _visits(
    rows: Sequence[tuple[object, object]], person: pl.DataType, place: pl.DataType, window: Window = DAY
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "person": pl.Series([who for who, _ in rows], dtype=person),
            "place": pl.Series([where for _, where in rows], dtype=place),
        }
    ).with_columns(
        start=pl.lit(window.start, dtype=pl.Datetime("us", "UTC")),
        end=pl.lit(window.end, dtype=pl.Datetime("us", "UTC")).dt.offset_by("1m"),
    )
