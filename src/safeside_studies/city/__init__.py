"""A synthetic city: people, places and a week of stays, the same for one seed on every machine.

The data of the paper need an application, and real movement data may not be shipped. This city stands in
for them: it is calibrated (docs/city.md) so that the figures the paper prints about its data hold here too.
"""

from __future__ import annotations

from safeside_studies.city.describe import Figures, describe
from safeside_studies.city.files import CityFiles, generate
from safeside_studies.city.people import FIRST_DAY, ZONE, City
from safeside_studies.city.venues import KINDS, Venues, found

__all__ = [
    "FIRST_DAY",
    "KINDS",
    "ZONE",
    "City",
    "CityFiles",
    "Figures",
    "Venues",
    "describe",
    "found",
    "generate",
]
