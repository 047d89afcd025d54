"""What every test shares: a terminal of one width, so that tables break lines in one place; hypothesis
without clocks, so that a busy machine fails no test; and, among workers, that tests which need the same
server run on one of them. What is kept from one question to the next is kept in a folder of the tests' own.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from safeside.ledger import Ledger
    from tests.faults.publishing import World
    from tests.postgres import Server
    from tests.spark import Cluster

os.environ["COLUMNS"] = "120"
_cache = tempfile.TemporaryDirectory(prefix="cache")  # gone with the process
os.environ["XDG_CACHE_HOME"] = _cache.name
settings.register_profile("no-clocks", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no-clocks")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Call tests by their group, as xdist does with `--dist loadgroup`.

    xdist 3.8 writes the name where pytest looked for it before 9.2. Without it each worker starts a Spark
    cluster and a PostgreSQL server of its own. Large groups start first, so that none is left to the end.
    """
    for item in items:
        group = vars(item).get("_nodeid", item.nodeid).removeprefix(item.nodeid)
        if group:
            item._id = item.parent.id.child(item.name + group)
            assert item.nodeid.endswith(group), "pytest keeps the names of tests somewhere else now"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the ledger keeps outside its file: in a directory of the test's own, not in anybody's home."""
    directory = tmp_path / "state"
    monkeypatch.setenv("SAFESIDE_STATE_DIR", str(directory))
    return directory


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One PostgreSQL server for all tests of a worker."""
    from tests.postgres import Server

    server = Server()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One Spark cluster for all tests of a worker."""
    from tests.spark import Cluster

    made = Cluster()
    yield made
    made.remove()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that does not exist yet, in each kind of store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    server: Server = request.getfixturevalue("postgres")
    return server.fresh()


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """A ledger with one dataset, "city", of 3 and a ten-thousandth, in each kind of store."""
    from safeside.ledger import create_ledger

    with create_ledger(url) as made:
        made.create_dataset("city", "person", 3, "1e-4")
        yield made


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A small city with visits, places, a key and a ledger, ready to publish from."""
    from tests.faults.publishing import World

    return World.made(tmp_path)
