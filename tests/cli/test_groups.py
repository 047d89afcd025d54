"""Groups of people on the command line, from one's own CSV to a release: check, publish, verify."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from safeside import create_key, create_ledger
from safeside.cli.main import build
from safeside.cli.wording import as_typed
from safeside.errors import BadQuestion, LimitBroken, SafesideError

PUPILS = "pupil,school,mmr\n" + "".join(
    f"p{i},{('east', 'north')[i % 2]},{'no' if i % 10 < 2 else 'yes'}\n" for i in range(40)
)
SCHOOLS = "group,name,size\neast,East School,20\nnorth,North School,20\n"
COUNTED = ("--groups", "schools.csv", "--where", "mmr=no", "--domain", "mmr=no,yes")
READ = ("--columns", "person=pupil,group=school")
ASKED = (*COUNTED, *READ, "--as-of", "2026-09-01", "--epsilon", "1")


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(build(), list(arguments), env={"COLUMNS": "200"})
    if isinstance(result.exception, SafesideError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pupils.csv").write_text(PUPILS)
    (tmp_path / "schools.csv").write_text(SCHOOLS)
    (tmp_path / "safeside.toml").write_text(
        'ledger = "ledger.db"\ndataset = "pupils"\nkey = "safeside.key"\n'
    )
    create_key(tmp_path / "safeside.key")
    with create_ledger("ledger.db") as ledger:
        ledger.create_dataset("pupils", "person", epsilon=3)
    return tmp_path


def test_from_a_csv_to_a_release_in_three_commands(folder: Path) -> None:
    checked = run("check", "pupils.csv", *COUNTED, *READ)
    assert "40 rows" in checked
    assert "A person is counted in a group, once, where their row says mmr=no." in checked
    assert "Nothing here stops a count." in checked
    said = run(
        *("publish", "pupils.csv", *ASKED, "--at-most", "15%", "--out", "release", "--yes"),
        *("--noun", "unvaccinated pupil/unvaccinated pupils", "--group-noun", "school/schools"),
    )
    assert "2 schools" in said
    assert "published and signed; epsilon 2 remains" in said
    assert run("verify", "release", "--key", "safeside.key.pub")
    table = pl.read_csv(folder / "release" / "answers.csv")
    assert (table["upper_bound"] >= 4).all()
    assert table["group"].to_list() == ["east", "north"]


def test_several_measures_and_a_whole_number(folder: Path) -> None:
    run(
        *(
            "publish",
            "pupils.csv",
            "--groups",
            "schools.csv",
            *READ,
            "--as-of",
            "2026-09-01",
            "--epsilon",
            "1",
        ),
        *("--measure", "no: mmr=no", "--measure", "not known: mmr=unknown", "--domain", "mmr=no,yes,unknown"),
        *("--at-most", "9", "--out", "release", "--yes"),
    )
    assert pl.read_csv(folder / "release" / "answers.csv")["measure"].unique().sort().to_list() == [
        "no",
        "not known",
    ]


def test_what_is_wrong_is_said_with_options(folder: Path) -> None:
    with pytest.raises(BadQuestion, match="domain of column mmr") as caught:
        run("check", "pupils.csv", "--groups", "schools.csv", "--where", "mmr=no", *READ)
    assert "such as --domain mmr=yes,no; any other value" in as_typed(caught.value.do)
    with pytest.raises(BadQuestion, match="Nothing says what is to be checked") as caught:
        run("check", "pupils.csv")
    assert "Give --places for visits, or --groups for people" in caught.value.do
    with (folder / "pupils.csv").open("a") as file:
        file.write("p1,east,no\np99,,no\n")
    said = run("check", "pupils.csv", *COUNTED, *READ, code=1)
    assert "Wrong: column school: no group (1 row); first at pupils.csv line 43." in said
    (folder / "pupils.csv").write_text(PUPILS + "p1,east,no\n")
    said = run("check", "pupils.csv", *COUNTED, *READ, code=1)
    assert "Wrong: someone is in two groups." in said
    assert "--max-places-per-person" in said
    with pytest.raises(BadQuestion, match="per cent"):
        run("publish", "pupils.csv", *ASKED, "--at-most", "five", "--out", "release", "--yes")


def test_a_count_above_its_size_is_told_to_the_curator_alone(folder: Path) -> None:
    (folder / "schools.csv").write_text(SCHOOLS.replace("20", "1"))
    with pytest.raises(LimitBroken, match="than its listed size"):
        run(
            *("publish", "pupils.csv", "--groups", "schools.csv", *READ, "--as-of", "2026-09-01"),
            *("--epsilon", "1", "--at-most", "0", "--out", "release", "--yes"),
        )
    assert not (folder / "release").exists()


def test_a_county_can_be_made_up(tmp_path: Path) -> None:
    said = run("generate", "county", "--kind", "schools", "--schools", "12").replace("\n", " ")
    assert "12 schools with their sizes, public" in said
    checked = run(
        "check",
        "county/pupils.csv",
        "--groups",
        "county/schools.csv",
        "--where",
        "mmr=0",
        "--domain",
        "mmr=0..2",
    )
    assert "Nothing here stops a count." in checked


def test_a_person_in_two_classes_by_a_declared_limit_or_by_selection(folder: Path) -> None:
    (folder / "pupils.csv").write_text(PUPILS + "p1,east,no\n")
    (folder / "schools.csv").write_text("group\neast\nnorth\n")
    with create_ledger("classes.db") as ledger:
        ledger.create_dataset("pupils", "person", epsilon=3, max_places_per_person=2)
    paid = ("--ledger", "classes.db", "--at-most", "9", "--yes", "--expect-rows", "41")
    both = run("publish", "pupils.csv", *ASKED, *paid, "--max-places-per-person", "2", "--out", "both")
    assert "published and signed; epsilon 2 remains" in both
    run("publish", "pupils.csv", *ASKED, *paid, "--method", "selection", "--out", "selected")
    for out in ("both", "selected"):
        run("verify", out, "--key", "safeside.key.pub")
        table = pl.read_csv(folder / out / "answers.csv").drop_nulls("upper_bound")
        truth = {"east": 5, "north": 4}
        assert all(row["upper_bound"] >= truth[row["group"]] for row in table.iter_rows(named=True))
    with pytest.raises(BadQuestion, match="was made without"):
        run(
            *("publish", "pupils.csv", *ASKED, "--at-most", "9", "--yes", "--out", "other"),
            "--max-places-per-person",
            "2",
        )
    with pytest.raises(LimitBroken, match="two groups"):
        run("publish", "pupils.csv", *ASKED, "--at-most", "9", "--yes", "--out", "other")


def test_what_is_not_shown_to_be_whole_is_said_before_anything_is_spent(folder: Path) -> None:
    (folder / "schools.csv").write_text("group\neast\nnorth\n")
    asked = ("publish", "pupils.csv", *ASKED, "--at-most", "9", "--out", "release", "--dry-run")
    says = "Nothing shows that the table of people is whole: if rows are missing, answers can be false."
    assert says in " ".join(run(*asked).split())
    assert says not in " ".join(run(*asked, "--expect-rows", "40").split())
    (folder / "schools.csv").write_text(SCHOOLS)
    assert says not in " ".join(run(*asked).split())
    (folder / "counts.csv").write_text("group,count\neast,4\nnorth,4\n")
    made = run(
        "simulate",
        "counts.csv",
        "--groups",
        "schools.csv",
        "--at-most",
        "25%",
        "--epsilon",
        "1",
        "--out",
        "trial",
    )
    assert "a simulation: no ledger, no promise" in made
    assert pl.read_csv(folder / "trial" / "answers.csv")["size"].to_list() == [20, 20]


def test_a_csv_with_a_byte_order_mark_semicolons_and_names_of_its_own(folder: Path) -> None:
    rows = (
        PUPILS.replace("pupil,school,mmr", "SchülerNr,Schule,Masern").replace(",", ";").replace("\n", "\r\n")
    )
    (folder / "schueler.csv").write_bytes(rows.encode("utf-8-sig"))
    listed = 'group;name;size\r\neast;"Ost; ""Les Lilas""";20\r\nnorth;Nord;20\r\n'
    (folder / "schulen.csv").write_bytes(listed.encode("utf-8-sig"))
    asked = ("schueler.csv", "--groups", "schulen.csv", "--where", "Masern=no", "--domain", "Masern=no,yes")
    read = ("--columns", "person=SchülerNr,group=Schule", "--separator", ";")
    assert "Nothing here stops a count." in run("check", *asked, *read)
    paid = ("--as-of", "2026-09-01", "--at-most", "15%", "--epsilon", "1", "--out", "release", "--yes")
    run("publish", *asked, *read, *paid)
    run("verify", "release", "--key", "safeside.key.pub")
    assert '"Ost; \\"Les Lilas\\""' in (folder / "release" / "map.html").read_text()
    assert (pl.read_csv(folder / "release" / "answers.csv")["upper_bound"] >= 4).all()
