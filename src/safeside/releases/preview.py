"""What is said before anything is spent. Only public knowledge goes into it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from textwrap import TextWrapper
from typing import Final

from safeside.decisions.states import State
from safeside.exact import show
from safeside.privacy.account import Budget, Cost
from safeside.releases import wording
from safeside.releases.asking import Inquiry
from safeside.releases.charts import FLOAT_ERROR
from safeside.releases.choosing import Choice
from safeside.releases.record import ReleaseRecord, plain

_COUNTS_NAMED: Final = 4
_LEFT_OUT: Final = (
    "Visits to places that are not listed will be left out, and every answer says so. How many there are is "
    "shown here, to you alone, when they are counted: if they are many, or look like listed places, the "
    "release stops and nothing is drawn."
)
_WRAPPED: Final = TextWrapper(
    width=100, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
)


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The promise, the error side, what to expect, the price and what remains."""

    question: str
    promise: tuple[str, ...]
    error_side: tuple[str, ...]
    expect: tuple[str, ...]
    price: str
    remaining: str
    request: str
    answered: str | None = None

    def text(self) -> str:
        """All of it, for a terminal."""
        parts = [
            ("Question", (self.question,)),
            *([] if self.answered is None else [("Answered before", (self.answered,))]),
            ("Promise", self.promise),
            ("Error side", self.error_side),
            ("Expect", self.expect),
            ("Price", (self.price,)),
            ("Remaining", (self.remaining,)),
            ("Request", (self.request,)),
        ]
        return "\n\n".join(
            "\n".join([title, *(_WRAPPED.fill(line) for line in lines)]) for title, lines in parts
        )


def preview(
    draft: ReleaseRecord,
    inquiry: Inquiry,
    cost: Cost,
    before: Budget,
    after: Budget,
    *,
    answered: str | None = None,
) -> Preview:
    """From the question and the account alone."""
    record = plain(draft)
    return Preview(
        question=_question(record),
        promise=tuple(wording.promise(record)),
        error_side=tuple(wording.error_side(record)),
        expect=(*_expect(inquiry), *([_LEFT_OUT] if inquiry.exclude_unknown_places else [])),
        price=f"{_amount(cost.epsilon, cost.delta)}, charged before anything is drawn.",
        remaining=f"{_amount(before.epsilon, before.delta)} now; "
        f"{_amount(after.epsilon, after.delta)} afterwards.",
        request=f"{draft.release} (the same request is answered and charged once, however often it is run)",
        answered=answered,
    )


def _question(record: wording.Manifest) -> str:
    number = record["question"]["places"]["number"]
    said = wording.thresholds(record["question"])
    return f"{said}? At each of {number:,} places, {wording.when(record['question'])}."


def _expect(inquiry: Inquiry) -> tuple[str, ...]:
    asked, method = inquiry.conditions, inquiry.question.method
    limit = int(asked.at_most.max())
    likely = method.chances(asked, limit, range(min(limit + 1, _COUNTS_NAMED)))
    by_count = ", ".join(f"{at_least(share)} with {count}" for count, share in likely.items())
    in_turn = State.NOT_ASKED in method.possible
    which = "A place that is asked" if in_turn else "A place"
    lines = [
        f'"At most" for {at_least(method.expected(asked))} of the places or more, '
        "on average, if nobody were at any of them, and for fewer where there are visitors.",
    ]
    if likely:
        lines.append(f"{which} gets it with a probability of at least {by_count} known infected visitors.")
    if inquiry.choice is not None:
        lines += _chosen(inquiry.choice)
    lines.append("No data was read for this.")
    if in_turn and inquiry.question.max_places_per_person == 1:
        lines.append(
            "Here one person is counted at one place only, so leaving `max_alarms=` out costs the same and "
            "answers every place."
        )
    return tuple(lines)


def _chosen(choice: Choice) -> list[str]:
    """Which way was taken, and how many conditions each was expected to certify."""
    lines = [f'No method was named: "{choice.method}" is taken, which certifies most on the public forecast.']
    for one in choice.assumed:
        said = "expected by the list" if one.declared else "assumed"
        ways = ", ".join(f"{way} {number:,.0f}" for way, number in one.compared.expected.items())
        lines.append(
            f"With {one.average:.3g} visitors on average in each place and window ({said}): {ways} of "
            f"{one.compared.conditions:,}; no method that is never wrong more than {one.compared.limit:,.0f}."
        )
    return lines


def at_least(share: float) -> str:
    """A share in per cent, rounded down: never shown as more, or more certain, than it is."""
    return f"{max(0, math.floor((share - FLOAT_ERROR) * 1000)) / 10:.1f} %"


def _amount(epsilon: Fraction, delta: Fraction) -> str:
    return f"epsilon {show(epsilon)}, delta {show(delta)}" if delta else f"epsilon {show(epsilon)}"
