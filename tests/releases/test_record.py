"""release.json may gain a field or a method, and what was published before still verifies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from tests.golden.make import GROUPS, HERE, RELEASES, grouped, release
from tests.releases.making import RECEIPT, raw, signed

from safeside import records
from safeside.errors import BadRelease, MadeByNewer
from safeside.releases import record as module
from safeside.releases.methods import METHODS
from safeside.releases.methods.counts import NoisyCounts
from safeside.releases.methods.decision import OneBitDecisions
from safeside.releases.methods.sparse import SparseCounts
from safeside.releases.question import Question
from safeside.releases.record import ReleaseRecord, decode
from safeside.releases.release import Release
from safeside.releases.signature import sign
from safeside.releases.signing import PrivateKey
from safeside.releases.verify import verify

TERMS = {"epsilon": 1, "at_most": 2}


def test_there_is_a_golden_file_for_each_method() -> None:
    assert set(RELEASES) == set(METHODS)
    kept = {f"release-{name}.json" for name in (*RELEASES, *GROUPS)}
    assert kept == {one.name for one in HERE.glob("release-*")}


@pytest.mark.parametrize("name", GROUPS)
def test_a_release_of_groups_is_as_its_golden_files_are(name: str) -> None:
    """Make the golden files anew (tests/golden/README.md) in the commit that changes a format."""
    for file, data in grouped(name).items():
        kept = (HERE / file).read_bytes()
        if file.endswith(".csv"):
            assert kept == data
        else:
            assert list(_fields(json.loads(data))) == list(_fields(json.loads(kept)))


@pytest.mark.parametrize("name", [*RELEASES, *GROUPS])
def test_a_golden_release_reads_and_is_written_as_it_stands(name: str) -> None:
    data = (HERE / f"release-{name}.json").read_bytes()
    assert records.encode(decode(data)) == data


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_has_the_fields_of_its_golden_file(name: str) -> None:
    """Make the golden files anew (tests/golden/README.md) in the commit that changes a format."""
    kept = json.loads((HERE / f"release-{name}.json").read_bytes())
    assert list(_fields(json.loads(release(name)))) == list(_fields(kept))


def _fields(value: object, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in sorted(value.items()):
            yield from _fields(inner, f"{at}.{name}")
    else:
        yield f"{at}: {type(value).__name__}"


def test_the_record_survives_writing_and_reading(tmp_path: Path, key: PrivateKey) -> None:
    made = signed(tmp_path / "out", [0, 1, 9], TERMS, key).record
    assert records.decode(ReleaseRecord, records.encode(made)) == made
    assert made.question == records.decode(Question, records.encode(made.question))


class Guess(NoisyCounts, frozen=True, kw_only=True, tag="guess"):
    """A method of a pretended next version."""


class NextQuestion(Question, frozen=True, kw_only=True):
    method: NoisyCounts | SparseCounts | OneBitDecisions | Guess
    weather: str | None = None


class NextRelease(ReleaseRecord, frozen=True, kw_only=True):
    version: ClassVar[int] = 2
    question: NextQuestion
    reviewed_by: str = ""


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program as it may be one version on: it reads and writes one field and one method more."""
    monkeypatch.setattr(module, "ReleaseRecord", NextRelease)


def made_by_next(old: Release, key: PrivateKey) -> None:
    """The same release as the next version would have written it, with the new method and the new fields."""
    was = old.record
    method = Guess(epsilon=was.question.method.epsilon, delta=Fraction(0))
    fields = {name: getattr(was.question, name) for name in Question.__struct_fields__}
    question = NextQuestion(**fields | {"method": method, "weather": "rain"})
    fields = {name: getattr(was, name) for name in ReleaseRecord.__struct_fields__}
    data = records.encode(NextRelease(**fields | {"question": question, "reviewed_by": "the office"}))
    (old.directory / "release.json").write_bytes(data)
    signature = sign(data, key, file="release.json", **RECEIPT)
    (old.directory / "signature.json").write_bytes(signature)


def test_an_archive_of_today_verifies_in_the_next_version(
    tmp_path: Path, key: PrivateKey, next_version: None
) -> None:
    old = signed(tmp_path / "out", [0, 1, 9], TERMS, key)
    assert raw(old)["schema"] == "safeside-release/1"
    read = verify(old.directory, tmp_path / "key.pub")
    assert isinstance(read.record, NextRelease)
    assert read.record.question.weather is None
    assert read.digest == old.digest


def test_today_refuses_a_release_of_the_next_version_by_name(tmp_path: Path, key: PrivateKey) -> None:
    made_by_next(signed(tmp_path / "out", [0, 1, 9], TERMS, key), key)
    with pytest.raises(
        MadeByNewer, match="made by a newer safeside: it follows the schema safeside-release/2"
    ):
        verify(tmp_path / "out", tmp_path / "key.pub")


def test_the_next_version_verifies_its_own_method_and_field(
    tmp_path: Path, key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = signed(tmp_path / "out", [0, 1, 9], TERMS, key)
    made_by_next(old, key)
    monkeypatch.setattr(module, "ReleaseRecord", NextRelease)
    read = verify(old.directory, tmp_path / "key.pub")
    assert isinstance(read.record.question.method, Guess)
    assert (read.record.question.weather, read.record.reviewed_by) == ("rain", "the office")


def test_a_field_that_is_unknown_in_a_known_version_is_refused(tmp_path: Path, key: PrivateKey) -> None:
    made = signed(tmp_path / "out", [0, 1, 9], TERMS, key)
    for at in ((), ("question",), ("question", "method"), ("guarantee",), ("ledger", "cost")):
        record = raw(made)
        inner = record
        for name in at:
            inner = inner[name]
        inner["weather"] = "rain"
        with pytest.raises(BadRelease, match="unknown field `weather`"):
            decode(records.canonical(record))


def test_a_method_has_the_name_it_is_recorded_by() -> None:
    assert {str(kind.__struct_config__.tag): kind for kind in METHODS.values()} == METHODS
    assert all(msgspec.structs.fields(kind)[0].name == "epsilon" for kind in METHODS.values())
