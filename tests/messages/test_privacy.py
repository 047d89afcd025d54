"""Every message the privacy room can show: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from safeside import exact
from safeside.errors import BadNumber, NotMonotone, NowhereElse, PrivacyError, SafesideError, UnknownPolicy
from safeside.privacy import direction as d
from safeside.privacy.account import Cost, Kind, standing
from safeside.privacy.guarantee import Direction, Guarantee, Neighbours, Unit
from safeside.privacy.policy import Policy, require_known
from safeside.privacy.records import Universe, visits
from safeside.privacy.relations import ADP
from safeside.privacy.risk import risk
from safeside.privacy.worked import explain
from safeside.privacy.worst import worst_risk

ONE = Fraction(1)
HERE = Policy.not_visited(["here"], "noon")
HALF_DELTA = Guarantee(epsilon=ONE, delta=Fraction(1, 2))
CHANNEL = {"yes": {"Y": ONE}, "no": {"N": ONE}}
WORDS = ["not at the bar"]


def yes(record: str) -> bool:
    return record == "yes"


def declare(sensitivity: int, reason: str = "because") -> d.Declared:
    atoms = ("a",)
    case = ([d.any_of(atoms)], Policy(propositions=frozenset({"not a"})))
    return d.Declared(
        direction=Direction.DECREASING, sensitivity=sensitivity, reason=reason, check=lambda: [case]
    )


CASES: list[tuple[Callable[[], object], type[SafesideError], str, str]] = [
    (
        lambda: require_known("not at the baar", WORDS, "proposition"),
        UnknownPolicy,
        "There is no proposition called 'not at the baar'.",
        'Did you mean "not at the bar"?',
    ),
    (
        lambda: require_known("xyz", WORDS, "proposition"),
        UnknownPolicy,
        "There is no proposition called 'xyz'.",
        "Use a declared name: 'not at the bar'.",
    ),
    (
        lambda: require_known("xyz", [], "proposition"),
        UnknownPolicy,
        "There is no proposition called 'xyz'.",
        "Declare a proposition of this name first.",
    ),
    (
        lambda: d.direction_of(
            d.any_of(("a",)),
            Policy(propositions=frozenset({"not a"})),
            written={"not a": lambda vector: vector["a"]},
        ),
        PrivacyError,
        "The proposition 'not a' was written out, and it already says something of the atom.",
        "Give a proposition that is no atom and no atom's negation a name of its own.",
    ),
    (
        lambda: Policy(propositions="not here"),
        UnknownPolicy,
        "The propositions of a policy were given as one text.",
        "Give a set of names, even of one: {'not at the bar'}.",
    ),
    (
        lambda: Guarantee(epsilon=ONE, direction="up"),
        PrivacyError,
        "direction is 'up'.",
        "Give direction as one of 'decreasing', 'increasing', 'neither'.",
    ),
    (
        lambda: Guarantee(epsilon=ONE, neighbours="all"),
        PrivacyError,
        "neighbours is 'all'.",
        "Give neighbours as one of 'replace', 'add or remove'.",
    ),
    (
        lambda: d.direction_of(
            d.CountQuery(atoms=("a",), condition=lambda vector: 0.5 if vector["a"] else 0.9), HERE
        ),
        PrivacyError,
        "The condition of 'the query' gave 0.9, which is no whole number.",
        "Count people: give a condition that is true or false, or a whole number.",
    ),
    (
        lambda: d.Declared(
            direction=Direction.DECREASING, sensitivity=1, reason="because", check=lambda: [([], HERE)]
        ),
        PrivacyError,
        "A direction was declared without a reason, or without a case that checks it.",
        "Say why it holds for every record, and give small finite cases of the same query.",
    ),
    (
        lambda: explain("adpset"),
        UnknownPolicy,
        "There is no definition called 'adpset'.",
        'Did you mean "adp-set"?',
    ),
    (
        lambda: Guarantee(epsilon=ONE, policy=HERE, neighbours=Neighbours.ADD_REMOVE),
        PrivacyError,
        "A policy speaks of replacing a record, and was given together with adding or removing one.",
        "Use Neighbours.REPLACE with the policy, or Policy.none() with Neighbours.ADD_REMOVE.",
    ),
    (
        lambda: Guarantee(epsilon=ONE).then(Guarantee(epsilon=ONE, neighbours=Neighbours.ADD_REMOVE)),
        PrivacyError,
        "One guarantee compares datasets by replace, the other by add or remove: their budgets are not in "
        "the same currency.",
        "Use safeside.privacy.account.standing, which converts each release before it adds them.",
    ),
    (
        lambda: Guarantee(epsilon=ONE).then(Guarantee(epsilon=ONE, unit=Unit.PERSON_DAY)),
        PrivacyError,
        "One guarantee protects a person, the other a person-day: they do not add up.",
        "State both for the same unit, or keep a ledger for each unit.",
    ),
    (
        lambda: HALF_DELTA.then(HALF_DELTA),
        PrivacyError,
        "The probabilities of failure add up to 1 or more, so nothing would be promised.",
        "Use smaller deltas, or fewer releases.",
    ),
    (
        lambda: d.require_monotone(
            d.CountQuery(atoms=("c", "woman"), condition=lambda v: v["c"] and v["woman"], name="c and woman"),
            Policy(propositions=frozenset({"not c"})),
        ),
        NotMonotone,
        "One-sided noise on 'c and woman' would not be private under this policy. It is not decreasing: the "
        "policy allows the step from a person with (c) to one with (c, woman), which takes it from 0 to 1; "
        "and not increasing: the policy allows the step from a person with (c, woman) to one with (c), which "
        "takes it from 1 to 0.",
        "Use two-sided noise, or a policy that negates exactly what is counted.",
    ),
    (
        lambda: d.any_of([str(i) for i in range(12)]),
        PrivacyError,
        "Direction cannot be decided by enumeration: all combinations of 12 atoms are too many.",
        "List the truth vectors that are possible, or use Declared with a reason and small cases of it.",
    ),
    (
        lambda: d.any_of(["a"], [{"b": True}]),
        PrivacyError,
        "The possible truth vectors are empty, or do not speak of the query's own atoms.",
        "List every combination a record can have, each with a value for every atom and no other.",
    ),
    (
        lambda: d.require_not_exhaustive([lambda r: r == 1], [1]),
        NowhereElse,
        "Every possible person is at one of the targets, so nobody could have been elsewhere and the "
        "guarantee would protect nothing.",
        "Ask about a list of public venues that leaves everybody somewhere else to be.",
    ),
    (
        lambda: declare(0),
        PrivacyError,
        "Sensitivity 0 was declared, and in a case given with it one person changes 1.",
        "Declare at least 1, or the bound that the counting rule really ensures.",
    ),
    (
        lambda: declare(1, ""),
        PrivacyError,
        "A direction was declared without a reason, or without a case that checks it.",
        "Say why it holds for every record, and give small finite cases of the same query.",
    ),
    (
        lambda: Universe(records=()),
        PrivacyError,
        "A universe needs at least one record, and each record once.",
        "List every possible record, without repeats.",
    ),
    (
        lambda: ADP.not_visited("a") | ADP({"not a": bool}),
        PrivacyError,
        "Two policies give the same name to different propositions.",
        "Name each proposition once, and use the same predicate wherever the name appears.",
    ),
    (
        lambda: risk({"yes": {"Y": Fraction(1, 2)}}, {"yes": 1}, yes),
        BadNumber,
        "The probabilities of the outputs of one record do not add up to 1.",
        "Give every output of every record; aggregate a tail into one event.",
    ),
    (
        lambda: risk(CHANNEL, {"yes": "0.5"}, yes),
        BadNumber,
        "The prior probabilities are negative somewhere or do not add up to 1.",
        "Give them as fractions or decimals that add up to exactly 1.",
    ),
    (
        lambda: risk(CHANNEL, {"maybe": 1}, yes),
        PrivacyError,
        "The prior speaks of a record for which the mechanism has no distribution.",
        "Give a distribution over outputs for every record of the prior.",
    ),
    (
        lambda: risk(
            {"yes": {"Y": exact.Ball(1, 1e-9), "N": exact.Ball(0, 1e-9)}, "no": {"Y": ONE}},
            {"yes": "0.5", "no": "0.5"},
            yes,
        ),
        BadNumber,
        "A probability is too uncertain to tell whether its output is possible at all.",
        "Give impossible outputs the probability 0 exactly, or leave them out of the row.",
    ),
    (
        lambda: worst_risk(
            ADP.not_visited("12345"),
            visits("12345"),
            3,
            {frozenset("1"): "0.5", frozenset("2"): "0.5"},
            lambda x: "1" in x,
        ),
        PrivacyError,
        "32 records are too many to enumerate every mechanism on them.",
        "Ask about a smaller universe.",
    ),
    (
        lambda: explain("dp", 1),
        BadNumber,
        "e^epsilon is 1.",
        "Give e^epsilon above 1.",
    ),
    (
        lambda: Cost(kind=Kind.ADP, epsilon=ONE, delta=Fraction(1, 2)),
        PrivacyError,
        "A release under a policy was charged with a delta; it has none.",
        "Charge it with delta 0, or as the kind of ordinary differential privacy that it is.",
    ),
    (
        lambda: d.require_direction([], Policy.none()),
        PrivacyError,
        "There are no queries, or they do not speak of the same atoms and truth vectors.",
        "Write all queries in the same atoms, with the same possible truth vectors.",
    ),
    (
        lambda: Cost(kind=Kind.DP_REPLACE, epsilon=ONE, max_conditions=2),
        PrivacyError,
        "A release of the kind dp replace was charged with max_conditions 2.",
        "Give the epsilon of the whole release; max_conditions belongs to counts charged one by one.",
    ),
    (
        lambda: standing([Cost(kind=Kind.DP_REPLACE, epsilon=ONE, delta=Fraction(1, 2))] * 2),
        PrivacyError,
        "The probabilities of failure add up to 1 or more, so nothing is promised.",
        "Use smaller deltas, or fewer releases under ordinary differential privacy.",
    ),
]


@pytest.mark.parametrize(("act", "kind", "what", "do"), CASES, ids=[case[2][:40] for case in CASES])
def test_message(act: Callable[[], object], kind: type[SafesideError], what: str, do: str) -> None:
    with pytest.raises(kind) as caught:
        act()
    assert caught.value.what == what
    assert caught.value.do == do
