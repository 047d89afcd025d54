"""Is this what was published, by whom it says, and does it hold together?

Four things are checked, each by itself enough to stop: the signature, the digest of every file, the schema,
and that every state follows from the bounds that are published with it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.decisions.states import State
from safeside.errors import BadQuestion, BadRelease, BadSignature
from safeside.ledger.events import canonical
from safeside.mechanisms.laws import Law, Padded, Up
from safeside.mechanisms.padded import PaddedGeo
from safeside.releases import artefacts, manifest
from safeside.releases.answers import CODE, STATES, Answers
from safeside.releases.manifest import bad
from safeside.releases.release import MAP, REPORT, STATEMENT, Release, load
from safeside.releases.signing import ALGORITHM, PrivateKey, PublicKey, load_public
from safeside.releases.wording import Manifest

SIGNATURE_SCHEMA: Final = "safeside-signature/1"
REQUIRED: Final = frozenset({artefacts.CSV, artefacts.PARQUET, artefacts.GEOJSON, MAP, REPORT, STATEMENT})
Mask = NDArray[np.bool_]


def sign(data: bytes, receipt: dict[str, Any], key: PrivateKey) -> bytes:
    """signature.json for these bytes of release.json; the receipt is the ledger's, of having committed it."""
    unsigned = {
        "schema": SIGNATURE_SCHEMA,
        "algorithm": ALGORITHM,
        "key": key.public.id,
        "manifest": manifest.digest(data),
        "receipt": receipt,
    }
    signature = key.sign(_message(unsigned, data)).hex()
    return (json.dumps({**unsigned, "signature": signature}, indent=2, sort_keys=True) + "\n").encode()


def _message(unsigned: dict[str, Any], data: bytes) -> bytes:
    return canonical(unsigned).encode() + b"\n" + data


def verify(directory: Path | str, key: Path | str | Sequence[PublicKey]) -> Release:
    """The release, if all of it is true; otherwise BadSignature or BadRelease says what is not."""
    keys = load_public(key) if isinstance(key, Path | str) else tuple(key)
    release = load(directory)
    if release.simulated:
        raise BadRelease(
            f'"{release.directory}" is a simulation, not a release: it was charged to no ledger and promises '
            "nothing.",
            "Use `safeside publish` to make a release.",
        )
    check_signature(release.directory, manifest.FILE, keys)
    check_contents(release)
    return release


def check_signature(directory: Path, name: str, keys: Sequence[PublicKey]) -> None:
    """That one of these keys signed the manifest, or notice, of this name."""
    data = (directory / name).read_bytes()
    record = _signature(directory)
    key = next((one for one in keys if one.id == record.get("key")), None)
    if key is None:
        raise BadSignature(
            f"The release is signed with another key ({record.get('key')}) than the one given.",
            "Get the publisher's .pub or .keyring file from a source you trust, not from the release itself.",
        )
    unsigned = {name: value for name, value in record.items() if name != "signature"}
    try:
        signature = bytes.fromhex(record["signature"])
        message = _message(unsigned, data)
    except (KeyError, ValueError, TypeError, BadQuestion):
        raise bad("signature.json cannot be read") from None
    if unsigned.get("manifest") != manifest.digest(data) or not key.signed(message, signature):
        raise BadSignature(
            f"The signature does not belong to this {name}: one of them was altered.",
            "Do not use the release. Ask the publisher for it again, and tell them what you found.",
        )


def _signature(directory: Path) -> dict[str, Any]:
    try:
        record = json.loads((directory / manifest.SIGNATURE).read_bytes())
    except (OSError, ValueError):
        raise BadSignature(
            "The release has no signature that can be read.",
            "If publishing was interrupted, run the same command again; otherwise ask the publisher.",
        ) from None
    if not isinstance(record, dict):
        raise bad("signature.json cannot be read")
    return record


def check_contents(release: Release, *, ignore: frozenset[str] = frozenset()) -> None:
    """That the files are those the manifest names, and that they hold together."""
    found = {path.name for path in release.directory.iterdir()} - ignore
    listed = release.manifest["files"]
    wanted = REQUIRED | ({artefacts.ORDER} if release.manifest["mechanism"]["alarms"] is not None else set())
    if listed.keys() != wanted:
        raise bad("release.json lists other files than a release has")
    strange = found - listed.keys() - {manifest.FILE, manifest.SIGNATURE}
    if strange:
        raise bad(f"it holds a file that is not part of it, {min(strange)}")
    for name, entry in sorted(listed.items()):
        if name not in found or not (release.directory / name).is_file():
            raise bad(f"{name} is missing")
        if manifest.file_entry((release.directory / name).read_bytes()) != entry:
            raise bad(f"{name} is not the file that was signed")
    _check_answers(release)


def _check_answers(release: Release) -> None:
    answers, record = release.answers, release.manifest
    if (
        list(answers.places) != sorted(set(answers.places))
        or len(answers) != record["question"]["places"]["number"]
    ):
        raise bad("answers.csv does not list every place once, in order")
    if artefacts.places_digest(answers.places) != record["question"]["places"]["sha256"]:
        raise bad("answers.csv is about other places than the question")
    said = {state.name: answers.number(state) for state in State}
    if {**said, "certified_at_zero": answers.certified_at_zero} != record["answers"]:
        raise bad("the numbers of answers are not those of answers.csv")
    _check_copies(release)
    if not _follows(record, answers, thresholds(record, answers.places)).all():
        raise bad("a state in answers.csv does not follow from its bounds")
    if record["mechanism"]["alarms"] is not None:
        _check_order(release)


def _check_copies(release: Release) -> None:
    """Parquet and GeoJSON say what the CSV says; GeoJSON in the words of the public map."""
    table = artefacts.frame(release.answers)
    try:
        if not pl.read_parquet(release.directory / artefacts.PARQUET).equals(table):
            raise bad("answers.parquet does not say what answers.csv says")
        features = json.loads((release.directory / artefacts.GEOJSON).read_bytes())["features"]
        listed = [(one["properties"]["place"], one["properties"]["state"]) for one in features]
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        raise bad("a data file cannot be read") from None
    shown = release.answers.on_public_maps(release.manifest["question"]["publish_at_least"])
    if listed != [
        (place, STATES[code].name) for place, code in zip(release.answers.places, shown, strict=True)
    ]:
        raise bad("answers.geojson does not say what answers.csv says")


def thresholds(record: Manifest, places: Sequence[str]) -> NDArray[np.int64]:
    """The threshold of each place, as the question declared it."""
    question = record["question"]
    own = question["at_most_of"]
    return np.array([own.get(place, question["at_most"]) for place in places], dtype=np.int64)


def _follows(record: Manifest, answers: Answers, limits: NDArray[np.int64]) -> Mask:
    """For each place, whether its state is the one its bounds allow."""
    quiet = answers.states == CODE[State.AT_MOST]
    unclear = answers.states == CODE[State.UNCLEAR]
    match record["mechanism"]["name"]:
        case "ageo" | "padded":
            return _follows_count(record, answers, limits)
        case "sageo":
            said = np.where(quiet, answers.upper == limits, answers.upper > limits)
            not_asked = answers.states == CODE[State.NOT_ASKED]
            spoken = (quiet | unclear) & answers.bounded & said
            follows: Mask = (spoken | (not_asked & ~answers.bounded)) & (answers.lower == 0)
        case "decision":
            said = np.where(quiet, answers.bounded & (answers.upper == limits), unclear & ~answers.bounded)
            follows = said & (answers.lower == 0)
        case _:
            raise bad("its mechanism is unknown")
    return follows


def _follows_count(record: Manifest, answers: Answers, limits: NDArray[np.int64]) -> Mask:
    question, mechanism = record["question"], record["mechanism"]
    law = _law(mechanism)
    quiet = answers.upper <= limits
    busy = np.zeros(len(answers), dtype=np.bool_)
    lower = np.zeros(len(answers), dtype=np.int64)
    if isinstance(law, Padded):
        lower = np.maximum(0, answers.upper - 2 * law.pad)
        if question["people"] is not None and question["at_least"] is None:
            # Where the upper bound stops at the number of people, the lower one still follows the draw.
            further = (answers.upper == question["people"]) & (answers.lower <= answers.upper)
            lower = np.where(further, np.maximum(lower, answers.lower), lower)
    if question["at_least"] is not None:
        margin = _margin(record, law)
        reach = question["at_least"] - 1 + margin
        busy = answers.upper >= reach
        lower = np.maximum(0, answers.upper - margin + 1)
        if question["people"] is not None and reach > question["people"]:
            # The bound shown stops at the number of people; the draw behind it may have gone further.
            busy = (answers.upper == question["people"]) & (answers.states == CODE[State.AT_LEAST])
    expected = np.full(len(answers), CODE[State.UNCLEAR], dtype=np.uint8)
    expected[busy] = CODE[State.AT_LEAST]
    expected[quiet] = CODE[State.AT_MOST]
    follows: Mask = (answers.states == expected) & (answers.lower == lower) & answers.bounded
    return follows


def _law(mechanism: Manifest) -> Law:
    """The law of the noise, from its parameters alone."""
    rate = Fraction(mechanism["rate"])
    each = mechanism["places_per_person"]
    if rate * each != Fraction(mechanism["epsilon"]):
        raise bad("the noise is not what its epsilon needs")
    if mechanism["name"] == "ageo":
        return Up(rate)
    padded = PaddedGeo(epsilon=rate, delta=Fraction(mechanism["delta"]) / each)
    if padded.pad != mechanism["pad"]:
        raise bad("the noise is not what its delta needs")
    return padded.law


def _margin(record: Manifest, law: Law) -> int:
    question = record["question"]
    alpha = Fraction(question["alpha"])
    shared = question["places"]["number"] if question["publish_at_least"] else 1
    margin = law.margin_up(alpha / shared)
    if Fraction(question["alpha_of_each_place"]) * shared != alpha or margin != record["mechanism"]["margin"]:
        raise bad("the margin of its lower bounds is not what alpha needs")
    assert margin is not None, "an error rate of 0 is refused when the question is asked"
    return margin


def _check_order(release: Release) -> None:
    """Asked is a beginning of the order, and it ended at the last alarm allowed, or with the last place."""
    rows = (release.directory / artefacts.ORDER).read_bytes()
    order = pl.read_csv(io.BytesIO(rows), schema={"place": pl.String})["place"].to_list()
    answers, allowed = release.answers, release.manifest["mechanism"]["alarms"]
    if sorted(order) != list(answers.places):
        raise bad("order.csv does not list every place once")
    at = {place: number for number, place in enumerate(answers.places)}
    states = answers.states[[at[place] for place in order]]
    asked = states != CODE[State.NOT_ASKED]
    number, alarms = int(asked.sum()), int((states == CODE[State.UNCLEAR]).sum())
    stopped = number < len(order)
    ended = states[number - 1] == CODE[State.UNCLEAR] if number else False
    if not asked[:number].all() or alarms > allowed or (stopped and not (alarms == allowed and ended)):
        raise bad("the places asked are not those the order and the alarms allow")
