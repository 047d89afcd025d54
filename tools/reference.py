#!/usr/bin/env python3
"""Reference pages, written from the code when the documentation is built: Python names and the command line.

The Python page lists what `safeside.__all__` lists, by the rooms the names come from; Sphinx takes each
docstring from the code. The page of the command line is written from the typer application itself.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import safeside
from safeside.cli.main import COMMANDS, build, load

TITLES = {
    "releases": "Publishing",
    "ledger": "The ledger",
    "visits": "Visits",
    "decisions": "Planning and deciding",
    "mechanisms": "Mechanisms",
    "privacy": "Definitions",
    "audit": "Auditing",
    "errors": "Errors",
}


def api_page() -> str:
    """Every exported name, in reStructuredText, for autodoc."""
    rooms: dict[str, list[str]] = {}
    for name in safeside.__all__:
        if not name.startswith("_"):
            home = getattr(getattr(safeside, name), "__module__", "safeside").split(".")
            rooms.setdefault(home[1] if len(home) > 1 else "", []).append(name)
    order = [*(room for room in TITLES if room in rooms), *sorted(set(rooms) - set(TITLES))]
    parts = [
        _underlined("Python reference", "="),
        "What ``import safeside`` offers, and nothing else: other modules may change without notice.",
    ]
    for room in order:
        parts.append(_underlined(TITLES.get(room, room.capitalize() or "Other"), "-"))
        parts += [_entry(name) for name in sorted(rooms[room], key=str.lower)]
    return "\n\n".join(parts) + "\n"


def _underlined(title: str, mark: str) -> str:
    return f"{title}\n{mark * len(title)}"


def _entry(name: str) -> str:
    what = getattr(safeside, name)
    if isinstance(what, type):
        return (
            f".. autoclass:: safeside.{name}\n   :members:\n   :inherited-members: tuple, str, int, Exception"
        )
    kind = "autofunction" if callable(what) else "autodata"
    return f".. {kind}:: safeside.{name}"


def plain_docstring(lines: list[str]) -> None:
    """Make a docstring safe for reStructuredText, in place: `code` is code, and a mark is only a mark."""
    out: list[str] = []
    in_example = False
    for line in lines:
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if not in_example:
            line = "".join(_safe(part) for part in re.split(r"(`[^`]+`)", line))
        out.append(line)
    lines[:] = out


def _safe(part: str) -> str:
    if part.startswith("`") and part.endswith("`") and len(part) > 2:
        return f"`{part}`"
    return re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part)


def cli_page() -> str:
    """Every command with its arguments and options, in Markdown."""
    root = typer.main.get_command(build())
    lines = ["# Command line reference", "", (root.help or "").strip(), ""]
    every = [one for name in COMMANDS for one in _commands(load(name), f"safeside {name}")]
    for path, command in every:
        context = command.context_class(command, info_name=path)
        usage = " ".join([path, *command.collect_usage_pieces(context)])
        lines += [f"## `{path}`", "", _help(command), "", "```", usage, "```", ""]
        rows = [row for parameter in command.params if (row := _row(parameter))]
        if rows:
            lines += ["| option | meaning | default |", "| --- | --- | --- |", *rows, ""]
    return "\n".join(lines)


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    # By what it has, not by its class: typer brings its own copy of click.
    inner = getattr(command, "commands", None)
    if inner is None and not command.hidden:
        yield path, command
    for name in inner or ():
        yield from _commands(inner[name], f"{path} {name}")


def _help(command: Any) -> str:
    return inspect.cleandoc(command.help or "").replace("<", "\\<")


def _row(parameter: Any) -> str:
    if getattr(parameter, "hidden", False) or parameter.name == "help":
        return ""
    if parameter.param_type_name == "argument":
        names = parameter.metavar or parameter.name.upper()
    else:
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    default = parameter.default
    shown = "" if default in (None, False, (), []) or callable(default) else f"`{default}`"
    text = " ".join((getattr(parameter, "help", None) or "").split())
    if parameter.required:
        shown = "required"
    return f"| `{names}` | {_cell(text)} | {_cell(shown)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def write(directory: Path) -> None:
    """Both pages; a page that is as it was is left alone, so that Sphinx does not read it again."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in (("api.rst", api_page()), ("cli.md", cli_page())):
        path = directory / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, help="where the two pages are written")
    write(parser.parse_args().directory)
