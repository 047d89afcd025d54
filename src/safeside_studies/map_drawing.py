"""The maps of figures 2 and 3: four panels in a row, states told apart by shape as well as colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from safeside_studies.figure_style import BLUE, PALE, VERMILION, Picture, page, save
from safeside_studies.movements import Movements

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Flags = NDArray[np.bool_]
_MARKS: Final[dict[str, dict[str, Any]]] = {
    "obscure": {"s": 1.5, "marker": ".", "color": "#B5B5B5", "linewidths": 0},
    "safe": {"s": 2.2, "marker": "o", "color": BLUE, "linewidths": 0},
    "dangerous": {"s": 7.0, "marker": "^", "color": VERMILION, "linewidths": 0},
}


class Answers(Protocol):
    """What one definition said."""

    @property
    def safe(self) -> Flags: ...

    @property
    def dangerous(self) -> Flags: ...


class Row(Protocol):
    """One row of panels: the truth, and what each definition said."""

    @property
    def label(self) -> str: ...

    @property
    def is_safe(self) -> Flags: ...

    @property
    def said(self) -> Mapping[str, Answers]: ...


def draw_maps(
    data: Movements, rows: Sequence[Row], out: Path, name: str, *, title: str, caption: str
) -> Picture:
    """A row of maps for each question."""
    headings = ("Ground truth", "ε-DP", "(ε,δ)-DP", "ADP")
    with page(7.2, 0.45 + 2.25 * len(rows)) as figure:
        panels = figure.subplots(len(rows), 4, squeeze=False)
        for axes_row, row in zip(panels, rows, strict=True):
            truth = row.is_safe
            _panel(axes_row[0], data, truth, ~truth)
            axes_row[0].set_ylabel(row.label)
            axes_row[0].set_xlabel(f"safe {truth.sum():,}\ndangerous {(~truth).sum():,}")
            for axes, answers in zip(axes_row[1:], row.said.values(), strict=True):
                _panel(axes, data, answers.safe, answers.dangerous & ~answers.safe)
                axes.set_xlabel(
                    f"safe {answers.safe[truth].sum():,}/{truth.sum():,}\n"
                    f"dangerous {answers.dangerous[~truth].sum():,}/{(~truth).sum():,}"
                )
        for axes, heading in zip(panels[0], headings, strict=True):
            axes.set_title(heading, loc="center")
        handles = [
            panels[0][0].scatter([], [], **{**_MARKS[state], "s": size}, label=state)
            for state, size in (("safe", 22), ("dangerous", 30), ("obscure", 60))
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        return save(figure, out, name, title=title, caption=caption)


def _panel(axes: Axes, data: Movements, safe: Flags, dangerous: Flags) -> None:
    obscure = ~safe & ~dangerous
    for state, here in (("obscure", obscure), ("safe", safe), ("dangerous", dangerous)):
        # Thousands of points as shapes would make the SVG too heavy to open; the words stay shapes.
        axes.scatter(data.longitude[here], data.latitude[here], rasterized=True, **_MARKS[state])
    axes.set_xlim(data.longitude.min() - 0.01, data.longitude.max() + 0.01)
    axes.set_ylim(data.latitude.min() - 0.01, data.latitude.max() + 0.01)
    axes.set_aspect(1 / np.cos(np.radians(float(np.mean(data.latitude)))))
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(PALE)
