"""docs/audit.md runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
EXAMPLES = re.findall(r"<!-- example: ([a-z ]+) -->\n```python\n(.*?)```", PAGE.read_text(), re.S)


def test_every_example_runs_in_order() -> None:
    assert [name for name, _ in EXAMPLES] == ["mechanism", "wrong sign", "procedure", "sampler"]
    room: dict[str, Any] = {}
    for name, source in EXAMPLES:
        exec(compile(source, f"{PAGE.name}: {name}", "exec"), room)


def test_the_first_example_needs_ten_lines() -> None:
    """Beyond its imports and blank lines."""
    lines = [line for line in EXAMPLES[0][1].splitlines() if line.strip()]
    assert len([line for line in lines if "import" not in line]) <= 10


def test_no_python_on_the_page_goes_untested() -> None:
    assert PAGE.read_text().count("```python") == len(EXAMPLES)
