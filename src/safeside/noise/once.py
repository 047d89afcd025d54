"""An attribute that is computed when it is first asked for, and kept.

`functools.cached_property` holds a lock meanwhile (in Python 3.11). A process that is forked while a thread
builds a table would inherit that lock with nobody left to give it back, and its first draw would never end.
Without a lock two threads may build the same table; they build it alike, and one of the two is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class once(Generic[Value]):
    """The method's value, kept on the instance under the method's name."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, one: None, owner: type) -> Self: ...

    @overload
    def __get__(self, one: object, owner: type) -> Value: ...

    def __get__(self, one: object | None, owner: type) -> Self | Value:
        if one is None:
            return self
        value = self._compute(one)
        vars(one)[self._name] = value
        return value
