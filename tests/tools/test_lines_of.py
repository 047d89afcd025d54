"""Lines for the same behaviour: what of history is compared, and what is not."""

from __future__ import annotations

import pytest
from tools.lines_of import (
    HERE,
    LISTED,
    commits,
    definitions,
    kept_lines,
    lines_within,
    main,
    moved_out,
    room_of,
    table,
)


def test_a_file_belongs_to_the_folder_it_stands_in() -> None:
    assert room_of("src/safeside/visits/read/files.py") == "visits"
    assert room_of("src/safeside/exact.py") == "(no room)"


def test_files_are_followed_through_renames_until_they_leave_the_core() -> None:
    renames = [
        ("src/safeside/audit/planted.py", "src/safeside/audit/bugs.py"),
        ("src/safeside/audit/exact.py", "src/safeside/audit/certain.py"),
        ("src/safeside/audit/bugs.py", "src/safeside_studies/planted/bugs.py"),
    ]
    assert moved_out(renames) == {"src/safeside/audit/planted.py"}


def test_lines_of_listed_commits_are_left_out() -> None:
    blamed = "aaaa1111 1) x\n^bbbb2222 2) y\nbbbb3333 3) z\n"
    assert kept_lines(blamed, ("bbbb2",)) == 2
    assert kept_lines(blamed, ("aaaa", "bbbb")) == 0


def test_the_list_names_commits_by_their_first_digits() -> None:
    assert commits("# why\nabc1234567 A subject\n") == ("abc1234567",)
    assert all(len(one) >= 10 and int(one, 16) for one in commits(LISTED.read_text(encoding="utf-8")))


def test_functions_and_classes_of_the_list_are_left_out() -> None:
    source = (
        "class A:\n    x = 1\n\n    @property\n    def b(self):\n        return 1\n\n\ndef c():\n    pass\n"
    )
    assert lines_within(source, {"A.b"}) == {4, 5, 6}
    assert lines_within(source, {"A", "c"}) == {1, 2, 3, 4, 5, 6, 9, 10}
    assert lines_within(source, {""}) == set(range(1, 11))
    with pytest.raises(ValueError, match="nothing is called d"):
        lines_within(source, {"d"})
    assert kept_lines("aaaa 1) x\naaaa 2) y\nbbbb 3) z\n", ("bbbb",), {2}) == 1


def test_the_list_names_files_functions_and_classes_that_are_there() -> None:
    assert definitions("abc1234567 A subject\na/b.py::C.d Why\na/c.py Why\n") == {
        "a/b.py": {"C.d"},
        "a/c.py": {""},
    }
    for path, names in definitions(LISTED.read_text(encoding="utf-8")).items():
        assert lines_within((HERE / path).read_text(encoding="utf-8"), names)


def test_the_table_says_what_is_not_compared() -> None:
    text = table({"noise": 30}, {"noise": 29, "groups": 7}, {"noise": 25, "groups": 1}, 5)
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert rows[1] == "noise 30 25 5 4"
    assert rows[2] == "total 30 25 5 4"
    assert "5 lines of before that moved out" in text
    assert "7 lines in rooms that are new" in text


def test_what_is_no_commit_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["lines_of.py", "--", "no-such-commit"])
    with pytest.raises(SystemExit):
        main()
    assert "no lines at no-such-commit" in capsys.readouterr().err
