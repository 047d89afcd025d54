"""Messages about places that leave no room to be elsewhere."""

from __future__ import annotations

import h3
import polars as pl
from tests.messages.visits_acts import FIX, Act, Said, listed
from tests.visits.making import DAY, check_visits, count_visits

from safeside.errors import NowhereElse
from safeside.visits import VisitFormat, read_places

ROOM = (
    "List public venues only, so that everybody could have been at none of them. If it is a venue that is"
    " called so, say there what it is, as in Home (café)."
)
CODES = (
    "List public venues instead. If these are identifiers of venues that only look like it,"
    " add the columns latitude and longitude, which show it."
)
STREETS = pl.DataFrame(
    {
        "place": [f"shop{number:02}" for number in range(81)],
        "latitude": [35.68 + number % 9 / 400 + number / 10**7 for number in range(81)],
        "longitude": [139.76 + number // 9 / 331 + number / 10**7 for number in range(81)],
    }
)
"""Shops some 275 m apart, in nine streets."""


def by_radius(metres: float) -> Act:
    return lambda _: count_visits(FIX, read_places(STREETS), DAY, VisitFormat(hold="1h", radius=metres))


def by_cells(resolution: int) -> Act:
    return lambda _: check_visits(
        FIX, read_places(STREETS), DAY, VisitFormat(hold="1h", h3_resolution=resolution)
    )


SAID: Said = {
    "homes": (
        listed(place=["a"], kind=["home"]),
        NowhereElse,
        "The list of places contains people's homes (kind: home): homes are never targets.",
        ROOM,
    ),
    "the rest": (
        listed(place=["a", "elsewhere"]),
        NowhereElse,
        "The list of places contains the rest of the world (place: elsewhere):"
        " a bucket for it leaves no room.",
        ROOM,
    ),
    "areas": (
        listed(place=["a"], kind=["District"]),
        NowhereElse,
        "The list of places contains areas that tile a map (kind: District):"
        " whoever is nowhere is in an area.",
        ROOM,
    ),
    "cells": (
        listed(place=list(h3.grid_disk(h3.latlng_to_cell(35.0, 139.0, 9), 1))),
        NowhereElse,
        "The places are H3 cells that close around each other and cover an area.",
        "List public venues instead, and find their visitors by the cells around them (`h3_resolution=`).",
    ),
    "geohashes": (
        listed(place=[f"xn76u{letter}" for letter in "0123456789bcdefghjkmnpqrstuvwxyz"]),
        NowhereElse,
        "The places look like geohashes that close around each other and cover an area.",
        CODES,
    ),
    "mesh codes": (
        listed(place=[f"533945{number:02}" for number in range(100)]),
        NowhereElse,
        "The places look like Japanese mesh codes that close around each other and cover an area.",
        CODES,
    ),
    "a lattice": (
        listed(
            place=[f"c{n}" for n in range(9)],
            latitude=[n // 3 for n in range(9)],
            longitude=[n % 3 for n in range(9)],
        ),
        NowhereElse,
        "The places lie on a lattice of points that close around each other, as cells that cover an area do.",
        "List public venues instead, and find their visitors by a radius around them (`radius=`).",
    ),
    "a radius that covers": (
        by_radius(220),
        NowhereElse,
        "Around the place 'shop40', 100 % of the ground within a kilometre is within 220 m of a place on the"
        " list: whoever lives there could hardly have been at none of them.",
        "Declare a radius of at most 150 m, or list fewer places: a tenth of the ground around each must be"
        " free.",
    ),
    "cells that cover": (
        by_cells(9),
        NowhereElse,
        "Around the place 'shop61', 91.8 % of the ground within a kilometre is in an H3 cell (resolution 9)"
        " of a place on the list: whoever lives there could hardly have been at none of them.",
        "Declare smaller cells (a higher resolution), or list fewer places: a tenth of the ground around each"
        " must be free.",
    ),
}
