"""The figures of the rooms, on a tree small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.rooms import Room, depth, main, rooms, table


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        "safeside/__init__.py": "",
        "safeside/errors.py": "A = 1\nB = 2\n",
        "safeside/noise/__init__.py": "from safeside.noise.dice import roll\n",
        "safeside/noise/dice.py": "from safeside import errors\nfrom safeside.noise import coin\n\nx = 1\n",
        "safeside/noise/coin.py": "def flip():\n    from .deep.entropy import bits\n    return bits\n",
        "safeside/noise/deep/entropy.py": "bits = 1\n",
        "safeside_studies/city.py": "import safeside.noise.dice\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_files_lines_imports_and_depth_of_each_room(tree: Path) -> None:
    found = rooms(tree)
    assert found["noise"] == Room(files=4, lines=9, code=8, imports=3, depth=4)
    assert found["(no room)"] == Room(files=2, lines=2, code=2)


def test_a_package_beside_the_core_is_a_room_and_its_imports_of_others_are_not_internal(tree: Path) -> None:
    assert rooms(tree)["studies"] == Room(files=1, lines=1, code=1, imports=0, depth=1)


def test_the_total_adds_up_and_takes_the_greatest_depth(tree: Path) -> None:
    assert rooms(tree)["total"] == Room(files=7, lines=12, code=11, imports=3, depth=4)


def test_code_is_what_is_neither_blank_nor_a_comment_nor_a_docstring(tmp_path: Path) -> None:
    path = tmp_path / "safeside" / "noise" / "dice.py"
    path.parent.mkdir(parents=True)
    path.write_text('"""Two\nlines."""\n\n# why\nSIDES = """a\nb"""\n"""So many."""\n')
    assert rooms(tmp_path)["noise"] == Room(files=1, lines=7, code=2, depth=1)


def test_files_that_import_each_other_count_as_one_step() -> None:
    assert depth({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == 3


def test_before_and_after_stand_side_by_side() -> None:
    text = table(
        {"noise": Room(2, 10, 8, 1, 2)}, {"noise": Room(3, 30, 9, 2, 2), "gone": Room(1, 5, 4, 0, 1)}
    )
    noise = next(line for line in text.splitlines() if line.startswith("noise"))
    assert " ".join(noise.split()) == "noise 3 -> 2 30 -> 10 9 -> 8 2 -> 1 2 -> 2"
    assert "1 -> 0" in text


@pytest.mark.parametrize("given", ["--depth", "no-such-commit"])
def test_an_argument_that_is_no_commit_is_refused_in_a_sentence(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["rooms.py", given])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert given in capsys.readouterr().err
