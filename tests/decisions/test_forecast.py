"""Forecasts: exact whole numbers from public knowledge, the same on every machine."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside.decisions import forecast
from safeside.decisions.forecast import (
    MOST_MOVE,
    Profile,
    after_days,
    after_release,
    moved,
    read_profile,
    scores,
)
from safeside.errors import BadFile, BadQuestion

HOURS = "\n".join(f"{hour},{weight}" for hour, weight in enumerate([0] * 8 + [1.5] * 16))


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "profile.csv"
    path.write_text(text)
    return path


def test_a_profile_of_hours_is_that_of_every_day(tmp_path: Path) -> None:
    profile = read_profile(written(tmp_path, "hour,weight\n" + HOURS + "\n"))
    assert profile.weights == ((0,) * 8 + (1_500_000,) * 16,) * 7


def test_days_may_differ(tmp_path: Path) -> None:
    rows = [
        f"{day},{hour},{int(day == 'Sunday')}"
        for day in ("Mon", "tue", "Wed", "Thu", "Fri", "Sat", "Sunday")
        for hour in range(24)
    ]
    profile = read_profile(written(tmp_path, "day,hour,weight\n" + "\n".join(rows)))
    assert [sum(day) for day in profile.weights] == [0] * 6 + [24_000_000]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hours,weight\n0,1\n", "other columns"),
        ("hour,weight\n0,1\n", "does not have every hour"),
        ("hour,weight\n" + HOURS + "\n0,1\n", "line 26: hour is there twice"),
        ("hour,weight\n24,1\n", "line 2: hour is no whole number"),
        ("hour,weight\n1.0,1\n", "line 2: hour is no whole number"),
        ("hour,weight\n0,-1\n", "line 2: weight is no number"),
        ("hour,weight\n0,nan\n", "line 2: weight is no number"),
        ("hour,weight\n0\n", "line 2: weight is no number"),
        ("day,hour,weight\nfoo,0,1\n", "line 2: day is none of"),
        ("hour,weight\n" + "\n".join(f"{hour},0" for hour in range(24)), "Every weight of the profile is 0"),
    ],
)  # fmt: skip
def test_a_profile_that_is_none_is_refused_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_profile(written(tmp_path, text))


def test_a_profile_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        read_profile(tmp_path / "none.csv")


def test_a_window_weighs_its_hours_on_the_local_clock() -> None:
    zone = ZoneInfo("Europe/Berlin")
    profile = Profile(weights=(tuple(range(24)),) * 7)
    hour = profile.of_window(
        datetime(2024, 6, 3, 12, tzinfo=zone), datetime(2024, 6, 3, 13, 30, tzinfo=zone), zone
    )
    assert hour == 12 * 3600 + 13 * 1800
    assert profile.of_window(*(datetime(2024, 6, 3, 10, 5, tzinfo=UTC),) * 2, zone) == 12
    # The day on which the clock skips the third hour, and the one that has it twice.
    ends = [("2024-03-31", "2024-04-01"), ("2024-10-27", "2024-10-28")]
    short, long = (
        profile.of_window(*(datetime.fromisoformat(day).replace(tzinfo=zone) for day in days), zone)
        for days in ends
    )
    assert (short, long) == ((276 - 2) * 3600, (276 + 2) * 3600)


def test_scores_are_popularity_times_weight_scaled_by_a_power_of_two() -> None:
    found = scores([0.0, 1.0, 4.0], [1, 3])
    assert found.tolist() == [1, (1 << 40) + 1, (1 << 42) + 1, 1, (3 << 40) + 1, (3 << 42) + 1]
    assert scores([0.0, 0.0]).tolist() == [1, 1]


@given(st.lists(st.floats(min_value=0, max_value=1e300), min_size=1, max_size=20), st.integers(-200, 200))
def test_only_ratios_matter(popularity: list[float], shift: int) -> None:
    values = np.array(popularity)
    with np.errstate(over="ignore"):
        other = np.ldexp(values, shift)
    if np.isfinite(other).all() and np.array_equal(np.ldexp(other, -shift), values):
        assert np.array_equal(scores(values), scores(other))


@given(st.lists(st.floats(min_value=0, max_value=1e300), min_size=2, max_size=20))
def test_more_popular_is_never_scored_lower_and_all_fit(popularity: list[float]) -> None:
    found = scores(popularity)
    order = np.argsort(popularity)
    assert (np.diff(found[order]) >= 0).all()
    assert found.min() >= 1
    assert found.max() <= 1 << 44


@pytest.mark.parametrize("popularity", [[], [-1.0], [float("nan")], [float("inf")], [[1.0]]])
def test_what_is_no_popularity_is_refused(popularity: object) -> None:
    with pytest.raises(BadQuestion, match="not a list of numbers from 0"):
        scores(popularity)  # type: ignore[arg-type]


@given(st.integers(1, 1 << 44), st.integers(-MOST_MOVE, MOST_MOVE))
def test_a_move_multiplies_by_its_power_of_two_and_is_cut(score: int, move: int) -> None:
    (found,) = moved(np.array([score]), np.array([move]))
    power = Fraction(2) ** (move // 64) * Fraction(forecast._POWERS[move % 64].item(), 1 << 16)
    ideal = score * power
    assert max(1, ideal - (1 << max(0, move // 64))) <= max(1, found) <= max(1, ideal)
    assert abs(power - Fraction(2 ** (move / 64))) <= power / (1 << 15)


def test_what_is_certified_moves_down_and_what_is_left_out_up() -> None:
    before, left_out = np.array([0, 0, 0, 500, -500]), np.array([0, 3, 20, 24, 0])
    moves = after_release(before, np.array([True, False, False, False, True]), left_out)
    assert moves.tolist() == [-32, 48, 128, 512, -512]


def test_a_tenth_goes_back_each_day_rounded_half_up() -> None:
    moves = np.array([100, -100, 5, -5, 1, 0])
    assert after_days(moves, 1).tolist() == [90, -90, 5, -4, 1, 0]
    assert np.abs(after_days(moves, 1000)).max() <= 5
    assert after_days(moves, 0).tolist() == moves.tolist()
