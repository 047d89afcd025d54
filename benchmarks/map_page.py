"""map.html of a day of 24 hours at 5,835 places: how long it takes to open in Chromium, and how large it is.

    python -m benchmarks.map_page [--places 5835] [--turns 5]

The release is a simulation by selection on the public popularity of the synthetic city. A turn is a new
window, from opening the file to the first painted map. It ends with an error if the
median or the size is too large.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright
from tests.browser.cities import day
from tests.browser.conftest import ARGUMENTS

MOST_SECONDS = 2.0
MOST_BYTES = 6_000_000


def opened(browser: Browser, page: Path) -> float:
    """Seconds until the map is painted, in a window that has seen nothing before."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    window = context.new_page()
    began = time.perf_counter()
    window.goto(page.as_uri())
    window.wait_for_selector("#map[data-painted]")
    took = time.perf_counter() - began
    context.close()
    return took


def main() -> int:
    """1 if the page opens too slowly or is too large."""
    parser = argparse.ArgumentParser(description="Opening the map of a day.")
    parser.add_argument("--places", type=int, default=5_835)
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args()
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        page = day(asked.places, Path(directory) / "out").map
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        opened(browser, page)
        seconds = statistics.median(opened(browser, page) for _ in range(asked.turns))
        browser.close()
        size = page.stat().st_size
    met = seconds <= MOST_SECONDS and size <= MOST_BYTES
    print(
        f"{24 * asked.places:,} conditions: opened in {seconds:.2f} s (at most {MOST_SECONDS:.0f} s), "
        f"{size / 1e6:.2f} MB (at most {MOST_BYTES / 1e6:.0f} MB): {'met' if met else 'MISSED'}"
    )
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
