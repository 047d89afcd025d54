"""Packages that are not always installed: loaded where they are needed, or how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from safeside.errors import MissingExtra


def load(module: str, what: str, extra: str) -> Any:
    """The module, which `what` needs and `pip install 'safeside[extra]'` brings."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise MissingExtra(
            f"{what} needs the package {package}.", f"Run: pip install 'safeside[{extra}]'"
        ) from None
