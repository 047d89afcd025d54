"""A release that claims what its mechanism does not give is refused, also when its publisher signed it.

Each planted fault is one false value in release.json, with every other file brought up to date and all of it
signed again, as somebody would who holds the key and wants to be believed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.releases.making import INSTANT, KINDS, QUIET_AND_BUSY, SPARSE_DAY, made, places, raw, resigned

from safeside import records
from safeside.errors import BadRelease, SafesideError
from safeside.ledger import Budget
from safeside.ledger.status import promise_of
from safeside.privacy.account import Kind
from safeside.privacy.guarantee import Unit
from safeside.releases import map_page, wording
from safeside.releases.files import answers as data_files
from safeside.releases.record import ReleaseRecord, decode
from safeside.releases.release import Release
from safeside.releases.signing import PrivateKey
from safeside.releases.verify import verify


def shown(record: dict[str, Any]) -> ReleaseRecord:
    """What the pages are written from."""
    return decode(records.canonical(record))


def planted(release: Release, key: PrivateKey, at: tuple[str, ...], value: object) -> Release:
    """The release with one other value in release.json, and everything that repeats it brought up to date."""
    record = json.loads((release.directory / "release.json").read_text())
    inner = record
    for name in at[:-1]:
        inner = inner[name]
    if value is GONE:
        del inner[at[-1]]
    else:
        inner[at[-1]] = value
    listed = places(len(QUIET_AND_BUSY))
    for name, data in [
        (data_files.GEOJSON, lambda: data_files.as_geojson(shown(record), release.answers, listed)),
        ("map.html", lambda: map_page.render(shown(record), release.answers, listed)),
        ("statement.txt", lambda: wording.statement(shown(record))),
    ]:
        try:
            (release.directory / name).write_bytes(data())
        except (ValueError, TypeError, ArithmeticError, AttributeError, LookupError, SafesideError):
            # What cannot be written down stays as it was; the manifest is false all the same.
            continue
    if at == ("ledger",):
        return resigned(release, key, gone=at)
    return resigned(release, key, **{at[0]: record[at[0]]})


GONE = object()
"""In the place of a value: the field is left out."""
SPARSE, BIT, PADDED, AGEO = KINDS["sparse"], KINDS["decision"], KINDS["padded"], KINDS["ageo"]
AT_LEAST, PUBLIC = KINDS["ageo and at least"], KINDS["ageo and public at least"]
FAULTS: dict[str, tuple[dict[str, Any], tuple[str, ...], object, str]] = {
    "sparse, less noise": (SPARSE_DAY, ("mechanism", "rate"), "1/2", "noise is not what its epsilon needs"),
    "sparse, more alarms": (
        SPARSE_DAY,
        ("question", "method", "alarms"),
        2,
        "epsilon needs|the alarms allow",
    ),
    "sparse, fewer places of a person": (
        SPARSE_DAY,
        ("question", "max_places_per_person"),
        2,
        "what its epsilon needs",
    ),
    "sparse, smaller epsilon": (
        SPARSE_DAY,
        ("question", "method", "epsilon"),
        "1/3",
        "what its epsilon needs",
    ),
    "sparse, a delta": (
        SPARSE_DAY,
        ("question", "method", "delta"),
        "1/9",
        "unknown field `delta`",
    ),
    "sparse, claims less": (SPARSE_DAY, ("guarantee", "epsilon"), "1/3", r"claims \(epsilon\)"),
    "sparse, price of an alarm": (
        SPARSE_DAY,
        ("ledger", "cost", "epsilon_each"),
        "1/4",
        r"charged \(epsilon_each\)",
    ),
    "sparse, price of the whole": (SPARSE_DAY, ("ledger", "cost", "epsilon"), "2/3", r"charged \(epsilon\)"),
    "sparse, no price of an alarm": (
        SPARSE_DAY,
        ("ledger", "cost", "epsilon_each"),
        GONE,
        r"charged \(epsilon_each\)",
    ),
    "sparse, no order": (SPARSE, ("question", "method", "order"), GONE, "missing required field `order`"),
    "sparse, an order of no kind": (
        SPARSE,
        ("question", "method", "order"),
        {"kind": "data"},
        "Invalid enum value 'data'",
    ),
    "sparse, a slider": (SPARSE, ("mechanism", "slider"), True, r"mechanism \(slider\)"),
    "sparse, a margin": (SPARSE, ("mechanism", "margin"), 3, "margin of its lower bounds"),
    "sparse, as if ordinary": (SPARSE, ("guarantee", "kind"), "dp", r"claims \(kind\)"),
    "bit, less noise": (BIT, ("mechanism", "rate"), "2", "noise is not what its epsilon needs"),
    "bit, claims less": (BIT, ("guarantee", "epsilon"), "1/2", r"claims \(epsilon\)"),
    "bit, claims a smaller delta": (BIT, ("guarantee", "delta"), "1/2000", r"claims \(delta\)"),
    "bit, another delta": (BIT, ("question", "method", "delta"), "1/2000", r"claims \(delta\)"),
    "bit, no delta": (
        BIT,
        ("question", "method", "delta"),
        "0",
        "refused .Under ordinary differential privacy",
    ),
    "bit, more places": (
        BIT,
        ("question", "max_places_per_person"),
        2,
        "noise is not what its epsilon needs",
    ),
    "bit, as if asymmetric": (BIT, ("guarantee", "kind"), "adp", r"claims \(kind\)"),
    "bit, replacement": (BIT, ("guarantee", "neighbours"), "replace", r"claims \(neighbours\)"),
    "bit, charged as asymmetric": (
        BIT,
        ("ledger", "cost", "kind"),
        str(Kind.DP_REPLACE),
        r"charged \(kind\)",
    ),
    "bit, charged less": (BIT, ("ledger", "cost", "delta"), "1/2000", r"charged \(delta\)"),
    "padded, less noise": (PADDED, ("mechanism", "rate"), "2", "noise is not what its epsilon needs"),
    "padded, smaller pad": (PADDED, ("mechanism", "pad"), 1, "noise is not what its delta needs"),
    "padded, claims less": (PADDED, ("guarantee", "delta"), "1/2000", r"claims \(delta\)"),
    "padded, charged less": (PADDED, ("ledger", "cost", "epsilon"), "1/2", r"charged \(epsilon\)"),
    "counts, less noise": (AGEO, ("mechanism", "rate"), "2", "noise is not what its epsilon needs"),
    "counts, claims less": (AGEO, ("guarantee", "epsilon"), "1/2", r"claims \(epsilon\)"),
    "counts, another sentence": (AGEO, ("guarantee", "sentence"), "All is well.", r"claims \(sentence\)"),
    "counts, charged less": (AGEO, ("ledger", "cost", "epsilon"), "1/2", r"charged \(epsilon\)"),
    "counts, smaller caps": (AGEO, ("guarantee", "caps", "epsilon"), "9", "promise is not that"),
    "counts, no caps": (AGEO, ("guarantee", "caps"), GONE, "names no ledger, or not"),
    "counts, no ledger": (AGEO, ("ledger",), GONE, "names no ledger, or not"),
    "counts, another promise": (AGEO, ("guarantee", "promise"), ["All is well."], "promise is not that"),
    "counts, a digest of none": (AGEO, ("guarantee", "earlier", "number"), 1, "releases before it by"),
    "counts, none and a digest": (
        AGEO,
        ("guarantee", "earlier", "digest"),
        "5" * 64,
        "releases before it by",
    ),
    "counts, another unit": (AGEO, ("guarantee", "unit"), "person-day", "promise is not that"),
    "counts, no unit": (AGEO, ("guarantee", "unit"), "household", "Invalid enum value"),
    "counts, days": (AGEO, ("ledger", "cost", "periods"), ["2021-06-03"], "days or weeks it was charged to"),
    "counts, a threshold": (AGEO, ("question", "at_most"), 90, "does not follow from its bounds"),
    "counts, no threshold": (AGEO, ("question", "at_most"), GONE, "missing required field `at_most`"),
    "counts, a huge threshold": (AGEO, ("question", "at_most"), 10**19 - 1, "not as a release has it"),
    "counts, an endless threshold": (AGEO, ("question", "at_most"), 10**30, "not as a release has it"),
    "counts, few people": (
        AGEO,
        ("question", "people"),
        19,
        "refused .`people=` is 19|follow from its bounds",
    ),
    "counts, another time": (AGEO, ("question", "windows"), ["2021-06-03T18:00:00+00:00"], "in each window"),
    "counts, no time": (AGEO, ("question", "windows"), ["soon"], "in each window"),
    "counts, a time otherwise": (
        AGEO,
        ("question", "windows"),
        ["2021-06-03T18:00+09:00"],
        "in each window",
    ),
    "counts, two times": (AGEO, ("question", "windows"), [INSTANT, INSTANT], "every place once"),
    "counts, another measure": (AGEO, ("question", "measures"), ["stayed"], "Visits have one measure"),
    "counts, a threshold of its own": (
        AGEO,
        ("question", "at_most_of"),
        {"p9": 3},
        r"question \(at_most\) is not as it would be asked",
    ),
    "counts, its threshold as one of its own": (
        AGEO,
        ("question", "at_most_of"),
        {"p0": 2},
        r"question \(at_most\) is not as it would be asked",
    ),
    "counts, a forecast": (
        AGEO,
        ("question", "forecast"),
        {"source": "dreams", "sha256": "0" * 64},
        r"question \(forecast\) is not as it would be asked",
    ),
    "counts, another method": (
        AGEO,
        ("question", "method"),
        {"name": "decision", "epsilon": "1", "delta": "1/9"},
        "does not follow from its bounds",
    ),
    "counts, no such method": (
        AGEO,
        ("question", "method"),
        {"name": "guess", "epsilon": "1"},
        "Invalid value 'guess'",
    ),
    "counts, an outcome": (AGEO, ("outcome",), {"level": 3}, "publishes what its method does not"),
    "sparse, another order": (
        SPARSE,
        ("question", "method", "order", "sha256"),
        "0" * 64,
        "order in which places were asked is not the one in the question",
    ),
    "counts, no zone": (AGEO, ("question", "timezone"), "Mars/Base", "question is one that is refused"),
    "counts, so far": (AGEO, ("question", "so_far"), True, "there is no `so_far=True` of it"),
    "a day, so far": (KINDS["ageo over a day"], ("question", "so_far"), True, "was over, and says so far"),
    "counts, the future": (AGEO, ("known_on",), "2021-06-03T08:59:59+00:00", "before the time it is about"),
    "a day, half over": (
        KINDS["ageo over a day"],
        ("known_on",),
        "2021-06-03T05:00:00+00:00",
        "before the time it is about was over",
    ),
    "counts, spelled otherwise": (
        AGEO,
        ("known_on",),
        "2021-06-10T18:00:00+09:00",
        "not written as safeside writes it",
    ),
    "counts, no moment": (AGEO, ("known_on",), "yesterday", "the moment it speaks from"),
    "counts, no zone of it": (AGEO, ("known_on",), "2021-06-10T09:00:00", "the moment it speaks from"),
    "counts, an amount": (AGEO, ("question", "method", "epsilon"), "1e9999", "fraction in lowest terms"),
    "at least, margin": (AT_LEAST, ("mechanism", "margin"), 1, "margin of its lower bounds"),
    "at least, alpha": (
        AT_LEAST,
        ("question", "alpha"),
        "1/100",
        "margin of its lower bounds|follow from its bounds",
    ),
    "at least, alpha 0": (AT_LEAST, ("question", "alpha"), "0", "error rate"),
    "public at least, not shared": (
        PUBLIC,
        ("question", "publish_at_least"),
        GONE,
        "margin of its lower bounds|follow from its bounds",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_false_value_is_found_even_when_signed(tmp_path: Path, key: PrivateKey, fault: str) -> None:
    terms, at, value, what = FAULTS[fault]
    release = made(tmp_path, key, terms)
    verify(release.directory, tmp_path / "key.pub")
    with pytest.raises(BadRelease, match=what):
        verify(planted(release, key, at, value).directory, tmp_path / "key.pub")


def test_a_price_beyond_the_caps_is_found_though_the_promise_fits_them(
    tmp_path: Path, key: PrivateKey
) -> None:
    release = made(tmp_path, key, AGEO)
    caps = Budget(epsilon=Fraction(1, 2), delta=Fraction(1, 100))
    guarantee = {
        **raw(release)["guarantee"],
        "caps": {"epsilon": "1/2", "delta": "1/100"},
        "promise": list(promise_of(caps, Unit.PERSON)),
    }
    with pytest.raises(BadRelease, match="cost more than its dataset's caps allow"):
        verify(resigned(release, key, guarantee=guarantee).directory, tmp_path / "key.pub")


def _leaves(value: object, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*at, name))
    else:
        yield at, value


FREE = {
    # Names: nothing follows from them.
    ("release",),
    ("supersedes",),
    ("software", "name"),
    ("software", "version"),
    ("ledger", "dataset"),
    ("ledger", "reference"),
    # Declared, and any declaration of its kind could have been made.
    ("counted",),
    # May be moved as far as the bounds allow (docs/proofs/ageo.md): test_verify has every state against them.
    ("question", "at_most"),
    ("question", "at_least"),
    ("question", "method", "order", "kind"),
    ("question", "method", "order", "release"),
}
OTHER = {"adp": "dp", "person": "person-day", "replace": "add or remove", "add or remove": "replace"}


def _others(value: object) -> list[object]:
    """Values of the same kind, a little off."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1] if value else [1]
    if isinstance(value, list):
        return [value[1:]] if value else [["2021-06-03"]]
    if value is None:
        return []
    text = str(value)
    return [OTHER[text]] if text in OTHER else [f"{text}1", f"1{text}", text[:-1]]


@pytest.mark.parametrize("kind", [*KINDS, "sparse over a day"])
def test_whatever_number_is_a_little_off_is_found_even_when_signed(
    tmp_path: Path, key: PrivateKey, kind: str
) -> None:
    """Every value of release.json in turn, but the names and what is declared freely."""
    terms = KINDS.get(kind, SPARSE_DAY)
    release = made(tmp_path, key, terms)
    original = {path.name: path.read_bytes() for path in release.directory.iterdir()}
    for at, value in list(_leaves(raw(release))):
        if at[0] in ("files", "schema", "simulated") or at in FREE:
            continue
        for other in _others(value):
            try:
                spoilt = planted(release, key, at, other)
                if not _could_be_true(at, spoilt):
                    with pytest.raises(BadRelease):
                        raise _found(spoilt, tmp_path / "key.pub") or AssertionError(
                            f"{at}: {other!r} passed"
                        )
            except BadRelease:
                # Not even of the shape that the schema has.
                continue
            finally:
                for name, data in original.items():
                    (release.directory / name).write_bytes(data)
    verify(release.directory, tmp_path / "key.pub")


def _found(release: Release, key: Path) -> BadRelease | None:
    try:
        verify(release.directory, key)
    except BadRelease as error:
        return error
    return None


def _could_be_true(at: tuple[str, ...], release: Release) -> bool:
    """What may have been declared just as well, with the same answers, the same noise and the same price."""
    record, question = release.record, release.record.question
    if at == ("question", "people"):
        return not (release.answers.upper >= question.people).any()
    alarms = getattr(question.method, "alarms", None)
    if at in (("question", "method", "alarms"), ("question", "max_places_per_person")) and alarms is not None:
        price = record.ledger.cost
        same = min(alarms, question.max_places_per_person or alarms)
        paid = price.epsilon / price.epsilon_each
        return same == paid and not (at[-1] == "alarms" and record.answers["NOT_ASKED"])
    return False
