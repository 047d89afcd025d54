"""Every mechanism that is shipped, in the settings in which it is used, with the claim each must keep.

A case asks the mechanism itself for its guarantee and for its probabilities, and audits them over datasets:
two people, a few places, the relation the guarantee names. Where a claim is called tight, needing less than
claimed is a failure too: it would mean that the audit looks at the wrong thing. Samplers are audited by what
they draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from safeside import exact
from safeside.audit.case import SAMPLER, Case, Row
from safeside.audit.cases_counts import account, additive, approximate, local
from safeside.audit.cases_sequences import sparse, vector
from safeside.audit.planted import MECHANISMS, SAMPLERS, Caught, Planted
from safeside.audit.planted_procedures import PROCEDURES
from safeside.audit.statistical import FALSE_ALARM, SamplerTest
from safeside.mechanisms.laws import Both, Down, Law, Padded, Up
from safeside.noise.entropy import system_entropy
from safeside.progress import Progress, quiet

_RATES: Final = (Fraction(1), Fraction(1, 10), Fraction(1, 100))


def cases() -> tuple[Case, ...]:
    """All exact audits, in the order in which they are shown."""
    return (*additive(), *sparse(), *vector(), *local(), *approximate(), *account())


def laws() -> Iterator[tuple[str, str, Law]]:
    """The noise of every sampler that is shipped."""
    for rate in _RATES:
        shown = f"eps/Δ = {exact.show(rate)}"
        yield "geometric, upwards", shown, Up(rate)
        yield "geometric, downwards", shown, Down(rate)
        yield "geometric, two-sided", shown, Both(rate)
    yield "padded geometric", "eps = 1, pad 5", Padded(Fraction(1), 5)


def sampler_row(name: str, setting: str, law: Law) -> Row:
    """Draw, and hold the draws against the law; `measured` above 1 is a failure."""
    test = SamplerTest.of(law)
    found = test.check(law.add_to(np.zeros(test.draws, dtype=np.int64), system_entropy()))
    return Row(
        name="sampler",
        kind=SAMPLER,
        setting=f"{name}, {setting}; {test.draws:,} draws, false alarm {float(FALSE_ALARM):.0e}",
        claimed=1.0,
        claimed_delta=0.0,
        measured=found.standing,
        measured_delta=0.0,
        worst_pair="",
        witness=f"{found.worst}: {found.seen:,}, allowed {found.least:,} to {found.most:,}",
        tight=False,
        ok=found.passed,
    )


def audit(progress: Progress = quiet) -> list[Row]:
    """Every row of `safeside audit`."""
    exact_cases, samplers = cases(), list(laws())
    total = len(exact_cases) + len(samplers)
    rows: list[Row] = []
    for case in exact_cases:
        progress(len(rows) / total, f"{case.name}: {case.setting}")
        rows.append(case.row())
    for name, setting, law in samplers:
        progress(len(rows) / total, f"sampler: {name}, {setting}")
        rows.append(sampler_row(name, setting, law))
    return rows


def planted() -> tuple[Planted, ...]:
    """Every planted bug."""
    return (*MECHANISMS, *PROCEDURES, *SAMPLERS)


def self_test(progress: Progress = quiet) -> list[tuple[Planted, Caught]]:
    """Every planted bug with what the audits said of it; each must be caught."""
    bugs = planted()
    found = []
    for done, bug in enumerate(bugs):
        progress(done / len(bugs), f"planted: {bug.name}")
        found.append((bug, bug.audit()))
    return found
