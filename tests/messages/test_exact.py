"""Every refused number, with what it says and what it advises."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from safeside import exact as ex
from safeside.errors import BadNumber, SafesideError


@pytest.mark.parametrize(
    ("gate", "value", "what", "do"),
    [
        (ex.epsilon, 0, "epsilon is 0.", "Give epsilon above zero."),
        (ex.epsilon, -1, "epsilon is -1.", "Give epsilon above zero."),
        (ex.epsilon, "-0.5", "epsilon is -0.5.", "Give epsilon above zero."),
        (ex.epsilon, float("nan"), "epsilon is nan.", "Give epsilon as a finite number."),
        (ex.epsilon, float("inf"), "epsilon is inf.", "Give epsilon as a finite number."),
        (ex.epsilon, Decimal("NaN"), "epsilon is NaN.", "Give epsilon as a finite number."),
        (ex.epsilon, Decimal("Infinity"), "epsilon is Infinity.", "Give epsilon as a finite number."),
        (ex.epsilon, True, "epsilon is True, a truth value, not a number.", "Give epsilon as a number."),
        (
            ex.epsilon,
            "one",
            "epsilon is not a number that can be read exactly.",
            "Write epsilon as a decimal",
        ),
        (
            ex.epsilon,
            "nan",
            "epsilon is not a number that can be read exactly.",
            "Write epsilon as a decimal",
        ),
        (
            ex.epsilon,
            "1/0",
            "epsilon is not a number that can be read exactly.",
            "Write epsilon as a decimal",
        ),
        (ex.epsilon, None, "epsilon is a NoneType.", "Give epsilon as an int, a decimal string"),
        (ex.epsilon, [1], "epsilon is a list.", "Give epsilon as an int, a decimal string"),
        (ex.epsilon, np.array([1, 2]), "epsilon is a ndarray.", "Give epsilon as an int, a decimal string"),
        (ex.epsilon, np.True_, "epsilon is a bool.", "Give epsilon as an int, a decimal string"),
        (
            ex.epsilon,
            "-1e5000",
            "epsilon has more than 600 digits.",
            "Give epsilon with at most 600 digits before and after the point.",
        ),
        (ex.epsilon, "1e999999999", "epsilon has more than 600 digits.", "Give epsilon with at most 600"),
        (ex.epsilon, "1e9_99999999", "epsilon has more than 600 digits.", "Give epsilon with at most 600"),
        (ex.epsilon, "1/" + "3" * 2000, "epsilon has more than 600 digits.", "Give epsilon with at most 600"),
        (ex.epsilon, Decimal("1e-99999"), "epsilon has more than 600 digits.", "Give epsilon with at most"),
        (ex.epsilon, -(10**600), "epsilon has more than 600 digits.", "Give epsilon with at most 600 digits"),
        (ex.delta, 1, "delta is 1.", "Give delta at least 0 and below 1."),
        (ex.delta, -1e-9, "delta is -0.000000001.", "Give delta at least 0 and below 1."),
        (ex.alpha, "1.5", "alpha is 1.5.", "Give alpha at least 0 and below 1."),
        (ex.alpha, False, "alpha is False, a truth value", "Give alpha as a number."),
        (ex.beta, 0, "beta is 0.", "Give beta above 0 and at most 1."),
        (ex.beta, "1.01", "beta is 1.01.", "Give beta above 0 and at most 1."),
    ],
)
def test_refused_numbers(gate: Callable[[Any], object], value: object, what: str, do: str) -> None:
    with pytest.raises(BadNumber) as caught:
        gate(value)
    assert caught.value.what.startswith(what)
    assert caught.value.do.startswith(do)
    assert "What to do:" in str(caught.value)


def test_whole_numbers() -> None:
    with pytest.raises(BadNumber, match="t is a float"):
        ex.whole(2.0, "t")
    with pytest.raises(BadNumber, match="t is -1"):
        ex.whole(-1, "t")
    with pytest.raises(BadNumber, match="t is a bool"):
        ex.whole(True, "t")
    with pytest.raises(BadNumber, match="t is a ndarray"):
        ex.whole(np.array([1, 2]), "t")


def test_every_error_is_in_the_tree() -> None:
    from safeside import errors

    names = {name for name, kind in vars(errors).items() if isinstance(kind, type)} - {"Fraction"}
    assert all(issubclass(getattr(errors, name), SafesideError) for name in names)
    assert errors.__doc__ is not None
    assert all(name in errors.__doc__ for name in names)


def test_numbers_on_a_boundary() -> None:
    """Equal to the last bit that is looked at: neither is said to be the larger."""
    with pytest.raises(BadNumber) as caught:
        ex.is_at_most(lambda: ex.exp(1), lambda: ex.exp(1))
    assert caught.value.what == "Two numbers agree to 1048576 bits and cannot be put in order."
    assert caught.value.do == "Change one of the parameters slightly: they lie on a boundary."
    with pytest.raises(BadNumber) as caught:
        ex.ceiling(lambda: ex.exp(1) / ex.exp(1))
    assert caught.value.what == (
        "A number lies within 1048576 bits of a whole number and cannot be rounded safely."
    )
    assert caught.value.do == "Change one of the parameters slightly: they lie on a boundary."


def test_no_power_of_e_reaches_zero() -> None:
    with pytest.raises(BadNumber) as caught:
        ex.least_power(ex.fraction(1), ex.fraction(0))
    assert caught.value.what == "No power of e is zero."
    assert caught.value.do == "Give a bound (alpha, 1 - confidence) above zero."
