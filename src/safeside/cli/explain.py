"""`safeside explain`: what a definition protects and leaks, on a small worked example."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from safeside.cli.console import AsJson, print_either, table
from safeside.exact import show
from safeside.privacy.records import Visits
from safeside.privacy.worked import ANY_PRIOR, DEFINITIONS, PEOPLE, PRIORS, Explanation
from safeside.privacy.worked import explain as work_out
from safeside.privacy.worst import SPOKEN

LIST = "list"


def explain(
    definition: Annotated[
        str, typer.Argument(help=f"One of {', '.join(DEFINITIONS)}; or `list` to name them all.")
    ],
    factor: Annotated[
        str, typer.Option(help="e^epsilon, a number above 1: how far the definition lets odds rise.")
    ] = "3",
    as_json: AsJson = False,
) -> None:
    """Say what a privacy definition protects and leaks, with the output that shows it."""
    if definition == LIST:
        titles = {name: one.title for name, one in DEFINITIONS.items()}
        rows = [(Text(name, "bold"), title) for name, title in titles.items()]
        print_either(titles, [table(("", ""), rows, show_header=False)], as_json=as_json, soft_wrap=False)
    else:
        explanation = work_out(definition, factor)
        print_either(_as_json(explanation), _lines(explanation), as_json=as_json, soft_wrap=False)


def _lines(explanation: Explanation) -> Iterator[RenderableType]:
    """For people: prose, which is wrapped between words whatever the width of the terminal."""
    definition, witness = explanation.definition, explanation.witness
    yield Text(definition.title, "bold")
    yield f"It compares {definition.compares}."
    yield definition.says
    yield ""
    yield "The most that any mechanism of this definition can multiply the odds that a person was ..."
    bound = explanation.e_to_eps
    rows: list[Sequence[str | Text]] = [
        (row.question, *(_coloured(value, bound) for value in (row.any_prior, *row.by_prior.values())))
        for row in explanation.rows
    ]
    risks = table(("a person was ...", ANY_PRIOR, *PRIORS), rows, left=1)
    risks.columns[0].no_wrap = True
    yield risks
    yield "- : already known, nothing to learn.   ∞ : an output can settle it."
    for name, prior in PRIORS.items():
        yield f"{name}: {', '.join(f'{_person(x)} {show(p)}' for x, p in prior.items())}"
    yield ""
    for title, questions in (
        ("Protected, whatever is believed", explanation.protects),
        ("Depends on what is believed", explanation.depends),
        ("May leak to anybody", explanation.leaks),
    ):
        yield Text.assemble((f"{title}:", "bold"), f" {', '.join(questions) or 'nothing'}.")
    yield ""
    who = f" A mechanism of this definition, and somebody with the prior '{definition.prior}':"
    yield Text.assemble(("Witness.", "bold"), who)
    headers = ("a person at ...", "is believed", f"leads to output {SPOKEN}")
    believed = PRIORS[definition.prior]
    shown = [
        (_person(x), show(believed.get(x, Fraction(0))), show(witness.channel[x][SPOKEN]))
        for x in PEOPLE.records
    ]
    yield table(headers, shown, left=1)
    yield (
        f"Output {SPOKEN} multiplies the odds that the person was {definition.question} by "
        f"{_value(witness.value)}: the probability goes from {_value(witness.before)} to "
        f"{_value(witness.after)}."
    )
    if definition.name == "adp-set":
        yield ""
        yield (
            "Where everybody has to be at exactly one of the two places, that may become "
            f"{_value(explanation.without_room)}: targets that leave nowhere else to be protect nobody."
        )


def _person(record: Visits) -> str:
    return " and ".join(place for place in ("clinic", "café") if place in record) or "neither"


def _value(value: Fraction | float) -> str:
    if value == 0:
        return "-"
    return show(value) if isinstance(value, Fraction) else "∞"


def _coloured(value: Fraction | float, bound: Fraction) -> Text:
    colour = "green" if value <= bound else "red" if value == math.inf else "yellow"
    return Text(_value(value), colour)


def _as_json(explanation: Explanation) -> dict[str, Any]:
    definition, witness = explanation.definition, explanation.witness
    return {
        "definition": definition.name,
        "title": definition.title,
        "compares": definition.compares,
        "says": definition.says,
        "e_to_epsilon": explanation.e_to_eps,
        "protects": explanation.protects,
        "depends": explanation.depends,
        "leaks": explanation.leaks,
        "risk": [
            {"question": row.question}
            | {name: _number(one) for name, one in {ANY_PRIOR: row.any_prior, **row.by_prior}.items()}
            for row in explanation.rows
        ],
        "witness": {
            "question": definition.question,
            "prior": {_person(x): p for x, p in PRIORS[definition.prior].items()},
            "mechanism": {_person(x): row[SPOKEN] for x, row in witness.channel.items()},
            "output": SPOKEN,
            "risk": _number(witness.value),
            "before": witness.before,
            "after": witness.after,
        },
        "risk_without_room": _number(explanation.without_room),
    }


def _number(value: Fraction | float) -> Fraction | str:
    return value if isinstance(value, Fraction) else "infinite"
