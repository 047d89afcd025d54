"""What tests of releases share: one key, and releases by selection that are looked at and spoilt."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.releases.making import CLAIMED, COUNTS, DAY, FAILED, LEFT_OUT, SELECTION, signed

from safeside.noise.entropy import simulated_entropy
from safeside.releases.signing import PrivateKey, create_key, load_private


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key, and releases of one day signed with it: two with a claim, one that ended at a test."""
    where = tmp_path_factory.mktemp("releases")
    create_key(where / "key")
    key = load_private(where / "key")
    for name, seed in (("claimed", CLAIMED), ("left out", LEFT_OUT), ("failed", FAILED)):
        signed(where / name, COUNTS, SELECTION, key, when=DAY, entropy=simulated_entropy(seed))
    return where


@pytest.fixture
def key(home: Path, tmp_path: Path) -> PrivateKey:
    """The same key, in files of the test's own."""
    for name in ("key", "key.pub", "key.keyring"):
        shutil.copy(home / name, tmp_path / name)
    return load_private(tmp_path / "key")
