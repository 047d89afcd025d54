"""A release on disk, as its directory holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from safeside import untrusted
from safeside.errors import BadRelease
from safeside.ledger.money import Cost
from safeside.ledger.recovery import Published
from safeside.releases import artefacts, manifest, statement, wording
from safeside.releases.answers import Answers

MAP: Final = "map.html"
REPORT: Final = "report.html"
STATEMENT: Final = "statement.txt"
WITHDRAWN: Final = "withdrawn.json"


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """What was published, and where. Read it with `safeside.load_release`; trust it after `verify`."""

    directory: Path
    manifest: Mapping[str, Any]
    digest: str
    held: Mapping[str, bytes] | None = None
    """Its files, where they are in memory: then the directory is not read."""

    @property
    def id(self) -> str:
        """The request id under which the ledger knows it."""
        return str(self.manifest["release"])

    @property
    def simulated(self) -> bool:
        """Whether this is a simulation, which promises nothing."""
        return bool(self.manifest["simulated"])

    @property
    def map(self) -> Path:
        """The map to open in a browser."""
        return self.directory / MAP

    @cached_property
    def answers(self) -> Answers:
        """Every place with its state and bounds."""
        try:
            return artefacts.read_csv(self.file(artefacts.CSV))
        except (OSError, ValueError):
            raise manifest.bad("answers.csv cannot be read") from None

    def file(self, name: str) -> bytes:
        """One of its data files or pages: as it is in memory, or on the disk now."""
        if self.held is not None:
            return self.held[name]
        return manifest.read(self.directory, name, untrusted.DATA_BYTES)

    def summary(self) -> str:
        """What was said, in a few lines."""
        question = self.manifest["question"]
        head = "Simulation. " if self.simulated else ""
        return "\n".join([f"{head}{wording.when(question)}.", *statement.summary(self.manifest)])

    def charged(self) -> Published:
        """Where and at what price this release says it was charged; the question is left out."""
        ledger = self.manifest["ledger"]
        if ledger is None:
            raise BadRelease(
                f'"{self.directory}" is a simulation and was never charged.',
                "Give the directory of a release.",
            )
        try:
            cost = Cost.from_json(ledger["cost"])
        except (ValueError, ZeroDivisionError):
            raise BadRelease(
                f'The price of the release in "{self.directory}" cannot be read.',
                "The release was altered: take the directory away, or put back the one that was published.",
            ) from None
        return Published(
            ledger_id=ledger["id"],
            dataset=ledger["dataset"],
            request=self.id,
            reference=ledger["reference"],
            manifest=self.digest,
            cost=cost,
            question={},
        )

    def published(self) -> Published:
        """What the ledger needs to know to charge this release again, should it have forgotten it."""
        question = self.manifest["question"]
        asked = {
            "targets": list(self.answers.places),
            "window": question["when"],
            "at_most": question["at_most"],
        }
        return replace(self.charged(), question=asked)


def hold(directory: Path, files: Mapping[str, bytes]) -> Release:
    """The release that these files are, before they stand in the directory or whatever stands there."""
    data = files[manifest.FILE]
    return Release(
        directory=directory, manifest=manifest.decode(data), digest=manifest.digest(data), held=files
    )


def load(directory: Path | str) -> Release:
    """The release in a directory, as it says itself; `verify` checks that it is true."""
    directory = Path(directory)
    if (directory / WITHDRAWN).is_file():
        raise BadRelease(
            f'The release in "{directory}" was withdrawn.',
            "Use a later release, if there is one.",
        )
    try:
        data = manifest.read(directory, manifest.FILE)
    except OSError:
        raise BadRelease(
            f'There is no release in "{directory}".',
            "Give the directory that holds release.json.",
        ) from None
    return Release(directory=directory, manifest=manifest.decode(data), digest=manifest.digest(data))
