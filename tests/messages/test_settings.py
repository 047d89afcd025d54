"""What is said of settings that cannot be read or written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.messages.books import book, said

from safeside.cli import init
from safeside.cli.config import Config, read_config
from safeside.errors import (
    BadQuestion,
    CannotWrite,
    MadeByNewer,
    StoreUnavailable,
)

__all__ = ["book"]


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "safeside.toml"
    cases = {
        "ledger = 3": (
            '"ledger" in "safeside.toml" is not of the kind it should be.',
            'Write it as in ledger = "...".',
        ),
        "people_floor = true": (
            '"people_floor" in "safeside.toml" is not of the kind it should be.',
            "Write it as in people_floor = 20.",
        ),
        "schema = 'safeside-release/1'": (
            '"safeside.toml" follows the schema "safeside-release/1", which safeside does not know.',
            'Write schema = "safeside-settings/1", or leave it out.',
        ),
        "leger = 'x'": (
            '"safeside.toml" has a setting called "leger", which safeside does not know.',
            'Did you mean "ledger"?',
        ),
        "[columns]\nqq = 'x'": (
            '"safeside.toml" has a role of a column called "qq", which safeside does not know.',
            "Use one of: person, place, start, end, time, date, latitude, longitude, accuracy, state, group.",
        ),
        "[columns]\nperson = 1": (
            '"columns" in "safeside.toml" is not of the kind it should be.',
            'Write it as in columns = { person = "id" }.',
        ),
    }
    for text, message in cases.items():
        file.write_text(text)
        assert said(read_config, BadQuestion) == message
    file.write_text("schema = 'safeside-settings/9'\nnew = 1")
    assert said(read_config, MadeByNewer) == (
        "This settings was made by a newer safeside: it follows the schema safeside-settings/9, and this "
        "version reads up to 1.",
        "Install a newer safeside, then try again. Nothing is wrong with the file.",
    )
    file.write_text("ledger =")
    what, do = said(read_config, BadQuestion)
    assert what.startswith('"safeside.toml" is not TOML (')
    assert do == "Repair the line, or write a new file with `safeside init`."
    assert said(lambda: Config().required("ledger", None), BadQuestion) == (
        "No ledger is given.",
        "Give it with --ledger, or once for all as `ledger = ...` in safeside.toml (see `safeside init`).",
    )
    file.unlink()
    file.mkdir()
    assert said(read_config, StoreUnavailable) == (
        '"safeside.toml" cannot be read (it is not a plain file).',
        "Make it a file that this user can read.",
    )


def test_init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert said(lambda: init.init(yes=True), BadQuestion) == (
        "No time zone is given, and safeside never guesses one.",
        "Say in which time zone the visits are written: --timezone Asia/Tokyo, for example. Tables of people "
        "and their groups need none: --groups.",
    )
    assert said(lambda: init.init(yes=True, timezone="UTC", column=["who"]), BadQuestion) == (
        '"who" does not say which column is what.',
        "Write ROLE=NAME, for example person=patient_id. Roles: person, place, start, end, time, date, "
        "latitude, longitude, accuracy, state, group.",
    )
    (tmp_path / "safeside.toml").touch()
    assert said(lambda: init.init(yes=True, timezone="UTC"), CannotWrite) == (
        '"safeside.toml" exists already.',
        "Change it with an editor, or delete it first.",
    )
