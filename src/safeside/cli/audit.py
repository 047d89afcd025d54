"""`safeside audit`: every mechanism against its claim, and every planted bug against the audits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from safeside.audit.case import SAMPLER, Row, as_plain
from safeside.audit.catalogue import audit as audit_all
from safeside.cli.console import VIOLATION, AsJson, Spinner, out, print_either, table
from safeside.cli.installed import needs_studies

if TYPE_CHECKING:
    from safeside_studies.planted import Caught, Planted

_WIDE: Final = 140
"""Terminals at least so wide also show the outputs."""
_table = partial(table, box=SIMPLE_HEAD, show_edge=False)


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
        if self_test:
            with needs_studies("audit --self-test"):
                from safeside_studies import planted
            found = planted.self_test(progress)
            document = [{"name": bug.name, "bug": bug.bug, **as_plain(caught)} for bug, caught in found]
            lines, fine = _planted(found), all(caught.caught for _, caught in found)
        else:
            rows = audit_all(progress)
            document = [as_plain(row) for row in rows]
            lines, fine = _rows(rows), all(row.ok for row in rows)
    print_either(document, lines, as_json=as_json, soft_wrap=False)
    if not fine:
        raise typer.Exit(VIOLATION)


def _rows(rows: Sequence[Row]) -> Iterator[RenderableType]:
    claims = [row for row in rows if row.kind != SAMPLER]
    samplers = [row for row in rows if row.kind == SAMPLER]
    yield _claims(claims)
    yield _table(
        ("sampler", "surprise", "most surprising", ""),
        [
            (one.setting, f"{one.measured:.3f}", one.witness, _verdict(one.ok, "passes", "FAILS"))
            for one in samplers
        ],
        title="What each sampler draws (surprise above 1 fails)",
    )
    failed = sum(not row.ok for row in rows)
    if failed:
        yield Text(f"{failed} of {len(rows)} audits failed.", "bold red")
        return
    yield (
        f"All {len(claims)} claims hold over every ordered pair of neighbours and every output, "
        f"{sum(row.tight for row in claims)} of them with nothing to spare; all "
        f"{len(samplers)} tested samplers drew what they should."
    )


def _claims(rows: Sequence[Row]) -> Table:
    wide = out.width >= _WIDE
    headers: Sequence[str | Column] = (
        "name",
        Column("setting", ratio=3),
        Column("claimed", justify="right", no_wrap=True),
        Column("measured", justify="right", no_wrap=True),
        Column("worst pair", ratio=2),
        *([Column("seen", ratio=2)] if wide else []),
        Column("tight", no_wrap=True),
    )
    shown: list[Sequence[str | Text]] = [
        (
            row.name,
            row.setting,
            _claim(row.claimed, row.claimed_delta),
            _claim(row.measured, row.measured_delta),
            row.worst_pair,
            *([row.witness] if wide else []),
            _verdict(row.ok, "yes" if row.tight else "no", "VIOLATED"),
        )
        for row in rows
    ]
    return _table(headers, shown, title="What each mechanism claims and what it needs", expand=True)


def _planted(found: Sequence[tuple[Planted, Caught]]) -> Iterator[RenderableType]:
    wide = out.width >= _WIDE
    headers = ("planted", *(["what is wrong"] if wide else []), "claimed", "measured", "shown by", "")
    rows: list[Sequence[str | Text]] = [
        (
            bug.name,
            *([bug.bug] if wide else []),
            _number(caught.claimed),
            _number(caught.measured),
            caught.how,
            _verdict(caught.caught, "caught", "MISSED"),
        )
        for bug, caught in found
    ]
    yield _table(headers, rows, title="Planted bugs")
    missed = sum(not caught.caught for _, caught in found)
    if missed:
        yield Text(f"{missed} of {len(found)} planted bugs were missed.", "bold red")
    else:
        yield f"All {len(found)} planted bugs were caught."


def _verdict(good: bool, yes: str, no: str) -> Text:
    return Text(yes, "green") if good else Text(no, "bold red")


def _claim(epsilon: float, delta: float) -> Text:
    return Text(_number(epsilon) + (f"\nδ {delta:.3g}" if delta else ""))


def _number(value: float) -> str:
    return "∞" if value == math.inf else f"{value:.6g}"
