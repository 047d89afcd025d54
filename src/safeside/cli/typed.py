"""What a text that was typed stands for, where that is not a matter of one option alone."""

from __future__ import annotations

import re
from typing import Final

_DIGITS: Final = re.compile("[0-9]{1,18}")


def threshold(typed: str) -> int | str:
    """A whole number; or whatever else was typed, such as a share."""
    return int(typed) if _DIGITS.fullmatch(typed) else typed
