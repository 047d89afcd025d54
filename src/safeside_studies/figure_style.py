"""One look for every figure: legible in print, and to readers who cannot tell red from green.

Colours are those of Okabe and Ito; whatever a colour says, a shape, a dash or a word says too. Figures are
drawn without a window or global state, and saved so that the same numbers give the same file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from safeside.errors import CannotWrite, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK: Final = "#000000"
ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
GREY: Final = "#8C8C8C"
PALE: Final = "#D9D9D9"

STYLE: Final[dict[Any, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "safeside",
    "svg.fonttype": "path",
}
_DOTS_PER_INCH: Final = 200
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, kw_only=True)
class Line:
    """How one rule is always drawn."""

    label: str
    colour: str
    dash: str
    marker: str = ""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure that was saved."""

    name: str
    title: str
    caption: str
    png: Path
    svg: Path


@contextmanager
def page(width: float, height: float) -> Iterator[Figure]:
    """An empty figure of so many inches in the common look."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise MissingExtra(
            "Figures need matplotlib, which is not installed.", "Run: pip install safeside-studies"
        ) from missing
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure


def save(figure: Figure, directory: Path, name: str, *, title: str, caption: str) -> Picture:
    """The figure as PNG and SVG; call inside `page`."""
    png, svg = directory / f"{name}.png", directory / f"{name}.svg"
    try:
        figure.savefig(png, dpi=_DOTS_PER_INCH, metadata={"Software": "safeside"})
        figure.savefig(svg, dpi=_DOTS_PER_INCH, metadata={"Date": None, "Creator": "safeside"})
    except OSError as error:
        raise CannotWrite(
            f"The figure {name} cannot be written to {directory}: {error.strerror}.",
            "Choose a directory that can be written and has room.",
        ) from error
    return Picture(name=name, title=title, caption=caption, png=png, svg=svg)


def draw_line(axes: Axes, line: Line, x: Any, y: Any, band: Any = None) -> None:
    """A curve in its own colour and dash, with a band around it where the mean is uncertain."""
    axes.plot(x, y, color=line.colour, linestyle=line.dash, marker=line.marker, label=line.label)
    if band is not None:
        axes.fill_between(x, y - band, y + band, color=line.colour, alpha=0.18, linewidth=0)


def spoken(number: object) -> str:
    """A parameter as it is printed: 1e-3 becomes a power of ten, everything else stays."""
    text = str(number)
    return "10" + text[2:].translate(_RAISED) if text.startswith("1e") else text
