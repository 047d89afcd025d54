"""Lists that are longer than the blocks in which the code works: every place is answered by itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from safeside.audit.publishing import STEADY, Scripted, desk, words_for
from safeside.errors import ReleaseError
from safeside.mechanisms.laws import Up

BORDER: Final = 4096
"""The first block of sparse answers: a border that every long list crosses."""
WAYS: Final = ("counts", "sparse")
_HIGHEST: Final = 7
"""The most noise that a place gets."""


def long_list(number: int, name: str) -> str | None:
    """A long list with noise that is known: every answer is its own count, noise and threshold."""
    places = [f"p{at:05}" for at in range(number)]
    # So that the first place beyond the block has a lower threshold than the first of all, and exceeds it.
    limits = [(2 - at) % 3 for at in range(number)]
    noise = {place: (5 * at + 1) % (_HIGHEST + 1) for at, place in enumerate(places)}
    # One person at each of a few places, at the border and at both ends.
    busy = {places[at] for at in (0, 1, number // 2, BORDER - 2, BORDER - 1, number - 1)}
    # In the order in which it is asked: of counts that of the answers, of sparse answers that of the list.
    asked = sorted([*places, STEADY]) if name == "counts" else [*places, STEADY]
    words = words_for(Up(Fraction(1)), _HIGHEST)
    drawn = Scripted([words[noise.get(place, 0)] for place in asked])
    with desk(places, limits, range(number + 1)) as table:
        try:
            dataset = [frozenset({one}) for one in sorted(busy)]
            # As many alarms as places: fewer than conditions, so that they are asked in turn.
            in_turn = {"max_alarms": number, "order": "popularity"} if name == "sparse" else {}
            said = table.publish(dataset, drawn, {"epsilon": 1, **in_turn})
        except ReleaseError:
            return "publish refuses its own release"
    answers = said.answers()
    for at, (place, limit) in enumerate(zip(places, limits, strict=True)):
        z = (place in busy) + noise[place]
        bound = limit if name == "sparse" and z <= limit else z
        expected = ("AT_MOST" if z <= limit else "UNCLEAR", bound)
        if answers[place, 0] != expected:
            return f"place {at + 1:,} of {number:,} is answered {answers[place, 0]} where it is {expected}"
    return None
