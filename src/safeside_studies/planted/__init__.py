"""Mechanisms, procedures and samplers with one thing spoilt, to show that the audits are alive.

An audit that passes everything proves nothing. Each planted bug is one that is easily made, or was printed;
each must be caught, and `safeside audit --self-test` shows that it is.
"""

from __future__ import annotations

from safeside.progress import Progress, quiet
from safeside_studies.planted.combinations import COMBINATIONS
from safeside_studies.planted.groups import GROUPS
from safeside_studies.planted.mechanisms import MECHANISMS, SAMPLERS, Caught, Planted
from safeside_studies.planted.procedures import PROCEDURES
from safeside_studies.planted.published import PUBLISHED
from safeside_studies.planted.selection import SELECTION
from safeside_studies.planted.settings import SETTINGS

__all__ = ["Caught", "Planted", "planted", "self_test"]


def planted() -> tuple[Planted, ...]:
    """Every planted bug."""
    return (*MECHANISMS, *PROCEDURES, *SELECTION, *PUBLISHED, *SETTINGS, *COMBINATIONS, *GROUPS, *SAMPLERS)


def self_test(progress: Progress = quiet) -> list[tuple[Planted, Caught]]:
    """Every planted bug with what the audits said of it; each must be caught."""
    bugs = planted()
    found = []
    for done, bug in enumerate(bugs):
        progress(done / len(bugs), f"planted: {bug.name}")
        found.append((bug, bug.audit()))
    return found
