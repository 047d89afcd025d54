"""Packages that are not always installed: loaded where they are needed, or how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from safeside.errors import MissingExtra


def load(module: str, what: str, extra: str | None) -> Any:
    """The module, which `what` needs and `pip install 'safeside[extra]'` brings, or its own name."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        wanted = package if extra is None else f"'safeside[{extra}]'"
        raise MissingExtra(
            f"{what} needs the package {package}.",
            f"Run: pip install {wanted}",
        ) from None
