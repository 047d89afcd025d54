"""Files and text of others: only plain files of a bounded size, only plain JSON, nothing that paints."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside import untrusted
from safeside.errors import UnsafeFile

LIMIT = 1000


def test_a_plain_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * LIMIT)
    assert untrusted.read(tmp_path / "file", LIMIT) == b"x" * LIMIT
    with pytest.raises(FileNotFoundError):
        untrusted.read(tmp_path / "none", LIMIT)


def hostile(path: Path, kind: str) -> None:
    """Something at `path` that is no file of ours."""
    match kind:
        case "a pipe":
            os.mkfifo(path)
        case "a link to a file":
            (path.parent / "target").write_text("{}")
            path.symlink_to(path.parent / "target")
        case "a link to a device":
            path.symlink_to("/dev/zero")
        case "a link to itself":
            path.symlink_to(path)
        case "a directory":
            path.mkdir()
        case "a socket":
            # A socket's address is short; the name beside it is not.
            with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as listening:
                listening.bind(path.name)
        case "a sparse file of a gigabyte and more":
            with path.open("wb") as file:
                file.truncate((1 << 30) + 1)


HOSTILE = (
    "a pipe",
    "a link to a file",
    "a link to a device",
    "a link to itself",
    "a directory",
    "a socket",
    "a sparse file of a gigabyte and more",
)


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_is_no_plain_file_of_that_size_is_refused(tmp_path: Path, kind: str) -> None:
    hostile(tmp_path / "file", kind)
    with pytest.raises(UnsafeFile) as caught:
        untrusted.read(tmp_path / "file", LIMIT)
    assert "is not read" in caught.value.what
    assert "who may write" in caught.value.do


@pytest.mark.parametrize("kind", ["a pipe", "a link to a device"])
def test_where_links_are_followed_what_they_lead_to_is_still_looked_at(tmp_path: Path, kind: str) -> None:
    hostile(tmp_path / "file", kind)
    with pytest.raises(UnsafeFile, match="is not a plain file"):
        untrusted.read(tmp_path / "file", LIMIT, follow=True)
    hostile(tmp_path / "link", "a link to a file")
    assert untrusted.read(tmp_path / "link", LIMIT, follow=True) == b"{}"


def test_a_file_that_grows_while_it_is_read_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size that was looked at is not believed."""
    (tmp_path / "file").write_bytes(b"x" * (LIMIT + 1))
    real = os.fstat

    class Small:
        def __init__(self, handle: int) -> None:
            self.st_mode, self.st_size = real(handle).st_mode, 0

    monkeypatch.setattr(untrusted.os, "fstat", Small)
    with pytest.raises(UnsafeFile, match="larger than"):
        untrusted.read(tmp_path / "file", LIMIT)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        "[" * 33 + "]" * 33,
        '{"a": 1, "a": 2}',
        '{"x": {"a": 1, "a": 1}}',
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1e999",
        "9" * 20,
        "9" * 100_000,
        '"\\ud800"',
        '{"\\udfff": 1}',
        "{} {}",
        "",
    ],
    ids=lambda text: text[:20] or "nothing",
)
def test_json_that_no_file_of_ours_holds_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        untrusted.parse(text.encode())


def test_json_of_too_many_values_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted.json, "loads", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(ValueError, match="more values"):
        untrusted.parse(b"[" + b"[]," * 100 + b"[]]", most_values=100)


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    for data in (b'"\xff"', '{"a": 1}'.encode("utf-16")):
        with pytest.raises(ValueError):
            untrusted.parse(data)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(plain)
def test_plain_json_is_read_as_it_was_written(value: object) -> None:
    for ascii_only in (True, False):
        assert untrusted.parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.text())
def test_nothing_that_paints_is_left_in_what_is_shown(text: str) -> None:
    shown = untrusted.visible(text)
    assert not untrusted.CONTROL.search(shown)
    shown.encode()
    if untrusted.visible(text, keep="\n") == text:
        assert not untrusted.CONTROL.search(text.replace("\n", ""))


def test_what_is_hidden_is_written_out() -> None:
    assert untrusted.visible("a\x1b[2Jb\u202ec\nd\x9b") == "a\\x1b[2Jb\\u202ec\\x0ad\\x9b"
    assert untrusted.visible("Café ماركت 東京 [x] \udcff") == "Café ماركت 東京 [x] \\udcff"
