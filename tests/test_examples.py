"""Each exported name shows an example in its docstring, and every example in one does what it says."""

from __future__ import annotations

import doctest
import importlib
import io
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import safeside
from safeside import mechanisms
from safeside.ledger.witness import STATE_VARIABLE

PUBLIC = {
    **{name: getattr(safeside, name) for name in safeside.__all__ if not name.startswith("_")},
    **{one.__name__: one for one in mechanisms.MECHANISMS},
}
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules() -> Iterator[ModuleType]:
    """Every module of the core that has an example; found by its text, so that the others are not loaded."""
    for found in pkgutil.walk_packages(safeside.__path__, "safeside."):
        spec = found.module_finder.find_spec(found.name)  # type: ignore[call-arg]
        assert spec is not None
        if spec.origin and ">>> " in Path(spec.origin).read_text(encoding="utf-8"):
            yield importlib.import_module(found.name)


EXAMPLES = {
    test.name: test
    for module in modules()
    for test in doctest.DocTestFinder(exclude_empty=True).find(module)
    if test.examples
}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_exported_name_shows_an_example(name: str) -> None:
    what = PUBLIC[name]
    # Errors are all caught in the same way: what their base shows holds of each.
    shown = what.__mro__ if isinstance(what, type) and issubclass(what, Exception) else (what,)
    examples = [one for each in shown for one in doctest.DocTestParser().get_examples(each.__doc__ or "")]
    assert examples, f"{name} has no example (>>>) in its docstring: see CONTRIBUTING.md"


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_example_does_what_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runs in an empty directory, with nothing imported but what it imports itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    test = EXAMPLES[name]
    test.globs = {}
    told = io.StringIO()
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=told.write, clear_globs=False)
    assert result.failed == 0, told.getvalue()
