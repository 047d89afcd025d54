"""The screenshot in the README: `python -m tests.browser.screenshot CITY OUT.png`.

CITY is a directory that `safeside generate` wrote. The release is a simulation drawn on its true counts, and
the page is then rendered as the release it would be, so that the picture shows no watermark of a simulation
that readers of a real map never see.
"""

from __future__ import annotations

import json
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import polars as pl
from PIL import Image
from playwright.sync_api import sync_playwright
from tests.browser.conftest import ARGUMENTS

from safeside.privacy.account import promise
from safeside.releases import map_page
from safeside.releases.simulate import simulate
from safeside.visits import read_places
from safeside_studies.city.geography import LINES, RING, degrees, stations

WHEN = "2013-12-22T18:00"
ZONE = "Asia/Tokyo"
KNOWN = datetime(2013, 12, 28, 0, tzinfo=UTC)
FAR = 26_000


def point(east: float, north: float) -> list[float]:
    """Longitude and latitude of a point in metres from the centre."""
    latitude, longitude = degrees(np.array([int(east)]), np.array([int(north)]))
    return [longitude[0] / 1e6, latitude[0] / 1e6]


def backdrop() -> dict[str, Any]:
    """The bay, the ring line and the radial lines of the synthetic city."""
    shore = [point(1000 + step, -2500 - 14_000_000 / step) for step in range(600, FAR, 400)]
    bay = [*shore, point(FAR + 1000, -FAR), point(1600, -FAR), shore[0]]
    centre, *others = [point(*station) for station in stations()]
    ring, outer = others[:RING], others[RING:]
    each = len(outer) // len(LINES)
    lines = [[*ring, ring[0]]]
    lines += [[centre, *outer[start : start + each]] for start in range(0, len(outer), each)]
    return {
        "type": "FeatureCollection",
        "features": [
            _feature("water", {"type": "Polygon", "coordinates": [bay]}),
            *[_feature("road", {"type": "LineString", "coordinates": line}) for line in lines],
        ],
    }


def _feature(kind: str, shape: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "properties": {"kind": kind}, "geometry": shape}


def counted(city: Path) -> dict[str, int]:
    """The true number of people at each place at the moment of the picture."""
    moment = pl.lit(WHEN).str.to_datetime().dt.replace_time_zone(ZONE)
    there = pl.scan_parquet(city / "visits.parquet").filter(
        (pl.col("start") <= moment) & (moment < pl.col("end"))
    )
    people = there.group_by("place").agg(pl.col("person").n_unique()).collect()
    zero = dict.fromkeys(read_places(city / "places.csv").ids, 0)
    return zero | {place: n for place, n in people.iter_rows() if place in zero}


def page(city: Path) -> Path:
    """The map of the city, as a release would show it."""
    directory = Path(mkdtemp())
    release = simulate(
        counted(city),
        epsilon=1,
        at_most=2,
        out=directory / "out",
        places=city / "places.csv",
        when=WHEN,
        timezone=ZONE,
        known_on=KNOWN,
    )
    shown = json.loads(json.dumps(release.manifest))
    shown["simulated"] = False
    shown["guarantee"]["promise"] = [promise(3)]
    html = map_page.render(shown, release.answers, read_places(city / "places.csv"), backdrop())
    (directory / "map.html").write_bytes(html)
    return directory / "map.html"


def main(city: str, out: str) -> None:
    """Open the page, wait until it is painted, and keep what is seen, in few colours."""
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        window = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=1.5)
        window.clock.install(time=KNOWN + timedelta(days=2))
        window.goto(page(Path(city)).as_uri())
        window.wait_for_selector("#map[data-painted]")
        window.clock.run_for(1000)
        window.screenshot(path=out)
        browser.close()
    with Image.open(out) as picture:
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(out, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
