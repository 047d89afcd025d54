"""A synthetic county: its schools (public), and its pupils with their vaccinations (private).

The same on every machine: whole-number arithmetic on a fixed stream. Most schools have a few unvaccinated
pupils, some have many, as in places where families who refuse live close to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from safeside.errors import BadQuestion, CannotWrite
from safeside.exact import whole
from safeside_studies.city.dice import Dice, Whole

_REGIONS: Final = ("North", "East", "South", "West", "Centre")
_KINDS: Final = (("Primary School", 5, 11), ("Middle School", 11, 14), ("High School", 14, 18))
_NAMES: Final = (
    *("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ivy", "Juniper"),
    *("Larch", "Maple", "Oak", "Pine", "Rowan", "Spruce", "Tulip", "Walnut", "Willow", "Yew"),
)
_STREETS: Final = ("Hill", "Park", "Road", "Lake", "Bridge", "Field", "Grove", "Mill", "Square", "Valley")
_REFUSING: Final = (8, 12, 18, 22, 26, 30, 36, 42, 55, 80, 140, 240)
"""Unvaccinated pupils in a thousand, by group of schools; each is as likely as the others."""
_MOST: Final = 100_000


@dataclass(frozen=True, kw_only=True)
class County:
    """Every pupil: the school, the age, and how many doses (0, 1 or 2)."""

    sizes: Whole
    school: Whole
    age: Whole
    doses: Whole

    @property
    def unvaccinated(self) -> Whole:
        """How many pupils of each school have no dose."""
        found: Whole = np.bincount(self.school[self.doses == 0], minlength=self.sizes.size).astype(np.int64)
        return found


def county(schools: int = 1_200, seed: int = 1) -> County:
    """A county of so many schools."""
    number = whole(schools, "the number of schools", least=1)
    if number > _MOST:
        raise BadQuestion(f"A county has at most {_MOST:,} schools.", "Ask for fewer.")
    # Small schools are many, large ones few: the smaller of two throws, and a few hundred in the middle.
    sizes = 60 + np.minimum(Dice(seed, 1).below(900, number), Dice(seed, 2).below(900, number))
    school = np.repeat(np.arange(number), sizes)
    kinds = np.array([(first, last) for _, first, last in _KINDS])[_kind(number)]
    first, last = (kinds[school, side] for side in (0, 1))
    refusing = np.array(_REFUSING)[Dice(seed, 3).below(len(_REFUSING), number)]
    none = Dice(seed, 4).chance(refusing[school], school.size)
    one = Dice(seed, 5).chance(40, school.size)
    return County(
        sizes=sizes,
        school=school,
        age=first + Dice(seed, 6).below(last - first, school.size),
        doses=np.where(none, 0, np.where(one, 1, 2)),
    )


def _kind(number: int) -> Whole:
    """Of ten schools six are primary, two middle and two high schools."""
    return np.array([0, 0, 0, 1, 0, 0, 2, 0, 1, 2])[np.arange(number) % 10]


@dataclass(frozen=True, kw_only=True)
class CountyFiles:
    """What was written."""

    pupils: Path
    schools: Path
    county: County


def generate(directory: Path, *, schools: int = 1_200, seed: int = 1, overwrite: bool = False) -> CountyFiles:
    """Write `pupils.csv` (private: person, group, age, mmr) and `schools.csv` (public, with sizes)."""
    made = county(schools, seed)
    files = CountyFiles(pupils=directory / "pupils.csv", schools=directory / "schools.csv", county=made)
    for path in (files.pupils, files.schools):
        if path.exists() and not overwrite:
            raise CannotWrite(
                f"{path} exists already.",
                "Choose another directory, or add `overwrite=True` to replace the county.",
            )
    ids = pl.Series(np.arange(1, made.sizes.size + 1)).cast(pl.String).str.zfill(5)
    order = Dice(seed, 7).shuffled(made.school.size)
    people = pl.Series(np.arange(1, order.size + 1)).cast(pl.String).str.zfill(7)
    pupils = pl.DataFrame(
        {
            "person": ("p" + people),
            "group": ("s" + ids).gather(made.school[order]),
            "age": made.age[order],
            "mmr": made.doses[order],
        }
    )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        pupils.write_csv(files.pupils)
        _schools(made, "s" + ids, seed).write_csv(files.schools)
    except OSError as error:
        raise CannotWrite(
            f"The county cannot be written to {directory}: {error.strerror}.",
            "Choose a directory that can be written and has room.",
        ) from error
    return files


def _schools(made: County, ids: pl.Series, seed: int) -> pl.DataFrame:
    number = made.sizes.size
    kinds, trees = _kind(number), Dice(seed, 8).below(len(_NAMES), number)
    streets, region = Dice(seed, 9).below(len(_STREETS), number), Dice(seed, 10).below(len(_REGIONS), number)
    names = [
        f"{_NAMES[tree]} {_STREETS[street]} {_KINDS[kind][0]} {place + 1}"
        for place, (tree, street, kind) in enumerate(zip(trees, streets, kinds, strict=True))
    ]
    return pl.DataFrame(
        {
            "group": ids,
            "name": names,
            "size": made.sizes,
            "region": [_REGIONS[one] for one in region],
        }
    )
