"""Options that several commands share are listed once and arrive as one object."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.testing import CliRunner

from safeside.cli.shared_options import options_of


def pair(*, first: Annotated[int, typer.Option(help="The first.")], second: int = 2) -> tuple[int, int]:
    return first, second


def made(out: list[object]) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @options_of(both=pair)
    def command(name: str, both: tuple[int, int], loud: bool = False) -> None:
        """Say it."""
        out.append((name, both, loud))

    return app


def test_the_parts_are_options_and_the_whole_is_what_the_command_gets() -> None:
    got: list[object] = []
    run = CliRunner().invoke(made(got), ["x", "--first", "1", "--loud"])
    assert (run.exit_code, got) == (0, [("x", (1, 2), True)])
    assert CliRunner().invoke(made(got), ["x", "--first", "1", "--second", "3"]).exit_code == 0
    assert got[-1] == ("x", (1, 3), False)


def test_a_part_that_is_missing_is_asked_for_and_help_names_all_of_them() -> None:
    run = CliRunner().invoke(made([]), ["x"])
    assert run.exit_code == 2
    assert "--first" in run.output
    said = CliRunner().invoke(made([]), ["--help"]).output
    assert "The first." in said
    assert "Say it." in said
    assert "--both" not in said
