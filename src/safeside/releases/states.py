"""The one coding of states: what a state is called in files, and the number it has in arrays and pages."""

from __future__ import annotations

from typing import Final

from safeside.decisions.states import State

STATES: Final = (State.AT_MOST, State.AT_LEAST, State.UNCLEAR, State.NOT_ASKED)
"""In the order of their numbers."""
CODE: Final = {state: number for number, state in enumerate(STATES)}
"""A state as a small number: within the program, and in the data of the map. Files have its name."""
CODE_OF_NAME: Final = {state.name: number for state, number in CODE.items()}


def script() -> str:
    """The same coding for the script of a page."""
    names = ", ".join(f'"{state.name}"' for state in STATES)
    constants = ", ".join(state.name for state in STATES)
    return f"const STATES = [{names}];\nconst [{constants}] = [{', '.join(map(str, CODE.values()))}];"
