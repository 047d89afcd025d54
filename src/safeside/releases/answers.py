"""What is said of each condition: a state and the bounds it follows from, and nothing else of the count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.decisions.states import State

STATES: Final = (State.AT_MOST, State.AT_LEAST, State.UNCLEAR, State.NOT_ASKED)
"""In the order of their numbers."""
CODE: Final = {state: number for number, state in enumerate(STATES)}
"""A state as a small number: within the program, and in the data of the map. Files have its name."""
CODE_OF_NAME: Final = {state.name: number for state, number in CODE.items()}
Label = tuple[str, ...]
"""What a condition is called: its target; its window and its measure too, where there are several."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """One answer for each condition: for every window, every measure of it, and every target on the list.

    The arrays go through the windows first, then the measures, then the targets, which are in the order of
    their names. `upper` means something only where `bounded`: a place that was not asked has no upper bound,
    nor has one of which a single bit said "cannot say". `lower` is 0, which is always true, unless an error
    rate for "at least" was declared.
    """

    targets: tuple[str, ...]
    windows: tuple[str, ...]
    measures: tuple[str, ...]
    states: NDArray[np.uint8]
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    bounded: NDArray[np.bool_]
    grouped: bool = False
    """Whether the targets are groups of people, and the one window the date they are asked about."""
    sizes: tuple[int, ...] = ()
    """How many people are publicly known to be in each group, where the list says so."""

    def __len__(self) -> int:
        return int(self.states.size)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of windows, of measures and of targets."""
        return len(self.windows), len(self.measures), len(self.targets)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The target of each condition."""
        return self.targets * (len(self.windows) * len(self.measures))

    @property
    def labels(self) -> list[Label]:
        """What each condition is called in files."""
        return labels(self.targets, self.windows, self.measures)

    def same(self, other: Answers) -> NDArray[np.bool_]:
        """For each condition, whether both say the same of it."""
        bounds = (self.bounded == other.bounded) & (~self.bounded | (self.upper == other.upper))
        said: NDArray[np.bool_] = (self.states == other.states) & bounds & (self.lower == other.lower)
        return said

    def counted(self) -> dict[str, int]:
        """How many conditions have each state; and are shown to be true of nobody: facts about everybody."""
        number = {state.name: int(np.count_nonzero(self.states == code)) for state, code in CODE.items()}
        return {**number, "certified_at_zero": int(np.count_nonzero(self.bounded & (self.upper == 0)))}

    def on_public_maps(self, publish_at_least: bool) -> NDArray[np.uint8]:
        """The states as the public map shows them: "at least" only where that was asked for."""
        if publish_at_least:
            return self.states
        shown = self.states.copy()
        shown[shown == CODE[State.AT_LEAST]] = CODE[State.UNCLEAR]
        return shown


def labels(targets: Sequence[str], windows: Sequence[str], measures: Sequence[str]) -> list[Label]:
    """The label of every condition, in the order of the answers."""
    ends = [
        (*([window] if len(windows) > 1 else []), *([measure] if len(measures) > 1 else []))
        for window in windows
        for measure in measures
    ]
    return [(target, *end) for end in ends for target in targets]
