"""What a page painted on its map: every text and every mark, with the box it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

RECORD = """
  const brush = CanvasRenderingContext2D.prototype, painted = (window.painted = { texts: [], marks: [] });
  const ours = (pen) => pen.canvas.id === "map";
  const wrap = (name, note) => {
    const before = brush[name];
    brush[name] = function (...given) {
      if (ours(this)) note(this, given);
      return before.apply(this, given);
    };
  };
  wrap("fillRect", (pen, [x, y, wide, high]) => {
    if (x === 0 && y === 0 && wide > 100) { painted.texts = []; painted.marks = []; }
  });
  wrap("fillText", (pen, [text, x, y]) => {
    const wide = pen.measureText(text).width, high = parseInt(pen.font.match(/(\\\\d+)px/)[1], 10);
    painted.texts.push([text, x - wide / 2, y - high / 2, x + wide / 2, y + high / 2]);
  });
  wrap("roundRect", (pen, [x, y, wide, high]) => { painted.marks.push([x, y, x + wide, y + high]); });
  wrap("drawImage", (pen, [sheet, x, y, wide, high]) => {
    const [cx, cy] = [x + wide / 2, y + high / 2], r = (wide - 3) / 3; // a stamp is larger than its mark
    painted.marks.push([cx - r, cy - r, cx + r, cy + r]);
  });
""".replace("\\\\", "\\")
"""Runs before the page's own script."""


@dataclass(frozen=True)
class Box:
    """Pixels of the map."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide > 0.5 and high > 0.5


def texts(page: Page) -> list[tuple[str, Box]]:
    """Every text of the last painting."""
    listed: list[list[Any]] = page.evaluate("window.painted.texts")
    return [(text, Box(*box)) for text, *box in listed]


def marks(page: Page) -> list[Box]:
    """Every mark of the last painting."""
    return [Box(*box) for box in page.evaluate("window.painted.marks")]
