"""Pictures for the report, as SVG: told apart by fill and text, not by colour alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

FLOAT_ERROR: Final = 1e-9
"""More than the arithmetic of a probability can be wrong by."""
_WIDE: Final = 960.0
_APART: Final = 24.0
"""Labels of a picture that are nearer would run into each other."""
_HALF: Final = 440.0
_TALL: Final = 230.0
_SCALE: Final = 48.0
_FRAME: Final = _HALF + _SCALE + 8
"""Both pictures of a pair are of one size, so that they stand level side by side."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a bar: its style, how large it is, and what is written beside it."""

    name: str
    number: int
    words: str
    detail: str


def share_bar(pieces: Sequence[Piece]) -> Markup:
    """One bar for all places, by what is said of them, in order."""
    total = max(1, sum(one.number for one in pieces))
    body, labels, at = [], [], 0.0
    for one in pieces:
        wide = _WIDE * one.number / total
        if one.number:
            body.append(
                f'<rect class="{one.name}" x="{at:.1f}" y="0" width="{max(wide - 2, 1):.1f}" height="54"/>'
            )
        at += wide
    for column, one in enumerate(pieces):
        x = column * _WIDE / len(pieces)
        labels.append(
            f'<rect class="{one.name}" x="{x:.0f}" y="76" width="14" height="14"/>'
            f'<text class="strong" x="{x + 22:.0f}" y="88">{escape(one.words)}</text>'
            f'<text class="soft" x="{x + 22:.0f}" y="108">{escape(one.detail)}</text>'
        )
    title = "; ".join(f"{one.words}: {one.detail}" for one in pieces)
    return _svg(_WIDE, 116, title, "".join(body + labels))


def histogram(
    bars: Sequence[int], threshold: int | None, *, last_is_more: bool, title: str, most_words: str
) -> Markup:
    """How many places have each published upper bound; bars within the threshold are filled."""
    most, gap = max([1, *bars]), _FRAME / len(bars)
    wide = max(2.0, min(26.0, gap - 4))
    every = max(1, len(bars) // 11)
    body = [f'<line class="line" x1="0" y1="{_TALL}" x2="{_FRAME}" y2="{_TALL}"/>']
    for bound, number in enumerate(bars):
        x = (bound + 0.5) * gap
        tall = (_TALL - 20) * number / most
        inside = (
            threshold is not None and bound <= threshold and not (last_is_more and bound == len(bars) - 1)
        )
        name = "at-most" if inside else "unclear"
        if number:
            body.append(
                f'<rect class="{name}" x="{x - wide / 2:.1f}" y="{_TALL - max(tall, 1.5):.1f}" '
                f'width="{wide:.1f}" height="{max(tall, 1.5):.1f}"><title>{number:,}</title></rect>'
            )
        if bound % every == 0 or bound == len(bars) - 1:
            more = last_is_more and bound == len(bars) - 1
            body.append(
                f'<text class="soft" x="{x:.1f}" y="{_TALL + 18}" text-anchor="middle">{bound}'
                f"{'+' if more else ''}</text>"
            )
    body.append(f'<text class="soft" x="0" y="12">{escape(most_words)}</text>')
    return _svg(_FRAME, _TALL + 26, title, "".join(body))


def curve(chances: Mapping[int, float], threshold: int, *, title: str, limit: str) -> Markup:
    """The chance of "at most" by the true number of visitors; it ends, at zero, right of the threshold."""
    gap = _HALF / max(1, *chances)
    body = [
        f'<line class="line" x1="0" y1="{_height(level):.1f}" x2="{_HALF}" y2="{_height(level):.1f}"/>'
        f'<text class="soft" x="-8" y="{_height(level) + 4:.1f}" text-anchor="end">{level:.0%}</text>'
        for level in (0.0, 0.5, 1.0)
    ]
    counts = sorted(chances)
    told = [
        count
        for count in counts
        if count in (threshold, counts[-1]) or min(abs(threshold - count), counts[-1] - count) * gap >= _APART
    ]
    for count, chance in chances.items():
        x, y = count * gap, _height(chance)
        body.append(
            f'<line class="curve" x1="{x:.1f}" y1="{_height(0):.1f}" x2="{x:.1f}" y2="{y:.1f}"/>'
            f'<circle class="at-most" cx="{x:.1f}" cy="{y:.1f}" r="5">'
            f"<title>{_chance(chance)}</title></circle>"
        )
        if count in told:
            label = f'<text class="soft" x="{x:.1f}" y="{_TALL + 18}" text-anchor="middle">{count}</text>'
            body.append(label)
    rule = (threshold + 0.5) * gap
    side = 'x="{:.1f}" y="10" text-anchor="end"' if rule > _HALF / 2 else 'x="{:.1f}" y="16"'
    body.append(
        f'<line class="rule" x1="{rule:.1f}" y1="4" x2="{rule:.1f}" y2="{_TALL}"/>'
        f'<text class="strong" {side.format(rule + (-8 if rule > _HALF / 2 else 8))}>{escape(limit)}</text>'
    )
    inner = f'<g transform="translate({_SCALE:.0f} 0)">{"".join(body)}</g>'
    return _svg(_FRAME, _TALL + 26, title, inner)


def _chance(share: float) -> str:
    """Rounded down: an answer is never shown as more certain than it is."""
    return f"{max(0, math.floor((share - FLOAT_ERROR) * 1000)) / 1000:.3f}"


def _height(share: float) -> float:
    return _TALL - (_TALL - 20) * share


def _svg(wide: float, tall: float, title: str, body: str) -> Markup:
    label = escape(title)
    return Markup(
        f'<svg viewBox="0 0 {wide:.0f} {tall:.0f}" role="img" aria-label="{label}"><title>{label}</title>'
        f"{body}</svg>"
    )
