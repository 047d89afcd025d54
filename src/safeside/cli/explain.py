"""`safeside explain`: what a definition protects and leaks, on a small worked example."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from safeside.cli.console import AsJson, out, print_json, table
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
        _print_list(as_json)
        return
    explanation = work_out(definition, factor)
    if as_json:
        print_json(_as_json(explanation))
    else:
        _print(explanation)


def _say(what: str | Text | Table = "") -> None:
    """Prose is wrapped between words, whatever the width of the terminal."""
    out.print(what, soft_wrap=False)


def _print_list(as_json: bool) -> None:
    if as_json:
        print_json({name: definition.title for name, definition in DEFINITIONS.items()})
        return
    rows = [(Text(name, "bold"), definition.title) for name, definition in DEFINITIONS.items()]
    _say(table(("", ""), rows, show_header=False))


def _print(explanation: Explanation) -> None:
    definition = explanation.definition
    _say(Text(definition.title, "bold"))
    _say(f"It compares {definition.compares}.")
    _say(definition.says)
    _say()
    _say("The most that any mechanism of this definition can multiply the odds that a person was ...")
    _say(_risk_table(explanation))
    _say("- : already known, nothing to learn.   ∞ : an output can settle it.")
    for name, prior in PRIORS.items():
        _say(f"{name}: {', '.join(f'{_person(x)} {show(p)}' for x, p in prior.items())}")
    _say()
    _print_list_of("Protected, whatever is believed", explanation.protects)
    _print_list_of("Depends on what is believed", explanation.depends)
    _print_list_of("May leak to anybody", explanation.leaks)
    _say()
    _print_witness(explanation)
    if definition.name == "adp-set":
        _say()
        _say(
            "Where everybody has to be at exactly one of the two places, that may become "
            f"{_value(explanation.without_room)}: targets that leave nowhere else to be protect nobody."
        )


def _risk_table(explanation: Explanation) -> Table:
    rows: list[tuple[str | Text, ...]] = []
    for row in explanation.rows:
        values = (row.any_prior, *row.by_prior.values())
        rows.append((row.question, *(_coloured(value, explanation.e_to_eps) for value in values)))
    made = table(("a person was ...", ANY_PRIOR, *PRIORS), rows, left=1)
    made.columns[0].no_wrap = True
    return made


def _print_list_of(title: str, questions: Sequence[str]) -> None:
    _say(Text.assemble((f"{title}:", "bold"), f" {', '.join(questions) or 'nothing'}."))


def _print_witness(explanation: Explanation) -> None:
    definition, witness = explanation.definition, explanation.witness
    who = f" A mechanism of this definition, and somebody with the prior '{definition.prior}':"
    _say(Text.assemble(("Witness.", "bold"), who))
    prior = PRIORS[definition.prior]
    rows = []
    for record in PEOPLE.records:
        believed, said = prior.get(record, Fraction(0)), witness.channel[record][SPOKEN]
        rows.append((_person(record), _value(believed, zero="0"), _value(said, zero="0")))
    headers = ("a person at ...", "is believed", f"leads to output {SPOKEN}")
    _say(table(headers, rows, left=1))
    _say(
        f"Output {SPOKEN} multiplies the odds that the person was {definition.question} by "
        f"{_value(witness.value)}: the probability goes from {_value(witness.before)} to "
        f"{_value(witness.after)}."
    )


def _person(record: Visits) -> str:
    return " and ".join(place for place in ("clinic", "café") if place in record) or "neither"


def _value(value: Fraction | float, zero: str = "-") -> str:
    if value == 0:
        return zero
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
        "e_to_epsilon": show(explanation.e_to_eps),
        "protects": list(explanation.protects),
        "depends": list(explanation.depends),
        "leaks": list(explanation.leaks),
        "risk": [
            {
                "question": row.question,
                ANY_PRIOR: _number(row.any_prior),
                **{name: _number(value) for name, value in row.by_prior.items()},
            }
            for row in explanation.rows
        ],
        "witness": {
            "question": definition.question,
            "prior": {_person(x): show(p) for x, p in PRIORS[definition.prior].items()},
            "mechanism": {_person(x): show(row[SPOKEN]) for x, row in witness.channel.items()},
            "output": SPOKEN,
            "risk": _number(witness.value),
            "before": show(witness.before),
            "after": show(witness.after),
        },
        "risk_without_room": _number(explanation.without_room),
    }


def _number(value: Fraction | float) -> str:
    return show(value) if isinstance(value, Fraction) else "infinite"
