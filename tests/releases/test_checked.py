"""What is really published verifies, and whoever has the ledger finds what it did not pay for.

Receipts and pages that say something else are found too, also when their publisher signed them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.faults.publishing import World
from tests.releases.making import DAY, KINDS, RECEIPT, SPARSE_DAY, made, raw, resigned

from safeside.errors import BadRelease
from safeside.ledger import Stage, open_ledger
from safeside.releases.signature import sign
from safeside.releases.signing import PrivateKey
from safeside.releases.verify import verify

NOON = "2021-06-03T12:00:00+00:00"
REAL = {
    **{
        name: {"when": DAY if "max_places_per_person" in terms else NOON, **terms}
        for name, terms in KINDS.items()
    },
    "sparse over a day": {"when": DAY, **SPARSE_DAY},
    "a local day": {"when": "2021-06-03", "timezone": "Europe/Paris", "at_most": 2, "max_alarms": 2},
    "a fraction of a second": {"when": "2021-06-03T12:00:00.123456+00:00", "at_most": 2},
    "known within the second": {
        "when": "2021-06-03T12:00:00.5+00:00",
        "at_most": 2,
        "known_on": datetime(2021, 6, 3, 12, 0, 0, 700_000, tzinfo=UTC),
    },
    "held": {"when": NOON, "at_most": 2, "epsilon": "1/3", "known_on": datetime(2021, 6, 3, 12, tzinfo=UTC)},
    "places with numbers of their own": {"when": NOON, "at_most": None},
}


@pytest.mark.parametrize("unit", ["person", "person-day", "person-week"])
@pytest.mark.parametrize("kind", REAL)
def test_every_kind_of_release_that_is_really_published_verifies(world: World, kind: str, unit: str) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        limits = {name: REAL[kind].get(name) for name in ("max_places_per_person", "people")}
        ledger.create_dataset("all", unit, 3, "1e-2", timezone="Asia/Tokyo", **limits)
    rows = (world.home / "places.csv").read_text().split()
    numbered = [f"{row},{at % 4}" for at, row in enumerate(rows[1:])]
    (world.home / "places.csv").write_text("\n".join([f"{rows[0]},at_most", *numbered, ""]))
    made = world.publish("counts", **{"dataset": "all", "allow_nobody": True, **REAL[kind]})
    with open_ledger(world.home / "ledger.db") as ledger:
        assert verify(world.out, world.home / "key.pub", ledger=ledger).digest == made.digest


@pytest.mark.parametrize("kind", ["counts", "sparse"])
def test_whoever_has_the_ledger_can_check_what_it_paid(world: World, kind: str) -> None:
    release = world.publish(kind)
    with open_ledger(world.home / "ledger.db") as ledger:
        assert verify(world.out, world.home / "key.pub", ledger=ledger).digest == release.digest
    other = World.made(world.home / "other")
    with (
        open_ledger(other.home / "ledger.db") as ledger,
        pytest.raises(BadRelease, match="has not committed to it"),
    ):
        verify(world.out, world.home / "key.pub", ledger=ledger)


def test_a_release_the_ledger_knows_otherwise_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The publisher signs it and the ledger has committed to it; only what the ledger was told is another."""
    release = world.publish("sparse")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
    for known, what in [
        (
            replace(paid, cost=replace(paid.cost, epsilon_each=Fraction(1, 120))),
            "charged another price",
        ),
        (replace(paid, reference="0" * 32), "by another reference"),
        (replace(paid, dataset="town"), "another dataset"),
        (replace(paid, stage=Stage.WITHDRAWN), "withdrawn"),
        (replace(paid, returned=paid.cost.epsilon), "more than its alarms leave unused"),
        (replace(paid, manifest="0" * 64), "has not committed to it"),
    ]:
        with open_ledger(world.home / "ledger.db") as ledger:
            monkeypatch.setattr(
                ledger, "committed", lambda digest, known=known: known if known.manifest == digest else None
            )
            with pytest.raises(BadRelease, match=what):
                verify(world.out, world.home / "key.pub", ledger=ledger)
    assert release.manifest["answers"]["UNCLEAR"]


def test_a_receipt_of_another_ledger_is_found_even_when_signed(tmp_path: Path, key: PrivateKey) -> None:
    release = made(tmp_path, key, KINDS["ageo"])
    data = (release.directory / "release.json").read_bytes()
    for receipt in (
        {**RECEIPT, "ledger": "1" * 32},
        {**RECEIPT, "reference": "0" * 32},
    ):
        (release.directory / "signature.json").write_bytes(sign(data, key, file="release.json", **receipt))
        with pytest.raises(BadRelease, match="receipt in signature"):
            verify(release.directory, tmp_path / "key.pub")


@pytest.mark.parametrize(
    ("name", "old", "new", "what"),
    [
        ("statement.txt", "At most 2", "At most 1", "statement.txt does not say"),
        ("map.html", '"at_most":2', '"at_most":1', "map.html does not say"),
        ("map.html", 'id="data"', 'id="date"', "map.html does not say"),
        ("answers.geojson", '"at_most":2', '"at_most":1', "answers.geojson does not say"),
        ("answers.geojson", '"upper_bound":', '"upper_bound":1', "answers.geojson does not say"),
        ("answers.geojson", "Cannot say", "No danger", "answers.geojson does not say"),
        ("answers.geojson", '"id":"p0"', '"id":"p1"', "answers.geojson does not say"),
    ],
)
def test_a_page_that_says_something_else_is_found_even_when_signed(
    tmp_path: Path, key: PrivateKey, name: str, old: str, new: str, what: str
) -> None:
    release = made(tmp_path, key, KINDS["ageo"])
    path = release.directory / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(BadRelease, match=what):
        verify(resigned(release, key).directory, tmp_path / "key.pub")


def test_the_words_of_another_version_are_not_compared_but_its_numbers_are(
    tmp_path: Path, key: PrivateKey
) -> None:
    """A release is verified for as long as it is used, by versions that say things in other words."""
    release = made(tmp_path, key, KINDS["sparse"])
    guarantee = {**raw(release)["guarantee"], "sentence": "In other words.", "promise": ["The same."]}
    software = {"version": "99.0"}
    (release.directory / "statement.txt").write_text("In other words.")
    older = resigned(release, key, guarantee=guarantee, software=software)
    verify(older.directory, tmp_path / "key.pub")
    false = resigned(older, key, guarantee={**guarantee, "epsilon": "1/9"})
    with pytest.raises(BadRelease, match="guarantee it claims"):
        verify(false.directory, tmp_path / "key.pub")
