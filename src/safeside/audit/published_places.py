"""Publishing about places, audited: every method, and what one person may change in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Final

from safeside import exact
from safeside.audit import published_long
from safeside.audit.case import Case, Check
from safeside.audit.published import AT_A, AT_B, AT_BOTH, NOBODY, Way, exactly, too_bold
from safeside.audit.published_groups import GROUPED
from safeside.audit.published_long import BORDER, long_list
from safeside.audit.published_recorded import recorded
from safeside.audit.published_source import DRAWN, only_from_the_system, published_from_the_system
from safeside.audit.publishing import HOURS, LATER, STEADY, TWO_HOURS, TWO_PLACES_A_PERSON, Scripted
from safeside.errors import OverBudget, SafesideError

_HALF: Final = Fraction(1, 2)
_FEW: Final = 60
_AT_A_LATER: Final = frozenset({"A" + LATER})
_SEVERAL_PLACES: Final = (
    ((AT_BOTH, AT_B), (NOBODY, AT_B)),
    ((AT_BOTH, NOBODY), (AT_A, NOBODY)),
    ((AT_A, AT_A), (NOBODY, AT_A)),
)
_SEVERAL_HOURS: Final = (((AT_A, AT_B), (NOBODY, AT_B)), ((AT_A, AT_B), (_AT_A_LATER, AT_B)))
_EVERYWHERE: Final = {"max_places_per_person": 4}
"""Two places in each of two hours."""
_AT_BOTH_LATER: Final = frozenset({"A" + LATER, "B" + LATER})


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
    name="counts, two places in two hours",
    terms={"epsilon": 1, **HOURS, **_EVERYWHERE},
    each=Fraction(1, 4),
    highest=1,
    pairs=(((AT_BOTH, NOBODY), (NOBODY, NOBODY)), ((AT_BOTH, NOBODY), (_AT_BOTH_LATER, NOBODY))),
    of_dataset=_EVERYWHERE,
    shows_noise=True,
)
PUBLIC_NUMBER: Final = Way(
    name="counts, a public number of people",
    terms={"epsilon": "1/20", "people": 20, "at_least": 3, "alpha": "0.3", "publish_at_least": True},
    epsilon=Fraction(1, 20),
    of_dataset={"people": 20},
)
LEFT_OUT: Final = Way(
    name="counts, places that are not listed left out",
    terms={"epsilon": 1, "exclude_unknown_places": True},
    pairs=(((AT_A, AT_A), (frozenset({"X"}), AT_A)),),
)
ALL_AT_ONCE: Final = Way(
    name="counts, at least of any place in two hours, a public number of people",
    terms={
        **{"epsilon": 2, "at_least": 2, "alpha": "0.6", "publish_at_least": True, "people": 20},
        **HOURS,
        **TWO_PLACES_A_PERSON,
    },
    epsilon=Fraction(2),
    each=Fraction(1),
    pairs=_SEVERAL_HOURS,
    of_dataset={"people": 20, **TWO_PLACES_A_PERSON},
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
ALARMS_IN_TWO_HOURS: Final = Way(
    name="sparse, two hours",
    terms={"epsilon": 1, "max_alarms": 2, "order": "popularity", **HOURS},
    each=_HALF,
    highest=1,
    pairs=(((AT_A, AT_B), (AT_A, NOBODY)), ((AT_A, AT_B), (NOBODY, AT_B))),
    by_place=True,
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
    ALARMS_IN_TWO_HOURS,
)
SELECTION: Final = Way(
    name="selection",
    terms={"epsilon": 1, "method": "selection"},
    # So high that neighbours are often told the same of some places.
    limits=(4, 3),
)
RECORDED: Final = (
    *WAYS,
    PUBLIC_NUMBER,
    ALL_AT_ONCE,
    LEFT_OUT,
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
        for number, hours in ((BORDER, 1), (2 * BORDER - 1, 1), (_FEW, 2)):
            listed = f"{number:,} places{', two hours' if hours > 1 else ''}"
            setting = f"{name}: {listed}, thresholds and noise that differ"
            yield Check(name="published", setting=setting, run=partial(long_list, number, name, hours))
    for way in (AT_LEAST, ALL_AT_ONCE):
        setting = f"{way.name}: the most noise that the error rate allows for"
        yield Check(name="published", setting=setting, run=partial(too_bold, way))
    yield Check(name="published", setting="whoever breaks a limit: the price stays charged", run=stopped)
    yield Check(name="published", setting="a price beyond the caps is refused", run=beyond_the_caps)
    setting = "the system's source, with every environment variable set"
    yield Check(name="entropy", setting=setting, run=only_from_the_system)
    for name, terms in DRAWN.items():
        setting = f"{name}: publish by itself, with every variable of its own set"
        yield Check(name="published", setting=setting, run=partial(published_from_the_system, terms))


_AT_THREE: Final = frozenset({"A", "B", STEADY})
STOPPED: Final = (
    (COUNTS, (AT_BOTH,)),
    (SPARSE, (AT_BOTH,)),
    (TWO_PLACES, (_AT_THREE,)),
    (MORE_ALARMS, (_AT_THREE,)),
    (TWO_WINDOWS, (_AT_THREE,)),
    (PUBLIC_NUMBER, (AT_A,) * 21),
    (GROUPED[-1], (frozenset({"A0"}),) * 4),
)
"""Ways to publish, and a dataset in which somebody, or how many there are, breaks the limit."""


def stopped() -> str | None:
    """A release that stops at a limit is charged in full: that it stopped tells something."""
    for way, dataset in STOPPED:
        with way.desk() as table:
            try:
                table.publish(dataset, Scripted(), way.terms)
            except SafesideError:
                charged = table.charged().epsilon
                if charged != way.epsilon:
                    return f"{way.name}: a stop is charged {exact.show(charged)}"
                continue
        return f"{way.name}: a release is published although its limit is broken"
    return None


def beyond_the_caps() -> str | None:
    """Neither epsilon nor delta is spent beyond what the dataset was made with."""
    with COUNTS.desk() as table:
        for terms in ({"epsilon": 101}, {"epsilon": 1, "guarantee": "dp", "delta": "3/4"}):
            with suppress(OverBudget):
                table.publish((AT_A,), Scripted(), terms)
                return f"a release is published that costs more than there is: {terms}"
    return None
