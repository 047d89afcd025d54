"""The mutation run makes changes that are changes, each at one place, and the same ones each time."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from soak import _mutants, mutation

ROOT = Path(__file__).parents[2]


def mutants(tmp_path: Path, source: str) -> list[tuple[str, str, str]]:
    path = tmp_path / "one.py"
    path.write_text(source)
    found = _mutants.of_file(path, "room", tmp_path)
    return [(one.before, one.after, one.applied(source)) for one in found]


def test_operators_numbers_and_conditions_are_changed(tmp_path: Path) -> None:
    source = 'def f(é: int | None) -> "int | str":\n    return "é" if é < 2 and not é else é + True\n'
    found = mutants(tmp_path, source)
    assert [(before, after) for before, after, _ in found] == [
        ("<", "<="),
        ("2", "3"),
        ("and", "or"),
        ("not ", ""),
        ("+", "-"),
        ("True", "False"),
    ]
    for _, _, changed in found:
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


def test_the_same_mutants_are_chosen_each_time() -> None:
    rooms = list(mutation.ROOMS)
    assert mutation.chosen(rooms, 40) == mutation.chosen(rooms, 40)
    assert {one.room for one in mutation.chosen(rooms, 300)} == set(rooms)


def test_every_chosen_mutant_is_code_that_differs() -> None:
    for one in mutation.chosen(list(mutation.ROOMS), 300):
        source = (ROOT / one.file).read_text()
        changed = one.applied(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), one.name


def test_the_rooms_have_tests() -> None:
    for folders in mutation.ROOMS.values():
        assert all((ROOT / folder).exists() for folder in folders)


def test_a_run_goes_on_where_other_lines_have_changed(tmp_path: Path) -> None:
    path, source = tmp_path / "one.py", "def f(a: int) -> bool:\n    return a < 2\n"
    path.write_text(source)
    smaller, number = _mutants.of_file(path, "room", tmp_path)
    mutation.Journal(tmp_path / "fates.txt", [smaller]).add(
        mutation.Fate(mutant=smaller, noticed=False, how="1 tests reach it")
    )
    path.write_text(f"# Two lines\n# above.\n{source}")
    journal = mutation.Journal(tmp_path / "fates.txt", _mutants.of_file(path, "room", tmp_path))
    assert [(fate.mutant.line, fate.noticed, fate.how) for fate in journal.fates()] == [
        (4, False, "1 tests reach it")
    ]
    assert [one.before for one in journal.left()] == [number.before]


def test_what_runs_when_a_module_is_loaded_is_reached_by_whoever_uses_the_module() -> None:
    """Also where it was loaded before the first test began; a line that no test comes to has none."""
    file = "src/safeside/exact.py"
    lines = (ROOT / file).read_text().splitlines()
    constant = next(at for at, line in enumerate(lines, 1) if ": Final = " in line)
    body = next(at for at, line in enumerate(lines, 1) if line.startswith("    return "))
    made = {
        line: _mutants.Mutant(
            file=file, room="room", line=line, text="", column=0, start=0, end=1, before="", after=""
        )
        for line in (constant, body)
    }
    reach = mutation.Reach(tests={file: {0: ["one", "two"], body: ["one"]}}, seconds={})
    assert [reach.of(made[constant]), reach.of(made[body])] == [["one", "two"], ["one"]]
    nobody = mutation.Reach(tests={file: {0: ["one", "two"]}}, seconds={})
    assert nobody.of(made[body]) == []


def test_reasons_are_found_by_the_whole_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code may hold what stands between a name and its reason."""
    name = "releases: return line[start : end + 1] [29: '1' -> '2']"
    kept = tmp_path / "survivors.txt"
    kept.write_text(f"# Each with its reason.\n{name} : the same : whatever it is\n")
    monkeypatch.setattr(mutation, "SURVIVORS", kept)
    assert mutation.explained() == {name: "the same : whatever it is"}
