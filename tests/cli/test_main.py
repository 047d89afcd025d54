"""The list of commands: complete, quick to print, completed by shells."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import safeside
from safeside.cli.main import COMMANDS, MODULES, load

RUN = "import sys; from safeside.cli.main import main"
LOADED = f"""{RUN}
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
PLAN = ("plan", "--at-most", "2", "--epsilon", "1")
NEVER = {"audit", "studies", "planted", "releases", "ledger", "visits"}


def run(*arguments: str, program: str = f"{RUN}; main()", **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **more},
    )


def loaded(*arguments: str) -> set[str]:
    """The modules of a command that went well."""
    done = run(*arguments, program=LOADED)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), PLAN], ids=lambda one: one[0])
def test_the_list_of_commands_and_a_plan_load_no_room_they_do_not_need(arguments: tuple[str, ...]) -> None:
    rooms = {name.split(".")[1] for name in loaded(*arguments) if name.startswith("safeside.")}
    assert not rooms & NEVER
    assert not {name for name in rooms if name.startswith("safeside_")}


def test_the_list_of_commands_loads_no_library_for_data() -> None:
    for arguments in (("--help",), ("--version",)):
        assert not loaded(*arguments) & {
            "numpy",
            "polars",
            "narwhals",
            "flint",
            "cryptography",
            "rich.progress",
        }
    assert "polars" not in loaded(*PLAN)


def test_a_command_loads_no_other_room_than_its_own() -> None:
    assert not {"safeside.audit", "safeside.studies"} & loaded("publish", "--help")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_command_says_of_itself(name: str) -> None:
    assert load(name).help.split("\n\n")[0].replace("\n", " ") == COMMANDS[name]


def test_every_module_of_commands_is_listed() -> None:
    folder = Path(safeside.__file__).parent / "cli"
    having = {
        path.stem
        for path in folder.glob("*.py")
        if re.search(rf"^(def {path.stem}\(|commands = typer\.Typer)", path.read_text(), re.MULTILINE)
    }
    assert having - {"main"} == set(COMMANDS) - set(MODULES)


def test_a_mistyped_command_is_answered_with_the_nearest() -> None:
    done = run("publsh")
    assert done.returncode == 2
    assert "Did you mean 'publish'?" in done.stderr


def test_the_version_is_that_of_the_package() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"safeside {safeside.__version__}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script_that_completes(shell: str) -> None:
    done = run(
        program="import sys; sys.argv[0] = 'safeside'\n" + RUN + "; main()",
        _SAFESIDE_COMPLETE=f"source_{shell}",
    )
    assert done.returncode == 0
    assert f"_SAFESIDE_COMPLETE=complete_{shell}" in done.stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [("safeside pu", {"publish", "purge"}), ("safeside publish --at", {"--at-most", "--at-least"})],
)
def test_commands_and_options_are_completed(words: str, offered: set[str]) -> None:
    done = run(
        program="import sys; sys.argv[0] = 'safeside'\n" + RUN + "; main()",
        _SAFESIDE_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert set(done.stdout.split()) == offered
