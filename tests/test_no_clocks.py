"""Hypothesis measures no time: a machine under load must fail no test."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import HealthCheck, settings

_TESTS = Path(__file__).parent
_MAKES_SETTINGS = {"settings", "register_profile"}


def _written_settings() -> list[tuple[str, ast.Call]]:
    """Every call in tests/ that makes settings of hypothesis, with the place where it is written."""
    found = []
    for path in sorted(_TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", None))
                if name in _MAKES_SETTINGS:
                    found.append((f"{path.relative_to(_TESTS)}:{node.lineno}", node))
    return found


def _given(call: ast.Call, keyword: str) -> ast.expr | None:
    return next((given.value for given in call.keywords if given.arg == keyword), None)


def test_the_profile_of_all_tests_has_no_deadline_and_no_check_of_speed() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def test_only_the_profile_speaks_of_a_deadline() -> None:
    written = _written_settings()
    assert len(written) > 30  # else the search found nothing to judge
    speaking = [place for place, call in written if _given(call, "deadline")]
    assert [place.partition(":")[0] for place in speaking] == ["conftest.py"], speaking


def test_no_test_asks_for_the_check_of_speed_again() -> None:
    """Suppressing one health check in a test replaces the profile's list, so it has to name this one too."""
    for place, call in _written_settings():
        suppressed = _given(call, "suppress_health_check")
        written = "" if suppressed is None else ast.unparse(suppressed)
        assert not written or "too_slow" in written or written == "list(HealthCheck)", place
