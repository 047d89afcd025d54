"""A pytest plugin: which test reaches which line, and how long each that passes takes, for soak.mutation.

Coverage is switched to a test's name while it runs; every worker writes files of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

_SETTINGS, _TIMES = "SAFESIDE_CONTEXTS", "SAFESIDE_TIMES"


class Contexts:
    """One process of a test run."""

    def __init__(self) -> None:
        self._coverage = coverage.Coverage(config_file=os.environ[_SETTINGS])
        self._times: list[tuple[float, str]] = []
        self._failed: set[str] = set()
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._coverage.switch_context(_name(item.nodeid))
        yield
        self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._failed.add(_name(report.nodeid))
        if report.when != "teardown":
            self._times.append((report.duration, _name(report.nodeid)))

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        lines = [f"{seconds:.4f} {name}\n" for seconds, name in self._times if name not in self._failed]
        Path(f"{os.environ[_TIMES]}.{os.getpid()}").write_text("".join(lines))


def _name(nodeid: str) -> str:
    """Without the group that xdist adds."""
    return nodeid.rsplit("@", 1)[0] if "@" in nodeid.rsplit("]", 1)[-1] else nodeid


def pytest_configure(config: Any) -> None:
    """In every process of the run."""
    config.pluginmanager.register(Contexts(), "safeside-contexts")
