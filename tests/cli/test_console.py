"""The one console: text is text, whatever a file, an argument or the ledger holds."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table

from safeside.cli import console
from safeside.errors import SafesideError

PAINTED = "\x1b[2J\x9bH\u202eVerified\x07"


def shown(what: object, **options: object) -> str:
    """What a colour terminal gets."""
    screen = io.StringIO()
    console.Terminal(file=screen, force_terminal=True, color_system="truecolor", width=200).print(
        what, **options
    )
    return screen.getvalue()


@pytest.mark.parametrize("what", ["[/x]", "\\[/x]", "[bold]x[/]", ":dog:", "[link=https://x]y", "a[1]"])
def test_brackets_and_colons_are_what_they_are(what: str) -> None:
    assert shown(what) == f"{what}\n"
    table = Table(what, box=None)
    table.add_row(what)
    assert shown(table).count(what) == 2


def test_control_characters_are_written_out_also_in_tables() -> None:
    table = Table("name", box=None)
    table.add_row(PAINTED)
    for said in (shown(PAINTED), shown(table)):
        assert "\x1b[2J" not in said
        assert not set("\x9b\u202e\x07") & set(said)
        assert "\\x1b[2J" in said
    assert "\\u202e" in shown(PAINTED)


def test_styles_are_still_styles() -> None:
    assert shown("x", style="bold red").startswith("\x1b[1;31m")


def test_a_message_cannot_begin_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    console.fail(SafesideError(f"No file {PAINTED}\nVerified: all of it.", "[/x]\nVerified"))
    said = capsys.readouterr().err
    assert not any(line.startswith("Verified") for line in said.splitlines())
    assert "[/x]" in said
    assert console.line("a\nb") == "a\\x0ab"


def test_json_stays_json_and_paints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_json({PAINTED: [PAINTED, "東京", "\udcff"]})
    said = capsys.readouterr().out
    assert json.loads(said) == {PAINTED: [PAINTED, "東京", "\udcff"]}
    assert "東京" in said
    assert not set("\x1b\x9b\u202e\x07") & set(said)


def test_progress_appears_after_a_while_and_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = console.Terminal(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(console, "err", terminal)
    with console.Spinner() as progress:
        progress(0.5, "early")
    assert screen.getvalue() == ""
    with console.Spinner(after=-1) as progress:
        progress(0.5, "[bold]visits[/x].csv")
    assert "[bold]visits[/x].csv" in screen.getvalue()


def run(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """The command itself, as a shell starts it."""
    program = "from safeside.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, cwd=home
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("purge", "\\[/x]"),
        ("verify", "\\[/x]", "--key", "\\[/x]"),
        ("plan", "--at-most", "[/x]"),
        ("explain", "\\[/x]"),
        ("\\[/x]",),
        ("ledger", "show", "\\[/x]", "--ledger", "\\[/x]"),
    ],
    ids=" ".join,
)
def test_brackets_in_arguments_end_in_a_message(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, home=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_arguments_that_would_paint_are_refused_and_not_repeated(tmp_path: Path) -> None:
    for painted in ("\x1b[2J", "\u202ex", "a\nVerified"):
        done = run("purge", painted, home=tmp_path)
        assert done.returncode == 2
        assert "holds a control character" in done.stderr
        assert "Type it again by hand; a file whose name holds one can be renamed." in " ".join(
            done.stderr.split()
        )
        assert painted not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "pipe", "--places", "places.csv"),
        ("check", "/dev/zero", "--places", "places.csv"),
        ("check", "places.csv", "--places", "pipe"),
        ("check", "places.csv", "--places", "/dev/zero"),
        ("simulate", "pipe", "--at-most", "1", "--epsilon", "1", "--out", "out"),
        ("ledger", "show", "--ledger", "pipe"),
        ("ledger", "recover", "--release", "pipe", "--ledger", "pipe"),
        ("verify", "pipe", "--key", "pipe"),
        ("key", "rotate", "pipe"),
        ("purge", "pipe", "--yes"),
    ],
    ids=" ".join,
)
def test_pipes_and_devices_end_in_a_message(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "places.csv").write_text("place\na\n")
    done = run(*arguments, home=tmp_path)
    assert done.returncode == 2
    assert "Stopped." in done.stderr
    assert "Traceback" not in done.stderr
