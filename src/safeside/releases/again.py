"""A question that was answered, or paid for, before: asking it again under another name is charged again.

A retry is the same request and costs nothing; a scheduled repetition names what it supersedes. Anything else
that asks the very same is more often a mistake, and is asked about before it is paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safeside.errors import BadQuestion
from safeside.ledger import Ledger, Reservation, Stage
from safeside.words import Words


def asked_before(
    ledger: Ledger, dataset: str, request: str, question: Mapping[str, Any]
) -> Reservation | None:
    """The last release, or else unfinished request, of these people that asked the same of the same time."""
    if ledger.reservation(request) is not None or question["supersedes"] is not None:
        return None
    return ledger.asked(dataset, question)


def sentence(earlier: Reservation, words: Words) -> str:
    """What the preview says of it."""
    stage = "unfinished" if earlier.stage is Stage.RESERVED else "before"
    return words(f"preview.{stage}", request=earlier.request, out=str(earlier.question.get("out")))


def require_new(earlier: Reservation | None) -> None:
    """Refuse to pay twice for one question unless that was said."""
    if earlier is not None:
        raise BadQuestion(
            sentence(earlier, Words()),
            "Use that one. To supersede it on a schedule, give `supersedes=`; to pay for another answer all "
            "the same, `again=True`.",
        )
