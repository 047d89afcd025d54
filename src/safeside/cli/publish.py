"""`safeside publish` and `safeside simulate`: from the question to the files."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from safeside.cli import publish_options as options
from safeside.cli import visit_options as visit
from safeside.cli.config import read_config
from safeside.cli.console import AsJson, Spinner, confirm, err, finish, interactive, line, out, print_either
from safeside.cli.key import ask_passphrase
from safeside.cli.shared_options import options_of
from safeside.cli.wording import as_typed
from safeside.errors import SimulationOnly
from safeside.exact import show
from safeside.ledger import Budget
from safeside.ledger.rules import PEOPLE_FLOOR, require_floor
from safeside.releases.publish import SUPERSEDE_WARNING, prepare
from safeside.releases.release import Release
from safeside.releases.simulate import WHEN
from safeside.releases.simulate import simulate as simulate_counts
from safeside.visits import Expected, LeftOut, VisitFormat


@options_of(
    expected=visit.expected,
    declared=visit.declared,
    grouped=options.asked,
    counted=options.conditions,
    question=options.question,
)
def publish(
    visits: visit.Visits,
    out_dir: options.Out,
    question: dict[str, Any],
    counted: dict[str, Any],
    grouped: dict[str, Any],
    declared: VisitFormat,
    expected: Expected,
    places: Annotated[Path | None, options.of_question(help="The public list of places.")] = None,
    when: Annotated[str | None, options.of_question(help="An instant, or an interval A/B.")] = None,
    groups: options.Groups = None,
    exclude_unknown_places: visit.ExcludeUnknown = False,
    allow_nobody: Annotated[
        bool, visit.option("--allow-nobody", help="I looked: nobody was anywhere then.")
    ] = False,
    dataset: Annotated[str | None, options.of_account(help="Whose budget pays.")] = None,
    ledger: options.Ledger = None,
    key: options.Key = None,
    request_id: Annotated[
        str | None, options.of_account(help="Your name for this request; the same id pays once.")
    ] = None,
    basemap: options.Basemap = None,
    known_on: Annotated[
        datetime | None, options.of_release(help="The moment (UTC) the data speak from; now, if left out.")
    ] = None,
    so_far: Annotated[
        bool, options.of_question("--so-far", help="The interval is not over; every statement says so.")
    ] = False,
    supersedes: Annotated[
        str | None, options.of_release(help="The release this one replaces, on schedule.")
    ] = None,
    scheduled: Annotated[
        bool,
        options.of_release(
            "--scheduled", help="With --supersedes: declare that a schedule fixed beforehand asks for it."
        ),
    ] = False,
    again: Annotated[
        bool, options.of_account("--again", help="Pay for a question that was answered before.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the price and stop.")] = False,
    yes: options.Yes = False,
    as_json: AsJson = False,
    policy: Annotated[str, typer.Option(hidden=True)] = "not-visited",
    seed: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Answer one question about every place, or every group, once, and pay for it."""
    if seed is not None:
        raise SimulationOnly(
            "A release is never drawn from a seed: whoever knows the seed could subtract the noise.",
            "Leave --seed out, or use `safeside simulate`.",
        )
    config = read_config()
    with prepare(
        visits,
        places=places,
        when=when,
        groups=groups,
        **question,
        **counted,
        **grouped,
        policy=policy,
        so_far=so_far,
        dataset=config.required("dataset", dataset),
        ledger=config.required("ledger", ledger),
        out=out_dir,
        visit_format=declared,
        exclude_unknown_places=exclude_unknown_places,
        allow_nobody=allow_nobody,
        expected=expected,
        key=config.key_file(key),
        known_on=None if known_on is None else known_on.replace(tzinfo=known_on.tzinfo or UTC),
        supersedes=supersedes,
        scheduled=scheduled,
        request_id=request_id,
        again=again,
        basemap=basemap,
        ask_passphrase=ask_passphrase,
    ) as publication:
        if publication.question.people is not None:
            require_floor(publication.question.people, config.people_floor or PEOPLE_FLOOR)
        for directory in publication.doubtful:
            _warn(
                f'"{line(directory)}" says it was charged to this ledger, and no key of yours signed it. '
                "It was left out of the comparison with the ledger. If another key of yours signed it, add "
                "that key's .pub file to the keyring beside the key; otherwise take the directory away."
            )
        quoted = publication.preview(datetime.now(UTC))
        (err if as_json else out).print(as_typed(quoted.text()))
        if supersedes is not None:
            _warn(SUPERSEDE_WARNING)
        if dry_run:
            nothing = "\nNothing was spent and no visit was read (--dry-run)."
            print_either({"published": False, "preview": asdict(quoted)}, [nothing], as_json=as_json)
            return
        if publication.earlier is not None and not again and not yes:
            confirm("It was answered before. Pay for another answer?", yes)
            publication = replace(publication, again=True)
        confirm("Publish?", yes)
        with finish(publication.stopped) as progress:
            release = publication.run(progress, confirm=partial(_confirm_left_out, progress, yes))
            left = publication.ledger.remaining(publication.dataset.name, publication.cost.periods)
    lines = _lines(release, f"published and signed; epsilon {show(left.epsilon)} remains")
    print_either(_as_json(release, left), lines, as_json=as_json)


def _as_json(release: Release, left: Budget) -> dict[str, object]:
    charged = release.charged()
    return {
        "published": True,
        "release": release.id,
        "manifest": release.digest,
        "directory": str(release.directory),
        "map": str(release.map),
        "dataset": charged.dataset,
        "charged": {"epsilon": charged.cost.epsilon, "delta": charged.cost.delta},
        "remaining": left,
        "answers": dict(release.manifest["answers"]),
        "summary": release.summary(),
    }


@options_of(grouped=options.asked, counted=options.conditions, question=options.question)
def simulate(
    counts: Annotated[
        Path, typer.Argument(metavar="COUNTS.csv", help="Columns place and count, or group and count.")
    ],
    out_dir: options.Out,
    question: dict[str, Any],
    counted: dict[str, Any],
    grouped: dict[str, Any],
    places: Annotated[Path | None, options.of_question(help="The list of places, for a map.")] = None,
    when: Annotated[str, options.of_question(help="What the map says.")] = WHEN,
    groups: options.Groups = None,
    timezone: visit.Timezone = None,
    basemap: options.Basemap = None,
    seed: Annotated[int | None, typer.Option(help="Repeat a simulation exactly.")] = None,
) -> None:
    """Make the same files from given counts: no ledger, no promise, marked as a simulation."""
    release = simulate_counts(
        counts,
        **question,
        **counted,
        **grouped,
        groups=groups,
        out=out_dir,
        places=places,
        when=when,
        timezone=timezone,
        seed=seed,
        basemap=basemap,
    )
    out.print(*_lines(release, "a simulation: no ledger, no promise"), sep="\n")


def _warn(text: str) -> None:
    err.print(f"\nMind: {as_typed(text)}")


def _confirm_left_out(progress: Spinner, yes: bool, found: LeftOut) -> bool:
    """Show, on this terminal alone, what is left out; and ask where it is more than was expected."""
    progress.pause()
    err.print(f"Mind: {found.sentence()}.", *visit.examples(found), sep="\n")
    if yes or found.resembling or not found.too_many or not interactive():
        return False
    return typer.confirm("Are these homes and other places that are not asked about?", err=True)


def _lines(release: Release, what: str) -> list[str]:
    where = f"{release.directory}: {what}"
    return [f"\n{release.summary()}", line(where), line(f"Map: {release.map}")]
