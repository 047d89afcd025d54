"""One question: made in one place, the same in the ledger, in release.json and for whoever verifies."""

from __future__ import annotations

import ast
import inspect
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.faults.publishing import World
from tests.messages.saying import says
from tests.releases.making import DAY, INSTANT, KINDS, asked, counts, over_a_day, places, states_of, terms
from tests.releases.worlds import remaining

from safeside import records
from safeside.errors import BadQuestion, SafesideError
from safeside.ledger import open_ledger
from safeside.releases import methods
from safeside.releases.asking import ARGUMENTS, Inquiry, ask
from safeside.releases.methods import METHODS
from safeside.releases.methods.base import Drawn
from safeside.releases.publish import Account, prepare, publish, quote
from safeside.releases.question import Question
from safeside.visits import StayRule, VisitFormat

TOKYO = timezone(timedelta(hours=9))


@given(terms())
@settings(max_examples=60)
def test_every_question_is_read_back_as_it_was_written(terms: dict[str, Any]) -> None:
    question = asked(6, terms, DAY if over_a_day(terms) else INSTANT).question
    again = records.decode(Question, records.encode(question))
    assert again == question
    assert records.encode(again) == records.encode(question)
    again.check()


@given(terms(), counts, st.integers(0, 2**32))
@settings(max_examples=60)
def test_what_a_method_says_of_a_draw_follows_for_whoever_has_only_the_answers(
    terms: dict[str, Any], counts: list[int], seed: int
) -> None:
    from safeside.noise.entropy import simulated_entropy

    inquiry = asked(len(counts), terms, DAY if over_a_day(terms) else INSTANT)
    conditions, method = inquiry.conditions, inquiry.question.method
    conditions = inquiry.question.conditions(
        inquiry.places.ids, method.settled(conditions, simulated_entropy(seed))
    )
    drawn = method.draw(conditions, np.array(counts, dtype=np.int64), simulated_entropy(seed))
    answers = method.states(conditions, drawn)
    assert method.follows(conditions, answers, drawn.outcome).all()
    assert method.why_impossible(conditions, answers, drawn.outcome) is None
    assert {one.name for one in method.possible} >= set(states_of(answers))


@pytest.mark.parametrize(
    ("values", "possible"),
    [
        ([2, 9, -1, -1], True),  # ends at the one alarm
        ([9, -1, -1, -1], True),
        ([2, 2, 2, 9], True),
        ([2, 2, 2, 2], True),
        ([2, 9, 2, -1], False),  # goes on after it
        ([2, 2, -1, -1], False),  # ends before it
        ([-1, -1, -1, -1], False),
        ([9, 9, -1, -1], False),  # one alarm too many
        ([2, -1, 9, -1], False),  # leaves one out
    ],
)
def test_answers_in_turn_end_at_the_last_alarm_or_with_the_last_place(
    values: list[int], possible: bool
) -> None:
    inquiry = asked(4, {"at_most": 2, "epsilon": 1, "max_alarms": 1, "order": "popularity"}, DAY)
    method, conditions = inquiry.question.method, inquiry.conditions
    in_turn = np.empty(4, dtype=np.int64)
    in_turn[conditions.known] = values
    answers = method.states(conditions, Drawn(values=in_turn, simulated=True, alarms=1))
    assert (method.why_impossible(conditions, answers, {}) is None) is possible


def test_the_ledger_and_release_json_hold_the_very_question_that_was_asked(world: World) -> None:
    release = world.publish("sparse")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
        recorded = ledger.question(paid)
    assert records.upgraded(Question, recorded["question"]) == release.record.question
    assert recorded["targets"] == list(release.answers.places)
    known_on = datetime(2021, 6, 10, tzinfo=UTC)
    given = {"max_alarms": 60, "order": "random", "at_most": 2, "epsilon": 1}
    inquiry = ask(places=world.home / "places.csv", when="2021-06-03T00:00:00+00:00/P1D", **given)
    assert inquiry.question == release.record.question
    assert known_on


def test_a_question_of_another_ledger_entry_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from safeside.errors import BadRelease
    from safeside.releases.verify import verify

    world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
        known = ledger.question(paid)
        known["question"] = {**known["question"], "at_most": 3}
        monkeypatch.setattr(ledger, "question", lambda _: known)
        with pytest.raises(BadRelease, match="has recorded another question"):
            verify(world.out, world.home / "key.pub", ledger=ledger)


def test_how_the_visits_are_read_is_part_of_the_question() -> None:
    stays = StayRule(minutes=10, longest_gap="30min")
    form = VisitFormat(
        columns={"person": "who"}, radius=50.0, stay_rule=stays, separator="\t", trust_ids=True
    )
    inquiry = ask(
        places=places(), when=INSTANT, at_most=2, epsilon=1, visit_format=form, exclude_unknown_places=True
    )
    assert inquiry.question.reading == {
        "columns": '{"person":"who"}',
        "radius": "50.0",
        "stay_rule": '{"longest_gap":"0:30:00","metres":"200.0","minutes":"10"}',
        "separator": "\\x09",
        "trust_ids": "true",
        "exclude_unknown_places": "true",
    }
    assert asked(6, {"at_most": 2, "epsilon": 1}).question.reading == {}


@pytest.mark.parametrize(
    ("when", "text"),
    [
        (datetime(2021, 6, 3, 18, tzinfo=TOKYO), INSTANT),
        (datetime(2021, 6, 3, 18), INSTANT),
        (date(2021, 6, 3), DAY),
        ("2021-06-03", DAY),
        ((date(2021, 6, 3), date(2021, 6, 4)), DAY),
        ((date(2021, 6, 3), timedelta(days=1)), DAY),
        ((datetime(2021, 6, 3, tzinfo=TOKYO), timedelta(days=1)), DAY),
        ((datetime(2021, 6, 3, tzinfo=TOKYO), "2021-06-04"), DAY),
        (
            (datetime(2021, 6, 3, 1), timedelta(hours=2, minutes=5)),
            "2021-06-03T01:00:00+09:00/2021-06-03T03:05:00+09:00",
        ),
    ],
)
def test_times_may_be_pythons_own(when: Any, text: str) -> None:
    given = {"at_most": 2, "epsilon": 1, "max_alarms": 1, "timezone": "Asia/Tokyo"}
    assert ask(places=places(), when=when, **given).question.windows == (text,)


def test_windows_follow_one_another() -> None:
    question = asked(6, {"at_most": 2, "epsilon": 1}).question
    with pytest.raises(SafesideError) as caught:
        msgspec.structs.replace(question, windows=(INSTANT, DAY)).check()
    says(caught, "no intervals of which each begins where the one before ends", "`every=`")
    with pytest.raises(SafesideError) as caught:
        msgspec.structs.replace(question, windows=(DAY, DAY)).check()
    says(caught, "no intervals of which each begins where the one before ends", "`every=`")
    with pytest.raises(SafesideError) as caught:
        msgspec.structs.replace(question, measures=("visited", "stayed")).check()
    says(caught, "Visits have one measure", "safeside.ask")
    assert len(msgspec.structs.replace(question, windows=(INSTANT, DAY)).conditions(["a", "b"])) == 4
    with pytest.raises(SafesideError) as caught:
        msgspec.structs.replace(question, windows=("2021-06-03T18:00+09:00",)).check()
    says(caught, "window is not written as it is asked about", "Use `safeside.ask`")


def test_a_method_is_asked_for_by_its_name_or_by_an_argument_of_its_own() -> None:
    common = {"places": places(), "when": DAY, "at_most": 2, "epsilon": 1}
    assert ask(**common, method="sparse", max_alarms=1).question == ask(**common, max_alarms=1).question
    with pytest.raises(SafesideError) as caught:
        ask(**common, method="guess")
    says(caught, 'There is no method "guess"', "Give `method=` as one of counts, sparse, decision")
    with pytest.raises(SafesideError) as caught:
        ask(**common, method="counts", max_alarms=1)
    says(caught, '`max_alarms=` and `order=` belong to the method "sparse"', "Leave one of the two out")
    every = set(inspect.signature(ask).parameters)
    assert {one for kind in METHODS.values() for one in kind.own_arguments} < every == ARGUMENTS


def test_what_would_be_ignored_is_refused(world: World) -> None:
    with pytest.raises(SafesideError) as caught:
        ask(
            places=places(), when=INSTANT, at_most=2, epsilon=1, visit_format=VisitFormat(), columns="time=at"
        )
    says(caught, "a part of it beside it, which would be ignored", "`columns=`.+or give them alone")
    account = account_of(world)
    for more, what in [
        ({"at_most": 3}, "`at_most=` was given beside a whole question, and would be ignored."),
        ({"out": "elsewhere"}, "`out=` was given beside a whole account, and would be ignored."),
    ]:
        with pytest.raises(SafesideError) as caught:
            publish(world.home / "visits.parquet", inquiry_of(world), account, **more)
        says(caught, what, "Put it into")
    with pytest.raises(TypeError, match="unexpected keyword argument 'att_most'"):
        world.publish("counts", att_most=3)
    assert remaining(world) == 3


def inquiry_of(world: World) -> Inquiry:
    return ask(
        places=pl.read_csv(world.home / "places.csv"), when="2021-06-03T12:00:00+00:00", at_most=2, epsilon=1
    )


def account_of(world: World) -> Account:
    return Account(ledger=world.home / "ledger.db", dataset="city", out=world.out, key=world.home / "key")


def test_a_question_and_an_account_publish_what_their_arguments_publish(world: World) -> None:
    first = publish(world.home / "visits.parquet", inquiry_of(world), account_of(world))
    assert world.publish("counts").digest == first.digest, "the same request"
    assert remaining(world) == 2


def test_a_quote_is_the_preview_and_reads_and_spends_nothing(world: World) -> None:
    said = quote(inquiry_of(world), account_of(world))
    assert said.price.startswith("epsilon 1, charged before")
    assert remaining(world) == 3
    with prepare(Path("nowhere"), inquiry_of(world), account_of(world)) as publication:
        assert publication.preview(datetime.now(UTC)).request == said.request
    assert not world.out.exists()


def test_a_limit_that_the_dataset_does_not_have_is_refused_of_a_whole_question_too(world: World) -> None:
    inquiry = ask(
        places=world.home / "places.csv",
        when="2021-06-03",
        timezone="UTC",
        at_most=2,
        epsilon=1,
        max_places_per_person=3,
    )
    with pytest.raises(BadQuestion, match="`max_places_per_person=` is 3, and the dataset"):
        publish(world.home / "visits.parquet", inquiry, account_of(world))


def test_no_module_but_the_methods_tells_methods_apart_by_name() -> None:
    """Whoever compares ways of answering, asks, writes or verifies knows a method by what it can do."""
    here = Path(methods.__file__).parents[2]
    named = {*METHODS, "ageo", "sageo", "padded"} - {"counts"}
    for path in here.rglob("*.py"):
        if "methods" in path.parts or path.parts[len(here.parts)] not in ("releases", "cli", "decisions"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            where = f"{path}:{getattr(node, 'lineno', '')}"
            if isinstance(node, ast.Compare | ast.Match):
                texts = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
                assert not texts & named, where
            if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "METHODS":
                # By a name that somebody gave or that was computed, never by one that stands there.
                assert isinstance(node.slice, ast.Name), where
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
                assert node.value.value not in METHODS, where
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(methods.__name__ + "."):
                imported = {one.name for one in node.names}
                assert not imported & {kind.__name__ for kind in METHODS.values()}, where


def test_every_kind_of_question_has_a_method_of_the_registry() -> None:
    found = {
        type(asked(6, {"epsilon": 1, **one}, DAY).question.method)
        for one in KINDS.values()
        if "max_places_per_person" in one or "max_alarms" in one
    }
    found |= {type(asked(6, {"epsilon": 1, **one}).question.method) for one in KINDS.values()}
    assert found == set(METHODS.values())


def test_without_a_method_the_one_that_certifies_most_is_taken() -> None:
    common = {"places": places(300), "at_most": 3, "epsilon": 1}
    instant = ask(**common, when=INSTANT)
    assert (instant.question.method.__struct_config__.tag, instant.choice) == ("counts", None)
    day = ask(**common, when=DAY)
    assert day.choice is not None
    assert day.choice.method == "selection" == day.question.method.__struct_config__.tag
    quiet = day.choice.assumed[0].compared
    assert quiet.expected["sparse"] < quiet.expected["selection"] < quiet.limit
    few = ask(**{**common, "places": [f"venue {at}" for at in range(5)]}, when=DAY)
    assert few.choice is not None
    assert few.choice.method == "sparse"
    assert ask(**common, when=DAY, method="auto").question == day.question
    assert ask(**common, when=DAY, method="sparse").choice is None


def test_with_a_part_of_the_forecast_selection_is_taken_and_still_compared(tmp_path: Path) -> None:
    hours = tmp_path / "hours.csv"
    hours.write_text("hour,weight\n" + "".join(f"{hour},{1 + hour % 5}\n" for hour in range(24)))
    given = {"places": places(40), "when": DAY, "every": "6h", "at_most": 3, "epsilon": 1, "profile": hours}
    inquiry = ask(**given)
    assert inquiry.choice is not None
    assert (inquiry.choice.method, inquiry.choice.by_forecast) == ("selection", True)
    assert {"sparse", "selection"} == set(inquiry.choice.assumed[0].compared.expected)


def test_every_hour_of_a_day_is_a_window_with_its_offset() -> None:
    hours = ask(places=places(), when="2024-03-31", timezone="Europe/Paris", every="1h", at_most=2, epsilon=1)
    assert len(hours.question.windows) == 23
    assert hours.question.windows[1] == "2024-03-31T01:00:00+01:00/2024-03-31T03:00:00+02:00"
    assert len(hours.conditions) == 23 * 6
    assert hours.question.window.text == "2024-03-31T00:00:00+01:00/2024-04-01T00:00:00+02:00"
