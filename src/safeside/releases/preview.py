"""What is said before anything is spent. Only public knowledge goes into it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from textwrap import TextWrapper
from typing import Final

from safeside.exact import show
from safeside.privacy.account import Budget, Cost
from safeside.releases import wording
from safeside.releases.asking import Inquiry
from safeside.releases.choosing import Choice
from safeside.releases.record import ReleaseRecord
from safeside.words import Words
from safeside.words.catalogue import ENGLISH

_COUNTS_NAMED: Final = 4
_WRAPPED: Final = TextWrapper(
    width=100, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
)


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The promise, the error side, what to expect, the price and what remains.

    Example
        >>> from safeside import Account, ask, create_key, create_ledger, quote
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("city", "person", epsilon=2)
        >>> key = create_key("safeside.key")
        >>> account = Account(dataset="city", ledger="ledger.db", key="safeside.key", out="release")
        >>> inquiry = ask(places=["bar", "museum"], when="2024-03-03T18:00Z", at_most=2, epsilon=1)
        >>> preview = quote(inquiry, account)
        >>> print(preview.price, preview.remaining, sep="; ")
        epsilon 1, charged before anything is drawn.; epsilon 2 now; epsilon 1 afterwards.
    """

    question: str
    answered: str | None = None
    promise: tuple[str, ...]
    error_side: tuple[str, ...]
    expect: tuple[str, ...]
    price: str
    remaining: str
    request: str
    language: str = ENGLISH

    def text(self) -> str:
        """All of it, for a terminal."""
        told = {name.replace("_", "-"): one for name, one in asdict(self).items() if one is not None}
        words = Words(language=told.pop("language"))
        return "\n\n".join(
            "\n".join(
                [words(f"preview.{title}"), *map(_WRAPPED.fill, [one] if isinstance(one, str) else one)]
            )
            for title, one in told.items()
        )


def preview(
    draft: ReleaseRecord,
    inquiry: Inquiry,
    cost: Cost,
    before: Budget,
    after: Budget,
    *,
    answered: str | None = None,
    whole: bool = True,
) -> Preview:
    """From the question and the account alone."""
    words = draft.question.words
    left_out = [words("preview.unlisted")] if inquiry.exclude_unknown_places else []
    left_out += [] if whole else [words("preview.not-shown-whole")]
    return Preview(
        question=wording.asked(draft.question),
        promise=tuple(wording.promise(draft)),
        error_side=tuple(wording.error_side(draft.question)),
        expect=(*to_expect(inquiry), *left_out),
        price=words("preview.charged", amount=_amount(cost, words)),
        remaining=words("preview.left", before=_amount(before, words), after=_amount(after, words)),
        request=words("preview.same", request=draft.release),
        answered=answered,
        language=words.language,
    )


def to_expect(inquiry: Inquiry) -> tuple[str, ...]:
    """How often "at most" is to be expected, in sentences, from the question alone."""
    asked, method, words = inquiry.conditions, inquiry.question.method, inquiry.question.words
    # Where thresholds differ, those with the smallest get it least often.
    limit = int(asked.at_most.min())
    likely = method.chances(asked, limit, range(min(limit + 1, _COUNTS_NAMED)))
    chances = [
        words("preview.chance", share=wording.rounded_down(one), n=count) for count, one in likely.items()
    ]
    in_turn = wording.in_turn(inquiry.question)
    several = len(asked) > len(asked.targets)
    lines = [
        words(
            "preview.share-answers" if several else "preview.share",
            share=wording.rounded_down(method.expected(asked)),
        )
    ]
    if chances:
        lines.append(words("preview.chances-asked" if in_turn else "preview.chances", chances=chances))
    if inquiry.choice is not None:
        lines += _chosen(inquiry.choice, words)
    lines.append(words("preview.no-data"))
    if in_turn and inquiry.question.max_places_per_person == 1:
        lines.append(words("preview.one-place"))
    return tuple(lines)


def _chosen(choice: Choice, words: Words) -> list[str]:
    """Which way was taken, and how many conditions each was expected to certify."""
    why = "preview.by-forecast" if choice.by_forecast else "preview.chosen"
    lines = [words(why, method=choice.method)]
    for one in choice.assumed:
        ways = one.compared.expected.items()
        lines.append(
            words(
                "preview.compared-listed" if choice.declared else "preview.compared-assumed",
                average=f"{one.average:.3g}",
                ways=[words("preview.way", method=way, n=round(number)) for way, number in ways],
                conditions=one.compared.conditions,
                limit=round(one.compared.limit),
            )
        )
    return lines


def _amount(of: Cost | Budget, words: Words) -> str:
    key = "preview.amount-delta" if of.delta else "preview.amount"
    return words(key, epsilon=show(of.epsilon), delta=show(of.delta))
