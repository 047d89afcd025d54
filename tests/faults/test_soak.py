"""The record of the long runs is written by the program that runs them, part by part."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from soak import __main__ as soak

OLD = """2020-01-01, by hand

== ledger_race: passed
then, somewhere
SQLite: 1 == 1

== publish_kill: FAILED
then, somewhere
nothing

== gone: passed
long ago
"""


def test_one_part_is_renewed_and_the_others_stay() -> None:
    fresh = soak.renewed(OLD, "publish_kill", "== publish_kill: passed\nnow, here\nall is well\n")
    assert fresh == (
        "== ledger_race: passed\nthen, somewhere\nSQLite: 1 == 1\n\n"
        "== publish_kill: passed\nnow, here\nall is well\n"
    )
    assert soak.renewed(fresh, "publish_kill", "== publish_kill: passed\nnow, here\nall is well\n") == fresh
    assert soak.renewed("", "ledger_race", "== ledger_race: passed\n") == "== ledger_race: passed\n"


def test_what_was_run_is_named() -> None:
    assert re.fullmatch(
        r"commit ([0-9a-f]{7,}( with changes)?|unknown), Python 3\.\d+\.\d+, \w+, \d+ cores", soak.machine()
    )
    parts = {"draw_kill", "fuzz_visits", "hostile_writers", "ledger_race", "publish_kill"}
    assert parts <= set(soak.parts())


@pytest.mark.parametrize(("small", "kept"), [(True, False), (False, True)])
def test_a_trial_is_shown_and_only_a_whole_run_is_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    small: bool,
    kept: bool,
) -> None:
    (tmp_path / "soak").mkdir()
    (tmp_path / "soak" / "__init__.py").write_text("")
    (tmp_path / "soak" / "part.py").write_text("import sys\nprint('said', *sys.argv[1:])\nsys.exit(3)\n")
    monkeypatch.setattr(soak, "HERE", tmp_path / "soak")
    monkeypatch.setattr(soak, "LATEST", tmp_path / "latest.txt")
    assert soak.main(["part", *(["--small"] if small else [])]) == 1
    assert capsys.readouterr().out.startswith("== part\nsaid" + (" --small\n" if small else "\n"))
    assert (tmp_path / "latest.txt").exists() == kept
    if kept:
        text = (tmp_path / "latest.txt").read_text()
        assert re.fullmatch(r"== part: FAILED\n\d{4}-\d\d-\d\d \d\d:\d\d UTC, commit .+ cores\nsaid\n", text)
