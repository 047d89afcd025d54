"""Exact amounts of privacy budget, and what one release costs.

An amount is a `Fraction`; in the ledger it is the text "numerator/denominator", so that what was spent can
be added up a decade later to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from safeside import exact
from safeside.errors import BadNumber
from safeside.privacy.account import Charge
from safeside.privacy.account import Kind as Kind

ZERO: Final = Fraction(0)
ALL_TIME: Final = ""
"""The one period of a dataset whose unit is the person."""
_SHORT: Final = "dp"


def written(amount: Fraction) -> str:
    """The amount as it stands in the ledger."""
    return f"{amount.numerator}/{amount.denominator}"


def read(text: str) -> Fraction:
    """The amount that stands in the ledger; any other spelling of it is refused, so that none is hidden."""
    amount = exact.fraction(text)
    if written(amount) != text:
        raise ValueError(f"{text!r} is not an amount as the ledger writes it")
    return amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """An epsilon and a delta that are spent together."""

    epsilon: Fraction = ZERO
    delta: Fraction = ZERO

    def __add__(self, other: Budget) -> Budget:
        return Budget(epsilon=self.epsilon + other.epsilon, delta=self.delta + other.delta)

    def __sub__(self, other: Budget) -> Budget:
        return Budget(epsilon=self.epsilon - other.epsilon, delta=self.delta - other.delta)

    def fits(self, room: Budget) -> bool:
        """Whether there is room for both."""
        return self.epsilon <= room.epsilon and self.delta <= room.delta

    def least(self, other: Budget) -> Budget:
        """The smaller of each."""
        return Budget(epsilon=min(self.epsilon, other.epsilon), delta=min(self.delta, other.delta))

    def most(self, other: Budget) -> Budget:
        """The larger of each."""
        return Budget(epsilon=max(self.epsilon, other.epsilon), delta=max(self.delta, other.delta))


NONE: Final = Budget()


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a release reserves before anything is drawn.

    `epsilon` and `delta` are the price of the whole release under its own definition, `kind`; "dp" is short
    for the kind of PaddedGeo and the optimal decision. `each` is set for sparse releases alone: the
    price of one alarm, by which unused budget may come back once the alarms are published. `periods` are
    the days or weeks the release looks at, where the dataset has a budget for each.
    """

    epsilon: Fraction
    delta: Fraction = ZERO
    kind: Kind = Kind.ADP
    periods: tuple[str, ...] = ()
    each: Fraction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact.delta(self.delta))
        object.__setattr__(self, "kind", Kind.DP_COUNTS if self.kind == _SHORT else Kind(self.kind))
        if self.each is not None:
            object.__setattr__(self, "each", exact.epsilon(self.each, "the price of one alarm"))
            self._check_alarms()
        object.__setattr__(self, "periods", tuple(sorted(set(self.periods))))
        # Refuses what the account would refuse: an asymmetric release with a delta.
        Charge(kind=self.kind, epsilon=self.epsilon, delta=self.delta)

    def _check_alarms(self) -> None:
        assert self.each is not None
        if self.kind is not Kind.ADP or self.epsilon % self.each:
            raise BadNumber(
                f"A sparse release of {exact.show(self.epsilon)} was priced at {exact.show(self.each)} "
                "for each alarm.",
                "Price it as a whole number of alarms, under the asymmetric definition.",
            )

    @property
    def accounts(self) -> tuple[str, ...]:
        """The periods that are charged: those it names, or all time."""
        return self.periods or (ALL_TIME,)

    @property
    def charge(self) -> Charge:
        """The release as the account knows it."""
        return Charge(kind=self.kind, epsilon=self.epsilon, delta=self.delta)

    def converted(self) -> Budget:
        """What enters the dataset's account, which carries the policy (THEORY section 2)."""
        cost = self.charge.under_policy()
        return Budget(epsilon=cost.epsilon, delta=cost.delta)

    def unused(self, alarms: int) -> Fraction:
        """What a sparse release with so many published alarms did not use (THEORY section 4)."""
        if self.each is None:
            return ZERO
        return max(ZERO, self.epsilon - self.each * alarms)

    def to_json(self) -> dict[str, Any]:
        """As it stands in an event."""
        return {
            "kind": str(self.kind),
            "epsilon": written(self.epsilon),
            "delta": written(self.delta),
            "periods": list(self.periods),
            "each": None if self.each is None else written(self.each),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Cost:
        """Read back from an event."""
        each = data["each"]
        return cls(
            kind=Kind(data["kind"]),
            epsilon=read(data["epsilon"]),
            delta=read(data["delta"]),
            periods=tuple(data["periods"]),
            each=None if each is None else read(each),
        )
