"""Reference pages follow the code: what is exported, and what the command line takes."""

from __future__ import annotations

import re

from tools.reference import api_page, cli_page, plain_docstring

import safeside
from safeside.cli.main import COMMANDS


def test_the_python_reference_lists_what_is_exported_and_nothing_else() -> None:
    listed = re.findall(r"^\.\. auto\w+:: safeside\.(\w+)$", api_page(), re.MULTILINE)
    assert sorted(listed) == sorted(name for name in safeside.__all__ if not name.startswith("_"))


def test_the_command_line_reference_has_every_command_with_its_options() -> None:
    page = cli_page()
    headings = re.findall(r"^## `safeside (\w+)", page, re.MULTILINE)
    assert set(headings) == set(COMMANDS)
    publish = page.partition("## `safeside publish`")[2].partition("\n## ")[0]
    assert "| `--at-most` |" in publish
    assert "| `--epsilon` |" in publish


def test_docstrings_are_plain_text_with_code_and_examples() -> None:
    lines = ["Pr[z | f] of `AGeo`, e0 * min(c, k).", "", ">>> 2 * 3", "6", "", "a*b"]
    plain_docstring(lines)
    assert lines == ["Pr[z \\| f] of ``AGeo``, e0 \\* min(c, k).", "", ">>> 2 * 3", "6", "", "a\\*b"]
