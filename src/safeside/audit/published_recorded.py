"""The same recorded randomness on neighbouring datasets, through the real `publish`.

Whatever is published beside the answers must be the same for both; answers may differ only as the counts do;
and every file must be what answers and question give by themselves, made again when the other dataset has
been published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from safeside.audit.published import Way
from safeside.audit.publishing import Condition, Made, Scripted
from safeside.audit.short_text import show_pair

_ENOUGH: Final = 2
"""So many runs of each pair, and in all so many with answers that can be compared."""
_MOST_SEEDS: Final = 40
"""Among these are runs with such answers, or the row is of no use, and says so."""
_NOT_ASKED: Final = "NOT_ASKED"


def recorded(way: Way) -> str | None:
    """What is wrong, if something is."""
    compared = 0
    with way.desk() as table:
        places = table.places(way.terms)
        for seed in range(1, _MOST_SEEDS + 1):
            for left, right in way.pairs:
                sources = Scripted(seed=seed), Scripted(seed=seed)
                one = table.publish(left, sources[0], way.terms)
                two = table.publish(right, sources[1], way.terms)
                wrong = way.false_answer(left, one) or way.false_answer(right, two) or _choices(one, two)
                wrong = wrong or one.other_than_follows(places) or two.other_than_follows(places)
                after = way.counts(right)
                falls = {condition: n - after[condition] for condition, n in way.counts(left).items()}
                found = [*compared_answers(way, one, two, falls)]
                if found and one.outcome() and sources[0].taken != sources[1].taken:
                    wrong = wrong or "how much randomness is taken depends on the data"
                wrong = wrong or next((one for one in found if one), None)
                if wrong:
                    return f"{wrong}; {show_pair((left, right))}"
                compared += bool(found) or not way.own_numbers
            if min(seed, compared) >= _ENOUGH:
                return None
    return "no two answers could be compared"


def _choices(one: Made, two: Made) -> str | None:
    """Whatever is published beside the answers must not depend on the data."""
    for name in ("order.csv", "forecast.csv"):
        if one.files.get(name) != two.files.get(name):
            return f"{name} depends on the data"
    if one.files.keys() != two.files.keys():
        return "which files there are depends on the data"
    written = [json.loads(made.files["release.json"]) for made in (one, two)]
    for record in written:
        del record["answers"], record["files"]
        # An output of the draw, as the answers are.
        record.pop("outcome", None)
    return None if written[0] == written[1] else "release.json depends on the data beyond its answers"


def compared_answers(way: Way, one: Made, two: Made, falls: Mapping[Condition, int]) -> Iterator[str | None]:
    """What is wrong with each answer that can be compared, or None."""
    if not way.own_numbers:
        return
    if not one.outcome():
        yield from _moved(one.answers(), two.answers(), falls)
    elif one.outcome() == two.outcome():
        yield from _grown(way.claims(one), way.claims(two), falls)


def _moved(
    here: Mapping[Condition, Any], there: Mapping[Condition, Any], falls: Mapping[Condition, int]
) -> Iterator[str | None]:
    """Where a count is the same so is the answer; where it fell, the bound fell by no more."""
    for condition, (state, upper) in here.items():
        other_state, other = there[condition]
        fell, place = falls[condition], condition[0]
        if _NOT_ASKED in (state, other_state):
            continue
        if fell == 0:
            same = (state, upper) == (other_state, other)
            yield None if same else f"the answer at {place} changes although its count does not"
        elif upper is not None and other is not None:
            moves = upper - fell <= other <= upper
            yield None if moves else f"the bound at {place} moves by other than its count"


def _grown(
    here: Mapping[Condition, Any], there: Mapping[Condition, Any], falls: Mapping[Condition, int]
) -> Iterator[str | None]:
    """Of one claim, with the same level and component: whoever leaves can only add to what it is about."""
    for condition, said in here.items():
        if said[1] is None and there[condition][1] is None:
            continue
        kept = said == there[condition] or (falls[condition] > 0 and said[1] is None)
        changed = f"the answer at {condition[0]} changes although its count does not, or is withdrawn"
        yield None if kept else changed
