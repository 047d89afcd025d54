"""`safeside audit`: every mechanism against its claim, and every planted bug against the audits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from safeside.audit.case import SAMPLER, Row
from safeside.audit.catalogue import audit as audit_all
from safeside.cli.console import VIOLATION, AsJson, Spinner, out, print_json
from safeside.cli.installed import needs_studies
from safeside.progress import Progress

if TYPE_CHECKING:
    from safeside_studies.planted import Caught, Planted

_WIDE: Final = 140
"""Terminals at least so wide also show the outputs."""


def audit(
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Run the planted bugs instead, and show each caught.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the epsilon every mechanism really needs, on every ordered pair of neighbours of small worlds.

    Exit code 1 if one needs more than it claims, or a tight one less; with --self-test, if a bug is missed.
    """
    with Spinner() as progress:
        rows = [] if self_test else audit_all(progress)
        planted = _self_test(progress) if self_test else []
    if as_json:
        found = [_planted_json(*one) for one in planted] if self_test else [row.as_json() for row in rows]
        print_json(found)
    elif self_test:
        _print_planted(planted)
    else:
        _print_rows(rows)
    if not all(row.ok for row in rows) or not all(caught.caught for _, caught in planted):
        raise typer.Exit(VIOLATION)


def _self_test(progress: Progress) -> list[tuple[Planted, Caught]]:
    with needs_studies("audit --self-test"):
        from safeside_studies import planted
    return planted.self_test(progress)


def _print_rows(rows: Sequence[Row]) -> None:
    claims = [row for row in rows if row.kind != SAMPLER]
    samplers = [row for row in rows if row.kind == SAMPLER]
    _print_claims(claims)
    _print_samplers(samplers)
    failed = sum(not row.ok for row in rows)
    if failed:
        out.print(f"{failed} of {len(rows)} audits failed.", style="bold red")
        return
    out.print(
        f"All {len(claims)} claims hold over every ordered pair of neighbours and every output, "
        f"{sum(row.tight for row in claims)} of them with nothing to spare; all "
        f"{len(samplers)} tested samplers drew what they should.",
        soft_wrap=False,
    )


def _print_claims(rows: Sequence[Row]) -> None:
    wide = out.width >= _WIDE
    table = _table("What each mechanism claims and what it needs", "name")
    table.add_column("setting", ratio=3)
    for name in ("claimed", "measured"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("worst pair", *(["seen"] if wide else [])):
        table.add_column(name, ratio=2)
    table.add_column("tight", no_wrap=True)
    table.expand = True
    for row in rows:
        table.add_row(
            row.name,
            row.setting,
            _claim(row.claimed, row.claimed_delta),
            _claim(row.measured, row.measured_delta),
            row.worst_pair,
            *([row.witness] if wide else []),
            _verdict(row.ok, "yes" if row.tight else "no", "VIOLATED"),
        )
    out.print(table, soft_wrap=False)


def _print_samplers(rows: Sequence[Row]) -> None:
    title = "What each sampler draws (surprise above 1 fails)"
    table = _table(title, "sampler", "surprise", "most surprising", "")
    for row in rows:
        verdict = _verdict(row.ok, "passes", "FAILS")
        table.add_row(row.setting, f"{row.measured:.3f}", row.witness, verdict)
    out.print(table, soft_wrap=False)


def _table(title: str, *columns: str) -> Table:
    return Table(
        *columns, title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, show_edge=False
    )


def _verdict(good: bool, yes: str, no: str) -> Text:
    return Text(yes, "green") if good else Text(no, "bold red")


def _print_planted(planted: Sequence[tuple[Planted, Caught]]) -> None:
    wide = out.width >= _WIDE
    why = ["what is wrong"] if wide else []
    table = _table("Planted bugs", "planted", *why, "claimed", "measured", "shown by", "")
    for bug, caught in planted:
        table.add_row(
            bug.name,
            *([bug.bug] if wide else []),
            _number(caught.claimed),
            _number(caught.measured),
            caught.how,
            _verdict(caught.caught, "caught", "MISSED"),
        )
    out.print(table, soft_wrap=False)
    missed = sum(not caught.caught for _, caught in planted)
    if missed:
        out.print(f"{missed} of {len(planted)} planted bugs were missed.", style="bold red")
    else:
        out.print(f"All {len(planted)} planted bugs were caught.")


def _claim(epsilon: float, delta: float) -> str:
    return _number(epsilon) + (f"\nδ {delta:.3g}" if delta else "")


def _number(value: float) -> str:
    return "∞" if value == math.inf else f"{value:.6g}"


def _planted_json(bug: Planted, caught: Caught) -> dict[str, Any]:
    return {
        "name": bug.name,
        "bug": bug.bug,
        "claimed": caught.claimed,
        "measured": "infinity" if caught.measured == math.inf else caught.measured,
        "how": caught.how,
        "caught": caught.caught,
    }
