"""A release on disk, as its directory holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
from markupsafe import Markup

from safeside import extras, records, untrusted
from safeside.decisions.states import State
from safeside.errors import BadRelease, ReleaseError, SafesideError
from safeside.ledger.recovery import Published
from safeside.releases import map_page, pages, wording
from safeside.releases.answers import Answers
from safeside.releases.files import MAP, WITHDRAWN, shows_answers
from safeside.releases.files.answers import CSV, frame, read_csv
from safeside.releases.methods import Conditions
from safeside.releases.record import FILE, ReleaseRecord, bad, decode, read
from safeside.untrusted import visible

_LARGEST: Final = 4 << 20
"""Bytes of a page that a notebook still keeps with ease."""
_FRAME: Final = Markup(
    '<iframe sandbox="allow-scripts" srcdoc="{page}" title="{title}" '
    'style="width: 100%; height: 36rem; border: 1px solid #8888"></iframe>'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is said of one place in one window, or of one group on the date asked about.

    Example
        >>> from safeside import State, simulate
        >>> made = simulate({"library": 7, "museum": 0}, out="release", at_most=2, epsilon=1, seed=1)
        >>> [answer.place for answer in made if answer.state is State.AT_MOST]
        ['museum']
    """

    place: str
    """The place, or the group."""
    window: str
    """The time, or the date."""
    state: State
    upper_bound: int | None
    """Certain; none where no bound was published."""
    lower_bound: int
    measure: str | None = None
    """What was counted, where a question asks for several things."""
    size: int | None = None
    """How many people are publicly known to be in the group."""
    upper_percent: Decimal | None = None
    """The share of the size that the bound is, rounded up."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release:
    """What was published, and where. Read it with `safeside.load_release`; trust it after `verify`.

    Its answers are a dataframe (`to_polars()`, `to_pandas()`), or come one by one (`for answer in release`).

    Example
        >>> from safeside import simulate
        >>> made = simulate({"library": 7, "museum": 0}, out="release", at_most=2, epsilon=1, seed=1)
        >>> print(made.simulated, made.answers.places[0])
        True library
    """

    directory: Path
    record: ReleaseRecord
    digest: str
    held: Mapping[str, bytes] | None = None
    """Its files, where they are in memory: then the directory is not read."""

    @property
    def id(self) -> str:
        """The request id under which the ledger knows it."""
        return self.record.release

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """release.json as plain values."""
        plain: dict[str, Any] = msgspec.json.decode(records.encode(self.record))
        return plain

    @property
    def simulated(self) -> bool:
        """Whether this is a simulation, which promises nothing."""
        return self.record.simulated

    @property
    def map(self) -> Path:
        """The map to open in a browser."""
        return self.directory / MAP

    @cached_property
    def answers(self) -> Answers:
        """Every place with its state and bounds."""
        try:
            return read_csv(self.file(CSV), self.record.question)
        except OSError:
            raise bad("answers.csv cannot be read") from None
        except ValueError as error:
            raise bad(f"answers.csv {error}") from None

    @cached_property
    def conditions(self) -> Conditions:
        """Every condition it answers, from its question and what its method published beforehand.

        BadRelease where the question is one that is refused.
        """
        question = self.record.question
        method = question.method
        try:
            question.check()
            asked = question.conditions(self.answers.targets)
            if method.file is not None:
                asked = replace(asked, known=method.read_known(asked, self.file(method.file)))
            method.mechanism(asked)
        except OSError:
            raise bad(f"{method.file} is missing") from None
        except SafesideError as error:
            raise bad(f"its question is one that is refused ({error.what.rstrip('.')})") from None
        except (ValueError, OverflowError) as error:
            raise bad(f"{error}") from None
        return asked

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        """Every answer, in the order of answers.csv."""
        rows = (
            self.to_polars().rename({"group": "place", "as_of": "window"}, strict=False).iter_rows(named=True)
        )
        return (Answer(**{**row, "state": State[row["state"]]}) for row in rows)

    def to_polars(self) -> pl.DataFrame:
        """The answers as a dataframe of Polars, with the columns of answers.csv."""
        return frame(self.answers)

    def to_pandas(self) -> Any:
        """The same for pandas; bounds are whole numbers that may be missing (`Int64`)."""
        pandas = extras.load("pandas", "A dataframe of pandas", None)
        table = pandas.DataFrame(self.to_polars().to_dict(as_series=False))
        return table.astype({"upper_bound": "Int64", "lower_bound": "Int64"})

    def __repr__(self) -> str:
        """One line; the answers are in `summary()`."""
        return f'Release("{visible(str(self.directory))}": {visible(wording.title(self.record))})'

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary, and the map in a frame that can reach nothing around it."""
        text = Markup('<pre style="white-space: pre-wrap">{}</pre>').format(self.summary())
        page = self._framed()
        frame = "" if page is None else _FRAME.format(page=page.decode(), title=self.summary())
        return str(text + frame + Markup("<p><code>{}</code></p>").format(self.map))

    def _framed(self) -> bytes | None:
        """The map as a notebook shows it.

        A release that somebody else made is not trusted to run its own script: the page is made anew, by our
        template and script, from the data in it, and only where those are the answers.
        """
        try:
            if not shows_answers(self):
                return None
            page = map_page.page(self.record, pages.read_data(self.file(MAP)))
        except (OSError, ReleaseError):
            return None
        return page if len(page) <= _LARGEST else None

    def file(self, name: str) -> bytes:
        """One of its data files or pages: as it is in memory, or on the disk now."""
        if self.held is not None:
            return self.held[name]
        return read(self.directory, name, untrusted.DATA_BYTES)

    def summary(self) -> str:
        """What was said, in a few lines."""
        question = self.record.question
        when = wording.heading(question)
        head = question.words("simulation.summary", when=when) if self.simulated else f"{when}."
        return "\n".join([head, *wording.summary(self.record)])

    def charged(self) -> Published:
        """Where and at what price this release says it was charged; the question is left out."""
        paid = self.record.ledger
        if paid is None:
            raise BadRelease(
                f'"{self.directory}" is a simulation and was never charged.',
                "Give the directory of a release.",
            )
        return Published(
            ledger_id=paid.id,
            dataset=paid.dataset,
            request=self.id,
            reference=paid.reference,
            manifest=self.digest,
            cost=paid.cost,
            question={},
        )

    def published(self) -> Published:
        """What the ledger needs to know to charge this release again, should it have forgotten it."""
        question = self.record.question
        asked = {
            "question": question.recorded(),
            "targets": list(self.conditions.targets),
            "window": question.time,
        }
        return replace(self.charged(), question=asked)


def hold(directory: Path, files: Mapping[str, bytes]) -> Release:
    """The release that these files are, before they stand in the directory or whatever stands there."""
    data = files[FILE]
    return Release(directory=directory, record=decode(data), digest=records.digest(data), held=files)


def load_release(directory: Path | str) -> Release:
    """The release in a directory, as it says itself; `verify` checks that it is true.

    Example
        >>> from safeside import load_release, simulate
        >>> made = simulate({"library": 7, "museum": 0}, out="release", at_most=2, epsilon=1, seed=1)
        >>> load_release("release").to_polars()["place"].to_list()
        ['library', 'museum']
    """
    directory = Path(directory)
    if (directory / WITHDRAWN).is_file():
        raise BadRelease(
            f'The release in "{directory}" was withdrawn.',
            "Use a later release, if there is one.",
        )
    try:
        data = read(directory, FILE)
    except OSError:
        raise BadRelease(
            f'There is no release in "{directory}".',
            "Give the directory that holds release.json.",
        ) from None
    return Release(directory=directory, record=decode(data), digest=records.digest(data))
