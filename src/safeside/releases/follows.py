"""Whether every state follows from the bounds published with it, by the mechanism's own parameters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safeside import exact
from safeside.decisions.states import State
from safeside.errors import BadNumber
from safeside.mechanisms.laws import Law, Padded, Up
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.releases.answers import CODE, Answers
from safeside.releases.manifest import bad
from safeside.releases.wording import Manifest

Mask = NDArray[np.bool_]


def thresholds(record: Manifest, places: Sequence[str]) -> NDArray[np.int64]:
    """The threshold of each place, as the question declared it."""
    question = record["question"]
    own = question["at_most_of"]
    try:
        return np.array([own.get(place, question["at_most"]) for place in places], dtype=np.int64)
    except (TypeError, OverflowError):
        raise bad("a place has no threshold, or one that nobody could ask about") from None


def follows(record: Manifest, answers: Answers, limits: NDArray[np.int64]) -> Mask:
    """For each place, whether its bounds are possible and its state is the one they allow."""
    possible = (answers.lower >= 0) & (~answers.bounded | (answers.lower <= answers.upper))
    if record["question"]["people"] is not None:
        possible &= ~answers.bounded | (answers.upper <= record["question"]["people"])
    allowed: Mask = possible & _allowed(record, answers, limits)
    return allowed


def _allowed(record: Manifest, answers: Answers, limits: NDArray[np.int64]) -> Mask:
    quiet = answers.states == CODE[State.AT_MOST]
    unclear = answers.states == CODE[State.UNCLEAR]
    match record["mechanism"]["name"]:
        case "ageo" | "padded":
            return _follows_count(record, answers, limits)
        case "sageo":
            said = np.where(quiet, answers.upper == limits, answers.upper > limits)
            not_asked = answers.states == CODE[State.NOT_ASKED]
            spoken = (quiet | unclear) & answers.bounded & said
            allowed: Mask = (spoken | (not_asked & ~answers.bounded)) & (answers.lower == 0)
        case "decision":
            said = np.where(quiet, answers.bounded & (answers.upper == limits), unclear & ~answers.bounded)
            allowed = said & (answers.lower == 0)
        case _:
            raise bad("its mechanism is unknown")
    return allowed


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
    allowed: Mask = (answers.states == expected) & (answers.lower == lower) & answers.bounded
    return allowed


def _law(mechanism: Manifest) -> Law:
    """The law of the noise, from its parameters alone."""
    rate = amount(mechanism["rate"])
    each = mechanism["places_per_person"]
    if not each or rate <= 0 or rate * each != amount(mechanism["epsilon"]):
        raise bad("the noise is not what its epsilon needs")
    if mechanism["name"] == "ageo":
        return Up(rate)
    delta = amount(mechanism["delta"]) / each
    if not 0 < delta < 1:
        raise bad("the noise is not what its delta needs")
    padded = PaddedGeo(epsilon=rate, delta=delta)
    if padded.pad != mechanism["pad"]:
        raise bad("the noise is not what its delta needs")
    return padded.law


def _margin(record: Manifest, law: Law) -> int:
    question = record["question"]
    alpha, each = amount(question["alpha"]), amount(question["alpha_of_each_place"])
    if not 0 < alpha < 1:
        raise bad("its error rate is none")
    shared = question["places"]["number"] if question["publish_at_least"] else 1
    margin = law.margin_up(alpha / shared)
    if each * shared != alpha or margin != record["mechanism"]["margin"]:
        raise bad("the margin of its lower bounds is not what alpha needs")
    assert margin is not None, "an error rate of 0 is refused when the question is asked"
    return margin


def amount(text: str | None) -> Fraction:
    """An exact amount of the manifest."""
    try:
        return exact.fraction("" if text is None else text)
    except BadNumber:
        raise bad("an amount in release.json cannot be read") from None
