"""The question: everything that is chosen, and chosen from public knowledge alone.

A choice made after a look at the data is an output nobody paid for, so all of them stand here, are checked
here, and are written into the ledger before the data is opened (THEORY section 8).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.errors import BadNumber, BadQuestion, PrivacyError
from safeside.exact import Number
from safeside.ledger.rules import PEOPLE_FLOOR, require_floor
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.sageo import SAGeo
from safeside.privacy.policy import Policy
from safeside.releases.artefacts import places_digest
from safeside.releases.designs import AtLeast, Counted, Design, InTurn, OneBit, Whole
from safeside.releases.order import Order, read_order
from safeside.visits import Places, Window

NOT_VISITED: Final = "not-visited"
ADP: Final = "adp"
DP: Final = "dp"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the asker declares, before it is checked."""

    at_most: int | None = None
    epsilon: Number
    delta: Number = 0
    guarantee: str = ADP
    policy: str = NOT_VISITED
    max_places_per_person: int | None = None
    max_alarms: int | None = None
    at_least: int | None = None
    alpha: Number | None = None
    publish_at_least: bool = False
    people: int | None = None
    people_floor: int = PEOPLE_FLOOR
    decision: bool = False
    order: str | None = None
    so_far: bool = False
    """The time asked about is not over: the release says that it speaks of it so far."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A question that can be answered, with the design that answers it."""

    places: Places
    window: Window
    timezone: str | None
    counted: tuple[str, ...]
    thresholds: Whole
    design: Design
    order: Order | None
    at_least: int | None
    alpha: Fraction | None
    alpha_each: Fraction | None
    publish_at_least: bool
    people: int | None
    kappa: int | None
    """What the counting must enforce: the most places one person is counted at; None where unlimited."""
    so_far: bool = False

    def described(self) -> dict[str, Any]:
        """As release.json has it."""
        limits = self.thresholds.tolist()
        # The number most places share is written once; of equally frequent ones the smallest.
        common = Counter(sorted(limits)).most_common(1)[0][0]
        own = {place: limit for place, limit in zip(self.places.ids, limits, strict=True) if limit != common}
        start, end = _as_asked(self.window)
        return {
            "when": self.window.text,
            "start": start,
            "end": end,
            "instant": self.window.instant,
            "so_far": self.so_far,
            "timezone": self.timezone,
            "places": {"number": len(self.places.ids), "sha256": places_digest(self.places.ids)},
            "at_most": common,
            "at_most_of": own,
            "at_least": self.at_least,
            "alpha": None if self.alpha is None else str(self.alpha),
            "alpha_of_each_place": None if self.alpha_each is None else str(self.alpha_each),
            "publish_at_least": self.publish_at_least,
            "people": self.people,
            "counted": list(self.counted),
        }

    def recorded(self) -> dict[str, Any]:
        """As the ledger has it, before the data is opened."""
        return {
            **self.described(),
            "targets": list(self.places.ids),
            "window": self.window.text,
            "mechanism": self.design.record(),
            "order": None if self.order is None else self.order.record(self.places),
        }


def _as_asked(window: Window) -> tuple[str, str]:
    """Start and end with the offset they were asked with."""
    halves = window.text.split("/")
    moments = [datetime.fromisoformat(half) for half in halves]
    first = moments[0].isoformat()
    last = moments[-1] if len(moments) > 1 else moments[0]
    assert moments[0].astimezone(UTC) == window.start, "a window is written as it was asked"
    return first, last.isoformat()


def ask(
    places: Places, window: Window, terms: Terms, *, timezone: str | None, counted: tuple[str, ...]
) -> Question:
    """Check what was declared and choose the design; nothing here has seen any data."""
    if terms.policy != NOT_VISITED:
        raise PrivacyError(
            "Only one policy can be published under: that somebody was *not* at a place may become known.",
            "Leave `policy=` out. Under the opposite policy every visit could leak, and a count of "
            "visits would need noise on both sides.",
        )
    limits = _thresholds(places, terms)
    people = _people(terms)
    alpha, each = _error_rates(terms, limits)
    kappa = _kappa(window, terms)
    policy = Policy.not_visited(places.ids, window.text)
    error = (
        None if each is None or terms.at_least is None else AtLeast(threshold=terms.at_least, alpha_each=each)
    )
    return Question(
        places=places,
        window=window,
        timezone=timezone,
        counted=counted,
        thresholds=limits,
        design=_design(terms, policy, kappa, people, error),
        order=_order(terms, places),
        at_least=terms.at_least,
        alpha=alpha,
        alpha_each=each,
        publish_at_least=terms.publish_at_least,
        people=people,
        kappa=kappa,
        so_far=_so_far(window, terms),
    )


def _so_far(window: Window, terms: Terms) -> bool:
    if terms.so_far and window.instant:
        raise BadQuestion(
            "A moment has come or it has not: there is no `so_far=True` of it.",
            "Leave `so_far=True` out, or ask about an interval.",
        )
    return terms.so_far


def require_time(window: Window, known_on: datetime, *, so_far: bool) -> None:
    """Nobody can have been anywhere at a time that has not come: "at most 0" of tomorrow is no answer."""
    if known_on < window.start:
        raise BadQuestion(
            f"The time asked about ({window.text}) had not come at the moment the data speak from "
            f"({_moment(known_on, window)}).",
            "Ask about a time that has passed. If it has, check `timezone=` and `known_on=`.",
        )
    if known_on < window.end and not so_far:
        raise BadQuestion(
            f"The time asked about ({window.text}) was not over at the moment the data speak from "
            f"({_moment(known_on, window)}).",
            "Wait until it is over; or ask about the part that has passed, up to that moment; or give "
            "`so_far=True`, and every statement says that the time was not over.",
        )
    if known_on >= window.end and so_far:
        raise BadQuestion(
            f"The time asked about ({window.text}) was over at the moment the data speak from "
            f"({_moment(known_on, window)}), so `so_far=True` would not be true.",
            "Leave `so_far=True` out.",
        )


def _moment(moment: datetime, window: Window) -> str:
    """On the clock the question was asked in."""
    zone = datetime.fromisoformat(window.text.split("/")[0]).tzinfo
    return moment.astimezone(zone).isoformat(timespec="seconds")


def _thresholds(places: Places, terms: Terms) -> Whole:
    if terms.at_most is not None:
        return np.full(len(places), exact.whole(terms.at_most, "`at_most=`"), dtype=np.int64)
    if places.at_most is None:
        raise BadQuestion(
            "Nothing says how many visitors to ask about.",
            "Give `at_most=`, or a column `at_most` in the places file with a number for every place.",
        )
    return places.at_most


def _people(terms: Terms) -> int | None:
    if terms.people is None:
        return None
    number = require_floor(terms.people, terms.people_floor)
    if terms.max_alarms is not None or terms.decision:
        raise BadQuestion(
            "A declared number of people changes nothing in an answer of this kind.",
            "Leave `people=` out with `max_alarms=` and with `decision=True`.",
        )
    return number


def _error_rates(terms: Terms, limits: Whole) -> tuple[Fraction | None, Fraction | None]:
    if terms.at_least is None:
        if terms.alpha is not None or terms.publish_at_least:
            raise BadQuestion(
                "`alpha=` and `publish_at_least=True` belong to `at_least=`, which was not given.",
                'Give `at_least=` too, or leave them out: "at most" is never wrong and needs no error rate.',
            )
        return None, None
    if terms.max_alarms is not None or terms.decision:
        raise BadQuestion(
            "`at_least=` needs a noisy count of every place, which `max_alarms=` and `decision=True` do "
            "not give.",
            "Ask without `at_least=`, or with `max_places_per_person=`.",
        )
    if exact.whole(terms.at_least, "`at_least=`", least=1) <= int(limits.max()):
        raise BadQuestion(
            f"`at_least={terms.at_least}` and at most {int(limits.max())} can both be true of one place.",
            "Give `at_least=` a number above every `at_most=`.",
        )
    if terms.alpha is None or (alpha := exact.alpha(terms.alpha)) == 0:
        raise BadQuestion(
            '"At least" is never certain, and no error rate above 0 was given for it.',
            "Give `alpha=`, for example 0.001: the probability with which it may be wrong.",
        )
    return alpha, alpha / limits.size if terms.publish_at_least else alpha


def _kappa(window: Window, terms: Terms) -> int | None:
    """The most places one person can be counted at: 1 at an instant, by construction, and checked."""
    if terms.max_places_per_person is not None:
        return exact.whole(terms.max_places_per_person, "`max_places_per_person=`", least=1)
    if window.instant:
        return 1
    if terms.max_alarms is not None:
        return None
    raise BadQuestion(
        "Over an interval one person can be at many places, and nothing says at how many.",
        "Ask about an instant; or with `max_alarms=C`, which needs no such limit; or of a dataset that was "
        "made with `max_places_per_person=K` (a person at more places stops the release).",
    )


def _order(terms: Terms, places: Places) -> Order | None:
    if terms.max_alarms is not None:
        return read_order(terms.order, places)
    if terms.order is not None:
        raise BadQuestion(
            "`order=` belongs to `max_alarms=`: otherwise every place is asked, and order says nothing.",
            "Leave `order=` out, or give `max_alarms=`.",
        )
    return None


def _design(
    terms: Terms, policy: Policy, kappa: int | None, people: int | None, error: AtLeast | None
) -> Design:
    budget, delta = exact.epsilon(terms.epsilon), exact.delta(terms.delta)
    if terms.guarantee == DP:
        return _ordinary(terms, budget, delta, kappa, people, error)
    if terms.guarantee != ADP:
        raise BadQuestion(f'There is no guarantee "{terms.guarantee}".', 'Give `guarantee="adp"` or "dp".')
    if delta or terms.decision:
        raise BadQuestion(
            "`delta=` and `decision=True` belong to ordinary differential privacy.",
            'Leave them out, or ask for it with `guarantee="dp"`.',
        )
    if terms.max_alarms is not None:
        alarms = exact.whole(terms.max_alarms, "`max_alarms=`", least=1)
        price = alarms if kappa is None else min(alarms, kappa)
        return InTurn(
            mechanism=SAGeo(epsilon_each=budget / price, alarms=alarms, max_conditions=kappa, policy=policy)
        )
    assert kappa is not None, "only sparse answers go without a limit"
    return Counted(
        mechanism=AGeo(epsilon=budget, sensitivity=kappa, policy=policy, people=people), at_least=error
    )


def _ordinary(
    terms: Terms,
    budget: Fraction,
    delta: Fraction,
    kappa: int | None,
    people: int | None,
    error: AtLeast | None,
) -> Design:
    if terms.max_alarms is not None or kappa is None:
        raise BadQuestion(
            "Sparse answers are never wrong under the asymmetric definition only.",
            'Leave `guarantee="dp"` out, or ask about an instant or with `max_places_per_person=` instead.',
        )
    if not delta:
        raise BadNumber(
            "Under ordinary differential privacy with delta = 0 no answer is ever certain.",
            'Give `delta=` above 0, for example 1e-6, or leave `guarantee="dp"` out.',
        )
    each, slack = budget / kappa, delta / kappa
    if terms.decision:
        return OneBit(mechanism=OptimalDecision(epsilon=each, delta=slack, max_conditions=kappa))
    return Counted(
        mechanism=PaddedGeo(epsilon=each, delta=slack, max_conditions=kappa, people=people), at_least=error
    )
