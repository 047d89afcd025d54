"""What is said when people of groups cannot be counted, and what to do about it: every message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from safeside.errors import BadFile, BadQuestion, LimitBroken, NowhereElse, SafesideError
from safeside.groups import Domain, Where, count_people, measures, read_groups
from safeside.visits import VisitFormat

LISTED = read_groups(["north", "south"])
HEADER = "person,group,mmr\nana,north,no\n"
MMR = measures(where="mmr=no", domains={"mmr": ["no", "yes"]})
HOW = "Write it as mmr=no, as dose in 0, 1, or as age<12; several are joined by and."
DOMAIN = "Write it as mmr=yes,no or age=0..120: every value that the column may hold."
Act = Callable[[Path], object]


def rows(text: str, **also: Any) -> Act:
    def act(folder: Path) -> object:
        (folder / "people.csv").write_text(HEADER + text)
        return count_people(
            folder / "people.csv", also.pop("groups", LISTED), also.pop("counted", MMR), **also
        )

    return act


def listed(frame: dict[str, Any]) -> Act:
    return lambda _: read_groups(pl.DataFrame(frame, strict=False))


def asked(**given: Any) -> Act:
    return lambda _: measures(**given)


SAID: dict[str, tuple[Act, type[SafesideError], str, str]] = {
    "no group": (
        rows("ben,,no\n"),
        BadFile,
        "Column group: no group (1 row); first at people.csv line 3.",
        "Give every row the group that the person is in; nobody is left out of the count.",
    ),
    "unknown group": (
        rows("ben,South,no\nchi,west,no\n"),
        BadFile,
        "Column group: 2 groups are in the table and not on the list; 1 of them looks like a listed one "
        "written in another way (capitals, blanks, zeros, something before or after it); first at "
        "people.csv line 3, people.csv line 4.",
        "List every group that people may be in; nobody is left out of the count.",
    ),
    "no value": (
        rows("ben,south,\n"),
        BadFile,
        "Column mmr: no value (1 row); first at people.csv line 3.",
        "Give every row a value; somebody without one may be among those counted. Where it is not known, "
        "write a value of its own, declare it in the domain, and say whether it counts.",
    ),
    "other value": (
        rows("ben,south,NO\n"),
        BadFile,
        "Column mmr: a value that is not in the declared domain (1 row); first at people.csv line 3.",
        "Correct the rows, or declare every value that the column may hold (`domains=`); blanks, capitals "
        "and leading zeros make another value.",
    ),
    "twice": (
        rows("ana,north,no\n"),
        BadFile,
        "Column person: a person who stands in one group more than once (1 row); first at people.csv line 3.",
        "Write one row for each person and group: which of two rows is right, nobody can tell.",
    ),
    "two groups": (
        rows("ana,south,no\n"),
        LimitBroken,
        "Someone is in two groups.",
        "Correct rows that are wrong. Where people can be in several groups, the dataset has to be made with "
        '`max_places_per_person=`, or ask by `method="selection"`, which needs no such number.',
    ),
    "three groups": (
        rows(
            "ana,south,no\nana,west,no\n",
            groups=read_groups(["north", "south", "west"]),
            max_groups_per_person=2,
        ),
        LimitBroken,
        "Someone is in more groups than the declared 2.",
        'Correct rows that are wrong. Selection (`method="selection"`) needs no such number.',
    ),
    "fewer": (
        rows("", groups=read_groups(pl.DataFrame({"group": ["north", "south"], "size": [2, 3]}))),
        BadFile,
        "2 groups have fewer rows than their listed sizes: people may be missing, and so uncounted.",
        "Export the whole table of the date that the sizes are of; or, if it is whole, declare how many rows "
        "it has (`Expected(rows=)`).",
    ),
    "more": (
        rows("ben,north,no\n", groups=read_groups(pl.DataFrame({"group": ["north"], "size": [1]}))),
        BadFile,
        "1 group has more rows than its listed size: a share of that size would be false.",
        "Correct the sizes, or export the table of the date that they are of.",
    ),
    "no column": (
        rows("", counted=measures(where="dose=0", domains={"dose": [0, 1]})),
        BadQuestion,
        "There is no column dose, by which people are counted. There are: person, group, mmr.",
        "Name a column of the table in the condition, as the table writes it.",
    ),
    "one column for two": (
        rows("", fmt=VisitFormat(columns={"person": "group"})),
        BadQuestion,
        "Column group is used for two things.",
        "Map each of the roles to a column of its own.",
    ),
    "a role of visits": (
        rows("", fmt=VisitFormat(columns={"place": "group"})),
        BadQuestion,
        "A column is mapped to place, which a table of people and their groups does not use.",
        "Map person and group; a condition names its columns as the table does.",
    ),
    "a declaration of visits": (
        rows("", fmt=VisitFormat(hold="15min")),
        BadQuestion,
        "`hold=` is about visits, and a table of people and their groups has none.",
        "Leave `hold=` out.",
    ),
    "another kind of value": (
        lambda _: count_people(
            pl.DataFrame({"person": ["ana"], "group": ["north"], "mmr": [True]}), LISTED, MMR
        ),
        BadQuestion,
        "Column mmr holds Boolean, and values of its declared domain are not of that kind.",
        "Turn the column into text, or whole numbers where the domain has them (true and false where it has "
        "those), keeping missing values missing.",
    ),
    "a size of text": (
        listed({"group": ["north", "south"], "size": ["310", "many"]}),
        BadFile,
        "In the list of groups, size of 'south' is not a whole number from 1, or is missing (1 group).",
        "Give every group a size, or leave the column out.",
    ),
    "a size of zero": (
        listed({"group": ["north", "south"], "size": [310, 0]}),
        BadFile,
        "In the list of groups, size of 'south' is not a whole number from 1, or is missing (1 group).",
        "Give every group a size, or leave the column out.",
    ),
    "no size": (
        listed({"group": ["north", "south"], "size": [310, None]}),
        BadFile,
        "In the list of groups, size of 'south' is not a whole number from 1, or is missing (1 group).",
        "Give every group a size, or leave the column out.",
    ),
    "half a person": (
        listed({"group": ["north", "south"], "size": [310, 12.5]}),
        BadFile,
        "In the list of groups, size of 'south' is not a whole number from 1, or is missing (1 group).",
        "Give every group a size, or leave the column out.",
    ),
    "a group twice": (
        listed({"group": ["north", "north"]}),
        BadFile,
        "In the list of groups, group is there twice (1 row; first in row 2).",
        "Correct the list: every group once, each with its identifier.",
    ),
    "no list": (
        listed({"school": ["north"]}),
        BadQuestion,
        "The list of groups has no column group. There are: school.",
        "Name the column of identifiers group.",
    ),
    "no condition": (
        asked(where="mmr"),
        BadQuestion,
        "The condition of who is counted cannot be read.",
        HOW,
    ),
    "an empty value": (
        asked(where="dose in 0,,1"),
        BadQuestion,
        "The condition on column dose has an empty value.",
        f"{HOW} A row without a value stops the work, and is not counted by a condition.",
    ),
    "no number": (
        asked(where="age<twelve"),
        BadQuestion,
        "The condition on column age compares with something that is no whole number.",
        "Compare with whole numbers (age<12), or list the values (grade in K, 1, 2).",
    ),
    "no domain": (
        asked(where="mmr=no"),
        BadQuestion,
        "The domain of column mmr, by which people are counted, is not declared.",
        'Declare once which values it may hold, such as `domains=["mmr=yes,no"]`; any other value '
        "stops the work.",
    ),
    "two domains": (
        asked(where="mmr=no", domains=["mmr=no,yes", "mmr=no"]),
        BadQuestion,
        "The domain of column mmr, by which people are counted, is twice declared.",
        'Declare once which values it may hold, such as `domains=["mmr=yes,no"]`; any other value '
        "stops the work.",
    ),
    "a domain that cannot be read": (
        lambda _: Domain.parse("mmr"),
        BadQuestion,
        "The domain of a column cannot be read.",
        DOMAIN,
    ),
    "a domain of nothing": (
        lambda _: Domain.parse("mmr=no,,yes"),
        BadQuestion,
        "The domain of column mmr has no value, an empty one, or one twice.",
        DOMAIN,
    ),
    "a domain without end": (
        lambda _: Domain.parse("age=0..99999"),
        BadQuestion,
        "The domain of column age is empty, or has more than 10,000 values.",
        "Give the smallest and the largest whole number that the column may hold, as in age=0..120.",
    ),
    "a value that is not in the domain": (
        asked(where="mmr=nein", domains={"mmr": ["no", "yes"]}),
        BadQuestion,
        "The condition mmr=nein names a value that is not in the domain of column mmr.",
        "Use one of no, yes.",
    ),
    "a comparison of words": (
        asked(where="mmr<3", domains={"mmr": ["no", "yes"]}),
        BadQuestion,
        "The condition mmr<3 compares numbers, and the domain of column mmr has other values.",
        "Declare whole numbers (age=0..120), or list the values that count.",
    ),
    "a measure of nobody": (
        asked(where="mmr=0 and mmr=1", domains={"mmr": [0, 1]}),
        BadQuestion,
        "The measure 'counted' is true of no value of the declared domain.",
        "Correct its condition, or the domain.",
    ),
    "a domain for nothing": (
        asked(where="mmr=0", domains={"mmr": [0, 1], "age": [1]}),
        BadQuestion,
        "A domain is declared for column age, which no condition looks at.",
        "Leave it out, or use the column.",
    ),
    "everybody": (
        asked(measures={"no": "mmr=no", "yes": "mmr=yes"}, domains={"mmr": ["no", "yes"]}),
        NowhereElse,
        "Whatever a row holds, one of the conditions is true of it: everybody is counted, nobody could have "
        "been in no count, and the guarantee would promise nothing.",
        "Leave a condition out (that of most people), so that it is true of some people that they are not "
        "counted. If the table lists nobody but those who are counted, say so (`only_counted=True`): it is "
        "then protected that somebody is in it at all.",
    ),
    "only counted, of course": (
        asked(only_counted=True),
        BadQuestion,
        "Without a condition the table is of those who are counted anyway.",
        "Leave `only_counted=True` out.",
    ),
    "a measure without a name": (
        asked(measures=["mmr=no"]),
        BadQuestion,
        "A measure is not written as NAME: CONDITION.",
        'Write, for example, `measures=["no dose: mmr=0", "one dose: mmr=1"]`.',
    ),
    "two of one name": (
        asked(measures=["a: mmr=no", "a: mmr=yes"]),
        BadQuestion,
        "Two measures have one name.",
        "Give each measure a name of its own.",
    ),
    "too many kinds": (
        asked(
            measures={f"m{i}": f"a{i % 6} in {i // 6}, {i // 6 + 1}" for i in range(60)},
            domains={f"a{i}": range(13) for i in range(6)},
        ),
        BadQuestion,
        "The conditions tell more than 200,000 kinds of people apart.",
        "Count by fewer conditions in one question.",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_every_message(tmp_path: Path, name: str) -> None:
    act, error, what, do = SAID[name]
    with pytest.raises(error) as caught:
        act(tmp_path)
    assert type(caught.value) is error
    assert caught.value.what == what
    assert caught.value.do == do


def test_a_condition_made_of_its_parts_is_the_one_that_is_read() -> None:
    assert Where.parse(Where.parse("mmr=no")) == Where.parse("mmr=no")
