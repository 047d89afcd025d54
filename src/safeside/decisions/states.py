"""What can be said of one place: three states that exclude each other, and "not asked"."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """The answer for one place and one threshold t.

    Example
        >>> from safeside import State, decide
        >>> State(decide([1], at_most=2, rate=1)[0])
        <State.AT_MOST: 'at_most'>
    """

    AT_MOST = "at_most"
    """At most t: never wrong, where noise only goes up."""
    AT_LEAST = "at_least"
    """At least t+1: wrong with probability at most alpha for each place asked."""
    UNCLEAR = "unclear"
    """The noise allows neither."""
    NOT_ASKED = "not_asked"
    """The release stopped before it came to this place."""
