"""Whatever is changed in a release is found, also by whoever holds the key."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.releases.making import DAY, INSTANT, KINDS, over_a_day, raw, resigned, signed

from safeside import records
from safeside.decisions.states import State
from safeside.errors import BadRelease, BadSignature
from safeside.releases.answers import CODE, Answers
from safeside.releases.files import answers as data_files
from safeside.releases.record import decode
from safeside.releases.release import Release
from safeside.releases.signing import PrivateKey, create_key, rotate_key
from safeside.releases.verify import verify

COUNTS = [0, 0, 1, 2, 5, 9, 30, 40]


@pytest.fixture
def release(tmp_path: Path, key: PrivateKey) -> Release:
    return signed(tmp_path / "out", COUNTS, {"epsilon": 1, "at_most": 2}, key)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_release_verifies(tmp_path: Path, key: PrivateKey, kind: str) -> None:
    terms = dict(epsilon=1, **KINDS[kind])
    counts = [min(count, 20) for count in COUNTS]
    made = signed(tmp_path / "out", counts, terms, key, when=DAY if over_a_day(terms) else INSTANT)
    assert verify(made.directory, tmp_path / "key.pub").digest == made.digest


def test_a_release_signed_before_a_rotation_still_verifies(tmp_path: Path, release: Release) -> None:
    rotate_key(tmp_path / "key")
    verify(release.directory, tmp_path / "key.keyring")
    with pytest.raises(BadSignature, match="another key"):
        verify(release.directory, tmp_path / "key.pub")


def test_another_key_is_refused(tmp_path: Path, release: Release) -> None:
    create_key(tmp_path / "other")
    with pytest.raises(BadSignature, match="another key"):
        verify(release.directory, tmp_path / "other.pub")


@pytest.mark.parametrize(
    "name", ["answers.csv", "answers.parquet", "answers.geojson", "map.html", "report.html", "statement.txt"]
)
def test_one_changed_byte_in_any_file_is_found(tmp_path: Path, release: Release, name: str) -> None:
    path = release.directory / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(BadRelease, match="not the file that was signed"):
        verify(release.directory, tmp_path / "key.pub")


def test_another_order_is_found(tmp_path: Path, key: PrivateKey) -> None:
    made = signed(tmp_path / "sparse", [0, 0, 0], {"epsilon": 1, "at_most": 60, "max_alarms": 1}, key)
    assert made.manifest["answers"]["AT_MOST"] == 3
    (made.directory / "order.csv").write_text("place\np0\np1\np2\n")
    with pytest.raises(BadRelease, match=r"order\.csv is not the file that was signed"):
        verify(made.directory, tmp_path / "key.pub")


def test_more_alarms_than_were_paid_for_are_found_even_when_signed(tmp_path: Path, key: PrivateKey) -> None:
    made = signed(tmp_path / "out", [90, 90, 0], {"epsilon": 5, "at_most": 2, "max_alarms": 3}, key)
    assert made.manifest["answers"]["UNCLEAR"] >= 2
    question = {**raw(made)["question"], "method": {**raw(made)["question"]["method"], "alarms": 1}}
    with pytest.raises(BadRelease, match="order and the alarms allow"):
        verify(resigned(made, key, question=question).directory, tmp_path / "key.pub")


def test_numbers_and_places_other_than_the_answers_are_found_even_when_signed(
    tmp_path: Path, key: PrivateKey, release: Release
) -> None:
    answers = {**raw(release)["answers"], "certified_at_zero": len(COUNTS) + 1}
    with pytest.raises(BadRelease, match="numbers of answers"):
        verify(resigned(release, key, answers=answers).directory, tmp_path / "key.pub")
    asked = {**raw(release)["question"], "targets": {"number": len(COUNTS), "sha256": "0" * 64}}
    again = resigned(release, key, answers=raw(release)["answers"], question=asked)
    with pytest.raises(BadRelease, match="other places than the question"):
        verify(again.directory, tmp_path / "key.pub")


def test_an_alarm_within_its_threshold_is_found_even_when_signed(tmp_path: Path, key: PrivateKey) -> None:
    made = signed(tmp_path / "out", [90, 0], {"epsilon": 5, "at_most": 2, "max_alarms": 3}, key)
    true = made.answers
    upper = np.where(true.states == CODE[State.UNCLEAR], 2, true.upper)
    spoilt = replace(true, upper=upper)
    with pytest.raises(BadRelease, match="does not follow"):
        verify(_rewrite(made, spoilt, key).directory, tmp_path / "key.pub")


def test_a_changed_manifest_is_found(tmp_path: Path, release: Release) -> None:
    path = release.directory / "release.json"
    path.write_text(path.read_text().replace('"at_most":2', '"at_most":3'))
    with pytest.raises(BadSignature, match=r"The signature does not belong to this release\.json"):
        verify(release.directory, tmp_path / "key.pub")


def test_missing_and_added_files_are_found(tmp_path: Path, release: Release) -> None:
    (release.directory / "extra.txt").write_text("x")
    with pytest.raises(BadRelease, match="not part of it, extra"):
        verify(release.directory, tmp_path / "key.pub")
    (release.directory / "extra.txt").unlink()
    (release.directory / "report.html").unlink()
    with pytest.raises(BadRelease, match="is missing"):
        verify(release.directory, tmp_path / "key.pub")
    (release.directory / "report.html").mkdir()
    with pytest.raises(BadRelease, match=r"report.html. is not a plain file"):
        verify(release.directory, tmp_path / "key.pub")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: record.pop("known_on"),
        lambda record: record.update(extra=1),
        lambda record: record.update(simulated="no"),
        lambda record: record["question"].update(at_most=-1),
        lambda record: record["question"]["method"].update(name="guess"),
        lambda record: record["question"]["method"].update(epsilon=1),
        lambda record: record["question"]["method"].update(epsilon="2/2"),
        lambda record: record["question"]["method"].update(epsilon="1/0"),
        lambda record: record["question"]["method"].update(epsilon="1e999999999"),
        lambda record: record["mechanism"].update(pad=True),
        lambda record: record["guarantee"].update(promise="text"),
    ],
)
def test_a_manifest_of_another_shape_is_refused(
    release: Release, spoil: Callable[[dict[str, object]], None]
) -> None:
    record = json.loads((release.directory / "release.json").read_text())
    spoil(record)
    with pytest.raises(BadRelease, match="not as a release has it"):
        decode(records.canonical(record))


def test_another_spelling_of_the_same_manifest_is_refused(release: Release) -> None:
    record = json.loads((release.directory / "release.json").read_text())
    with pytest.raises(BadRelease, match="canonical"):
        decode(json.dumps(record).encode())
    written_out = {**record, "simulated": False}
    with pytest.raises(BadRelease, match="a field at its default is written out"):
        decode(records.canonical(written_out))


def _rewrite(release: Release, answers: Answers, key: PrivateKey) -> Release:
    """Every file brought up to date with these answers, and signed."""
    from tests.releases.making import places

    (release.directory / data_files.CSV).write_bytes(data_files.as_csv(answers))
    (release.directory / data_files.PARQUET).write_bytes(data_files.as_parquet(answers))
    (release.directory / data_files.GEOJSON).write_bytes(
        data_files.as_geojson(release.record, answers, places(len(answers)))
    )
    return resigned(release, key, answers=answers.counted())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at", range(len(COUNTS)))
def test_a_state_that_does_not_follow_is_found_even_when_signed(
    tmp_path: Path, key: PrivateKey, kind: str, at: int
) -> None:
    """Each place in turn gets each other state. Only a shown bound at the declared number of people leaves a
    choice: the draw behind it may have gone further."""
    terms = dict(epsilon=1, **KINDS[kind])
    counts = [min(count, 20) for count in COUNTS]
    made = signed(tmp_path / "out", counts, terms, key, when=DAY if over_a_day(terms) else INSTANT)
    true = made.answers
    for code in CODE.values():
        if code == true.states[at]:
            continue
        states = true.states.copy()
        states[at] = code
        spoilt = replace(true, states=states)
        again = _rewrite(made, spoilt, key)
        if "people" in terms and "at_least" in terms and true.upper[at] == terms["people"]:
            continue
        with pytest.raises(BadRelease):
            verify(again.directory, tmp_path / "key.pub")


def test_a_bound_that_was_lowered_is_found_even_when_signed(tmp_path: Path, key: PrivateKey) -> None:
    terms = {"epsilon": 1, "at_most": 2, "at_least": 10, "alpha": "0.01"}
    made = signed(tmp_path / "out", COUNTS, terms, key)
    true = made.answers
    lower = np.maximum(true.lower, 1)
    spoilt = replace(true, lower=lower)
    with pytest.raises(BadRelease, match="does not follow"):
        verify(_rewrite(made, spoilt, key).directory, tmp_path / "key.pub")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("ageo", {"upper": -1, "states": CODE[State.AT_MOST]}),
        ("ageo", {"lower": -1}),
        ("ageo with people", {"upper": 21}),
        ("padded with people", {"upper": 22, "lower": 0}),
        ("sparse", {"upper": -1}),
        ("decision", {"lower": -1}),
    ],
)
def test_a_bound_that_cannot_be_is_found_even_when_signed(
    tmp_path: Path, key: PrivateKey, kind: str, change: dict[str, int]
) -> None:
    made = signed(tmp_path / "out", [0, 20, 20], dict(epsilon=1, **KINDS[kind]), key)
    true = made.answers
    columns = {name: getattr(true, name).copy() for name in ("states", "upper", "lower", "bounded")}
    for name, value in change.items():
        columns[name][0 if "states" in change else 1] = value
    spoilt = _rewrite(made, replace(true, **columns), key)
    with pytest.raises(BadRelease, match="does not follow from its bounds"):
        verify(spoilt.directory, tmp_path / "key.pub")


def test_a_margin_that_alpha_does_not_need_is_found_even_when_signed(tmp_path: Path, key: PrivateKey) -> None:
    terms = {"epsilon": 1, "at_most": 2, "at_least": 10, "alpha": "0.01"}
    made = signed(tmp_path / "out", COUNTS, terms, key)
    mechanism = {**raw(made)["mechanism"], "margin": made.manifest["mechanism"]["margin"] - 1}
    with pytest.raises(BadRelease, match="margin"):
        verify(resigned(made, key, mechanism=mechanism).directory, tmp_path / "key.pub")


@pytest.mark.parametrize(("changed", "what"), [({"rate": "2"}, "epsilon needs"), ({"pad": 1}, "delta needs")])
def test_less_noise_than_the_guarantee_needs_is_found_even_when_signed(
    tmp_path: Path, key: PrivateKey, changed: dict[str, object], what: str
) -> None:
    made = signed(tmp_path / "out", COUNTS, dict(epsilon=1, **KINDS["padded"]), key)
    mechanism = {**raw(made)["mechanism"], **changed}
    with pytest.raises(BadRelease, match=what):
        verify(resigned(made, key, mechanism=mechanism).directory, tmp_path / "key.pub")


def test_an_order_that_does_not_fit_the_answers_is_found_even_when_signed(
    tmp_path: Path, key: PrivateKey
) -> None:
    made = signed(tmp_path / "out", [9, 9, 0, 0], {"epsilon": 5, "at_most": 2, "max_alarms": 1}, key)
    assert made.manifest["answers"]["NOT_ASKED"]
    (made.directory / "order.csv").write_text("place\np0\np1\np2\np3\n")
    with pytest.raises(BadRelease, match="order"):
        verify(resigned(made, key).directory, tmp_path / "key.pub")
