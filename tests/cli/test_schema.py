"""`safeside schema`: what it prints is what real files follow, by another program's reading."""

from __future__ import annotations

import base64
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.faults.publishing import World
from typer.testing import CliRunner

from safeside.cli.config import Columns, Config
from safeside.cli.main import build
from safeside.errors import BadQuestion
from safeside.ledger import open_ledger
from safeside.releases.signing import load_private
from safeside.releases.withdraw import withdraw


def schema(name: str) -> Any:
    result = CliRunner().invoke(build(), ["schema", name], catch_exceptions=False)
    return json.loads(result.output)


def check(name: str, value: Any) -> None:
    """The value follows the schema, and follows it no longer with a field more, or without its version."""
    printed = schema(name)
    validator = jsonschema.Draft202012Validator(printed)
    validator.check_schema(printed)
    validator.validate(value)
    assert not validator.is_valid({**value, "surprise": 1})
    assert not validator.is_valid({**value, "schema": "safeside-nothing/1"})
    assert not validator.is_valid({one: inner for one, inner in value.items() if one != "schema"})


def test_real_files_follow_the_schemas_that_are_printed(world: World) -> None:
    world.publish("counts")
    record = json.loads((world.out / "release.json").read_bytes())
    check("release", record)
    check("question", {"schema": "safeside-question/1", **record["question"]})
    envelope = json.loads((world.out / "signature.json").read_bytes())
    check("signature", json.loads(base64.b64decode(envelope["payload"])))
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="wrong-file", ledger=ledger, key=load_private(world.home / "key"))
    notice = json.loads((world.out / "withdrawn.json").read_bytes())
    check("withdrawn", notice)
    painted = {**notice, "release": "a\x1b[2J"}
    assert not jsonschema.Draft202012Validator(schema("withdrawn")).is_valid(painted)


def test_settings_follow_their_schema() -> None:
    written = Config(ledger="ledger.db", radius=2.5, columns=Columns(person="patient")).to_toml()
    check("settings", tomllib.loads(written))


def test_a_record_that_is_not_kept_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadQuestion, match='There is no record called "releese"') as caught:
        CliRunner().invoke(build(), ["schema", "releese"], catch_exceptions=False)
    assert "withdrawn" in caught.value.do
