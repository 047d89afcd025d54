"""A picture of a release's map: `python -m tests.browser.screenshot RELEASE OUT.png --window 18`.

RELEASE is a directory that `safeside publish` wrote. The README's picture is one of `make demo`:

    make demo && .venv/bin/python -m tests.browser.screenshot demo/release docs/images/map.png --window 18

The page believes that it is two days after the moment it speaks from: the picture is the same every day.
"""

from __future__ import annotations

import argparse
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from tests.browser.conftest import ARGUMENTS

from safeside.releases.release import load_release


def settle(page: Page, window: int | None) -> None:
    """The map painted, at the hour that is wanted."""
    page.wait_for_selector("#map[data-painted]")
    if window is not None:
        page.focus("#hour")
        page.keyboard.press("Home")
        for _ in range(window):
            page.keyboard.press("ArrowRight")
        page.evaluate("document.activeElement.blur()")
    page.clock.run_for(1_000)


def main() -> None:
    """Open the page, wait until it is painted, and keep what is seen, in few colours."""
    parser = argparse.ArgumentParser(description="A picture of a release's map.")
    parser.add_argument("release", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--window", type=int, help="which window, from 0; the middle one if it is left out")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=800)
    asked = parser.parse_args()
    known = datetime.fromisoformat(load_release(asked.release).manifest["known_on"])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": asked.width, "height": asked.height},
            device_scale_factor=1.5,
            color_scheme=asked.theme,
        )
        page.clock.install(time=known + timedelta(days=2))
        page.goto((asked.release / "map.html").resolve().as_uri())
        settle(page, asked.window)
        page.screenshot(path=asked.out)
        browser.close()
    with Image.open(asked.out) as picture:
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(asked.out, optimize=True)


if __name__ == "__main__":
    main()
