"""Options that say how visits are read, from the command line to the sentence that must follow them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from safeside.cli.main import build, load
from safeside.errors import BadQuestion

FIXES = "person,latitude,longitude,time\n" + "".join(
    f"p1,35.6800,139.7600,2026-03-04T10:{minute:02}:00+09:00\n" for minute in range(0, 40, 2)
)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "fixes.csv").write_text(FIXES)
    (tmp_path / "places.csv").write_text("place,latitude,longitude\ncafe,35.68,139.76\npark,35.70,139.80\n")
    return [str(tmp_path / "fixes.csv"), "--places", str(tmp_path / "places.csv"), "--radius", "50"]


def test_stay_detection_is_declared_and_said(files: list[str]) -> None:
    done = CliRunner().invoke(build(), ["check", *files, "--stays-at-least", "15", "--longest-gap", "1h"])
    assert done.exit_code == 0, done.output
    assert "Only stays of at least 15 minutes" in " ".join(done.output.split())


def test_without_it_every_fix_counts(files: list[str]) -> None:
    done = CliRunner().invoke(build(), ["check", *files, "--hold", "5min"])
    assert done.exit_code == 0, done.output
    assert "Only stays" not in done.output
    assert "a sighting at a point within 50 m" in " ".join(done.output.split())


def test_a_stay_of_no_time_is_refused(files: list[str]) -> None:
    given = ["--stays-at-least", "0", "--longest-gap", "1h"]
    with pytest.raises(BadQuestion, match="at least 1 minute"):
        CliRunner().invoke(build(), ["check", *files, *given], catch_exceptions=False)


@pytest.mark.parametrize("alone", [("--stays-at-least", "15"), ("--longest-gap", "1h")])
def test_a_stay_needs_both_its_length_and_the_silence_that_ends_it(
    files: list[str], alone: tuple[str, str]
) -> None:
    with pytest.raises(BadQuestion, match=r"belong together.+\n.+--longest-gap 30min"):
        CliRunner().invoke(build(), ["check", *files, *alone], catch_exceptions=False)


@pytest.mark.parametrize("command", ["check", "publish"])
def test_both_commands_know_every_declaration(command: str) -> None:
    known = load(command).params
    declared = {name for option in known for name in option.opts}
    assert {"--trust-ids", "--trust-times", "--trust-places", "--trust-coordinates"} <= declared
    assert "--no-quotes" in declared


def test_text_that_knows_no_quotes_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("place\nbar\n")
    times = "2024-03-03T10:00:00Z\t2024-03-03T11:00:00Z"
    (tmp_path / "visits.tsv").write_text(
        f'person\tplace\tstart\tend\tstate\tnote\nana\tbar\t{times}\tOhio\t5" pipe\n'
    )
    files = [str(tmp_path / "visits.tsv"), "--places", str(tmp_path / "places.csv"), "--separator", "tab"]
    stopped = CliRunner().invoke(build(), ["check", *files, "--columns", "state="])
    assert stopped.exit_code == 1
    assert "--no-quotes" in stopped.output
    done = CliRunner().invoke(build(), ["check", *files, "--columns", "state=", "--no-quotes"])
    assert done.exit_code == 0, done.output


def test_what_is_trusted_is_said(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("place\nBar\n")
    (tmp_path / "visits.csv").write_text(
        "person,place,start,end\n"
        "ana,bar,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n"
        "ben,Bar,1970-03-03T10:00:00Z,1970-03-03T11:00:00Z\n"
    )
    files = [str(tmp_path / "visits.csv"), "--places", str(tmp_path / "places.csv")]
    done = CliRunner().invoke(build(), ["check", *files, "--exclude-unknown-places"])
    assert done.exit_code == 1
    trusting = ["--exclude-unknown-places", "--trust-times", "--trust-places"]
    done = CliRunner().invoke(build(), ["check", *files, *trusting])
    said = " ".join(done.output.split())
    assert done.exit_code == 0, said
    assert "Times in 1970, before 1900 or after 2199 are taken as they are written." in said
    assert "A place that is written almost like a listed one is another place." in said
