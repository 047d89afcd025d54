"""Numbers that were written as text: p000123, 0042, 17. They can be counted as the numbers they are.

Identifiers in a CSV file are always text, and so are those with zeros in front. Often they are numbers
all the same, each written in one way only: then two are equal where their numbers are, and only there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

_WRITTEN: Final = re.compile(r"((?:[A-Za-z].*?)?)([0-9]{1,18})")
"""What stands before the number begins with a letter, so that the whole is neither a number in scientific
notation nor a word for a missing value.
"""


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """One way of writing whole numbers: all with the same words before, all with the same number of digits or
    all without zeros in front.
    """

    prefix: str
    width: int | None
    """How many digits each has; None where none has zeros in front."""

    @property
    def plain(self) -> bool:
        """Whether numbers are written as Python and every engine writes them."""
        return not self.prefix and self.width in (None, 1)

    def number(self, text: pl.Expr) -> pl.Expr:
        """The number; missing where a text is written in any other way."""
        # In the order of bytes a digit follows the prefix between these two, and only there.
        first = "1" if self.width is None else "0"
        alike = (text >= f"{self.prefix}{first}") & (text < f"{self.prefix}:")
        if self.width is None:
            alike = alike | (text == f"{self.prefix}0")
        else:
            alike = alike & (text.str.len_bytes() == len(self.prefix.encode()) + self.width)
        digits = text.str.slice(len(self.prefix)) if self.prefix else text
        # Where a digit comes first, Polars reads nothing but digits as a whole number.
        return pl.when(alike).then(digits.cast(pl.Int64, strict=False))

    def text(self, number: int) -> str:
        """What is written for a number."""
        return f"{self.prefix}{number:0{self.width or 1}}"


def spelled(texts: pl.Series) -> tuple[Spelling, NDArray[np.int64]] | None:
    """How these are written, and their numbers; None unless all of them are written in one such way."""
    found = _WRITTEN.fullmatch(texts[0] or "") if len(texts) else None
    if found is None:
        return None
    prefix, digits = found.groups()
    padded = texts.str.starts_with(f"{prefix}0") & (texts != f"{prefix}0")
    spelling = Spelling(prefix=prefix, width=len(digits) if padded.any() else None)
    numbers = texts.to_frame("text").select(spelling.number(pl.col("text")).alias("number"))["number"]
    return None if numbers.null_count() else (spelling, numbers.to_numpy())
