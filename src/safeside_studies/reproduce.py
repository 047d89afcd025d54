"""Every experiment of the paper in one run: figures, numbers, report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from safeside import __version__
from safeside.errors import BadQuestion, CannotWrite
from safeside.progress import Progress, quiet
from safeside_studies import city, figure1, maps, needed, schools, selection, sparse_counts, varying
from safeside_studies.movements import Movements, read_city
from safeside_studies.peopleflow import read_peopleflow
from safeside_studies.report import write_report
from safeside_studies.results import Outcome, write_results
from safeside_studies.settings import Settings

FIGURES: Final[Mapping[str, Callable[[Movements, Settings], Outcome]]] = {
    "figure1": lambda _data, settings: figure1.run(settings),
    "figure2": maps.figure2,
    "figure3": maps.figure3,
    "figure4": varying.figure4,
    "figure5": sparse_counts.figure5,
    "figure6": sparse_counts.figure6,
    "selection": selection.run,
    "schools": lambda _data, settings: schools.run(settings),
    "needed": lambda _data, settings: needed.run(settings),
}


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What was written, and what was found."""

    results: Path
    report: Path
    outcomes: Sequence[Outcome]


def reproduce(
    out: Path,
    *,
    figures: Sequence[str] = (),
    quick: bool = False,
    peopleflow: Path | None = None,
    progress: Progress = quiet,
) -> Reproduction:
    """Run the studies named (all, where none is) and write results.json, report.html and the figures."""
    chosen = figures or tuple(FIGURES)
    for name in chosen:
        if name not in FIGURES:
            raise BadQuestion(f"There is no figure named {name}.", f"Choose from {', '.join(FIGURES)}.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"The directory {out} cannot be made: {error.strerror}.", "Choose another directory with `out=`."
        ) from error
    progress(None, "Making the city" if peopleflow is None else "Reading Peopleflow")
    data = _city() if peopleflow is None else read_peopleflow(peopleflow)
    outcomes = []
    for number, name in enumerate(chosen):
        settings = Settings(out=out, quick=quick, progress=_part(progress, number, len(chosen)))
        settings.progress(0.0, f"Drawing {name}")
        outcomes.append(FIGURES[name](data, settings))
    done = Reproduction(results=out / "results.json", report=out / "report.html", outcomes=outcomes)
    length = "a quick run, with fewer draws" if quick else "a full run"
    about = (
        f"safeside {__version__}; {length}; data: {data.source}, {data.people:,} people, "
        f"{data.places:,} places, {data.visits:,} stays over {data.days} days. Noise is seeded, so a run "
        "can be repeated; nothing here is a private release."
    )
    facts = {
        "software": f"safeside {__version__}",
        "data": data.source,
        "people": data.people,
        "places": data.places,
        "visits": data.visits,
        "quick": quick,
        "simulated": True,
    }
    write_results(done.results, facts, outcomes)
    write_report(done.report, about, outcomes)
    progress(1.0, "Done")
    return done


def _city() -> Movements:
    with tempfile.TemporaryDirectory() as directory:
        city.generate(Path(directory))
        return read_city(Path(directory))


def _part(progress: Progress, number: int, parts: int) -> Progress:
    """The progress of one study as a part of the whole."""

    def report(done: float | None, what: str) -> None:
        progress((number + (done or 0.0)) / parts, what)

    return report
