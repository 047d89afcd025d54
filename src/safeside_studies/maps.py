"""Figures 2 and 3: one evening on the map, as each definition may publish it.

The competitors are real mechanisms: the best decision that is (epsilon, delta)-DP when a person is added or
removed. They give one bit for one threshold, so their "safe" and "dangerous" are two releases, each with the
whole budget; AGeo gives both from one. The paper's own competitor is a formula and stands beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.decisions.sanitizers import beta_at_least, boundary_coins, decide
from safeside.decisions.states import State
from safeside.mechanisms import AGeo, OptimalDecision
from safeside.noise.entropy import Entropy, simulated_entropy
from safeside_studies import rules
from safeside_studies.figure_style import spoken
from safeside_studies.map_drawing import draw_maps
from safeside_studies.movements import Movements
from safeside_studies.results import Finding, Outcome, Sheet
from safeside_studies.rules import APPROXIMATE, OURS, PURE, VIRTUAL, Question
from safeside_studies.settings import Settings

Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]
DEFINITIONS: Final = {PURE: "ε-DP", APPROXIMATE: "(ε,δ)-DP", OURS: "ADP"}


@dataclass(frozen=True, kw_only=True)
class Claims:
    """One release: which places it calls safe and which dangerous; the others are obscure."""

    safe: Flags
    dangerous: Flags


@dataclass(frozen=True, kw_only=True)
class Evening:
    """One question, answered once by each definition."""

    ask: Question
    counts: Whole
    said: Mapping[str, Claims]

    @property
    def label(self) -> str:
        """What is drawn beside its row of maps."""
        return f"t = {self.ask.at_most}, α = {spoken(self.ask.alpha)}"

    @property
    def is_safe(self) -> Flags:
        """The truth."""
        return self.counts <= self.ask.at_most


def figure2(data: Movements, settings: Settings) -> Outcome:
    """Fewer than 3 visitors, no error allowed."""
    counts = data.at(data.evening)
    shown = _release(Question(at_most=2, alpha=0), counts, seed=200)
    picture = draw_maps(
        data,
        [shown],
        settings.out,
        "figure2",
        title="One evening, no error allowed",
        caption=(
            f"{data.places:,} places at 6 p.m., ε = 1, δ = 10⁻⁴, α = 0. Safe: fewer than 3 visitors. "
            "Labels: answers given / places of which it is true."
        ),
    )
    return Outcome(
        title="Figure 2: one evening on the map, no error allowed",
        text=(
            "With α = 0 an answer is never wrong. ε-DP then says nothing at all, (ε,δ)-DP next to "
            "nothing, and ADP finds almost every safe place. Of the dangerous ones (ε,δ)-DP finds the "
            "most crowded; ADP hides that somebody was there, and so finds none for certain."
        ),
        pictures=[picture],
        findings=_findings2(shown, data.people, settings),
        sheets=[_sheet("Answers of figure 2", [shown])],
    )


def figure3(data: Movements, settings: Settings) -> Outcome:
    """At most 5 visitors, with an error of one in a thousand or in ten thousand at each place."""
    counts = data.at(data.evening)
    shown = [
        _release(Question(at_most=5, alpha=alpha), counts, seed=seed)
        for alpha, seed in (("1e-3", 300), ("1e-4", 310))
    ]
    picture = draw_maps(
        data,
        shown,
        settings.out,
        "figure3",
        title="The same evening with a small error allowed",
        caption=(
            f"{data.places:,} places at 6 p.m., ε = 1, δ = 10⁻⁴. Safe: at most 5 visitors. Top: α = 10⁻³; "
            "bottom: α = 10⁻⁴. Labels: answers given / places of which it is true."
        ),
    )
    return Outcome(
        title="Figure 3: the same evening with a small error allowed",
        text=(
            "The text of the paper says α = 10⁻³ and its caption α = 10⁻⁴: both are drawn. α is the "
            "probability of a wrong answer at each place of which it would be wrong. ADP needs none to "
            "say “safe”, and uses it to say “dangerous” only."
        ),
        pictures=[picture],
        findings=[finding for one in shown for finding in _findings3(one)],
        sheets=[_sheet("Answers of figure 3", shown)],
    )


def _release(ask: Question, counts: Whole, seed: int) -> Evening:
    said = {rule: say(rule, ask, counts, simulated_entropy(seed + i)) for i, rule in enumerate(DEFINITIONS)}
    return Evening(ask=ask, counts=counts, said=said)


def say(rule: str, ask: Question, counts: Whole, entropy: Entropy) -> Claims:
    """Release once by one definition."""
    if rule == OURS:
        z = AGeo(epsilon=ask.epsilon).release(counts, entropy=entropy).values
        coins = boundary_coins(len(counts), ask.epsilon, ask.alpha, entropy)
        states = decide(z, ask.at_most, ask.epsilon, ask.alpha, coins=coins)
        return Claims(safe=states == State.AT_MOST, dangerous=states == State.AT_LEAST)
    delta = 0 if rule == PURE else ask.delta
    decision = OptimalDecision(epsilon=ask.epsilon, delta=delta, alpha=ask.alpha)
    # "At least t + 1 were there" is "at most m - t - 1 of m were not": the same decision, seen from above.
    most = max(int(counts.max()), ask.at_most + 1)
    return Claims(
        safe=decision.release(counts, ask.at_most, entropy=entropy).values,
        dangerous=decision.release(most - counts, most - ask.at_most - 1, entropy=entropy).values,
    )


def chances(rule: str, ask: Question, counts: Whole) -> tuple[rules.Floats, rules.Floats]:
    """Theory: the probability of "safe" and of "dangerous" at each place, right or wrong."""
    numbers = range(int(counts.max()) + 1)
    steps = [ask.at_most + 1 - count for count in numbers]
    safe = [rules.RULES[rule](ask, max(0, k)) for k in steps]
    if rule == OURS:
        far = [beta_at_least(ask.at_most, count, ask.epsilon, ask.alpha, coin=True) for count in numbers]
        dangerous = [float(one.mid()) for one in far]
    else:
        dangerous = [rules.RULES[rule](ask, max(0, 1 - k)) for k in steps]
    return np.array(safe)[counts], np.array(dangerous)[counts]


def _spread(chance: rules.Floats) -> float:
    """The standard deviation of how many of independent answers are given."""
    return float(np.sqrt((chance * (1 - chance)).sum()))


def _findings2(shown: Evening, people: int, settings: Settings) -> list[Finding]:
    ask, counts, is_safe = shown.ask, shown.counts, shown.is_safe
    chance = {rule: chances(rule, ask, counts)[0][is_safe] for rule in (*DEFINITIONS, VIRTUAL)}
    many = settings.repeats(200, 20)
    entropy = simulated_entropy(250)
    mean = np.mean([say(OURS, ask, counts, entropy).safe[is_safe].sum() for _ in range(many)])
    wrong = int(shown.said[OURS].safe[~is_safe].sum())
    virtual = float(chance[VIRTUAL].sum())
    city = "The paper's data are Peopleflow's; the city is made to be like them, not to be them."
    return [
        Finding(
            name="figure2.people",
            where="Figure 2",
            what="people",
            paper="10,338",
            ours=people,
            form=",.0f",
        ),
        Finding(
            name="figure2.places",
            where="Figure 2",
            what="target places",
            paper="5,835",
            ours=len(counts),
            form=",.0f",
        ),
        Finding(
            name="figure2.safe",
            where="Figure 2",
            what="places with fewer than 3 visitors at 6 p.m.",
            paper="5,343",
            ours=int(is_safe.sum()),
            why=city,
            form=",.0f",
        ),
        Finding(
            name="figure2.adp",
            where="Figure 2",
            what="of those, called safe under ADP",
            paper="5,031 of 5,343 (94.2 %)",
            ours=int(shown.said[OURS].safe[is_safe].sum()),
            out_of=int(is_safe.sum()),
            theory=float(chance[OURS].sum()),
            standard_error=_spread(chance[OURS]),
            why=f"One draw, as in the paper; {chance[OURS].mean():.1%} are expected.",
            form=",.0f",
        ),
        Finding(
            name="figure2.adp_mean",
            where="Figure 2",
            what=f"the same, mean of {many} releases",
            ours=float(mean),
            theory=float(chance[OURS].sum()),
            standard_error=_spread(chance[OURS]) / np.sqrt(many),
            form=",.1f",
        ),
        Finding(
            name="figure2.approximate",
            where="Figure 2",
            what="called safe under (ε,δ)-DP, δ = 10⁻⁴",
            paper="4 of 5,343",
            ours=int(shown.said[APPROXIMATE].safe[is_safe].sum()),
            out_of=int(is_safe.sum()),
            theory=float(chance[APPROXIMATE].sum()),
            standard_error=_spread(chance[APPROXIMATE]),
            why=(
                f"One draw of the best real decision. The paper's virtual formula expects {virtual:.1f}: "
                "for three steps from α = 0 the two agree."
            ),
            form=",.0f",
        ),
        Finding(
            name="figure2.pure",
            where="Figure 2",
            what="called safe under ε-DP",
            paper="none",
            ours=int(shown.said[PURE].safe[is_safe].sum()),
            theory=0.0,
            form=",.0f",
        ),
        Finding(
            name="figure2.wrong",
            where="Figure 2",
            what="dangerous places called safe under ADP",
            ours=wrong,
            theory=0.0,
            why="Never: it cannot happen, in this draw or any other.",
            form=",.0f",
        ),
    ]


def _findings3(shown: Evening) -> list[Finding]:
    """What figure 3 shows for each definition; the paper prints no number of it in its text."""
    findings = []
    for rule, title in DEFINITIONS.items():
        safe, dangerous = chances(rule, shown.ask, shown.counts)
        said, truth = shown.said[rule], shown.is_safe
        cases = (
            ("safe", "safe places called safe", said.safe[truth], safe[truth]),
            ("dangerous", "dangerous places called dangerous", said.dangerous[~truth], dangerous[~truth]),
            ("wrong_safe", "dangerous places called safe", said.safe[~truth], safe[~truth]),
        )
        for name, what, answers, chance in cases:
            findings.append(
                Finding(
                    name=f"figure3.{shown.ask.alpha}.{rule}.{name}",
                    where=f"Figure 3, α = {spoken(shown.ask.alpha)}",
                    what=f"{what} under {title}",
                    ours=int(answers.sum()),
                    theory=float(chance.sum()),
                    standard_error=_spread(chance),
                    form=",.0f",
                )
            )
    return findings


def _sheet(title: str, evenings: Sequence[Evening]) -> Sheet:
    """Given, expected and virtual numbers side by side."""
    rows = []
    for evening in evenings:
        truth = evening.is_safe
        for rule, name in DEFINITIONS.items():
            said = evening.said[rule]
            safe, dangerous = chances(rule, evening.ask, evening.counts)
            virtual = "no such formula"
            if rule == APPROXIMATE:
                virtual = f"{chances(VIRTUAL, evening.ask, evening.counts)[0][truth].sum():,.1f}"
            rows.append(
                (
                    spoken(evening.ask.alpha),
                    name,
                    f"{said.safe[truth].sum():,} of {truth.sum():,}",
                    f"{safe[truth].sum():,.1f}",
                    virtual,
                    f"{said.dangerous[~truth].sum():,} of {(~truth).sum():,}",
                    f"{dangerous[~truth].sum():,.1f}",
                    f"{said.safe[~truth].sum():,} and {said.dangerous[truth].sum():,}",
                )
            )
    head = (
        "α",
        "definition",
        "safe, given",
        "expected",
        "virtual formula",
        "dangerous, given",
        "expected",
        "wrong: safe and dangerous",
    )
    return Sheet(title=title, head=head, rows=rows)
