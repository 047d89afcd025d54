"""Publishing by selection: bounds that are never false, each of them one that a verifier takes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.faults.publishing import CAP, NOON, PLACES, World
from tests.releases.making import CLAIMED, DAY, NOW, SELECTION, asked, places, resigned, table
from tests.releases.worlds import remaining, truth

from safeside.errors import BadQuestion, BadRelease, SafesideError
from safeside.ledger import open_ledger
from safeside.noise.entropy import simulated_entropy
from safeside.releases import publication
from safeside.releases.asking import Inquiry, ask
from safeside.releases.publish import Account, publish
from safeside.releases.release import load_release
from safeside.releases.signing import load_private
from safeside.releases.simulate import simulate
from safeside.releases.verify import check_claims, check_files, verify
from safeside.visits import Window
from safeside.visits.times.every import split

WHOLE_DAY = "2021-06-03T00:00:00+00:00/P1D"


def listed(world: World, columns: dict[str, list[int]]) -> None:
    """The list of places of a world, with these columns beside the names."""
    pl.DataFrame({"place": list(truth()), **columns}).write_csv(world.home / "places.csv")


POPULAR = [place % 5 if place % 3 else 0 for place in range(PLACES)]
ROUNDS: dict[str, tuple[dict[str, list[int]], dict[str, Any], int]] = {
    "one moment": ({"popularity": POPULAR}, {"when": NOON.isoformat()}, 1),
    "one window": ({"popularity": POPULAR}, {"when": WHOLE_DAY}, 1),
    "24 hours": ({"popularity": POPULAR}, {"when": WHOLE_DAY, "every": "1h"}, 24),
    "thresholds that differ": (
        {"popularity": POPULAR, "at_most": [place % 4 for place in range(PLACES)]},
        {"when": WHOLE_DAY, "at_most": None},
        1,
    ),
    "a list without popularity": ({}, {"when": WHOLE_DAY}, 1),
    "an expected number of people": ({"expected": POPULAR}, {"when": WHOLE_DAY, "every": "12h"}, 2),
}


@pytest.mark.parametrize("kind", ROUNDS)
def test_what_is_published_is_true_paid_once_and_verified(world: World, kind: str) -> None:
    columns, terms, windows = ROUNDS[kind]
    listed(world, columns)
    release = world.publish("counts", method="selection", **terms)
    assert release.record.question.method.__struct_config__.tag == "selection"
    assert remaining(world) == CAP - 1
    with open_ledger(world.home / "ledger.db") as ledger:
        again = verify(world.out, world.home / "key.pub", ledger=ledger)
    answers = again.answers
    assert len(answers) == windows * PLACES
    there = np.array(list(truth().values()))
    for window, upper, bounded in zip(
        again.record.question.each_window,
        answers.upper.reshape(len(answers.windows), -1),
        answers.bounded.reshape(len(answers.windows), -1),
        strict=True,
    ):
        # Everybody is there for an hour before and an hour after noon.
        here = window.start < NOON + timedelta(hours=1) and window.end > NOON - timedelta(hours=1)
        assert (~bounded | (upper >= (there if here or window.instant else 0))).all()


@pytest.mark.parametrize("kind", ROUNDS)
def test_a_simulation_is_whole(tmp_path: Path, kind: str) -> None:
    terms = ROUNDS[kind][1]
    when, every = terms["when"], terms.get("every")
    names = places(10).ids
    parts = [None] if every is None else [one.text for one in split(Window.parse(when), every)]
    counts = {
        (place,) if part is None else (place, part): at % 4
        for at, place in enumerate(names)
        for part in parts
    }
    made = simulate(
        {key[0] if len(key) == 1 else key: count for key, count in counts.items()},
        places=table(places(10)),
        out=tmp_path / "out",
        seed=CLAIMED,
        known_on=NOW,
        **{**SELECTION, **terms, "at_most": 2},
    )
    assert made.simulated
    check_files(load_release(tmp_path / "out"))
    true = np.array(
        [counts[(place,) if part is None else (place, part)] for part in parts for place in names]
    )
    assert (~made.answers.bounded | (made.answers.upper >= true)).all()


@st.composite
def drawn_questions(draw: st.DrawFn) -> tuple[Inquiry, list[int]]:
    """A question about one to three windows, with any thresholds and any forecast, and counts."""
    number, windows = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    few = st.integers(0, 5)
    thresholds = draw(st.lists(few, min_size=number, max_size=number))
    popularity = draw(st.none() | st.lists(st.sampled_from([0, 1, 3, 50]), min_size=number, max_size=number))
    list_of = places(
        number,
        at_most=np.array(thresholds, dtype=np.int64),
        popularity=None if popularity is None else np.array(popularity, dtype=np.float64),
    )
    end = f"2021-06-03T{windows:02}:00:00+09:00"
    inquiry = ask(
        places=list_of,
        when=f"2021-06-03T00:00:00+09:00/{end}",
        every="1h",
        epsilon=draw(st.sampled_from(["1", "1/10", "3"])),
        method="selection",
    )
    size = number * windows
    return inquiry, draw(st.lists(st.integers(0, 8), min_size=size, max_size=size))


@given(question=drawn_questions(), seed=st.integers(0, 2**32))
@settings(max_examples=100)
def test_no_bound_is_ever_false_and_every_draw_is_one_that_a_verifier_takes(
    question: tuple[Inquiry, list[int]], seed: int
) -> None:
    inquiry, given = question
    counts = np.array(given, dtype=np.int64)
    conditions, method = inquiry.conditions, inquiry.question.method
    drawn = method.draw(conditions, counts, simulated_entropy(seed))
    answers = method.states(conditions, drawn)
    assert (~answers.bounded | (answers.upper >= counts)).all()
    assert method.follows(conditions, answers, drawn.outcome).all()
    assert method.why_impossible(conditions, answers, drawn.outcome) is None
    read = method.read_known(conditions, method.write_known(conditions))
    assert read.tolist() == (conditions.known.tolist() if conditions.known is not None else None)


@given(question=drawn_questions(), seed=st.integers(0, 2**32), at=st.integers(0), by=st.sampled_from([-1, 1]))
@settings(max_examples=60)
def test_one_bound_moved_by_one_is_not_a_draw(
    question: tuple[Inquiry, list[int]], seed: int, at: int, by: int
) -> None:
    """A claim says one thing of all that it is about; a test says the thresholds."""
    inquiry, counts = question
    conditions, method = inquiry.conditions, inquiry.question.method
    drawn = method.draw(conditions, np.array(counts, dtype=np.int64), simulated_entropy(seed))
    (bounded,) = (drawn.values >= 0).nonzero()
    if bounded.size == 0:
        return
    moved, where = drawn.values.copy(), bounded[at % bounded.size]
    # Below 0 it would not be said at all, as of a place that is left out.
    moved[where] += by if moved[where] else 1
    other = method.states(conditions, replace(drawn, values=moved))
    assert method.why_impossible(conditions, other, drawn.outcome) is not None


def test_a_person_day_pays_for_every_day_from_the_first_window_to_the_last(tmp_path: Path) -> None:
    world = World.made(tmp_path / "world")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", CAP, timezone="UTC")
    asked_of = {
        "when": "2021-06-02T00:00:00+00:00/2021-06-04T00:00:00+00:00",
        "every": "6h",
        "method": "selection",
    }
    release = world.publish("counts", dataset="days", **asked_of)
    assert release.record.ledger is not None
    assert release.record.ledger.cost.periods == ("2021-06-02", "2021-06-03")
    verify(world.out, world.home / "key.pub")
    with open_ledger(world.home / "ledger.db") as ledger:
        for day in ("2021-06-02", "2021-06-03"):
            assert ledger.remaining("days", (day,)).epsilon == CAP - 1
        assert ledger.remaining("days", ("2021-06-04",)).epsilon == CAP


def test_a_sealed_draw_has_the_same_length_whatever_was_drawn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every hour the words of the list stand beside an answer: there is room for all of them."""
    names = [f"{place} " + "a long name of a place " * 8 for place in truth()]
    listed(world, {"name": names, "popularity": POPULAR})
    sizes: list[tuple[int, int]] = []
    seal = publication.seal_into

    def measured(sealed: Any, path: Path, files: dict[str, bytes], reservation: Any, room: int) -> Any:
        sizes.append((sum(map(len, files.values())), room))
        return seal(sealed, path, files, reservation, room)

    monkeypatch.setattr(publication, "seal_into", measured)
    world.publish("counts", method="selection", when=WHOLE_DAY, every="1h")
    ((size, room),) = sizes
    assert size < room
    assert room < 10 * size


def test_ten_thousand_windows_are_checked_in_time_that_grows_with_their_number() -> None:
    """Not with its square: a policy over so many windows is united once."""
    minutes = ask(
        places=["bar"],
        when="2021-06-03T00:00:00+00:00/2021-06-09T00:00:00+00:00",
        every="1min",
        **SELECTION,
    )
    conditions = minutes.conditions
    assert len(conditions) == len(conditions.policy) == 6 * 24 * 60
    known = json.loads(json.dumps(minutes.question.recorded()))
    assert known["forecast"]["sha256"] == minutes.question.method.forecast(conditions.known).sha256


def test_the_same_question_with_another_forecast_is_another_question() -> None:
    quiet, busy = (
        asked(10, {**SELECTION, "places": places(10, popularity=popular)}, DAY).question
        for popular in (np.arange(10.0), np.arange(10.0)[::-1].copy())
    )
    assert quiet.identity() != busy.identity()
    assert (
        quiet.identity()
        == asked(10, {**SELECTION, "places": places(10, popularity=np.arange(10.0))}, DAY).question.identity()
    )


def test_the_parts_of_a_time_belong_to_the_question() -> None:
    """Ten hours cut into 4, 4 and 2 hours, or into 3.5, 3.5 and 3, are not the same question."""
    ten = {**SELECTION, "when": "2021-06-03T00:00:00+09:00/2021-06-03T10:00:00+09:00"}
    ids = [asked(3, {**ten, "every": every}).question.identity() for every in ("4h", "210min", "10h", "4h")]
    assert len(set(ids)) == 3
    assert ids[0] == ids[3]


def test_hours_that_have_not_begun_are_not_answered_even_so_far(
    world: World,
) -> None:
    hours = {"when": WHOLE_DAY, "every": "1h", "method": "selection", "so_far": True}
    with pytest.raises(BadQuestion, match=r"2021-06-03T23:00:00\+00:00/.* had not come") as told:
        world.publish("counts", known_on=NOON, **hours)
    assert "Ask about a time that has passed" in told.value.do
    assert remaining(world) == CAP
    late = NOON.replace(hour=23, minute=30)
    release = world.publish("counts", known_on=late, **hours)
    verify(release.directory, world.home / "key.pub")
    spoilt = resigned(
        release,
        load_private(world.home / "key"),
        known_on=(NOON + timedelta(hours=1)).isoformat(timespec="seconds"),
    )
    with pytest.raises(SafesideError):
        verify(spoilt.directory, world.home / "key.pub")
    with pytest.raises(BadRelease, match="speaks from a moment before the time it is about was over"):
        check_claims(spoilt)


def test_a_forecast_that_the_question_does_not_name_is_refused_before_anything_is_paid(world: World) -> None:
    inquiry = ask(places=list(truth()), when=WHOLE_DAY, **SELECTION)
    account = Account(dataset="city", ledger=world.home / "ledger.db", key=world.home / "key", out=world.out)
    for known in (np.array(list(truth().values())), None):
        with pytest.raises(BadQuestion) as told:
            publish(world.home / "visits.parquet", replace(inquiry, known=known), account)
        assert told.value.what == "The forecast is not the one that the question names by its digest."
        assert told.value.do == "Use the question as `safeside.ask` made it."
    assert remaining(world) == CAP
