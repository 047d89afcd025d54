"""Every mechanism that is shipped, in the settings in which it is used, with the claim each must keep.

A case asks the mechanism itself for its guarantee and for its probabilities, and audits them over datasets:
two people, a few places, the relation the guarantee names. Where a claim is called tight, needing less than
claimed is a failure too: it would mean that the audit looks at the wrong thing. Samplers, and the releases of
all mechanisms, are audited by what they draw.
"""

from __future__ import annotations

from safeside.audit.case import Case, Check, Row
from safeside.audit.cases_counts import account, additive, approximate, local
from safeside.audit.cases_draws import Sampler, samplers
from safeside.audit.cases_groups import grouped
from safeside.audit.cases_selection import selection
from safeside.audit.cases_sequences import sparse, vector
from safeside.audit.published_groups import groups
from safeside.audit.published_ordinary import ordinary
from safeside.audit.published_places import places
from safeside.audit.published_selection import selected
from safeside.progress import Progress, quiet


def cases() -> tuple[Case, ...]:
    """All exact audits, in the order in which they are shown."""
    return (*additive(), *grouped(), *sparse(), *selection(), *vector(), *local(), *approximate(), *account())


def published() -> tuple[Case | Check, ...]:
    """Everything that is driven through `publish`: every method, under each definition, places and groups."""
    return (*places(), *ordinary(), *selected(), *groups())


def audit(progress: Progress = quiet) -> list[Row]:
    """Every row of `safeside audit`."""
    every: tuple[Case | Check | Sampler, ...] = (*cases(), *published(), *samplers())
    rows: list[Row] = []
    for one in every:
        progress(len(rows) / len(every), f"{one.name}: {one.setting}")
        rows.append(one.row())
    return rows
