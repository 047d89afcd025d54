"""What is expected of each condition: from public columns, a profile and earlier outputs, no more."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.faults.publishing import CAP, World
from tests.releases import making
from tests.releases.making import COUNTS, DAY, LEFT_OUT, SELECTION, places, resigned, signed, simulated
from tests.releases.worlds import remaining, truth

from safeside.errors import BadFile, BadQuestion, BadRelease
from safeside.ledger import open_ledger
from safeside.noise.entropy import simulated_entropy
from safeside.releases import verify as verifying
from safeside.releases.asking import Inquiry, ask
from safeside.releases.methods.selection import SelectedConditions
from safeside.releases.publish import quote
from safeside.releases.release import Release, load_release
from safeside.releases.signing import PrivateKey, load_private
from safeside.releases.verify import verify

NEXT_DAY = "2021-06-04T00:00:00+09:00/2021-06-05T00:00:00+09:00"
ASKED = {"places": places(10), "when": DAY, **SELECTION}


def known(**more: Any) -> list[int]:
    """The scores of a question."""
    return scores(ask(**{**ASKED, **more}))


def scores(inquiry: Inquiry) -> list[int]:
    assert inquiry.known is not None
    found: list[int] = inquiry.known.tolist()
    return found


def method(inquiry: Inquiry) -> SelectedConditions:
    assert isinstance(inquiry.question.method, SelectedConditions)
    return inquiry.question.method


def scaled(products: Sequence[float]) -> list[int]:
    """Below 2^44, cut, and from 1: the documented rule, in exact fractions."""
    _, exponent = math.frexp(max(products))
    return [math.floor(Fraction(one) * Fraction(2) ** (44 - exponent)) + 1 for one in products]


def test_popularity_is_the_forecast_scaled_and_cut() -> None:
    inquiry = ask(**ASKED)
    assert scores(inquiry) == scaled([float(10 - at) for at in range(10)])
    assert method(inquiry).forecast_from == ("the column popularity of the list",)
    assert inquiry.question.forecast is not None
    assert inquiry.question.forecast.source == "the column popularity of the list"


def test_an_expected_number_goes_before_popularity() -> None:
    expected = np.array([0, 5, 0.5, *range(7)], dtype=np.float64)
    inquiry = ask(**{**ASKED, "places": places(10, expected=expected)})
    assert scores(inquiry) == scaled(expected.tolist())
    assert method(inquiry).forecast_from == ("the column expected of the list",)


def test_a_list_that_says_nothing_is_a_forecast_of_nothing() -> None:
    inquiry = ask(**{**ASKED, "places": places(10, popularity=None)})
    assert set(scores(inquiry)) == {scores(inquiry)[0]}
    assert method(inquiry).forecast_from == ("nothing but the list",)
    assert inquiry.conditions.plan.blocks == ()


def test_the_same_integers_on_every_run_and_machine() -> None:
    odd = places(5, popularity=np.array([0.1, 0.2, 0.3, 1e-9, 1234567.89]))
    assert known(places=odd) == [838861, 1677722, 2516583, 1, 10356306078598]
    assert known(places=odd) == known(places=odd)


HOURLY = [hour + 1 for hour in range(24)]


def profile(tmp_path: Path, rows: Sequence[str], head: str = "hour,weight") -> Path:
    path = tmp_path / "profile.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def hourly(tmp_path: Path) -> Path:
    return profile(tmp_path, [f"{hour},{weight}" for hour, weight in enumerate(HOURLY)])


def by_window(inquiry: Inquiry) -> list[list[int]]:
    """A row of scores for each window."""
    return np.array(scores(inquiry)).reshape(len(inquiry.question.windows), -1).tolist()


@pytest.mark.parametrize(
    ("day", "hours"),
    [
        ("2024-06-03", list(range(24))),
        ("2024-03-31", [0, 1, *range(3, 24)]),
        ("2024-10-27", [0, 1, 2, 2, *range(3, 24)]),
    ],
    ids=["24 hours", "23 hours", "25 hours"],
)
def test_each_hour_of_the_local_clock_has_its_weight(tmp_path: Path, day: str, hours: list[int]) -> None:
    inquiry = ask(
        **{**ASKED, "when": day, "every": "1h", "timezone": "Europe/Berlin", "profile": hourly(tmp_path)}
    )
    weights = [HOURLY[hour] * 10**6 * 3600 for hour in hours]
    assert scores(inquiry) == scaled([float(w * (10 - at)) for w in weights for at in range(10)])
    assert method(inquiry).forecast_from == ("the column popularity of the list", "a profile of the hours")


def test_days_of_the_week_have_their_own_hours(tmp_path: Path) -> None:
    days = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    rows = [f"{day},{hour},{at + 1}" for at, day in enumerate(days) for hour in range(24)]
    week = ask(
        **{
            **ASKED,
            "when": "2024-06-03/2024-06-10",
            "every": "1d",
            "timezone": "Europe/Berlin",
            "profile": profile(tmp_path, rows, "day,hour,weight"),
        }
    )
    weights = [(at + 1) * 10**6 * 86400 for at in range(7)]
    assert scores(week) == scaled([float(w * (10 - at)) for w in weights for at in range(10)])


def test_a_window_weighs_what_its_parts_weigh(tmp_path: Path) -> None:
    """From 00:30 to 02:00 are half an hour of weight 1 and an hour of weight 2."""
    when = "2021-06-03T00:30:00+09:00/2021-06-03T03:30:00+09:00"
    first, second = by_window(ask(**{**ASKED, "when": when, "every": "90min", "profile": hourly(tmp_path)}))
    weights = [1 * 1800 + 2 * 3600, 3 * 3600 + 4 * 1800]
    assert [*first, *second] == scaled([float(w * 10**6 * (10 - at)) for w in weights for at in range(10)])


def test_without_a_time_zone_hours_are_those_the_question_is_written_in(tmp_path: Path) -> None:
    tokyo = known(every="1h", profile=hourly(tmp_path))
    named = known(every="1h", profile=hourly(tmp_path), timezone="Asia/Tokyo")
    utc = known(every="1h", profile=hourly(tmp_path), timezone="UTC")
    assert tokyo == named != utc


def test_hours_in_which_nobody_is_expected_keep_what_the_list_says(tmp_path: Path) -> None:
    night = profile(tmp_path, [f"{hour},{int(hour > 5)}" for hour in range(24)])
    when = "2021-06-03T01:00:00+09:00/2021-06-03T02:00:00+09:00"
    assert known(when=when, profile=night) == known(when=when)


HOURS = [f"{hour},1" for hour in range(24)]
BAD: dict[str, tuple[str, Sequence[str], str]] = {
    "other columns": ("time,weight", HOURS, "has other columns than hour and weight"),
    "hour": ("hour,weight", ["24,1"], "line 2: hour is no whole number from 0 to 23"),
    "hour twice": ("hour,weight", [*HOURS, "0,1"], "line 26: hour is there twice"),
    "weight": ("hour,weight", ["0,1", "1,-1"], "line 3: weight is no number from 0 below ten million"),
    "too precise": ("hour,weight", ["0,0.0000001"], "line 2: weight is no number .* six decimals"),
    "infinite": ("hour,weight", ["0,inf"], "line 2: weight is no number"),
    "day": ("day,hour,weight", ["someday,0,1"], "line 2: day is none of mon, tue, wed"),
    "an hour missing": ("hour,weight", HOURS[1:], "does not have every hour"),
    "nothing": (
        "hour,weight",
        [one.replace(",1", ",0") for one in HOURS],
        "Every weight of the profile is 0",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_profile_is_refused_with_its_line_and_column(tmp_path: Path, fault: str) -> None:
    head, rows, what = BAD[fault]
    with pytest.raises(BadFile, match=what):
        known(profile=profile(tmp_path, rows, head))


def test_a_profile_that_is_no_small_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"hour,weight\n" * 10**5)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "large", tmp_path / "bytes", tmp_path, tmp_path / "nothing"):
        with pytest.raises(BadFile, match="The profile of the hours cannot be read"):
            known(profile=path)


def moved(before: Sequence[int], after: Sequence[int]) -> list[int]:
    """By how many parts of 64 of a doubling each score was moved."""
    return [round(64 * math.log2(two / one)) for one, two in zip(before, after, strict=True)]


def test_what_was_certified_is_expected_lower_and_what_was_left_out_higher(home: Path) -> None:
    """p3 was left out at two halvings; p6 to p9 passed their tests; the others got a bound above 2, or were
    never included.
    """
    release = load_release(home / "left out")
    assert release.record.outcome == {"passed": 2, "component": 19, "level": 0}
    assert release.answers.bounded.tolist() == [False, False, True, False, True, True, *[True] * 4]
    today = known(learn_from=[home / "left out"])
    assert moved(known(), today) == [0, 0, 0, 32, 0, 0, -32, -32, -32, -32]
    certified_only = known(learn_from=[home / "failed"])
    assert moved(known(), certified_only) == [0] * 8 + [-32] * 2


def test_a_tenth_goes_back_each_day(home: Path) -> None:
    """Up to where a tenth is less than half a part; so long ago is as quickly computed as last month."""
    for days, up, down in ((1, 29, -29), (2, 26, -26), (5, 19, -19), (60, 5, -4), (50_000, 5, -4)):
        when = f"{np.datetime64('2021-06-03') + days}T00:00:00+09:00/P1D"
        tomorrow = known(when=when, learn_from=[home / "left out"])
        assert moved(known(), tomorrow) == [0, 0, 0, up, 0, 0, *[down] * 4], days


def test_several_releases_add_up_in_the_order_of_their_days(
    tmp_path: Path, home: Path, key: PrivateKey
) -> None:
    signed(tmp_path / "next", COUNTS, SELECTION, key, when=NEXT_DAY, entropy=simulated_entropy(LEFT_OUT))
    both = [home / "left out", tmp_path / "next"]
    inquiry, other = (ask(**{**ASKED, "when": NEXT_DAY, "learn_from": one}) for one in (both, both[::-1]))
    assert moved(known(), scores(inquiry)) == [0, 0, 0, 29 + 32, 0, 0, *[-29 - 32] * 4]
    assert scores(inquiry) == scores(other)
    assert method(inquiry).learned_from == tuple(load_release(one).digest for one in both)
    assert inquiry.question == other.question
    assert method(inquiry).forecast_from[-1] == "the answers of 2 earlier releases"
    assert (
        method(ask(**{**ASKED, "learn_from": both[:1]})).forecast_from[-1]
        == "the answers of 1 earlier release"
    )


def test_only_the_same_place_at_the_same_time_of_the_day_is_moved(home: Path) -> None:
    some = places(5)
    learned = known(places=some, learn_from=[home / "left out"])
    assert moved(known(places=some), learned) == [0, 0, 0, 32, 0]
    for other in (
        {"every": "12h"},
        {"when": "2021-06-03T01:00:00+09:00/P1D"},
        {"when": "2021-06-03T18:00+09:00"},
    ):
        assert known(**other, learn_from=[home / "left out"]) == known(**other)


def test_each_hour_learns_from_the_same_hour(
    tmp_path: Path, key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = "2021-06-03T10:00:00+09:00/2021-06-03T12:00:00+09:00"
    inquiry = ask(**{**ASKED, "when": hours, "every": "1h"})
    monkeypatch.setattr(making, "asked", lambda *_given: inquiry)
    # In the first hour everything is quiet, in the second nothing.
    counts = [0] * 10 + [50] * 10
    release = signed(tmp_path / "out", counts, {}, key, entropy=simulated_entropy(1))
    learned = ask(**{**ASKED, "when": hours, "every": "1h", "learn_from": [release.directory]})
    steps = np.array(moved(scores(inquiry), scores(learned))).reshape(2, 10)
    certified = (release.answers.bounded & (release.answers.upper <= 2)).reshape(
        len(release.answers.windows), -1
    )
    assert ((steps == -32) == certified).all()
    later = ask(
        **{
            **ASKED,
            "when": "2021-06-03T11:00:00+09:00/2021-06-03T12:00:00+09:00",
            "learn_from": [release.directory],
        }
    )
    alone = known(when="2021-06-03T11:00:00+09:00/2021-06-03T12:00:00+09:00")
    assert moved(alone, scores(later)) == steps[1].tolist()


def test_simulations_and_other_methods_teach_nothing(tmp_path: Path, key: PrivateKey) -> None:
    simulated(tmp_path / "simulation", COUNTS, SELECTION, when=DAY)
    signed(tmp_path / "counts", COUNTS, {"at_most": 2, "epsilon": 1}, key)
    signed(tmp_path / "sparse", COUNTS, {"at_most": 2, "epsilon": 1, "max_alarms": 2}, key, when=DAY)
    for name in ("simulation", "counts", "sparse"):
        with pytest.raises(BadQuestion, match="is not a release that was answered by selection"):
            known(learn_from=[tmp_path / name])
    with pytest.raises(BadRelease, match="There is no release"):
        known(learn_from=[tmp_path / "nothing"])


@pytest.mark.parametrize("name", ["answers.csv", "forecast.csv", "release.json"])
def test_an_altered_release_teaches_nothing(tmp_path: Path, home: Path, name: str) -> None:
    shutil.copytree(home / "left out", tmp_path / "out")
    path = tmp_path / "out" / name
    path.write_bytes(path.read_bytes().replace(b"3", b"4"))
    with pytest.raises(BadRelease):
        known(learn_from=[tmp_path / "out"])


@pytest.mark.parametrize("name", ["answers.csv", "forecast.csv"])
def test_what_changes_after_it_was_checked_teaches_nothing(
    tmp_path: Path, home: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home / "left out", tmp_path / "out")
    check = verifying.check_files

    def checked(release: Release) -> None:
        check(release)
        path = release.directory / name
        path.write_bytes(path.read_bytes() + b"\n")

    monkeypatch.setattr(verifying, "check_files", checked)
    with pytest.raises(BadRelease, match=f"{name} is not the file that was signed"):
        known(learn_from=[tmp_path / "out"])


def forged(release: Release, to: Path, key: PrivateKey) -> Path:
    """A release that holds together and is signed, and that no ledger committed to."""
    shutil.copytree(release.directory, to)
    counted = [*release.record.counted, "Nothing was left out."]
    return resigned(load_release(to), key, counted=counted).directory


def test_a_forecast_is_learned_from_what_this_ledger_published_and_from_nothing_else(world: World) -> None:
    pl.DataFrame({"place": list(truth()), "popularity": list(truth().values())}).write_csv(
        world.home / "places.csv"
    )
    days = [f"2021-06-0{day}T00:00:00+00:00/P1D" for day in (3, 4)]
    first = world.publish("counts", method="selection", when=days[0])
    key = load_private(world.home / "key")
    other = forged(first, world.home / "releases" / "forged", key)
    terms: dict[str, Any] = {"method": "selection", "when": days[1], "out": world.home / "releases" / "next"}
    with pytest.raises(BadQuestion, match="is not one that this ledger published") as told:
        world.publish("counts", **terms, learn_from=[first.directory, other])
    assert "`learn_from=` releases of this ledger" in told.value.do
    with pytest.raises(BadQuestion, match="is not one that this ledger published"):
        quote(
            places=world.home / "places.csv",
            dataset="city",
            ledger=world.home / "ledger.db",
            key=world.home / "key",
            at_most=2,
            epsilon=1,
            **terms,
            learn_from=[other],
        )
    assert remaining(world) == CAP - 1
    shutil.rmtree(other)
    visits = pl.read_parquet(world.home / "visits.parquet")
    tomorrow = visits.with_columns(pl.col("start", "end") + timedelta(days=1))
    pl.concat([visits, tomorrow]).write_parquet(world.home / "visits.parquet")
    second = world.publish("counts", **terms, learn_from=[first.directory])
    made = second.record.question.method
    assert isinstance(made, SelectedConditions)
    assert made.learned_from == (first.digest,)
    with open_ledger(world.home / "ledger.db") as ledger:
        verify(second.directory, world.home / "key.pub", ledger=ledger)
        recorded = ledger.question(ledger.reservation(second.id))["question"]
    assert second.record.question.forecast is not None
    assert recorded["forecast"]["sha256"] == second.record.question.forecast.sha256
    assert recorded["method"]["learned_from"] == [first.digest]
