"""Messages speak Python; the command line says the same with its options and commands."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import safeside
from safeside.cli.console import fail
from safeside.cli.main import COMMANDS as LISTED
from safeside.cli.main import load
from safeside.cli.wording import ARGUMENT, CALL, COMMANDS, OPTIONS, as_typed
from safeside.errors import BadQuestion
from safeside.visits import StayRule
from safeside_studies import city
from safeside_studies.reproduce import reproduce

SOURCES = Path(safeside.__file__).parent
OF_PYTHON_ALONE = {"people_floor"}
"""Arguments that no command passes on: what safeside.toml says of them is checked by the command itself."""


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("Give `at_most=`.", "Give --at-most."),
        ("made with `max_places_per_person=K`.", "made with --max-places-per-person K."),
        ('ask with `guarantee="dp"`.', "ask with --guarantee dp."),
        ("Leave `so_far=True` out.", "Leave --so-far out."),
        ("(`h3_resolution=11`)", "(--h3 11)"),
        ("(`Expected(rows=0)`)", "(--expect-rows 0)"),
        ("(`Expected(rows=)`)", "(--expect-rows)"),
        ('(`Expected(unlisted="60%")`)', "(--expect-unlisted 60%)"),
        ('(`separator=";"`)', "(--separator ';')"),
        ('(`time_format="%d/%m/%Y %H:%M"`)', "(--time-format '%d/%m/%Y %H:%M')"),
        ('`covers="visits-%Y-%m-%d-*.csv"`', "--covers 'visits-%Y-%m-%d-*.csv'"),
        ('Write `columns={"person": "id", "time": "at"}`.', "Write --columns person=id,time=at."),
        ('`columns={"state": ""}`', "--columns state="),
        ('`witnesses=["FILE"]`', "--witness FILE"),
        ('`measures=["a: b=0", "c: d=1"]`', "--measure 'a: b=0' --measure 'c: d=1'"),
        ("Run `safeside.recover_ledger(...)`.", "Run `safeside ledger recover`."),
        (
            "`safeside.recover_ledger(..., accept_clock=True)`",
            "`safeside ledger recover --accept-clock`",
        ),
        (
            '`safeside.recover_ledger(..., releases=["DIR"])`',
            "`safeside ledger recover --release DIR`",
        ),
        ("in `ledger.history()`", "in `safeside ledger history`"),
        ("a column `at_most`, or `covers = ...`", "a column `at_most`, or `covers = ...`"),
        ("Run `os.urandom(32)`.", "Run `os.urandom(32)`."),
    ],
)
def test_an_argument_is_said_as_the_option(python: str, typed: str) -> None:
    assert as_typed(python) == typed


def test_an_error_that_speaks_python_is_printed_with_options(capsys: pytest.CaptureFixture[str]) -> None:
    fail(BadQuestion("`delta=` belongs to ordinary privacy.", 'Ask with `guarantee="dp"`.'))
    said = capsys.readouterr().err
    assert "--delta belongs to ordinary privacy." in said
    assert "Ask with --guarantee dp." in said


def _texts(tree: ast.AST) -> Iterator[str]:
    """Every string of a module but docstrings; what is filled in stands as {}."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(one) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for one in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in docstrings | inside:
            yield str(node.value)


def _messages() -> list[tuple[str, str]]:
    return [
        (str(path.relative_to(SOURCES)), text)
        for path in sorted(SOURCES.rglob("*.py"))
        if "cli" not in path.relative_to(SOURCES).parts
        for text in _texts(ast.parse(path.read_text()))
    ]


def _mentions() -> list[tuple[str, str]]:
    return [
        (where, name)
        for where, text in _messages()
        for name in (
            *(one[1] for one in ARGUMENT.finditer(text)),
            *(one[2] for one in CALL.finditer(text) if one[2]),
        )
    ]


def _parameters() -> set[str]:
    """Every parameter of every public function, class and method."""
    public = [getattr(safeside, name) for name in safeside.__all__ if name != "__version__"]
    public += [StayRule, city.generate, reproduce]
    methods = [
        method for one in public if inspect.isclass(one) for _, method in inspect.getmembers(one, callable)
    ]
    found: set[str] = set()
    for one in (*public, *methods):
        try:
            found |= set(inspect.signature(one).parameters)
        except (TypeError, ValueError):
            continue
    return found


def _options() -> tuple[set[str], set[str]]:
    """Every option of every command, and every command."""
    options, commands = set(), set()

    def walk(command: Any, path: tuple[str, ...]) -> None:
        commands.add(" ".join(path))
        options.update(one for parameter in command.params for one in parameter.opts)
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, (*path, name))

    for name in LISTED:
        walk(load(name), (name,))
    return options, commands


def test_every_argument_a_message_names_is_one_of_a_public_function() -> None:
    mentions, known = _mentions(), _parameters()
    assert len(mentions) > 100
    assert [one for one in mentions if one[1] not in known] == []


def test_every_argument_a_message_names_is_an_option() -> None:
    options, _ = _options()
    named = [one for one in _mentions() if one[1] not in OF_PYTHON_ALONE]
    assert [one for one in named if as_typed(f"`{one[1]}=`") not in options] == []


def test_every_other_name_of_an_option_is_needed_and_real() -> None:
    options, commands = _options()
    assert {f"--{one}" for one in OPTIONS.values()} <= options
    assert not {f"--{one.replace('_', '-')}" for one in OPTIONS} & options - {"--people"}
    assert set(COMMANDS.values()) <= commands
    for name in COMMANDS:
        room, _, called = name.partition(".")
        assert hasattr(safeside if room == "safeside" else safeside.Ledger, called), name


def test_every_function_a_message_names_is_known_to_the_command_line() -> None:
    called = {one[1] for _, text in _messages() for one in CALL.finditer(text)}
    assert called
    assert called <= set(COMMANDS)


def test_no_message_outside_the_command_line_names_an_option_or_a_command() -> None:
    typed = re.compile(r"(^|[ (`])--[a-z]|`safeside ")
    speaking = [(where, text) for where, text in _messages() if typed.search(text)]
    assert [one for one in speaking if "check it with `safeside verify`" not in one[1]] == []
