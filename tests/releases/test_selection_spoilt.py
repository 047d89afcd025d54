"""Releases by selection that could not have been drawn, or not been asked: found even when signed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.releases.making import COUNTS, raw, resigned, signed

from safeside.errors import BadRelease
from safeside.releases.release import Release, load_release
from safeside.releases.signing import PrivateKey
from safeside.releases.verify import verify


def copied(home: Path, name: str, to: Path) -> Release:
    shutil.copytree(home / name, to / name)
    return load_release(to / name)


def test_the_releases_that_are_spoilt_below_are_whole(home: Path) -> None:
    claimed, failed = (verify(home / name, home / "key.pub") for name in ("claimed", "failed"))
    assert claimed.record.outcome == {"passed": 2, "component": 11, "level": 1}
    assert claimed.answers.upper[claimed.answers.bounded].tolist() == [2] * 8
    assert failed.record.outcome == {"passed": 1}
    assert failed.answers.bounded.tolist() == [False] * 8 + [True] * 2


NUMBER = "it does not say how many blocks passed"
LEVEL = "it names a level without a claim, or a claim without its level"
NONE = "the level or the component of its claim is none of the plan's"
HOLDS = "its claim holds what its component leaves out"
BOUNDS = "its bounds are not those of the tests and the level it names"
OUTCOMES: dict[str, tuple[str, dict[str, object], str]] = {
    "nothing at all": ("claimed", {}, NUMBER),
    "no number of tests": ("claimed", {"component": 11, "level": 1}, NUMBER),
    "more tests than there are": ("claimed", {"passed": 3, "component": 11, "level": 1}, NUMBER),
    "fewer tests than none": ("failed", {"passed": -1}, NUMBER),
    "a level after a failed test": ("failed", {"passed": 1, "level": 0}, LEVEL),
    "a component after a failed test": ("failed", {"passed": 1, "component": 0}, LEVEL),
    "a claim after a failed test": ("failed", {"passed": 1, "component": 11, "level": 1}, LEVEL),
    "a claim without its level": ("claimed", {"passed": 2, "component": 11}, LEVEL),
    "a claim without its component": ("claimed", {"passed": 2, "level": 1}, LEVEL),
    "all passed and no claim": ("failed", {"passed": 2}, LEVEL),
    "a component that is none": ("claimed", {"passed": 2, "component": 28, "level": 1}, NONE),
    "a component below 0": ("claimed", {"passed": 2, "component": -1, "level": 1}, NONE),
    "a level above the highest": ("claimed", {"passed": 2, "component": 11, "level": 4}, NONE),
    "a level below the lowest": ("claimed", {"passed": 2, "component": 11, "level": -65}, NONE),
    "a component that leaves it out": ("claimed", {"passed": 2, "component": 10, "level": 1}, HOLDS),
    "a higher level": ("claimed", {"passed": 2, "component": 11, "level": 2}, BOUNDS),
    "a lower level": ("claimed", {"passed": 2, "component": 11, "level": 0}, BOUNDS),
    "the lowest level, where nothing is said": (
        "claimed",
        {"passed": 2, "component": 11, "level": -64},
        BOUNDS,
    ),
    "fewer tests than passed": ("failed", {"passed": 0}, BOUNDS),
    "something its method does not publish": (
        "claimed",
        {"passed": 2, "component": 11, "level": 1, "total": 7},
        "it publishes what its method does not",
    ),
    "half a level": (
        "claimed",
        {"passed": 2, "component": 11, "level": 0.5},
        "release.json is not as a release",
    ),
}


@pytest.mark.parametrize("fault", OUTCOMES)
def test_an_outcome_that_was_not_drawn_is_found_even_when_signed(
    tmp_path: Path, home: Path, key: PrivateKey, fault: str
) -> None:
    name, outcome, what = OUTCOMES[fault]
    release = copied(home, name, tmp_path)
    gone = () if outcome else ("outcome",)
    with pytest.raises(BadRelease, match=what):
        verify(resigned(release, key, outcome=outcome, gone=gone).directory, home / "key.pub")


def changed(place: int, state: str, upper: int | None) -> Callable[[pl.DataFrame], pl.DataFrame]:
    here = pl.int_range(pl.len()) == place
    return lambda answers: answers.with_columns(
        state=pl.when(here).then(pl.lit(state)).otherwise("state"),
        upper_bound=pl.when(here).then(pl.lit(upper, dtype=pl.Int64)).otherwise("upper_bound"),
    )


FOLLOWS = "a state in answers.csv does not follow from its bounds"
ANSWERS: dict[str, tuple[str, Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "one bound lower than its claim's": ("claimed", changed(4, "AT_MOST", 1), BOUNDS),
    "one bound higher than its claim's": ("claimed", changed(4, "UNCLEAR", 3), BOUNDS),
    "one bound lower than its test's": ("claimed", changed(9, "AT_MOST", 0), BOUNDS),
    "a tested place left out": ("claimed", changed(9, "UNCLEAR", None), BOUNDS),
    "a place that the component never includes": ("claimed", changed(0, "AT_MOST", 2), HOLDS),
    "a place certified after a failed test": ("failed", changed(0, "AT_MOST", 2), BOUNDS),
    "at most without a bound": ("claimed", changed(0, "AT_MOST", None), FOLLOWS),
    "at most with a bound above": ("claimed", changed(4, "AT_MOST", 3), FOLLOWS),
    "cannot say with a bound below": ("claimed", changed(4, "UNCLEAR", 2), FOLLOWS),
    "not asked": ("claimed", changed(0, "NOT_ASKED", None), FOLLOWS),
    "at least": ("claimed", changed(0, "AT_LEAST", None), FOLLOWS),
}


@pytest.mark.parametrize("fault", ANSWERS)
def test_an_answer_that_was_not_drawn_is_found_even_when_signed(
    tmp_path: Path, home: Path, key: PrivateKey, fault: str
) -> None:
    name, change, what = ANSWERS[fault]
    release = copied(home, name, tmp_path)
    answers = change(pl.read_csv(release.directory / "answers.csv"))
    answers.write_csv(release.directory / "answers.csv")
    states = {state: answers["state"].to_list().count(state) for state in release.record.answers}
    states["certified_at_zero"] = answers["upper_bound"].to_list().count(0)
    with pytest.raises(BadRelease, match=what):
        verify(resigned(release, key, answers=states).directory, home / "key.pub")


def scores_as(change: Callable[[pl.Series], pl.Series]) -> Callable[[bytes], bytes]:
    def made(data: bytes) -> bytes:
        forecast = pl.read_csv(data)
        name = forecast.columns[1]
        return forecast.with_columns(change(forecast[name]).alias(name)).write_csv().encode()

    return made


QUESTION = r"its question \(forecast\) is not as it would be asked"
ORDERED = "forecast.csv does not list every place once, in order"
FORECASTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a little busier at the top": (scores_as(lambda one: one + (one == one.max()).cast(pl.Int64)), QUESTION),
    "the other way round": (scores_as(lambda one: one.reverse()), HOLDS),
    "all the same": (scores_as(lambda one: one * 0 + 1), NUMBER),
    "a score below 0": (scores_as(lambda one: -one), "A score of a forecast is negative or above"),
    "a score that is missing": (scores_as(lambda one: one.replace([one.max()], [None])), ORDERED),
    "places in another order": (lambda data: pl.read_csv(data).reverse().write_csv().encode(), ORDERED),
    "a place twice": (lambda data: data + data.splitlines(keepends=True)[-1], ORDERED),
    "a place too few": (lambda data: b"".join(data.splitlines(keepends=True)[:-1]), ORDERED),
    "another window": (
        lambda data: data.replace(b"2021-06-03T", b"2021-06-05T"),
        "forecast.csv cannot be read",
    ),
    "a window more": (
        lambda data: pl.read_csv(data).with_columns(more=1).write_csv().encode(),
        "forecast.csv cannot be read",
    ),
    "numbers that are not whole": (
        lambda data: data.replace(b"\np1,", b"\np1,0."),
        "forecast.csv cannot be read",
    ),
    "nothing": (lambda _data: b"", "forecast.csv cannot be read"),
    "no text": (lambda _data: b"\xff\x00\xfe", "forecast.csv cannot be read"),
}


@pytest.mark.parametrize("fault", FORECASTS)
def test_a_forecast_that_was_not_recorded_is_found_even_when_signed(
    tmp_path: Path, home: Path, key: PrivateKey, fault: str
) -> None:
    change, what = FORECASTS[fault]
    release = copied(home, "claimed", tmp_path)
    path = release.directory / "forecast.csv"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(BadRelease, match=r"forecast\.csv is not the file that was signed"):
        verify(release.directory, home / "key.pub")
    with pytest.raises(BadRelease, match=what):
        verify(resigned(release, key).directory, home / "key.pub")


def test_a_forecast_that_is_gone_is_missed(tmp_path: Path, home: Path) -> None:
    release = copied(home, "claimed", tmp_path)
    (release.directory / "forecast.csv").unlink()
    with pytest.raises(BadRelease, match=r"forecast\.csv is missing"):
        verify(release.directory, home / "key.pub")


def in_question(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda record: {"question": {**record["question"], **changes}}


def in_method(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda record: in_question(method={**record["question"]["method"], **changes})(record)


def in_price(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda record: {"ledger": {**record["ledger"], "cost": {**record["ledger"]["cost"], **changes}}}


def without_forecast(record: dict[str, Any]) -> dict[str, Any]:
    return {"question": {name: value for name, value in record["question"].items() if name != "forecast"}}


RECORDS: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "another digest": (
        in_question(forecast={"source": "the column popularity of the list", "sha256": "0" * 64}),
        QUESTION,
    ),
    "no forecast": (without_forecast, QUESTION),
    "another source": (in_method(forecast_from=["a good guess"]), QUESTION),
    "a smaller epsilon": (in_method(epsilon="1/2"), "noise is not what its epsilon needs"),
    "a limit that changes nothing": (
        in_question(max_places_per_person=3),
        "A limit on the places of one person changes nothing",
    ),
    "a number of people": (in_question(people=1000), "A declared number of people changes nothing"),
    "half the price": (in_price(epsilon="1/2"), r"charged \(epsilon\)"),
    "a claim that is refunded": (in_price(epsilon_each="1"), r"charged \(epsilon_each\)"),
    "noise of another rate": (
        lambda record: {"mechanism": {**record["mechanism"], "rate": "1/2"}},
        "noise is not what its epsilon needs",
    ),
    "a smaller guarantee": (
        lambda record: {"guarantee": {**record["guarantee"], "epsilon": "1/2"}},
        r"claims \(epsilon\)",
    ),
}


@pytest.mark.parametrize("fault", RECORDS)
def test_a_false_value_of_its_record_is_found_even_when_signed(
    tmp_path: Path, home: Path, key: PrivateKey, fault: str
) -> None:
    change, what = RECORDS[fault]
    release = copied(home, "claimed", tmp_path)
    with pytest.raises(BadRelease, match=what):
        verify(resigned(release, key, **change(raw(release))).directory, home / "key.pub")


def test_no_other_method_publishes_an_outcome(tmp_path: Path, home: Path, key: PrivateKey) -> None:
    release = signed(tmp_path / "out", COUNTS, {"at_most": 2, "epsilon": 1}, key)
    assert "outcome" not in raw(release)
    with pytest.raises(BadRelease, match="it publishes what its method does not"):
        verify(resigned(release, key, outcome={"level": 1}).directory, home / "key.pub")
