"""Publishing about places, audited: every method, and what one person may change in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from safeside import exact
from safeside.audit import published_long
from safeside.audit.case import Case, Check
from safeside.audit.published import AT_A, AT_B, AT_BOTH, NOBODY, Way, exactly
from safeside.audit.published_long import BORDER, long_list
from safeside.audit.published_recorded import recorded
from safeside.audit.published_source import only_from_the_system, published_from_the_system
from safeside.audit.publishing import HOURS, LATER, STEADY, Scripted
from safeside.errors import LimitBroken

TWO_HOURS: Final[Mapping[str, Any]] = {"when": HOURS["when"]}
"""An interval, in which one person may be at several places."""
TWO_PLACES_A_PERSON: Final[Mapping[str, Any]] = {"max_places_per_person": 2}
"""A limit that the dataset is made with."""
_HALF: Final = Fraction(1, 2)
_AT_A_LATER: Final = frozenset({"A" + LATER})
_SEVERAL_PLACES: Final = (
    ((AT_BOTH, AT_B), (NOBODY, AT_B)),
    ((AT_BOTH, NOBODY), (AT_A, NOBODY)),
    ((AT_A, AT_A), (NOBODY, AT_A)),
)
_SEVERAL_HOURS: Final = (((AT_A, AT_B), (NOBODY, AT_B)), ((AT_A, AT_B), (_AT_A_LATER, AT_B)))


def _keys(order: Sequence[int]) -> tuple[int, ...]:
    """Eight random keys for each place; the last decides, and the smallest is asked first."""
    return (0,) * (7 * len(order)) + tuple(order)


ORDERS: Final = (_keys((0, 1, 2)), _keys((1, 0, 2)))
"""Both orders of A and B; the steady place, whose answer never changes, comes last."""
COUNTS: Final = Way(name="counts", terms={"epsilon": 1}, shows_noise=True)
SPARSE: Final = Way(
    name="sparse, by popularity", terms={"epsilon": 1, "max_alarms": 1, "order": "popularity"}, limits=(1, 1)
)
RANDOM: Final = Way(
    name="sparse, random order", terms={"epsilon": 1, "max_alarms": 1, "order": "random"}, orders=ORDERS
)
A_THIRD: Final = Way(
    name="counts, a third", terms={"epsilon": "1/3"}, epsilon=Fraction(1, 3), shows_noise=True
)
AT_LEAST: Final = Way(
    name="counts, at least",
    terms={"epsilon": 1, "at_least": 2, "alpha": "0.3"},
    highest=3,
    shows_noise=True,
)
TWO_PLACES: Final = Way(
    name="counts, two places a person",
    terms={"epsilon": 1, **TWO_HOURS, **TWO_PLACES_A_PERSON},
    each=_HALF,
    pairs=_SEVERAL_PLACES,
    of_dataset=TWO_PLACES_A_PERSON,
    shows_noise=True,
)
TWO_WINDOWS: Final = Way(
    name="counts, two hours",
    terms={"epsilon": 1, **HOURS, **TWO_PLACES_A_PERSON},
    each=_HALF,
    highest=1,
    pairs=_SEVERAL_HOURS,
    of_dataset=TWO_PLACES_A_PERSON,
    shows_noise=True,
)
TWO_ALARMS: Final = Way(
    name="sparse, two alarms",
    terms={"epsilon": 1, "max_alarms": 2, "order": "popularity", **TWO_HOURS},
    each=_HALF,
    pairs=_SEVERAL_PLACES,
)
MORE_ALARMS: Final = Way(
    name="sparse, more alarms than places a person",
    terms={"epsilon": 1, "max_alarms": 3, "order": "popularity", **TWO_HOURS, **TWO_PLACES_A_PERSON},
    each=_HALF,
    pairs=_SEVERAL_PLACES,
    of_dataset=TWO_PLACES_A_PERSON,
)
WAYS: Final = (
    COUNTS,
    A_THIRD,
    AT_LEAST,
    TWO_PLACES,
    TWO_WINDOWS,
    SPARSE,
    RANDOM,
    TWO_ALARMS,
    MORE_ALARMS,
)
SELECTION: Final = Way(
    name="selection",
    terms={"epsilon": 1, "method": "selection"},
    # So high that neighbours are often told the same of some places.
    limits=(4, 3),
)
RECORDED: Final = (
    *WAYS,
    Way(
        name="counts, a public number of people",
        terms={"epsilon": "1/20", "people": 20, "at_least": 3, "alpha": "0.3", "publish_at_least": True},
        of_dataset={"people": 20},
    ),
    Way(name="padded", terms={"epsilon": 1, "guarantee": "dp", "delta": "0.01"}),
    Way(
        name="padded, two places a person",
        terms={"epsilon": 1, "guarantee": "dp", "delta": "0.01", **TWO_HOURS, **TWO_PLACES_A_PERSON},
        pairs=_SEVERAL_PLACES,
        of_dataset=TWO_PLACES_A_PERSON,
    ),
    Way(
        name="decision",
        terms={"epsilon": 1, "guarantee": "dp", "delta": "0.01", "decision": True},
        # Places as far from their thresholds are drawn together: the counts settle who gets which number.
        own_numbers=False,
    ),
    SELECTION,
    Way(name="selection, two hours", terms={**SELECTION.terms, **HOURS}, limits=(4, 3), pairs=_SEVERAL_HOURS),
)
"""Every method there is, in every setting in which one person may change something else."""


def places() -> Iterator[Case | Check]:
    """Every row about places, and about where the randomness comes from."""
    for way in WAYS:
        setting = f"eps = {exact.show(way.epsilon)}; {way.name}: every transcript through publish and ledger"
        yield Case(name="published", setting=setting, tight=True, run=partial(exactly, way))
    for way in RECORDED:
        setting = f"{way.name}: the same randomness on neighbours"
        yield Check(name="published", setting=setting, run=partial(recorded, way))
    for name in published_long.WAYS:
        for number in (BORDER, BORDER + 1):
            setting = f"{name}: {number:,} places, thresholds and noise that differ"
            yield Check(name="published", setting=setting, run=partial(long_list, number, name))
    yield Check(name="published", setting="somebody beyond the limit: the price stays charged", run=stopped)
    setting = "the system's source, with every environment variable set"
    yield Check(name="entropy", setting=setting, run=only_from_the_system)
    setting = "publish by itself, with every variable of its own set"
    yield Check(name="published", setting=setting, run=published_from_the_system)


def stopped() -> str | None:
    """A release that stops at a limit is charged in full: that it stopped tells something."""
    with TWO_PLACES.desk() as table:
        try:
            table.publish((frozenset({"A", "B", STEADY}),), Scripted(), TWO_PLACES.terms)
        except LimitBroken:
            charged = table.charged().epsilon
            return None if charged == TWO_PLACES.epsilon else f"a stop is charged {exact.show(charged)}"
    return "a release is published although somebody is at more places than the limit"
