"""What each definition protects and leaks, over every mechanism that satisfies it.

The numbers of the paper's propositions are those of arXiv 2103.00996; where the paper errs, the test confirms
the corrected statement and shows the counterexample to the printed one.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from tests.privacy.factors import factor

from safeside.errors import BadNumber, PrivacyError
from safeside.privacy.records import Universe, Visits, visits
from safeside.privacy.relations import ADP, DP, OSDP, Blowfish, Predicate, Relation
from safeside.privacy.risk import risk
from safeside.privacy.worst import (
    SPOKEN,
    channel_of,
    columns,
    tells_exactly,
    tells_sometimes,
    tells_the_truth_about,
    worst_risk,
    worst_risk_at_any_prior,
)

PLACES = visits("12")
NONE, ONE, TWO, BOTH = PLACES.records
F = Fraction(3)
"""e^epsilon."""


def at(target: str) -> Predicate[Visits]:
    return lambda x: target in x


def not_at(target: str) -> Predicate[Visits]:
    return lambda x: target not in x


EVENTS: list[Predicate[Visits]] = [
    frozenset(chosen).__contains__
    for size in range(1, 4)
    for chosen in itertools.combinations(PLACES.records, size)
]
"""Every question about one person that is not settled beforehand."""
PROPOSITIONS = EVENTS
UNIFORM = dict.fromkeys(PLACES.records, Fraction(1, 4))


def both(*predicates: Predicate[Visits]) -> Predicate[Visits]:
    return lambda x: all(holds(x) for holds in predicates)


def negated(predicate: Predicate[Visits]) -> Predicate[Visits]:
    return lambda x: not predicate(x)


def most(relation: Relation[Visits], event: Predicate[Visits], universe: Universe[Visits] = PLACES) -> object:
    return worst_risk_at_any_prior(relation, universe, F, event)


@pytest.mark.parametrize(
    "relation",
    [
        DP[Visits](),
        OSDP(frozenset({NONE, TWO})),
        Blowfish(frozenset({(NONE, ONE), (ONE, BOTH)})),
        ADP.not_visited("1"),
        ADP.not_visited("12"),
    ],
)
def test_every_column_extends_to_a_mechanism_of_the_definition(relation: Relation[Visits]) -> None:
    for column in columns(relation, PLACES, F):
        channel = channel_of(relation, column, F)
        assert factor(channel, relation) <= F
        scale = max(row[SPOKEN] for row in channel.values())
        assert all(channel[x][SPOKEN] == scale * column[x] for x in PLACES.records)


def test_the_worst_mechanism_attains_the_risk_it_is_said_to_have() -> None:
    for relation in (DP[Visits](), ADP.not_visited("12"), OSDP(frozenset({NONE, TWO}))):
        for event in EVENTS:
            worst = worst_risk(relation, PLACES, F, UNIFORM, event)
            found = risk(worst.channel, UNIFORM, event)
            assert found.value == worst.value
            assert factor(worst.channel, relation) <= F


def test_dp_bounds_risk_for_everything() -> None:
    for event in EVENTS:
        assert most(DP[Visits](), event) == F
        assert worst_risk(DP[Visits](), PLACES, F, UNIFORM, event).value == F


def one_sided_for(
    relation: Relation[Visits], x: Visits, universe: Universe[Visits], c: Predicate[Visits]
) -> bool:
    """Whether some mechanism says "nobody was there" rightly of (x,) and never of one who was there.

    The greatest Pr[z | x] / Pr[z | x'] over mechanisms is e^(eps d), d the steps from x to x'; so eps below
    ln(beta/alpha)/d fails wherever a path exists, however small alpha.
    """
    return all(relation.min_path(universe, (x,), (x2,)) is None for x2 in universe.records if c(x2))


def test_proposition_III_2_blowfish_needs_no_edge_between_there_and_not_there() -> None:
    """For one-sidedness at *every* true X. For one X alone, as printed, an edge elsewhere may stay."""
    pairs = list(itertools.combinations(PLACES.records, 2))
    for kept in itertools.product((False, True), repeat=len(pairs)):
        edges = frozenset(pair for pair, keep in zip(pairs, kept, strict=True) if keep)
        every = all(one_sided_for(Blowfish(edges), x, PLACES, at("1")) for x in (NONE, TWO))
        assert every == all(("1" in x) == ("1" in y) for x, y in edges)
    elsewhere = Blowfish(frozenset({(TWO, BOTH)}))
    assert one_sided_for(elsewhere, NONE, PLACES, at("1"))
    assert not one_sided_for(elsewhere, TWO, PLACES, at("1"))


def test_blowfish_leaks_there_and_not_there() -> None:
    relation = Blowfish.within(PLACES, at("1"))
    channel = tells_exactly(PLACES, at("1"))
    assert factor(channel, relation) == 1
    assert risk(channel, UNIFORM, at("1")).infinite
    assert risk(channel, UNIFORM, not_at("1")).infinite
    # What else a person did stays protected from one who knows whether they were there.
    for there in (True, False):
        known = Universe(records=tuple(x for x in PLACES.records if ("1" in x) is there))
        assert most(relation, at("2"), known) == F


def test_proposition_III_3_osdp_needs_those_who_were_not_there_to_be_non_sensitive() -> None:
    """c(x) = False implies x in N. As printed (True implies x in N) it is neither needed nor enough."""
    for size in range(5):
        for chosen in itertools.combinations(PLACES.records, size):
            relation = OSDP(frozenset(chosen))
            every = all(one_sided_for(relation, x, PLACES, at("1")) for x in (NONE, TWO))
            assert every == all(x in chosen for x in PLACES.records if "1" not in x)
    printed = OSDP(frozenset({ONE, BOTH}))
    assert not one_sided_for(printed, NONE, PLACES, at("1"))


def test_osdp_leaks_everything_about_those_who_were_not_there() -> None:
    relation = OSDP(frozenset(x for x in PLACES.records if "1" not in x))
    channel = tells_the_truth_about(PLACES, not_at("1"), F)
    assert factor(channel, relation) == F
    for event in EVENTS:
        hidden = both(not_at("1"), event)
        if any(map(hidden, PLACES.records)):
            assert risk(channel, UNIFORM, hidden).infinite
    # Even somebody who knows that the person was not there learns the rest.
    assert risk(channel, {NONE: Fraction(1, 2), TWO: Fraction(1, 2)}, at("2")).infinite
    for event in EVENTS:
        assert most(relation, both(at("1"), event)) in (0, F)


def test_osdp_protects_enough_where_a_record_is_one_bit() -> None:
    """The paper's remark: with nothing else in the record, OSDP and ADP are the same relation."""
    bit = visits("1")
    osdp, adp = OSDP(frozenset({frozenset[str]()})), ADP.not_visited("1")
    pairs = itertools.permutations(bit.records, 2)
    assert all(osdp.step(x, y) == adp.step(x, y) for x, y in pairs)


def test_proposition_IV_3_the_policy_itself_may_leak() -> None:
    """For every proposition there is a mechanism, on two people, and a prior with infinite Risk."""
    for p in PROPOSITIONS:
        relation = ADP({"p": p})
        said = {X: 1 - 1 / F if all(map(p, X)) else Fraction(0) for X in PLACES.datasets(2)}
        for X, X2 in relation.neighbours(PLACES, 2):
            assert said[X] <= F * said[X2]
            assert 1 - said[X] <= F * (1 - said[X2])
        channel = tells_sometimes(PLACES, p, F)
        assert factor(channel, relation) == F
        assert risk(channel, UNIFORM, p).infinite


def test_proposition_IV_4_what_is_not_the_policy_is_protected() -> None:
    """Risk(M, not p and p') <= e^eps for every p, p', mechanism and prior."""
    for p, other in itertools.product(PROPOSITIONS, EVENTS):
        assert most(ADP({"p": p}), both(negated(p), other)) <= F


def test_proposition_IV_5_nothing_more_leaks_to_one_who_knows_the_policy_holds() -> None:
    """Risk(M, p') <= e^eps for every p' where the prior knows p; on the records where p is true."""
    for p in PROPOSITIONS:
        known = Universe(records=tuple(filter(p, PLACES.records)))
        for other in EVENTS:
            assert most(ADP({"p": p}), other, known) <= F


def test_single_proposition_adp_is_strictly_between_dp_and_osdp() -> None:
    policy = ADP.not_visited("1")
    osdp = OSDP(frozenset(x for x in PLACES.records if "1" not in x))
    ours, theirs, all_pairs = (
        {(x, y) for x, y in itertools.permutations(PLACES.records, 2) if relation.step(x, y)}
        for relation in (policy, osdp, DP[Visits]())
    )
    assert theirs < ours < all_pairs


SET = ADP.not_visited("12")
CLINIC_OR_CAFE = {NONE: "0.01", ONE: "0.01", TWO: "0.98"}


def test_a_set_policy_promises_297_and_attains_it() -> None:
    for universe in (PLACES, visits("12", at_most=1)):
        worst = worst_risk(SET, universe, F, CLINIC_OR_CAFE, at("1"))
        assert worst.value == 297
        assert risk(worst.channel, CLINIC_OR_CAFE, at("1")).value == 297
        assert (worst.before, worst.after) == (Fraction(1, 100), Fraction(3, 4))


def test_a_set_policy_protects_one_or_more_against_none() -> None:
    assert most(SET, bool) == F


def test_a_set_policy_protects_one_more_from_someone_who_knows_the_others() -> None:
    for others in (NONE, TWO):
        assert most(SET, at("1"), Universe(records=(others, others | {"1"}))) == F


def test_a_set_policy_protects_what_lies_above_everything_else() -> None:
    """Risk <= e^eps at every prior exactly when each record of A steps to each record outside A."""
    for event in EVENTS:
        above = all(x >= y for x in PLACES.records for y in PLACES.records if event(x) and not event(y))
        found = most(SET, event)
        assert found == (F if above else math.inf)


def test_a_set_policy_may_show_for_certain_that_you_were_not_there() -> None:
    for target in "12":
        assert worst_risk(SET, PLACES, F, UNIFORM, not_at(target)).value == math.inf


def test_targets_that_cover_everything_protect_nothing() -> None:
    covered = visits("12", least=1, at_most=1)
    assert not list(SET.neighbours(covered, 2))
    exact_counts = tells_exactly(covered, lambda x: x)
    assert factor(exact_counts, SET) == 1
    for event in (at("1"), not_at("1")):
        assert risk(exact_counts, {ONE: "0.5", TWO: "0.5"}, event).infinite


def test_the_empty_policy_is_ordinary_privacy() -> None:
    empty = ADP[Visits]({})
    assert all(empty.step(x, y) for x, y in itertools.product(PLACES.records, repeat=2))


def test_erratum_composition_unites_and_neither_or_nor_and_will_do() -> None:
    """Two one-sided answers, each private under its own negation, do not compose under a single one."""
    first = tells_sometimes(PLACES, not_at("1"), F)
    second = tells_sometimes(PLACES, not_at("2"), F)
    together = {
        x: {(a, b): first[x][a] * second[x][b] for a in first[x] for b in second[x]} for x in PLACES.records
    }
    assert factor(together, ADP.not_visited("12")) == F**2
    assert factor(together, ADP({"or": lambda x: x != BOTH})) == math.inf
    assert factor(together, ADP({"and": lambda x: x == NONE})) == math.inf


def test_enumeration_is_refused_where_it_would_not_end() -> None:
    with pytest.raises(PrivacyError, match="too many"):
        worst_risk(SET, visits("12345"), F, UNIFORM, at("1"))
    with pytest.raises(BadNumber, match="above 1"):
        worst_risk(SET, PLACES, 1, UNIFORM, at("1"))
    assert worst_risk(SET, PLACES, F, {NONE: 1}, at("1")).value == 0
