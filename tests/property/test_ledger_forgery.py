"""Whatever is taken off the list of events and put in its place, no more is left than appending could free.

The account is folded from events alone, so the attack is tried on it directly: any honest history, cut
anywhere, continued with any events that fit, and with the words of every event that was cut off.
"""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from safeside.errors import SafesideError
from safeside.ledger import Budget, Caps, Cost, Stage, events, rules
from safeside.ledger.account import Impossible, Reservation
from safeside.ledger.events import Action, Event, Found
from safeside.ledger.state import State

NOON = datetime(2021, 3, 4, 12, tzinfo=UTC)
DATASETS = ("city", "town")
REQUESTS = st.sampled_from("abc")
AMOUNTS = st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(1)])
Move = tuple[str, str, str, Fraction, int]
MOVES = st.tuples(
    st.sampled_from(
        [
            "dataset",
            "reserve",
            "sparse",
            "resume",
            "commit",
            "return",
            "refuse",
            "stop",
            "withdraw",
            "link",
            "again",
        ]
    ),
    st.sampled_from(DATASETS),
    REQUESTS,
    AMOUNTS,
    st.integers(0, 2),
)


def action_of(state: State, move: Move) -> Action:
    """An event that may or may not be possible here."""
    kind, dataset, request, epsilon, number = move
    known = state.reservation(request)
    digest = "" if known is None else known.digest
    each = epsilon / 2 if kind == "sparse" else None
    charge = {
        "request": request,
        "reference": "r",
        "dataset": dataset,
        "question": {},
        "cost": Cost(epsilon=epsilon, epsilon_each=each),
        "charged": Budget(epsilon=epsilon),
    }
    match kind:
        case "dataset":
            return events.DatasetCreated(
                name=dataset,
                caps=Caps(epsilon=4 * epsilon),
            )
        case "reserve" | "sparse":
            return events.Reserved(**charge)
        case "again":
            return events.Recharged(**charge, manifest=f"d{number}")
        case "resume":
            return events.Resumed(request=request, reservation=digest)
        case "stop":
            return events.Stopped(request=request, reservation=digest)
        case "commit":
            sparse = known is not None and known.cost.epsilon_each is not None
            return events.Committed(
                request=request,
                reservation=digest,
                manifest=f"d{number}",
                fingerprint=None,
                alarms=number if sparse else None,
            )
        case "return":
            return events.Returned(request=request, reservation=digest, epsilon=epsilon / 2)
        case "withdraw":
            return events.Withdrawn(request=request, reservation=digest, reason="software-fault")
        case "link":
            return events.Linked(first="city", second="town")
        case _:
            return events.Refused(request=request, dataset=dataset, question="", reason="no", ends=digest)


def append(state: State, what: Action) -> Event | None:
    """The event, if it is allowed at this place."""
    event = events.make(state.head, NOON, what)
    try:
        state.apply(event)
    except (Impossible, SafesideError):
        return None
    return event


def play(state: State, moves: list[Move]) -> list[Event]:
    return [event for move in moves if (event := append(state, action_of(state, move))) is not None]


def begun() -> State:
    state = State()
    append(state, events.LedgerCreated(ledger="l", key="k", software="s"))
    return state


def left(state: State, dataset: str) -> Fraction:
    return state.group(dataset).remaining("").epsilon


def freeable(state: State, dataset: str) -> Fraction:
    """What events appended to the whole list could say came back: see docs/threat-model.md."""

    def most(one: Reservation) -> Fraction:
        if rules.endable(state, one):
            return one.charged.epsilon
        unknown = one.stage is Stage.RESERVED and one.cost.epsilon_each is not None
        return one.charged.epsilon if unknown else rules.returnable(state, one)

    members = state.group(dataset).members
    return sum((most(one) for one in state.reservations() if one.dataset in members), Fraction(0))


@given(history=st.lists(MOVES, max_size=25), cut=st.integers(0, 25), forged=st.lists(MOVES, max_size=10))
def test_a_cut_list_frees_no_more_than_a_whole_one(history: list[Move], cut: int, forged: list[Move]) -> None:
    honest = begun()
    made = play(honest, history)
    attacked = begun()
    for event in made[:cut]:
        attacked.apply(event)
    play(attacked, forged)
    for event in made[cut:]:
        if not attacked.holds(event.head):
            assert append(attacked, Found.of(event)) is not None
    play(attacked, forged)
    assert all(attacked.holds(event.head) for event in made)
    for name in honest.datasets:
        assert left(attacked, name) <= left(honest, name) + freeable(honest, name)
