"""The one shape every mechanism has, whatever it is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from safeside.exact import Ball, Number
from safeside.mechanisms.published import Published
from safeside.privacy.guarantee import Guarantee


@runtime_checkable
class Mechanism(Protocol):
    """A mechanism is made with its privacy parameters, and then asked with data.

    What the data is differs: counts, counts with thresholds, exact values, the answers of people. So
    `release` and `distribution` take what their mechanism needs, always the data first, and `release` takes
    `entropy` last, by name. Everything else is alike.
    """

    @property
    def name(self) -> str:
        """What the mechanism is called in records and audits."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of everything one release publishes together."""

    @property
    def alpha(self) -> Number | Ball | Fraction | None:
        """How often the answer that is meant to be right is wrong: 0 where never, None where not fixed."""

    def release(self, *args: Any, **kwargs: Any) -> Published:
        """Draw once, exactly, from the system's entropy unless a simulation gives its own."""

    def distribution(self, *args: Any, **kwargs: Any) -> Mapping[Any, Ball]:
        """Every output with its probability as a certified ball: what an audit enumerates."""
