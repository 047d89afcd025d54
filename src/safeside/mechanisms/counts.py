"""The gate every count passes before noise: whole numbers of people, or an error that quotes none of them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside.errors import BadCounts, BadNumber
from safeside.noise.geometric import ordinary

MOST_PEOPLE: Final = 1 << 62
"""Half of what a 64-bit integer holds, so that a count can be refused *before* noise is drawn for it."""
_MOST_PUBLISHED: Final = MOST_PEOPLE + MOST_PEOPLE // 2
"""Noise carries no count so far; beyond it, adding a margin might leave 64 bits."""


def people_counts(counts: ArrayLike, people: int | None = None) -> NDArray[np.int64]:
    """Counts as a vector of int64, each at least 0 and at most the declared number of `people`."""
    values = _vector(counts, "the counts")
    fits = ordinary(values)
    if not fits and values.min() < 0:
        raise BadCounts(
            "A count is negative, and no number of people is.",
            "Count distinct people again; do not correct or difference the counts beforehand.",
        )
    if people is not None and values.max() > people:
        raise BadCounts(
            f"A count is larger than {people}, the number of people that was declared.",
            "Declare a public number that no count can exceed, or declare none.",
        )
    if not fits and values.max() > MOST_PEOPLE:
        raise BadCounts(
            "A count is above 2^62, where adding noise could overflow a 64-bit integer.",
            "Check the counting: there are not that many people.",
        )
    return values.astype(np.int64, copy=False)


def thresholds_for(number: int, at_most: ArrayLike, *, name: str = "at_most") -> NDArray[np.int64]:
    """One threshold for each of `number` places, from one for all or from one for each."""
    array = np.asarray(at_most)
    if array.ndim > 1 or array.dtype.kind not in "iu" or array.size == 0:
        raise BadNumber(
            f"{name} is not a whole number or a list of whole numbers.",
            f"Give {name} as one whole number for all places, or one for each place.",
        )
    if array.ndim == 1 and array.shape != (number,):
        raise BadNumber(
            f"{name} has {array.size} values for {number} places.",
            f"Give {name} once for all places, or once for each place in the same order.",
        )
    if not ordinary(array) and (int(array.min()) < 0 or int(array.max()) > MOST_PEOPLE):
        raise BadNumber(
            f"{name} is negative or above 2^62.", f"Give {name} as numbers of people, each 0 or more."
        )
    return np.broadcast_to(array.astype(np.int64, copy=False), (number,))


def compact_copy(thresholds: NDArray[np.int64]) -> NDArray[np.integer]:
    """A copy that stays as it is whatever the caller does; small, since it is made for every release."""
    if thresholds.strides == (0,):
        return np.broadcast_to(thresholds[:1].copy(), thresholds.shape)
    return thresholds.astype(np.min_scalar_type(int(thresholds.max())))


def published_values(z: ArrayLike) -> NDArray[np.int64]:
    """What was published, as int64 of the same shape; a value that is not whole would be rounded down."""
    values = np.asarray(z)
    far = values.dtype.kind in "iu" and values.size and max(int(values.max()), -int(values.min()))
    if values.dtype.kind not in "iu" or far > _MOST_PUBLISHED:
        raise BadCounts(
            "The published values are not whole numbers that a count and its noise could be.",
            "Give them as they were published; values on a finer grid are read by their own mechanism.",
        )
    return values.astype(np.int64, copy=False)


def truth_values(values: ArrayLike) -> NDArray[np.bool_]:
    """Answers of people, yes or no, as a vector."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind != "b" or array.size == 0:
        raise BadCounts(
            "The answers are not a list of true and false.",
            "Give one truth value (True or False) for each person.",
        )
    return array.astype(np.bool_, copy=False)


def _vector(counts: ArrayLike, name: str) -> NDArray[np.signedinteger | np.unsignedinteger]:
    # NumPy would read [True, 3] as [1, 3]: a truth value is not a number of people.
    if isinstance(counts, list | tuple) and any(isinstance(one, bool | np.bool_) for one in counts):
        raise _not_whole(name, "truth values")
    # In this order NumPy does not load what it knows of masks where no array can have one.
    own_kind = isinstance(counts, np.ndarray) and type(counts) is not np.ndarray
    if own_kind and isinstance(counts, np.ma.MaskedArray):
        raise _not_whole(name, "masked, so some may be missing")
    try:
        values = np.asarray(counts)
    except ValueError:
        raise _not_whole(name, "lists of different lengths") from None
    if values.ndim != 1:
        raise BadCounts(
            f"{name.capitalize()} have {values.ndim} dimensions.",
            "Give one list of counts, one number for each place.",
        )
    if values.size == 0:
        raise BadCounts("There are no counts.", "Declare at least one place before asking for a release.")
    kinds = {"b": "truth values", "f": "floating-point numbers (or missing values)", "O": "objects"}
    if values.dtype.kind not in "iu":
        raise _not_whole(name, kinds.get(values.dtype.kind, f"of type {values.dtype}"))
    return values


def _not_whole(name: str, kind: str) -> BadCounts:
    return BadCounts(
        f"{name.capitalize()} are {kind}, not whole numbers.",
        "Give 64-bit integers, with 0 (not a blank) where nobody was counted.",
    )
