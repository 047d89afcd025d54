"""Several options that belong together, taken by a command as the one object they make."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def options_of(
    name: str, maker: Callable[..., object]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The command's parameter `name` is made by `maker`, whose parameters become options of the command.

    So options that several commands share are listed once, with their help and their defaults.
    """
    options = inspect.signature(maker, eval_str=True).parameters

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        kept = [one for one in own.parameters.values() if one.name != name]
        listed = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*kept, *options.values())]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            made = maker(**{option: given.pop(option) for option in options})
            command(**given, **{name: made})

        vars(run)["__signature__"] = own.replace(parameters=listed)
        run.__annotations__ = {one.name: one.annotation for one in listed}
        return run

    return decorate
