"""What a question is held to when it is paid for: the days that pay, what was paid before, and limits.

A budget for each day promises "had you visited none of them on any one day" (docs/ledger.md). That holds
where what is dropped with a day can only lower a count, and where every day whose rows can change a count is
charged. Over an interval a held sighting counts wherever it was, so dropping one only lowers. At an instant
the *last* sighting says where a person is: drop today's, and yesterday's, if it still holds, moves them to
another place. So an instant at which sightings of two days hold is refused. Stays found in fixes are looked
for before and after the window, and every day that is looked at pays (visits/count/stay_detection.py).

A retry is the same request and costs nothing; a scheduled repetition names what it supersedes. Anything else
that asks the very same is more often a mistake, and is asked about before it is paid again.

The most places of one person, K, and the most people there are, N, are published. Raised after a release
stopped because of them, they are the data's own maximum, published: the ratio is infinite, whatever is
charged (docs/definitions.md). So a question is asked with the dataset's limits or with none, and after a stop
its time is closed to every other question (`ledger.rules.require_open`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from safeside.errors import BadQuestion, LimitBroken
from safeside.ledger import Ledger, Reservation, Stage
from safeside.ledger.periods import WORD
from safeside.releases.methods import Whole
from safeside.releases.question import Question
from safeside.visits import VisitFormat, Window, local_midnight
from safeside.words import Words

CLOSED: Final = (
    'Nothing was published. The budget stays reserved for the request "{request}", and the time it asked '
    "about is closed to every other question, value and method: once rows that were wrong are repaired, "
    "running the same command again finishes it and spends nothing more."
)
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
        period = WORD[ledger.dataset(dataset).unit]
        raise BadQuestion(
            f"At the instant asked about, sightings of the {period} before still hold: without this "
            f"{period}'s own, a person would be counted where they were the {period} before, and what "
            f"is promised for each {period} would not be true.",
            f"Ask about an instant that is at least the holding time after the {period} begins, or about an "
            f"interval, which is charged to every {period} it looks at; or declare a shorter holding time.",
        )
    return periods


def answered_before(earlier: Reservation, words: Words) -> str:
    """What the preview says of a release, or a paid request, that asks the same."""
    stage = "unfinished" if earlier.stage is Stage.RESERVED else "before"
    return words(f"preview.{stage}", request=earlier.request, out=str(earlier.question.get("out")))


def require_new(earlier: Reservation | None) -> None:
    """Refuse to pay twice for one question unless that was said."""
    if earlier is not None:
        raise BadQuestion(
            answered_before(earlier, Words()),
            "Use that one. To supersede it on a schedule, give `supersedes=`; to pay for another answer all "
            "the same, `again=True`.",
        )


def require_within(counts: Whole, question: Question, *, allow_nobody: bool) -> None:
    """Stop where a count breaks a limit; by how much, or where, is not said."""
    people, groups = question.people, question.groups
    if groups is not None:
        groups.require_within(counts)
    if people is not None and int(counts.max()) > people:
        raise LimitBroken(
            f"A count is larger than {people}, the number of people that the dataset was made with.",
            "Look for rows that are wrong: two sources under one list of places, or several people's "
            "identifiers for one.",
        )
    if allow_nobody or counts.any():
        return
    if groups is not None:
        raise LimitBroken(
            "Nobody in this table is counted in any group.",
            "Check that it is the right file and the right condition. If nobody is, confirm it with "
            "`allow_nobody=True`; that is not published.",
        )
    raise LimitBroken(
        f"Nobody in these visits was at any of the places at the time asked about ({question.window.text}).",
        "Check that the file is of that day and that `timezone=` is right. If nobody was there, confirm "
        "it with `allow_nobody=True`; that is not published.",
    )
