"""How tests of messages look at one."""

from __future__ import annotations

import re

import pytest

from safeside.errors import SafesideError


def says(caught: pytest.ExceptionInfo[SafesideError], what: str, do: str) -> None:
    assert re.search(what, caught.value.what), caught.value.what
    assert re.search(do, caught.value.do), caught.value.do
