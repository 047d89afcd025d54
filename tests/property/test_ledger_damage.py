"""Bytes that rot, in the database or in a witness: a clear refusal, or the ledger as it was."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from safeside.errors import SafesideError
from safeside.ledger import Cost, create_ledger, open_ledger, recover_ledger
from safeside.ledger.witness import STATE_VARIABLE

QUESTION = {"targets": [f"place {number}" for number in range(300)], "window": "2021-03-04"}
LEFT = Fraction(3, 2)


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """A ledger with its witnesses, to be copied and spoilt."""
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        home = Path(made) / "home"
        home.mkdir()
        patch.setenv(STATE_VARIABLE, str(home / "state"))
        with create_ledger(home / "ledger.db") as ledger:
            ledger.create_dataset("city", "person", 3)
            paid = ledger.reserve("city", "a", QUESTION, Cost(epsilon=Fraction(1)))
            ledger.commit(paid, "d1")
            ledger.reserve("city", "b", QUESTION, Cost(epsilon=Fraction(1, 2)))
        shutil.copytree(home, home.with_name("kept"))
        yield home


@st.composite
def damage(draw: st.DrawFn) -> tuple[str, float, bytes]:
    """What to do, where (as a part of the length), and with which bytes."""
    how = draw(st.sampled_from(["cut", "replace", "insert", "empty", "gone"]))
    return how, draw(st.floats(0, 1)), draw(st.binary(min_size=1, max_size=200))


def spoil(path: Path, how: tuple[str, float, bytes]) -> None:
    kind, where, noise = how
    data = path.read_bytes()
    at = int(where * len(data))
    if kind == "gone":
        path.unlink()
        return
    path.write_bytes(
        {
            "cut": data[:at],
            "replace": data[:at] + noise + data[at + len(noise) :],
            "insert": data[:at] + noise + data[at:],
            "empty": b"",
        }[kind]
    )


def fresh(home: Path) -> None:
    shutil.rmtree(home)
    shutil.copytree(home.with_name("kept"), home)


BOUNDS = settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@BOUNDS
@given(how=damage())
def test_a_spoilt_database_is_what_it_was_once_it_is_recovered(
    whole: Path, how: tuple[str, float, bytes]
) -> None:
    fresh(whole)
    spoil(whole / "ledger.db", how)
    recover_ledger(whole / "ledger.db")
    with open_ledger(whole / "ledger.db") as ledger:
        assert ledger.verify() == 5
        assert ledger.remaining("city").epsilon == LEFT


@BOUNDS
@given(how=damage(), beside=st.booleans())
def test_one_spoilt_witness_changes_nothing(whole: Path, how: tuple[str, float, bytes], beside: bool) -> None:
    fresh(whole)
    spoil(whole / "ledger.db.witness" if beside else next((whole / "state").glob("*.witness")), how)
    with open_ledger(whole / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == LEFT
        assert ledger.forgotten() == 0
    (whole / "ledger.db").unlink()
    recover_ledger(whole / "ledger.db")
    with open_ledger(whole / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == LEFT


@BOUNDS
@given(here=damage(), there=damage(), database=damage())
def test_where_all_is_spoilt_there_is_a_ledger_or_a_refusal(
    whole: Path,
    here: tuple[str, float, bytes],
    there: tuple[str, float, bytes],
    database: tuple[str, float, bytes],
) -> None:
    fresh(whole)
    spoil(whole / "ledger.db.witness", here)
    spoil(next((whole / "state").glob("*.witness")), there)
    spoil(whole / "ledger.db", database)
    try:
        recover_ledger(whole / "ledger.db")
    except SafesideError:
        return
    with open_ledger(whole / "ledger.db") as ledger:
        ledger.verify()
