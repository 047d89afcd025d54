"""The least e^eps with which a mechanism on one record satisfies a definition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from safeside.privacy.relations import Relation


def factor(channel: Mapping[Any, Mapping[Any, Fraction]], relation: Relation[Any]) -> Fraction | float:
    """The greatest ratio of probabilities along an allowed step."""
    ratios = [
        p / there[output] if there.get(output) else math.inf
        for x, here in channel.items()
        for x2, there in channel.items()
        if relation.step(x, x2)
        for output, p in here.items()
        if p
    ]
    return max([Fraction(1), *ratios])
