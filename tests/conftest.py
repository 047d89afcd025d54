"""What every test shares: a terminal of one width, so that tables break lines in one place; hypothesis
without clocks, so that a busy machine fails no test; and, among workers, that tests which need the same
server run on one of them. What is kept from one question to the next is kept in a folder of the tests' own.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

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
