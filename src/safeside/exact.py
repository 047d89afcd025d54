"""Exact numbers: rational in, certified out.

Privacy parameters are held as `Fraction`. What is not rational (powers of e) is evaluated as a *ball*, an
interval of arbitrary precision that is proved to contain the true value; a comparison that a ball cannot
decide is repeated at twice the precision. Nothing here is ever rounded in a direction nobody chose.
"""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeVar

from flint import arb, ctx, fmpq, fmpz

from safeside.errors import BadNumber

Number = int | float | str | Decimal | Fraction
Ball = arb
Term = Callable[[], Ball]
"""An expression, evaluated anew at whatever precision is being worked at."""
Decision = TypeVar("Decision", bool, fmpz)

PMF_BITS: Final = 256
"""Precision at which probabilities are evaluated for audits and reports."""
_MOST_DIGITS: Final = 600
"""Digits a number may have before or after the point; a float has 324 at most."""
_TOO_LONG: Final = 10**_MOST_DIGITS
_FIRST_BITS: Final = 128
_MOST_BITS: Final = 1 << 20

_EXPONENT: Final = re.compile(r"[eE][-+]?([\d_]+)")

# The library's working precision is one global setting, so only one thread may work at a time.
_lock = threading.RLock()


def _new_lock() -> None:
    """A process that is forked while another thread works has nobody who would give the lock back."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


def fraction(value: Number, name: str = "the number") -> Fraction:
    """The one gate: `value` as the exact rational it was written as.

    A float is taken as its shortest decimal, so 0.1 means one tenth.
    """
    if isinstance(value, Fraction):
        return _short(value, name)
    if isinstance(value, bool):
        raise BadNumber(f"{name} is {value}, a truth value, not a number.", f"Give {name} as a number.")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadNumber(f"{name} is {value}.", f"Give {name} as a finite number.")
        return Fraction(repr(float(value)))
    if isinstance(value, str):
        return _short(_read(value.strip(), name), name)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise BadNumber(f"{name} is {value}.", f"Give {name} as a finite number.")
        if abs(value.adjusted()) > _MOST_DIGITS:
            raise _too_long(name)
        return _short(Fraction(value), name)
    number = _index(value)
    if number is not None:
        return _short(Fraction(number), name)
    raise BadNumber(
        f"{name} is a {type(value).__name__}.",
        f"Give {name} as an int, a decimal string, a Decimal, a Fraction or a float.",
    )


def _read(text: str, name: str) -> Fraction:
    # Looked at first: 1e999999999 is short to write and would take hours to hold exactly.
    exponent = _EXPONENT.search(text)
    if len(text) > 2 * _MOST_DIGITS or (exponent and int(exponent[1].replace("_", "") or 0) > _MOST_DIGITS):
        raise _too_long(name)
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise BadNumber(
            f"{name} is not a number that can be read exactly.",
            f"Write {name} as a decimal (0.1), in scientific notation (1e-6) or as a fraction (1/3).",
        ) from None


def _short(number: Fraction, name: str) -> Fraction:
    """The number, unless it is too long to be shown in full."""
    if abs(number.numerator) >= _TOO_LONG or number.denominator >= _TOO_LONG:
        raise _too_long(name)
    return number


def _too_long(name: str) -> BadNumber:
    return BadNumber(
        f"{name} has more than {_MOST_DIGITS} digits.",
        f"Give {name} with at most {_MOST_DIGITS} digits before and after the point.",
    )


def _index(value: object) -> int | None:
    """A whole number of any kind as an int; None for anything else, arrays and truth values among it."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return int(value.__index__())
    except TypeError:
        return None


def positive(value: Number, name: str) -> Fraction:
    """An exact number above zero."""
    number = fraction(value, name)
    if number.numerator <= 0:
        raise BadNumber(f"{name} is {show(number)}.", f"Give {name} above zero.")
    return number


def epsilon(value: Number, name: str = "epsilon") -> Fraction:
    """A privacy budget: above zero."""
    return positive(value, name)


def error_rate(value: Number, name: str) -> Fraction:
    """A delta or an alpha: at least 0 and below 1."""
    number = fraction(value, name)
    if not 0 <= number.numerator < number.denominator:
        raise BadNumber(f"{name} is {show(number)}.", f"Give {name} at least 0 and below 1.")
    return number


def delta(value: Number) -> Fraction:
    """The probability with which a guarantee may fail: in [0, 1)."""
    return error_rate(value, "delta")


def alpha(value: Number) -> Fraction:
    """The probability of a wrong True: in [0, 1)."""
    return error_rate(value, "alpha")


def beta(value: Number) -> Fraction:
    """The probability of a right True that is wanted: above 0 and at most 1."""
    number = fraction(value, "beta")
    if not 0 < number <= 1:
        raise BadNumber(f"beta is {show(number)}.", "Give beta above 0 and at most 1.")
    return number


def whole(value: object, name: str, *, least: int = 0) -> int:
    """A whole number that is at least `least`; a threshold, a number of people, a sensitivity."""
    number = _index(value)
    if number is None:
        raise BadNumber(f"{name} is a {type(value).__name__}.", f"Give {name} as a whole number.")
    if number < least:
        raise BadNumber(f"{name} is {number}.", f"Give {name} as a whole number of at least {least}.")
    return number


def show(number: Fraction) -> str:
    """The number in full: a decimal where it has an end, a fraction where it has none."""
    rest = number.denominator
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    fives = 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    digits = max(twos, fives)
    if digits == 0:
        return str(number.numerator)
    scaled = abs(number.numerator) * 10**digits // number.denominator
    text = str(scaled).rjust(digits + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{text[:-digits]}.{text[-digits:]}"


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work at `bits` of precision inside the block."""
    with _lock, ctx.workprec(bits):
        yield


def ball(number: Fraction | int) -> Ball:
    """A rational as a ball at the working precision."""
    number = Fraction(number)
    return arb(fmpq(fmpz(number.numerator), fmpz(number.denominator)))


def exp(number: Fraction | int) -> Ball:
    """e to a rational power, as a ball at the working precision."""
    return ball(number).exp()


def evaluate(term: Term, bits: int = PMF_BITS) -> Ball:
    """The term at a fixed precision."""
    with precision(bits):
        return term()


def _decided(question: Callable[[], Decision | None], undecided: str) -> Decision:
    """The answer, at the first precision that gives one."""
    bits = _FIRST_BITS
    while bits <= _MOST_BITS:
        with precision(bits):
            answer = question()
        if answer is not None:
            return answer
        bits *= 2
    raise BadNumber(undecided, "Change one of the parameters slightly: they lie on a boundary.")


def is_at_most(left: Term, right: Term) -> bool:
    """Whether left <= right, for certain; precision is raised until the balls decide."""

    def question() -> bool | None:
        a, b = left(), right()
        return True if a <= b else False if a > b else None

    return _decided(question, f"Two numbers agree to {_MOST_BITS} bits and cannot be put in order.")


def ceiling(term: Term) -> int:
    """The least whole number not below the term, for certain."""
    undecided = f"A number lies within {_MOST_BITS} bits of a whole number and cannot be rounded safely."
    return int(_decided(lambda: term().ceil().unique_fmpz(), undecided))


def least_power(rate: Fraction, bound: Fraction) -> int:
    """The least m >= 0 with e^(-rate m) <= bound, for rate > 0 and 0 < bound."""
    if bound >= 1:
        return 0
    if bound <= 0:
        raise BadNumber("No power of e is zero.", "Give a bound (alpha, 1 - confidence) above zero.")
    return ceiling(lambda: -ball(bound).log() / ball(rate))


def upper(value: Ball | Fraction) -> Fraction:
    """A rational not below anything in the ball; a fraction is one itself."""
    return value if isinstance(value, Fraction) else _end(value.upper)


def lower(value: Ball | Fraction) -> Fraction:
    """A rational not above anything in the ball; a fraction is one itself."""
    return value if isinstance(value, Fraction) else _end(value.lower)


def _end(of_ball: Term) -> Fraction:
    with precision(2 * PMF_BITS):
        mantissa, exponent = of_ball().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def float_up(value: Ball | Fraction) -> float:
    """The least float that is not below the value."""
    bound = upper(value)
    near = float(bound)
    return near if Fraction(near) >= bound else math.nextafter(near, math.inf)


def float_down(value: Ball | Fraction) -> float:
    """The greatest float that is not above the value."""
    bound = lower(value)
    near = float(bound)
    return near if Fraction(near) <= bound else math.nextafter(near, -math.inf)


def round_up(term: Term, digits: int) -> Fraction:
    """The term rounded up to `digits` decimals, for certain; the term may not itself be such a decimal."""
    scale = 10**digits
    return Fraction(ceiling(lambda: term() * scale), scale)


def exp_up(number: Fraction, digits: int = 5) -> str:
    """e to a number of at least 0, written with `digits` significant digits and rounded up."""
    if number == 0:
        return "1"
    power = -ceiling(lambda: -(ball(number) / ball(10).log()))
    shift = Fraction(10) ** (digits - 1 - power)
    leading = ceiling(lambda: exp(number) * ball(shift))
    if power < digits + 2:
        return show(Fraction(leading) / shift)
    return f"{show(Fraction(leading, 10 ** (digits - 1)))} x 10^{power}"
