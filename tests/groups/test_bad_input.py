"""Files of people and lists of groups as people write them: what is doubtful stops, nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from safeside import ask
from safeside.errors import SafesideError
from safeside.groups import check_people, count_people, measures, read_groups
from safeside.visits import Doubt, Expected

LISTED = read_groups(["north", "south"])
NO_DOSE = measures(where="dose=0", domains={"dose": [0, 1, 2]})


@pytest.mark.parametrize(
    "size", ["-99", "< 5", "<5", "", "0", "-3", "12.5", "abc", "NA", "*", "1.000.000", "9" * 20]
)
def test_a_size_is_a_whole_number_of_people_from_1(tmp_path: Path, size: str) -> None:
    (tmp_path / "groups.csv").write_text(f"group,size\nnorth,20\nsouth,{size}\n")
    with pytest.raises(SafesideError, match="size of 'south' is not a whole number from 1, or is missing"):
        read_groups(tmp_path / "groups.csv")


@pytest.mark.parametrize("number", ["-99", "< 5", "-1", "2.5", "", "5%"])
def test_a_threshold_of_the_list_is_a_whole_number_from_0(tmp_path: Path, number: str) -> None:
    (tmp_path / "groups.csv").write_text(f"group,at_most\nnorth,2\nsouth,{number}\n")
    with pytest.raises(SafesideError, match="at_most of 'south' is not a whole number from 0, or is missing"):
        read_groups(tmp_path / "groups.csv")


@pytest.mark.parametrize("value", ["-99", "< 5", "NA", " 0", "00", "0.0", "no", "3"])
def test_a_value_that_was_not_declared_stops(tmp_path: Path, value: str) -> None:
    (tmp_path / "people.csv").write_text(f"person,group,dose\nana,north,0\nben,south,{value}\n")
    with pytest.raises(SafesideError, match=r"not in the declared domain \(1 row\).* line 3"):
        count_people(tmp_path / "people.csv", LISTED, NO_DOSE)


FILES = {
    "nothing": ("", "is empty"),
    "only its header": ("person,group\n", "has no rows"),
    "cut within a line": ("person,group\nana,north\nben,sou", "the last line .* does not end"),
    "cut within a field": ("person,group\nana,north\nben", "more or fewer fields than the header"),
    "cut within quotes": ('person,group\nana,north\n"ben,sou', "one that is never closed"),
    "counts of groups": ("group,count\nnorth,< 5\nsouth,-99\n", "There is no column person"),
    "a mark for no group": ("person,group\nana,-99\nben,north\n", "not on the list"),
    "no group": ("person,group\nana,\nben,north\n", "no group"),
    "a person twice": ("person,group\nana,north\nana,north\n", "in one group more than once"),
    "two groups": ("person,group\nana,north\nana,south\n", "omeone is in two groups"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_a_whole_table_of_people_stops(tmp_path: Path, name: str) -> None:
    text, says = FILES[name]
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(SafesideError, match=says):
        count_people(tmp_path / "people.csv", LISTED)


def test_a_list_of_other_groups_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("person,group\nana,S-001\nben,S-002\n")
    with pytest.raises(SafesideError, match="2 groups are in the table and not on the list") as caught:
        count_people(tmp_path / "people.csv", LISTED)
    assert caught.value.do == (
        "No group of the table is on the list: check that it is the list of these groups, and that the "
        "column is the right one (`columns=`)."
    )


def test_missing_rows_are_noticed_by_sizes_or_by_their_number_and_otherwise_that_is_said(
    tmp_path: Path,
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("person,group,dose\nana,north,0\nben,south,2\n")
    (note,) = check_people(path, LISTED, NO_DOSE).notes
    assert note.doubt is Doubt.COVERAGE
    assert note.reason.startswith("nothing shows that the table is whole: people who are missing")
    assert note.do == (
        "Declare how many rows it has (`Expected(rows=)`), as the system says that it was exported from."
    )
    assert check_people(path, LISTED, NO_DOSE, expected=Expected(rows=2)).notes == ()
    with pytest.raises(SafesideError, match="3"):
        count_people(path, LISTED, NO_DOSE, expected=Expected(rows=3))
    (tmp_path / "groups.csv").write_text("group,size\nnorth,1\nsouth,1\n")
    sized = read_groups(tmp_path / "groups.csv")
    assert check_people(path, sized, NO_DOSE).notes == ()
    path.write_text("person,group,dose\nana,north,0\n")
    with pytest.raises(SafesideError, match="1 group has fewer rows than its listed size"):
        count_people(path, sized, NO_DOSE)
    # A table of those counted has fewer, whether it is whole or not.
    assert [one.doubt for one in check_people(path, sized, None).notes if one.doubt is Doubt.COVERAGE]


@pytest.mark.parametrize(("size", "limit"), [(19, 0), (20, 1), (39, 1), (1, 0), (310, 15), (99_999, 4_999)])
def test_a_share_that_is_no_whole_number_of_people_is_rounded_down(size: int, limit: int) -> None:
    listed = pl.DataFrame({"group": ["here"], "size": [size]})
    made = ask(groups=listed, as_of="2026-09-01", at_most="5%", epsilon=1)
    assert made.conditions.at_most.tolist() == [limit]
    assert 20 * limit <= size < 20 * (limit + 1)
