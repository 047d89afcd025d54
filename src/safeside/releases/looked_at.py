"""The time a question looks at, and the days or weeks that pay for it.

A budget for each day promises "had you visited none of them on any one day" (docs/ledger.md). That holds
where what is dropped with a day can only lower a count, and where every day whose rows can change a count is
charged. Over an interval a held sighting counts wherever it was, so dropping one only lowers. At an instant
the *last* sighting says where a person is: drop today's, and yesterday's, if it still holds, moves them to
another place. So an instant at which sightings of two days hold is refused. Stays found in fixes are looked
for before and after the window, and every day that is looked at pays (visits/count/stay_detection.py).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from safeside.errors import BadQuestion
from safeside.ledger import Ledger
from safeside.ledger.periods import word
from safeside.visits import VisitFormat, Window, local_midnight

_TICK: Final = timedelta(microseconds=1)
"""Windows are told to the microsecond."""


def looked_at(window: Window, declared: VisitFormat) -> tuple[datetime, datetime]:
    """From the first moment the counting rule looks at up to, not including, the moment after the last."""
    before, after = declared.reach
    until = window.end + after
    return window.start - before, until + _TICK if window.instant or after else until


def written(span: tuple[datetime, datetime]) -> list[str]:
    """As the ledger keeps it: in UTC and of one shape, so that text compares as time does."""
    return [moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") for moment in span]


def whole_days(span: tuple[datetime, datetime], zone: tzinfo) -> tuple[datetime, datetime]:
    """The whole local days that a time touches."""
    first, last = span[0].astimezone(zone).date(), (span[1] - _TICK).astimezone(zone).date()
    return local_midnight(first, zone), local_midnight(last + timedelta(days=1), zone)


def charged_periods(ledger: Ledger, dataset: str, window: Window, declared: VisitFormat) -> tuple[str, ...]:
    """Every day or week that is looked at; refused where the sentence about one of them would be false."""
    start, end = looked_at(window, declared)
    if declared.local is not None and declared.held is None and declared.stay_rule is None:
        # The visits may be dates, each of which stands for a whole day of the visits' own time zone.
        start, end = whole_days((start, end), declared.local)
    periods = ledger.periods(dataset, start, end)
    if window.instant and declared.held is not None and len(periods) > 1:
        period = word(ledger.dataset(dataset).unit)
        raise BadQuestion(
            f"At the instant asked about, sightings of the {period} before still hold: without this "
            f"{period}'s own, a person would be counted where they were the {period} before, and what "
            f"is promised for each {period} would not be true.",
            f"Ask about an instant that is at least the holding time after the {period} begins, or about an "
            f"interval, which is charged to every {period} it looks at; or declare a shorter holding time.",
        )
    return periods
