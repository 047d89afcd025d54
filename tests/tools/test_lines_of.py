"""Lines for the same behaviour: what of history is compared, and what is not."""

from __future__ import annotations

import pytest
from tools.lines_of import (
    LISTED,
    Change,
    changes,
    commits,
    main,
    moved_out,
    replayed,
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


def change(*hunks: tuple[int, int, int], old: str = "a.py", new: str = "a.py") -> Change:
    return Change(old, new, list(hunks))


def test_lines_of_listed_commits_are_new_and_what_takes_their_place_is_as_new_as_they_were() -> None:
    files = {"a.py": [0.0] * 4}
    replayed(files, [change((2, 0, 4))], new=True)
    assert files == {"a.py": [0, 0, 1, 1, 1, 1, 0, 0]}
    replayed(files, [change((0, 4, 2))], new=False)
    assert files == {"a.py": [0.5, 0.5, 1, 1, 0, 0]}
    replayed(files, [change((2, 2, 8))], new=False)
    assert files == {"a.py": [0.5, 0.5, *[0.25] * 8, 0, 0]}, "what is more than was there is not new"


def test_lines_that_move_to_another_file_stay_as_new_as_they_were() -> None:
    files = {"a.py": [1.0, 1.0, 0.0, 0.0]}
    moves = [change((0, 3, 0), old="a.py", new="b.py"), change((0, 0, 3), old="", new="c.py")]
    replayed(files, moves, new=False)
    assert files == {"b.py": [0.0], "c.py": [pytest.approx(2 / 3)] * 3}
    replayed(files, [change((0, 1, 0), old="b.py", new="")], new=False)
    assert list(files) == ["c.py"]


def test_a_patch_says_what_became_of_which_lines() -> None:
    patch = (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -3 +3,2 @@ def f():\n-x\n+y\n+z\n"
        "@@ -7,2 +8,0 @@\n-u\n-v\n@@ -9,0 +9 @@\n+w\n"
        "diff --git a/b.py b/c.py\nsimilarity index 100%\nrename from b.py\nrename to c.py\n"
        "diff --git a/d.py b/d.py\nnew file mode 100644\n--- /dev/null\n+++ b/d.py\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/e.py b/e.py\ndeleted file mode 100644\n--- a/e.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    assert changes(patch) == [
        change((2, 1, 2), (6, 2, 0), (9, 0, 1)),
        change(old="b.py", new="c.py"),
        change((0, 0, 1), old="", new="d.py"),
        change((0, 1, 0), old="e.py", new=""),
    ]


def test_the_list_names_commits_by_their_first_digits() -> None:
    assert commits("# why\nabc1234567 A subject\n") == ("abc1234567",)
    assert all(len(one) >= 10 and int(one, 16) for one in commits(LISTED.read_text(encoding="utf-8")))


def test_the_table_compares_each_room_and_says_what_is_not_compared() -> None:
    text = table({"noise": 30}, {"noise": 29, "words": 7}, {"noise": 25, "words": 1}, 5)
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert rows[1:4] == ["noise 30 25 5 4", "words 0 1 -1 6", "total 30 26 4 10"]
    assert "5 lines of before that moved out" in text


def test_what_is_no_commit_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["lines_of.py", "--", "no-such-commit"])
    with pytest.raises(SystemExit):
        main()
    assert "no lines at no-such-commit" in capsys.readouterr().err
