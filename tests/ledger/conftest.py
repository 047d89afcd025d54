"""Fixtures of the ledger's tests."""

from tests.ledger.stores import ledger, postgres, state, url

__all__ = ["ledger", "postgres", "state", "url"]
