"""Every engine returns the integers that plain Python counts, or stops: no other outcome."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.groups import plain
from tests.groups.making import DOMAINS, GROUPS, conditions, people, table, written
from tests.groups.plain import Person, Test
from tests.spark import Cluster
from tests.visits.making import ENGINES

from safeside.errors import BadFile, BadQuestion, LimitBroken, NowhereElse
from safeside.groups import Measures, count_people, measures, read_groups
from safeside.visits import Expected, VisitFormat

LISTED = read_groups(list(GROUPS))
PUPILS = pl.DataFrame(
    {
        "person": ["ana", "ben", "chi", "dev"],
        "group": ["north", "north", "south", "east"],
        "mmr": ["no", "yes", "yes", "no"],
    }
)
UNVACCINATED = measures(where="mmr=no", domains={"mmr": ["no", "yes"]})


def everywhere(frame: pl.DataFrame) -> Iterator[tuple[str, Any]]:
    """The same rows in every dataframe, and as files."""
    for name, make in ENGINES.items():
        yield name, make(frame)
    with tempfile.TemporaryDirectory() as directory:
        for name, write in (("csv", frame.write_csv), ("parquet", frame.write_parquet)):
            path = Path(directory) / f"people.{name}"
            write(path)
            yield name, path


def counted(conditions: list[list[Test]]) -> Measures:
    """The measures, with domains for the columns they look at and no others."""
    used = {column: DOMAINS[column] for tests in conditions for column, _, _ in tests}
    try:
        return measures(
            measures={f"m{i}": written(tests) for i, tests in enumerate(conditions)}, domains=used
        )
    except (NowhereElse, BadQuestion):
        assume(False)
        raise


@given(people, st.lists(conditions, min_size=1, max_size=3))
@settings(max_examples=25)
def test_every_engine_counts_what_plain_python_counts(rows: list[Person], asked: list[list[Test]]) -> None:
    truth = plain.count(rows, LISTED.ids, asked)
    made = counted(asked)
    for name, frame in everywhere(table(rows)):
        assert count_people(frame, LISTED, made).values.tolist() == truth, name


@pytest.mark.xdist_group("spark")
def test_spark_counts_what_plain_python_counts(cluster: Cluster) -> None:
    rows = [
        Person(f"p{i}", GROUPS[i % 4], {"dose": i % 3, "age": 5 + i % 5, "mmr": ["no", "yes"][i % 2]})
        for i in range(200)
    ]
    asked: list[list[Test]] = [[("dose", "=", ["0"])], [("age", "<", ["7"]), ("mmr", "in", ["no"])]]
    frame = cluster.session.createDataFrame(table(rows).to_pandas())
    assert count_people(frame, LISTED, counted(asked)).values.tolist() == plain.count(rows, LISTED.ids, asked)
    twice = frame.union(frame.limit(1))
    with pytest.raises(BadFile, match="more than once"):
        count_people(twice, LISTED, counted(asked))


def test_without_a_condition_everybody_in_the_table_is_counted() -> None:
    for name, frame in everywhere(PUPILS):
        assert count_people(frame, LISTED).values.tolist() == [[1, 2, 1, 0]], name
    assert LISTED.ids == ("east", "north", "south", "école")


@pytest.mark.parametrize(
    ("changed", "doubt"),
    [
        ({"group": ["north", None, "south", "east"]}, "no group"),
        ({"group": ["north", "North", "south", "east"]}, "not on the list; it looks like a listed one"),
        ({"person": ["ana", "ana", "chi", "dev"]}, "more than once"),
        ({"person": ["ana", None, "chi", "dev"]}, "no person"),
        ({"person": ["ana", "NA", "chi", "dev"]}, "a word or a number for a missing value"),
        ({"person": ["1.0", "2.0", "3.0", "4.0"]}, "as if rounded"),
        ({"person": ["007", "8", "009", "010"]}, "leading zeros"),
        ({"mmr": ["no", None, "yes", "no"]}, "no value"),
        ({"mmr": ["no", "maybe", "yes", "no"]}, "not in the declared domain"),
        ({"mmr": ["no", "No", "yes", "no"]}, "not in the declared domain"),
        ({"mmr": ["no", " no", "yes", "no"]}, "not in the declared domain"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_doubtful_stops_every_engine_and_is_not_quoted(changed: dict[str, Any], doubt: str) -> None:
    frame = PUPILS.with_columns(**{name: pl.Series(values) for name, values in changed.items()})
    for name, made in everywhere(frame):
        with pytest.raises(BadFile, match=doubt) as caught:
            count_people(made, LISTED, UNVACCINATED)
        for value in ("maybe", "dev", "north"):
            assert value not in caught.value.what, name


def test_a_person_in_two_groups_stops_unless_so_many_are_declared() -> None:
    frame = PUPILS.with_columns(person=pl.Series(["ana", "ben", "chi", "ana"]))
    for name, made in everywhere(frame):
        with pytest.raises(LimitBroken, match="two groups"):
            count_people(made, LISTED, UNVACCINATED)
        both = count_people(made, LISTED, UNVACCINATED, max_groups_per_person=2)
        assert both.values.tolist() == [[1, 1, 0, 0]], name
        assert both.most_groups_per_person == 2, name


def test_rows_are_named_by_file_and_line(tmp_path: Path) -> None:
    for number, text in enumerate(["ana,north\nben,north\n", "chi,south\nana,north\nben,north\n"]):
        (tmp_path / f"people-{number}.csv").write_text("person,group\n" + text)
    with pytest.raises(BadFile, match=r"\(2 rows\); first at people-1.csv line 3, people-1.csv line 4\."):
        count_people(sorted(tmp_path.glob("*.csv")), LISTED)


def test_a_table_of_everybody_with_fewer_people_than_are_listed_stops() -> None:
    sizes = read_groups(pl.DataFrame({"group": ["east", "north", "south"], "size": [1, 3, 1]}))
    with pytest.raises(BadFile, match="1 group has fewer rows than its listed size"):
        count_people(PUPILS, sizes, UNVACCINATED)
    whole = count_people(PUPILS, sizes, UNVACCINATED, expected=Expected(rows=4))
    assert whole.values.tolist() == [[1, 1, 0]]
    # A table of those counted is shorter than the list, of course.
    assert count_people(PUPILS, sizes).values.tolist() == [[1, 2, 1]]


def test_whole_numbers_and_truth_values_of_dataframes_are_compared_as_such() -> None:
    frame = PUPILS.with_columns(
        dose=pl.Series([0, 1, 2, 0]), shy=pl.Series([True, False, True, False]), kind=pl.lit("a")
    ).with_columns(pl.col("kind").cast(pl.Categorical))
    made = measures(
        measures={"none": "dose=0", "shy": "shy=true", "a": "kind=a and dose>=1"},
        domains={"dose": range(3), "shy": ["true", "false"], "kind": ["a", "b"]},
    )
    for name, make in ENGINES.items():
        if name != "duckdb":  # which has no categories of its own
            assert count_people(make(frame), LISTED, made).values.tolist() == [
                [1, 1, 0, 0],
                [0, 1, 1, 0],
                [0, 1, 1, 0],
            ], name
    objects = frame.drop("kind").to_pandas().astype({"shy": object, "dose": object})
    made = measures(
        measures={"none": "dose=0", "shy": "shy=true"}, domains={"dose": range(3), "shy": ["true", "false"]}
    )
    assert count_people(objects, LISTED, made).values.tolist() == [[1, 1, 0, 0], [0, 1, 1, 0]]


def test_numbers_that_became_floating_point_are_refused() -> None:
    frame = pd.DataFrame({"person": ["ana", "ben"], "group": ["north", "south"], "dose": [0, None]})
    with pytest.raises(BadQuestion, match="Column dose holds Float64"):
        count_people(frame, LISTED, measures(where="dose=0", domains={"dose": [0, 1]}))


def test_columns_are_mapped_and_may_have_any_name(tmp_path: Path) -> None:
    frame = PUPILS.rename({"person": "pupil", "group": "school's id", "mmr": "has mmr"})
    made = measures(where="has mmr=no", domains={"has mmr": ["no", "yes"]})
    form = VisitFormat(columns={"person": "pupil", "group": "school's id"})
    for name, held in everywhere(frame):
        assert count_people(held, LISTED, made, form).values.tolist() == [[1, 1, 0, 0]], name
    with pytest.raises(BadQuestion, match="There is no column person") as caught:
        count_people(frame, LISTED, made)
    assert "columns=" in caught.value.do


def test_the_same_people_have_the_same_fingerprint() -> None:
    key = bytes(32)
    first = count_people(PUPILS, LISTED, UNVACCINATED, key=key).fingerprint
    assert first == count_people(PUPILS.reverse(), LISTED, UNVACCINATED, key=key).fingerprint
    assert first != count_people(PUPILS, LISTED, key=key).fingerprint
