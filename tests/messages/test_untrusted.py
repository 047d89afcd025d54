"""What is said of a file of others that is no plain file."""

from __future__ import annotations

from pathlib import Path

import pytest

from safeside import untrusted
from safeside.errors import UnsafeFile


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(UnsafeFile) as caught:
        untrusted.read(tmp_path / "link", 10)
    assert caught.value.what == f'"{tmp_path / "link"}" is a link, and is not read.'
    assert caught.value.do == "Look at who may write to its directory, and put the file itself there."
