"""Questions about groups of people: asked, paid, counted, published, verified, and refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from tests.groups.plain import Person, count
from tests.releases.making import resigned

from safeside import Account, ask, create_key, create_ledger, publish, records, verify
from safeside.errors import BadFile, BadQuestion, BadRelease, LedgerError, LimitBroken, NowhereElse
from safeside.ledger import open_ledger
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.policy import Policy
from safeside.releases.grouped import Grouped
from safeside.releases.release import Release
from safeside.releases.signing import load_private

SCHOOLS = pl.DataFrame(
    {"group": ["east", "north", "south"], "size": [40, 20, 30], "name": ["East", "North", "South"]}
)
PUPILS = pl.DataFrame(
    {
        "person": [f"p{i}" for i in range(90)],
        "group": ["east"] * 40 + ["north"] * 20 + ["south"] * 30,
        "mmr": ([0, 1] + [2] * 8) * 9,
        "age": [5 + i % 10 for i in range(90)],
    }
)
DOSES: dict[str, Any] = {"mmr": [0, 1, 2]}
NO_DOSE: dict[str, Any] = {"where": "mmr=0", "domains": DOSES}


@dataclass
class County:
    """A folder with a key and a ledger, and a dataset of pupils in it."""

    folder: Path

    def account(self, out: str, **more: Any) -> Account:
        return Account(
            dataset=more.pop("dataset", "pupils"),
            ledger=self.folder / "ledger.db",
            key=self.folder / "safeside.key",
            out=self.folder / out,
            **more,
        )

    def publish(self, out: str = "release", people: Any = PUPILS, **given: Any) -> Release:
        expected = given.pop("allow_nobody", False)
        return publish(people, asked(**given), self.account(out), allow_nobody=expected)

    def remaining(self) -> Fraction:
        with open_ledger(self.folder / "ledger.db") as ledger:
            return ledger.remaining("pupils").epsilon


def asked(**given: Any) -> Any:
    plain = {"groups": SCHOOLS, "as_of": "2026-09-01", "at_most": "5%", "epsilon": 1}
    return ask(**{**plain, **NO_DOSE, **given})


@pytest.fixture
def county(tmp_path: Path) -> County:
    with create_ledger(tmp_path / "ledger.db") as ledger:
        ledger.create_dataset("pupils", "person", epsilon=5)
        ledger.create_dataset("daily", "person-day", epsilon=5, timezone="UTC")
        ledger.create_dataset("classes", "person", epsilon=5, max_places_per_person=2)
    create_key(tmp_path / "safeside.key")
    return County(tmp_path)


def test_a_release_of_groups_verifies_and_every_bound_is_true(county: County) -> None:
    release = county.publish(epsilon="0.5")
    assert verify(release.directory, county.folder / "safeside.key.pub").id == release.id
    (truth,) = count(_rows(), ["east", "north", "south"], [[("mmr", "=", ["0"])]])
    assert truth == [4, 2, 3]
    assert (release.answers.upper >= truth).all()
    assert release.record.question.at_most_of | {"": release.record.question.at_most} == {
        "": 1,
        "east": 2,
    }
    assert county.remaining() == Fraction(9, 2)
    table = pl.read_csv(release.directory / "answers.csv")
    assert table.columns == ["group", "as_of", "state", "upper_bound", "lower_bound", "size", "upper_percent"]


def _rows() -> list[Person]:
    return [Person(row["person"], row["group"], row) for row in PUPILS.iter_rows(named=True)]


def test_several_measures_are_one_release_and_pay_for_what_one_person_can_be(county: County) -> None:
    bands = {"no dose": "mmr=0", "one dose": "mmr=1"}
    release = county.publish(where=None, measures=bands)
    table = pl.read_csv(release.directory / "answers.csv")
    assert table["measure"].to_list() == ["no dose"] * 3 + ["one dose"] * 3
    truth = count(_rows(), ["east", "north", "south"], [[("mmr", "=", ["0"])], [("mmr", "=", ["1"])]])
    assert (table["upper_bound"].to_numpy() >= np.array(truth).ravel()).all()
    assert release.record.mechanism.rate == 1
    # Nobody has no dose and one, so that one person changes one count; one who is young may have no dose.
    both = asked(
        where=None, measures={"no dose": "mmr=0", "young": "age<8"}, domains={**DOSES, "age": range(5, 15)}
    )
    assert both.question.max_conditions == 2
    assert both.question.method.stated(both.conditions).rate == Fraction(1, 2)
    verify(release.directory, county.folder / "safeside.key.pub")


def test_selection_needs_no_number_of_groups_and_takes_the_sizes_for_a_forecast(county: County) -> None:
    twice = pl.concat([PUPILS, PUPILS.head(1).with_columns(group=pl.lit("south"))])
    listed = SCHOOLS.drop("size")
    with pytest.raises(LimitBroken, match="two groups"):
        county.publish(people=twice, groups=listed, at_most=9)
    release = publish(
        twice.rename({"person": "pupil"}),
        asked(groups=listed, at_most=9, method="selection", columns={"person": "pupil"}),
        county.account("selected", dataset="classes"),
    )
    assert (release.directory / "forecast.csv").is_file()
    assert (
        asked(method="selection").known.tolist()
        != asked(groups=listed, at_most=9, method="selection").known.tolist()
    )
    many = asked(method="selection", where=None, measures={"none": "mmr=0", "one": "mmr=1"})
    assert many.known.size == 6


def test_a_person_in_two_classes_is_counted_in_both_where_the_dataset_was_made_so(county: County) -> None:
    twice = pl.concat([PUPILS, PUPILS.head(1).with_columns(group=pl.lit("south"))])
    given = {"groups": SCHOOLS.drop("size"), "at_most": 9, "max_places_per_person": 2}
    release = publish(twice, asked(**given), county.account("classes", dataset="classes"))
    assert release.record.mechanism.rate == Fraction(1, 2)
    with pytest.raises(
        BadQuestion, match=r"`max_places_per_person=` is 2, and the dataset .* was made without"
    ):
        publish(twice, asked(**given), county.account("other"))


def test_a_count_above_its_size_stops_for_the_curator_and_closes_every_date(county: County) -> None:
    counted = pl.DataFrame({"person": ["a", "b"], "group": ["east", "east"]})
    small = SCHOOLS.with_columns(size=pl.Series([1, 20, 30]))
    question = {"groups": small, "where": None, "domains": None, "at_most": 1}
    with pytest.raises(
        LimitBroken, match="More people are counted in a group than its listed size"
    ) as caught:
        county.publish(people=counted, **question)
    assert "is closed to every other question" in caught.value.do
    assert "east" not in str(caught.value)
    assert "1" not in caught.value.what
    assert county.remaining() == 4
    assert not (county.folder / "release").exists()
    # Another size after the stop would be the data's own maximum, published: whatever the date.
    for given in ({"groups": SCHOOLS}, {"groups": SCHOOLS, "as_of": "2026-10-01"}, {"method": "selection"}):
        with pytest.raises(LedgerError, match="stopped at a limit"):
            county.publish("other", people=counted, **{**question, **given})
    repaired = county.publish(people=counted.head(1), **question)
    assert repaired.record.question.groups is not None
    assert county.remaining() == 4


def test_input_that_is_wrong_costs_nothing(county: County) -> None:
    with pytest.raises(BadFile, match="no value"):
        county.publish(people=PUPILS.with_columns(mmr=pl.lit(None, dtype=pl.Int64)))
    assert county.remaining() == 5


def test_nobody_counted_is_confirmed(county: County) -> None:
    nobody = PUPILS.with_columns(mmr=pl.lit(2))
    with pytest.raises(LimitBroken, match="Nobody in this table is counted in any group"):
        county.publish(people=nobody)
    release = county.publish(people=nobody, allow_nobody=True)
    assert "allow_nobody" not in (release.directory / "release.json").read_text()


def test_the_policy_is_the_negation_of_exactly_what_is_counted() -> None:
    policy = asked().conditions.policy
    assert policy == Policy.not_visited(["east", "north", "south"], "counted (mmr=0) on 2026-09-01")
    two = asked(where=None, measures={"none": "mmr=0", "one": "mmr=1"}).conditions.policy
    assert len(two) == 6
    assert 'not "east" in none (mmr=0) on 2026-09-01' in two


def test_shares_are_rounded_to_the_safe_side_for_each_group() -> None:
    for share, limits in (("5%", [2, 1, 1]), ("4.9%", [1, 0, 1]), ("0%", [0, 0, 0]), ("99.9%", [39, 19, 29])):
        made = asked(at_most=share)
        assert made.conditions.at_most.tolist() == limits
    assert asked(at_most=3).conditions.at_most.tolist() == [3, 3, 3]
    own = asked(groups=SCHOOLS.with_columns(at_most=pl.Series([1, 2, 3])), at_most=None)
    assert own.conditions.at_most.tolist() == [1, 2, 3]


def test_the_same_question_is_the_same_request(county: County) -> None:
    first = county.publish()
    assert county.publish().digest == first.digest
    assert county.remaining() == 4
    again = [asked().question.identity(), asked(as_of="2026-09-02").question.identity()]
    assert len(set(again)) == 2


FORGED: dict[str, Callable[[Grouped], Grouped]] = {
    "sizes": lambda one: msgspec.structs.replace(one, sizes=(400, 20, 30)),
    "share": lambda one: msgspec.structs.replace(one, share=Fraction(1, 4)),
    "date": lambda one: msgspec.structs.replace(one, as_of="2026-09-02"),
    "no sizes": lambda one: msgspec.structs.replace(one, sizes=()),
    "two sizes": lambda one: msgspec.structs.replace(one, sizes=(1, 2)),
    "domain": lambda one: msgspec.structs.replace(
        one,
        counted=msgspec.structs.replace(
            one.counted, domains=(msgspec.structs.replace(one.counted.domains[0], values=("0",)),)
        ),
    ),
}


@pytest.mark.parametrize("fault", FORGED)
def test_a_release_that_says_another_question_of_groups_is_found_even_when_signed(
    county: County, fault: str
) -> None:
    release = county.publish()
    question = release.record.question
    assert question.groups is not None
    forged = msgspec.structs.replace(question, groups=FORGED[fault](question.groups))
    key = load_private(county.folder / "safeside.key")

    def forged_and_verified() -> None:
        resigned(release, key, question=records.to_json(forged))
        verify(release.directory, county.folder / "safeside.key.pub")

    with pytest.raises(BadRelease):
        forged_and_verified()


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str, str]] = {
    "no date": (
        {"as_of": None},
        BadQuestion,
        "A question about groups needs the date that the table of people is of.",
        'Give it as `as_of="2026-09-01"`.',
    ),
    "no such date": ({"as_of": "2026-02-30"}, BadQuestion, "needs the date", "as_of="),
    "a time of visits": (
        {"when": "2026-09-01"},
        BadQuestion,
        "`when=` is about visits to places, and the question is about groups.",
        "Leave `when=` out. The date that the table is of goes into `as_of=`.",
    ),
    "places and groups": (
        {"places": ["bar"]},
        BadQuestion,
        "A question is about the places of a list, or about the groups of one.",
        "Give `places=` and `when=`, or `groups=` and `as_of=`.",
    ),
    "a share without sizes": (
        {"groups": ["east"]},
        BadQuestion,
        "A share is asked about, and the list of groups has no sizes.",
        "Add a column `size` to the list: how many people are publicly known to be in each group on that "
        "date. Or give `at_most=` as a number of people.",
    ),
    "no threshold": (
        {"at_most": None},
        BadQuestion,
        "Nothing says how many people to ask about.",
        "Give `at_most=` as a number or, where the list has sizes, as a share (5%); or the list a column "
        "`at_most`.",
    ),
    "a noun": (
        {"noun": "pupils"},
        BadQuestion,
        "The noun for those who are counted is not one of them and many, with a stroke between.",
        'Give `noun="guest/guests"`',
    ),
    "in turn by several measures": (
        {"where": None, "measures": {"none": "mmr=0", "one": "mmr=1"}, "max_alarms": 2},
        BadQuestion,
        "Groups are asked in turn by one measure only.",
        'Ask without `max_alarms=`, or with `method="selection"`, or about one measure at a time.',
    ),
    "everybody": (
        {"where": None, "measures": {"none": "mmr=0", "one": "mmr=1", "two": "mmr=2"}},
        NowhereElse,
        "everybody is counted",
        "Leave a condition out",
    ),
    "a share of nothing": ({"at_most": "5 per cent"}, BadQuestion, "not written in per cent", "5%"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_of_groups(name: str) -> None:
    given, error, what, do = REFUSED[name]
    with pytest.raises(error) as caught:
        asked(**given)
    assert what in caught.value.what  # type: ignore[attr-defined]
    assert do in caught.value.do  # type: ignore[attr-defined]


def test_what_is_about_groups_is_refused_of_places() -> None:
    for given in ({"where": "mmr=0"}, {"as_of": "2026-09-01"}, {"group_noun": "a/b"}, {"only_counted": True}):
        with pytest.raises(
            BadQuestion, match="is about groups of people, and the question is about visits"
        ) as caught:
            ask(places=["bar"], when="2024-03-03T18:00Z", at_most=2, epsilon=1, **given)
        assert caught.value.do == f"Leave `{next(iter(given))}=` out, or give `groups=` instead of `places=`."
    with pytest.raises(BadQuestion, match="Nothing says which time is asked about") as caught:
        ask(places=["bar"], at_most=2, epsilon=1)
    assert "Give `when=` as an instant" in caught.value.do


def test_a_budget_for_each_day_does_not_pay_for_groups(county: County) -> None:
    with pytest.raises(BadQuestion, match="being counted in a group is not over with the day") as caught:
        publish(
            PUPILS,
            account=None,
            groups=SCHOOLS,
            as_of="2026-09-01",
            **NO_DOSE,
            at_most="5%",
            epsilon=1,
            dataset="daily",
            ledger=county.folder / "ledger.db",
            key=county.folder / "safeside.key",
            out=county.folder / "daily",
        )
    assert caught.value.do == 'Pay from a dataset that was made with `unit="person"`.'


def test_a_date_that_has_not_come_is_refused(county: County) -> None:
    with pytest.raises(BadQuestion, match="had not come"):
        county.publish(as_of="2199-01-01")


def test_a_question_of_groups_that_was_put_together_otherwise_is_refused() -> None:
    question = asked().question
    for changed in ({"windows": ("2026-09-02T00:00:00+00:00",)}, {"measures": ("other",)}):
        with pytest.raises(BadQuestion, match="The date, the measures or the sizes of the groups are not as"):
            msgspec.structs.replace(question, **changed).check()
    with pytest.raises(BadQuestion, match="Visits have one measure"):
        msgspec.structs.replace(question, groups=None).check()


def test_groups_with_coordinates_are_drawn_on_a_map_and_others_stand_in_a_table(county: County) -> None:
    mapped = SCHOOLS.with_columns(
        latitude=pl.Series([35.6, 35.7, 35.8]), longitude=pl.Series([139.6, 139.7, 139.8])
    )
    on_a_map = county.publish("map", groups=mapped).map.read_text()
    in_a_table = county.publish("table", as_of="2026-09-02").map.read_text()
    assert 'id="map"' in on_a_map
    assert 'id="map"' not in in_a_table
    assert 'id="filter"' in in_a_table
    for out in ("map", "table"):
        verify(county.folder / out, county.folder / "safeside.key.pub")


def test_the_published_bound_is_never_below_the_count_whatever_is_drawn(county: County) -> None:
    made = asked(epsilon="0.1", where=None, measures={"none": "mmr=0", "one": "mmr=1"})
    truth = count(_rows(), ["east", "north", "south"], [[("mmr", "=", ["0"])], [("mmr", "=", ["1"])]])
    flat = np.array(truth).ravel()
    for seed in range(200):
        drawn = made.question.method.draw(made.conditions, flat, simulated_entropy(seed))
        said = made.question.method.states(made.conditions, drawn)
        assert (said.upper >= flat).all()
