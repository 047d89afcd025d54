"""What options of several commands have in common: how they are taken together, and how they are read."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Final

_DIGITS: Final = re.compile("[0-9]{1,18}")


def options_of(**makers: Callable[..., object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Each of these parameters of the command is made by a function, whose own parameters become options.

    So options that several commands share are listed once, with their help and their defaults.
    """
    parts = {name: inspect.signature(maker, eval_str=True).parameters for name, maker in makers.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        kept = [one for one in own.parameters.values() if one.name not in makers]
        options = [one for part in parts.values() for one in part.values()]
        listed = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*kept, *options)]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            made = {
                name: maker(**{option: given.pop(option) for option in parts[name]})
                for name, maker in makers.items()
            }
            command(**given, **made)

        vars(run)["__signature__"] = own.replace(parameters=listed)
        run.__annotations__ = {one.name: one.annotation for one in listed}
        return run

    return decorate


def threshold(typed: str) -> int | str:
    """A whole number; or whatever else was typed, such as a share."""
    return int(typed) if _DIGITS.fullmatch(typed) else typed
