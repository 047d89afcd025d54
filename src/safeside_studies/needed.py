"""Sections III and IV: what one-sided answers need under each definition, and what each definition leaks.

The needed epsilon and delta come from the library's calculators and are held against the closed formulas. The
Risks are the greatest over all mechanisms of a definition, found exactly on a small example; a mechanism that
attains one of them is written out for each definition.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from safeside.decisions.bounds import approximate_dp, needed_delta, needed_epsilon_adp, needed_epsilon_dp
from safeside.exact import show
from safeside.privacy.records import Visits
from safeside.privacy.worked import DEFINITIONS, PRIORS, QUESTIONS, Explanation, explain
from safeside.privacy.worst import SPOKEN
from safeside_studies.figure_style import BLACK, BLUE, GREEN, ORANGE, VERMILION, Picture, page, save, spoken
from safeside_studies.results import Finding, Outcome, Sheet
from safeside_studies.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

HALF: Final = Fraction(1, 2)
_STEPS: Final = range(1, 13)
_NAMES: Final = {
    "dp": "ε-DP",
    "osdp": "OSDP",
    "blowfish": "Blowfish",
    "adp": "ADP, one proposition",
    "adp-set": "ADP, a set of them",
}


def run(settings: Settings) -> Outcome:
    """The needed parameters, the Risks, and their pictures."""
    settings.progress(0.0, "Sections III and IV: the Risk of each definition")
    explained = [explain(name) for name in DEFINITIONS]
    return Outcome(
        title="Sections III and IV: what is needed, and what is risked",
        text=(
            "To be right with probability 1/2, k people away from being wrong. ε-DP needs an error α and "
            "then a large ε; (ε,δ)-DP needs a δ that falls fast with k, so that it is out of reach at a "
            "threshold of 3 and quite usable at 10; ADP needs neither. Risk is how many times an output "
            "can multiply the odds that something is true of one person; on two places, a clinic and a "
            "café, at e^ε = 3."
        ),
        pictures=[_draw_needed(settings), _draw_risk(explained, settings)],
        findings=[*_needed(), *_risks(explained)],
        sheets=[_risk_sheet(explained), _witness_sheet(explained)],
    )


def _needed() -> list[Finding]:
    epsilon = float(needed_epsilon_dp(steps=1, alpha="1e-4", beta=HALF).mid())
    findings = [
        Finding(
            name="needed.epsilon",
            where="Section III",
            what="ε that ε-DP needs: k = 1, α = 10⁻⁴, β = 1/2",
            paper="8.4",
            ours=epsilon,
            theory=math.log(0.5 / 1e-4),
            why="ln(β/α) = ln 5,000 = 8.52; a slip of the pen.",
            form=".4f",
        ),
        Finding(
            name="needed.epsilon_adp",
            where="Section IV",
            what="ε that ADP needs: k = 1, α = 0, β = 1/2",
            ours=float(needed_epsilon_adp(steps=1, beta=HALF).mid()),
            theory=math.log(2),
            why="The paper gives the formula without this number.",
            form=".4f",
        ),
    ]
    papers = {3: "0.12", 6: None, 10: None}
    for steps, paper in papers.items():
        delta = needed_delta(steps=steps, epsilon=1, beta=HALF)
        findings.append(
            Finding(
                name=f"needed.delta_{steps}",
                where="Section III",
                what=f"δ that (ε,δ)-DP needs: k = {steps}, α = 0, β = 1/2, ε = 1",
                paper=paper,
                ours=float(delta.mid()),
                theory=0.5 / sum(math.exp(i) for i in range(steps)),
                why="0.5/(1 + e + e²) = 0.045: arithmetic."
                if paper
                else "So “δ > 0.1 is required” is not so.",
                form=".3g",
            )
        )
    reached = approximate_dp(
        steps=3, epsilon=1, delta=Fraction(float(needed_delta(steps=3, epsilon=1, beta=HALF).mid()))
    )
    findings.append(
        Finding(
            name="needed.delta_reached",
            where="Section III",
            what="β of the best real decision with that δ, k = 3",
            ours=float(reached.mid()),
            theory=0.5,
            why="The bound is attained: a mechanism with exactly this β exists.",
            form=".4f",
        )
    )
    return findings


def _risks(explained: list[Explanation]) -> list[Finding]:
    by_name = {one.definition.name: one for one in explained}
    pure = max(float(row.any_prior) for row in by_name["dp"].rows)
    there = next(row for row in by_name["adp"].rows if row.question == "at the clinic")
    likely = by_name["adp-set"].witness
    return [
        Finding(
            name="risk.dp",
            where="Section III",
            what="greatest Risk of anything under ε-DP, e^ε = 3",
            paper="at most e^ε",
            ours=pure,
            theory=3.0,
        ),
        Finding(
            name="risk.adp",
            where="Section IV",
            what="greatest Risk of “at the clinic” under ADP with the policy {not at the clinic}",
            paper="at most e^ε",
            ours=float(there.any_prior),
            theory=3.0,
        ),
        Finding(
            name="risk.adp_set",
            where="Section VI",
            what="Risk of “at the clinic” under the set policy, to one who thinks the café likely (0.98)",
            paper="at most e^ε",
            ours=float(likely.value),
            theory=297.0,
            why=(
                "The paper's policy for many places is one proposition, under which its counts are not "
                "monotone. With the set it needs, “not at the café” may leak, and that points to the "
                "clinic: e^ε / 0.0101."
            ),
            form=".0f",
        ),
    ]


def _draw_needed(settings: Settings) -> Picture:
    with page(7.2, 2.9) as figure:
        left, right = figure.subplots(1, 2)
        steps = np.array(_STEPS)
        for alpha, colour, dash in (("1e-2", ORANGE, ":"), ("1e-3", GREEN, "--"), ("1e-4", BLUE, "-")):
            need = [float(needed_epsilon_dp(steps=k, alpha=alpha, beta=HALF).mid()) for k in _STEPS]
            left.plot(steps, need, color=colour, linestyle=dash, label=f"ε-DP, α = {spoken(alpha)}")
        need = [float(needed_epsilon_adp(steps=k, beta=HALF).mid()) for k in _STEPS]
        left.plot(steps, need, color=BLACK, linestyle="-.", label="ADP, α = 0")
        _mark(left, (1, math.log(5000)), (1, 8.4), "8.52 (the paper: 8.4)", lift=2)
        left.set_ylabel("needed ε")
        left.set_ylim(0, 9.5)
        left.legend()
        for epsilon, colour, dash in (("0.5", ORANGE, ":"), ("1", BLUE, "-"), ("2", GREEN, "--")):
            need = [float(needed_delta(steps=k, epsilon=epsilon, beta=HALF).mid()) for k in _STEPS]
            right.plot(steps, need, color=colour, linestyle=dash, label=f"(ε,δ)-DP, ε = {epsilon}, α = 0")
        right.set_yscale("log")
        _mark(right, (3, 0.5 / (1 + math.e + math.e**2)), (3, 0.12), "0.045 (the paper: 0.12)", lift=15)
        right.set_ylabel("needed δ")
        right.legend(loc="lower left")
        for axes in (left, right):
            axes.set_xlabel("k, people away from being wrong")
            axes.set_xticks(steps)
        return save(
            figure,
            settings.out,
            "needed",
            title="What one-sided answers need",
            caption="The ε and δ needed to be right with probability 1/2. Stars: as the paper prints them.",
        )


def _mark(
    axes: Axes, ours: tuple[float, float], paper: tuple[float, float], words: str, *, lift: int
) -> None:
    axes.plot(*ours, marker="o", color=BLUE, linestyle="")
    axes.plot(*paper, marker="*", color=VERMILION, markersize=9, linestyle="")
    axes.annotate(words, ours, xytext=(9, lift), textcoords="offset points", fontsize=8)


def _draw_risk(explained: list[Explanation], settings: Settings) -> Picture:
    with page(7.2, 3.0) as figure:
        axes = figure.subplots()
        for row, one in enumerate(explained):
            for column, question in enumerate(one.rows):
                value = question.any_prior
                known = question.by_prior["nothing known"]
                fill = "white" if value <= one.e_to_eps else VERMILION if known == math.inf else ORANGE
                axes.add_patch(_cell(column, row, fill))
                words = _risk(value)
                if value > one.e_to_eps:
                    words += "\nto anybody" if known == math.inf else "\nto some"
                axes.annotate(words, (column, row), ha="center", va="center", fontsize=8)
        axes.set_xlim(-0.5, len(QUESTIONS) - 0.5)
        axes.set_ylim(len(explained) - 0.5, -0.5)
        axes.set_xticks(range(len(QUESTIONS)), [_two_lines(text) for text in QUESTIONS], fontsize=7.5)
        axes.set_yticks(range(len(explained)), [_NAMES[one.definition.name] for one in explained])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return save(
            figure,
            settings.out,
            "risk",
            title="Risk of each definition",
            caption=(
                "The most that any mechanism of the definition can multiply the odds that a person was "
                "..., whatever is believed beforehand, at e^ε = 3. White: protected. “To anybody”: it may "
                "leak to one who knew nothing; “to some”: to one who already believed something that "
                "makes it follow."
            ),
        )


def _cell(column: int, row: int, fill: str) -> Patch:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=fill, edgecolor=BLACK, linewidth=0.6)


def _two_lines(text: str) -> str:
    words = text.split()
    half = (len(words) + 1) // 2
    return " ".join(words[:half]) + "\n" + " ".join(words[half:])


def _risk(value: Fraction | float) -> str:
    if value == 0:
        return "known"
    return show(value) if isinstance(value, Fraction) else "∞"


def _person(record: Visits) -> str:
    return " and ".join(sorted(record)) or "neither"


def _risk_sheet(explained: list[Explanation]) -> Sheet:
    return Sheet(
        title="The greatest Risk over all mechanisms of a definition, whatever is believed (e^ε = 3)",
        head=("a person was ...", *(_NAMES[one.definition.name] for one in explained)),
        rows=[
            (question, *(_risk(one.rows[number].any_prior) for one in explained))
            for number, question in enumerate(QUESTIONS)
        ],
        note=(
            "Policies: OSDP holds those who were not at the clinic for non-sensitive; Blowfish joins "
            "people who agree about the clinic; ADP has {not at the clinic}, and "
            "{not at the clinic, not at the café}."
        ),
    )


def _witness_sheet(explained: list[Explanation]) -> Sheet:
    rows = []
    for one in explained:
        witness, definition = one.witness, one.definition
        channel = ", ".join(f"{_person(x)}: {show(row[SPOKEN])}" for x, row in witness.channel.items())
        prior = ", ".join(f"{_person(x)} {show(p)}" for x, p in PRIORS[definition.prior].items())
        rows.append(
            (
                _NAMES[definition.name],
                definition.question,
                prior,
                channel,
                _risk(witness.value),
                f"{float(witness.before):.3g} to {float(witness.after):.3g}",
            )
        )
    return Sheet(
        title="A witness for each: a mechanism of the definition and an output z that attains the Risk",
        head=(
            "definition",
            "question",
            "believed before",
            "Pr[z | person at ...]",
            "Risk",
            "probability goes from",
        ),
        rows=rows,
    )
