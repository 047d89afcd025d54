"""Policies: the facts about a person that are *not* secret where they are true.

A policy is a set of propositions on one record. Each says "if this is true of you, that may leak". Fewer
propositions, stronger protection; the empty policy is ordinary differential privacy. A policy is held by the
names of its propositions, so that two policies can be united and compared whoever wrote them, and so that a
hundred thousand places cost no more than a set of a hundred thousand strings.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Final

from safeside.errors import UnknownPolicy
from safeside.names import did_you_mean
from safeside.words import Words

NOT: Final = "not "
"""What a negation begins with: the proposition `not A` is the negation of the atom `A`."""
_NAMES_SHOWN: Final = 3
_EXAMPLES: Final = 6


def visited(target: str, window: str) -> str:
    """The atom "visited TARGET in WINDOW", by the name under which it is counted.

    The target is quoted so that no two pairs of target and window share a name: two propositions that were
    taken for one would make the policy look smaller, and so the promise stronger, than it is.
    """
    return f"{_quoted(target)}{window}"


def _quoted(target: str) -> str:
    return f"{encode_basestring(target)} in "


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Policy:
    """A set of propositions, by name. Build it with `none`, with `not_visited`, or from names.

    Example
        >>> from safeside import Policy
        >>> policy = Policy.not_visited(["museum", "library"], "2024-03-01T18:00")
        >>> 'not "museum" in 2024-03-01T18:00' in policy
        True
        >>> Policy.none() <= policy  # fewer facts may leak
        True
    """

    propositions: frozenset[str]

    def __post_init__(self) -> None:
        # One text would be searched for names inside it, as if it gave up every one of them.
        if isinstance(self.propositions, str):
            raise UnknownPolicy(
                "The propositions of a policy were given as one text.",
                "Give a set of names, even of one: {'not at the bar'}.",
            )
        object.__setattr__(self, "propositions", frozenset(self.propositions))

    @classmethod
    def none(cls) -> Policy:
        """Nothing may leak: ordinary differential privacy."""
        return cls(propositions=frozenset())

    @classmethod
    def not_visited(cls, targets: Iterable[str], *windows: str) -> Policy:
        """The product's policy: one proposition for each condition counted, windows included."""
        begun = [NOT + _quoted(target) for target in targets]
        return cls(propositions=frozenset(name + window for window in windows for name in begun))

    def __or__(self, other: Policy) -> Policy:
        """Both sets of facts may leak; composition unites policies in this way."""
        if self.propositions >= other.propositions:
            return self
        if other.propositions >= self.propositions:
            return other
        return Policy(propositions=self.propositions | other.propositions)

    def __le__(self, other: Policy) -> bool:
        """At least as strong: whatever is private under this policy is private under the other."""
        return self.propositions <= other.propositions

    def __len__(self) -> int:
        return len(self.propositions)

    def __bool__(self) -> bool:
        """Always true: an empty policy is the strongest there is, not a missing one."""
        return True

    def __contains__(self, name: object) -> bool:
        return name in self.propositions

    def __repr__(self) -> str:
        return f"Policy({self._names(Words())})" if self.propositions else "Policy.none()"

    def sentence(self, words: Words | None = None) -> str:
        """What may leak, in one plain sentence that stays short however many propositions there are."""
        words = words or Words()
        if not self.propositions:
            return words("guarantee.no-facts")
        return words("guarantee.facts", n=len(self), names=self._names(words))

    def _names(self, words: Words) -> str:
        first = heapq.nsmallest(_NAMES_SHOWN, self.propositions)
        more, names = len(self) - len(first), "; ".join(first)
        return words("guarantee.more", names=names, n=more) if more else names


def require_known(name: str, known: Iterable[str], kind: str) -> str:
    """The name if somebody declared it; otherwise an error that offers the nearest names."""
    names = known if isinstance(known, dict | frozenset) else list(known)
    if name in names:
        return name
    do = did_you_mean(name, names).strip()
    if not do and names:
        first = ", ".join(repr(one) for one in heapq.nsmallest(_EXAMPLES, names))
        do = f"Use a declared name: {first}{' ...' if len(names) > _EXAMPLES else ''}."
    do = do or f"Declare a {kind} of this name first."
    raise UnknownPolicy(f"There is no {kind} called {name!r}.", do)
