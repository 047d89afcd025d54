"""`safeside check`: what it prints, how it ends, and what it leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safeside.cli.main import build
from safeside.errors import BadQuestion

VISITS = (
    "patient,place,start,end\n"
    "ana,bar,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n"
    "ben,gym,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n"
)
COLUMNS = ["--columns", "person=patient"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "places.csv").write_text("place\nbar\ngym\n")
    (tmp_path / "visits.csv").write_text(VISITS)
    (tmp_path / "covers.toml").write_text('covers = "2024-03-01T00:00Z/P7D"\n')
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), ["check", *arguments], catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


def test_a_sound_file(folder: Path) -> None:
    code, said = run(
        "visits.csv", "--places", "places.csv", *COLUMNS, "--when", "2024-03-03", "--timezone", "UTC"
    )
    assert code == 0
    assert said == (
        "Looked at 1 file: 2 rows."
        " A visit is a stay at the place, from its start up to its end."
        " Nothing here stops a count."
    )


def test_how_many_places_a_person_is_at_is_neither_said_nor_asked(folder: Path) -> None:
    """A limit chosen by it would be the data's own, published (docs/definitions.md)."""
    rows = [
        f"ana,{place},2024-03-03T1{at}:00:00Z,2024-03-03T1{at}:30:00Z"
        for at, place in ((2, "gym"), (3, "bar"))
    ]
    (folder / "visits.csv").write_text(VISITS + "\n".join(rows) + "\n")
    asked = ("visits.csv", "--places", "places.csv", *COLUMNS, "--when", "2024-03-03", "--timezone", "UTC")
    code, said = run(*asked, "--json")
    assert code == 0
    assert "places_per_person" not in said
    assert CliRunner().invoke(build(), ["check", *asked, "--max-places-per-person", "1"]).exit_code == 2


def test_what_the_export_covers_is_an_option_a_setting_or_a_file_beside_it(folder: Path) -> None:
    (folder / "covers.toml").rename(folder / "elsewhere")
    (folder / "visits.csv").rename(folder / "visits-2024-03-03.csv")
    asked = ["visits-2024-03-03.csv", "--places", "places.csv", *COLUMNS, "--timezone", "UTC"]
    day = [*asked, "--when", "2024-03-03"]
    assert run(*asked)[0] == 0, "without a window nothing need be covered"
    code, said = run(*day)
    assert code == 1
    assert "Wrong: nothing shows that the visits cover all of the time asked about" in said
    assert "--covers visits-%Y-%m-%d.csv" in said
    assert "11:00" not in said
    assert run(*day, "--covers", "2024-03-03/2024-03-04")[0] == 0
    assert run(*day, "--covers", "2024-03-03T00:00/PT12H")[0] == 1
    (folder / "safeside.toml").write_text('covers = "visits-%Y-%m-%d.csv"\n')
    assert run(*day)[0] == 0
    assert run(*asked, "--when", "2024-03-04")[0] == 1
    (folder / "safeside.toml").unlink()
    (folder / "elsewhere").rename(folder / "covers.toml")
    assert run(*day)[0] == 0


def test_what_is_wrong_is_said_with_its_line(folder: Path) -> None:
    (folder / "visits.csv").write_text(VISITS + "chi,pub,2024-03-03T12:00:00Z,2024-03-03T11:00:00Z\n")
    code, said = run("visits.csv", "--places", "places.csv", *COLUMNS)
    assert code == 1
    assert "Wrong: column end: a stay that ends before it starts (1 row); first at visits.csv line 4." in said
    assert "Wrong: column place: 1 place is visited and not listed; first at visits.csv line 4." in said
    assert "2 of these would stop a count. Nothing was counted." in said
    assert "chi" not in said
    assert "pub" not in said


def test_a_choice_is_repeated(folder: Path) -> None:
    (folder / "visits.csv").write_text(VISITS + "chi,home,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n")
    code, said = run("visits.csv", "--places", "places.csv", *COLUMNS, "--exclude-unknown-places")
    assert code == 0
    assert "Visits to places that are not on the list are not counted." in said


def test_what_is_left_out_is_shown_on_the_terminal_and_stops_until_it_is_expected(folder: Path) -> None:
    (folder / "visits.csv").write_text(VISITS + "chi,home,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n")
    asked = ["visits.csv", "--places", "places.csv", *COLUMNS, "--when", "2024-03-03T10:30Z"]
    code, said = run(*asked, "--exclude-unknown-places")
    assert code == 1
    assert "1 of 3 rows (33.4 %), of 1 person, at 1 place not listed, are left out, more than 5 %." in said
    assert "Not listed, for example: 'home'." in said
    assert run(*asked, "--exclude-unknown-places", "--expect-unlisted", "34%")[0] == 0
    assert run(*asked, "--exclude-unknown-places", "--expect-unlisted", "33%")[0] == 1
    (folder / "safeside.toml").write_text('expect_unlisted = "34%"\n')
    assert run(*asked, "--exclude-unknown-places")[0] == 0
    code, said = run(*asked, "--exclude-unknown-places", "--json")
    assert json.loads(said)["left_out"] == {"rows": 1, "of_rows": 3, "people": 1, "places": 1}
    assert "home" not in said.replace("homes", ""), "what is printed as JSON is kept in files"


def test_places_that_look_listed_are_shown_beside_the_listed_one(folder: Path) -> None:
    (folder / "visits.csv").write_text(VISITS.replace("gym", "fsq-Gym 1"))
    (folder / "places.csv").write_text("place\nbar\ngym-1\n")
    code, said = run("visits.csv", "--places", "places.csv", *COLUMNS, "--exclude-unknown-places")
    assert code == 1
    assert "'fsq-Gym 1' looks like 'gym-1', which is listed." in said
    assert "Write places as the list does, and look again." in said
    assert "--expect-unlisted" not in said


def test_a_file_that_cannot_be_read_at_all(folder: Path) -> None:
    (folder / "visits.csv").write_bytes(b"PK\x03\x04" + b"x" * 20)
    code, said = run("visits.csv", "--places", "places.csv", *COLUMNS)
    assert code == 1
    assert said == (
        "Looked at 1 file."
        " Wrong: visits.csv is compressed, or a spreadsheet, not text."
        " What to do: Unpack it, or export it as CSV or Parquet."
        " 1 of these would stop a count. Nothing was counted."
    )


def test_rows_in_place_of_names_are_not_repeated(folder: Path) -> None:
    (folder / "visits.csv").write_text(VISITS.partition("\n")[2])
    with pytest.raises(BadQuestion) as refused:
        run("visits.csv", "--places", "places.csv")
    assert "ana" not in str(refused.value)


def test_one_row_of_one_person(folder: Path) -> None:
    (folder / "visits.csv").write_text("\n".join(VISITS.split("\n")[:2]) + "\n")
    _, said = run("visits.csv", "--places", "places.csv", *COLUMNS)
    assert said.startswith("Looked at 1 file: 1 row, 1 person.")


def test_for_machines(folder: Path) -> None:
    (folder / "visits.csv").write_text(VISITS.replace("ana", ""))
    done = CliRunner().invoke(build(), ["check", "visits.csv", "--places", "places.csv", *COLUMNS, "--json"])
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert report["fine"] is False
    assert (report["files"], report["rows"], report["people"]) == (1, 2, 1)
    (finding,) = report["findings"]
    assert (finding["doubt"], finding["column"], finding["rows"]) == ("missing value", "patient", 1)
    assert finding["first"] == [{"file": "visits.csv", "line": 2, "unit": "line"}]


def test_a_manifest(folder: Path) -> None:
    expected = ["--expect-files", "1", "--expect-rows", "2", "--expect-people", "2"]
    assert run("visits.csv", "--places", "places.csv", *COLUMNS, *expected)[0] == 0
    code, said = run("visits.csv", "--places", "places.csv", *COLUMNS, "--expect-rows", "3")
    assert code == 1
    assert "3 rows are declared, and there are 2." in said


def test_a_question_that_cannot_be_asked(folder: Path) -> None:
    with pytest.raises(BadQuestion, match="There is no column person"):
        run("visits.csv", "--places", "places.csv")


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    (folder / "tmp").mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", "from safeside.cli.main import main; main()", "check", *arguments],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_errors_end_with_two_and_advice(folder: Path) -> None:
    process = command(folder, "visits.csv", "--places", "places.csv")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Stopped. There is no column person." in said
    assert 'What to do: Map it to a column (--columns person=COLUMN). Did you mean "patient"?' in " ".join(
        said.split()
    )


@pytest.mark.parametrize("later", [0.0, 0.5])
def test_interrupted_it_leaves_nothing(folder: Path, later: float) -> None:
    """Ctrl-C while a large file is looked at, or read by the engine: exit code 130, and no new file."""
    with (folder / "visits.csv").open("a") as stream:
        stream.write(VISITS.partition("\n")[2] * 2_000_000)
    before = sorted(folder.iterdir())
    process = command(folder, "visits.csv", "--places", "places.csv", *COLUMNS)
    while process.poll() is None and "visits.csv" not in opened_by(process.pid):
        time.sleep(0.005)
    time.sleep(later)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert shown == ""
    assert sorted(folder.iterdir()) == sorted([*before, folder / "tmp"])
    assert list((folder / "tmp").iterdir()) == []


def opened_by(process: int) -> set[str]:
    """The names of the files a process has open, as far as they last."""
    names = set()
    for link in Path(f"/proc/{process}/fd").glob("*"):
        with contextlib.suppress(FileNotFoundError):
            names.add(link.readlink().name)
    return names
