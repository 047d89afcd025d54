"""One Spark cluster for all tests here: a fixture that modules import would be one for each."""

from __future__ import annotations

from tests.spark import cluster

__all__ = ["cluster"]
