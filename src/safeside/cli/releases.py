"""`safeside verify`, `withdraw` and `purge`: what is done with releases that were made."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from safeside.cli import publish_options as options
from safeside.cli.config import read_config
from safeside.cli.console import AsJson, confirm, err, line, out, print_either, violation
from safeside.cli.key import ask_passphrase
from safeside.cli.wording import as_typed
from safeside.errors import BadRelease, BadSignature
from safeside.ledger import Ledger, open_ledger
from safeside.releases.files import WITHDRAWN
from safeside.releases.purge import purge as purge_paths
from safeside.releases.signing import load_private, load_public
from safeside.releases.verify import verify as verify_release
from safeside.releases.withdraw import REASONS, WARNING, read_notice, require_reason
from safeside.releases.withdraw import withdraw as withdraw_release


def verify(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The release.")],
    key: Annotated[Path, typer.Option(help="The publisher's .pub or .keyring file.")],
    ledger: Annotated[
        str | None, typer.Option(help="For those who have it: that it paid what the release says.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Check signature, digests, schema, that states follow from bounds, and claims from the mechanism."""
    keys = load_public(key)
    try:
        with _opened(ledger) as book:
            if (directory / WITHDRAWN).is_file():
                notice = read_notice(directory, keys)
                raise BadRelease(
                    f"The release {notice.release} was withdrawn on {notice.withdrawn}.",
                    "Use a later release, if there is one.",
                )
            release = verify_release(directory, keys, ledger=book)
    except (BadRelease, BadSignature) as error:
        raise violation(error, as_json=json, verified=False) from None
    document = {"verified": True, "release": release.id, "manifest": release.digest}
    verified = (
        "Verified: signed, whole, every state follows from its bounds, and guarantee and price from its "
        f"mechanism. Release {release.id}."
    )
    print_either(document, [verified, release.summary()], as_json=json)


def withdraw(
    directory: Annotated[Path, typer.Argument(metavar="RELEASE", help="The directory of the release.")],
    reason: Annotated[str, typer.Option(help=f"{', '.join(REASONS)}; the ledger keeps it, nobody else.")],
    ledger: options.Ledger = None,
    key: options.Key = None,
    yes: options.Yes = False,
) -> None:
    """Take back a whole release: a fault of the software, or a formal mistake. It stays charged."""
    require_reason(reason)
    config = read_config()
    err.print(f"\nMind: {WARNING}")
    confirm("Withdraw the whole release?", yes)
    signing = load_private(config.key_file(key), ask=ask_passphrase)
    with open_ledger(config.required("ledger", ledger)) as book:
        withdraw_release(directory, reason=reason, ledger=book, key=signing)
    out.print(line(f"Withdrawn: {directory} now holds a signed notice instead of the release."))


def purge(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Data files, and directories releases were made in."),
    ],
    ledger: options.Ledger = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and stop.")] = False,
    yes: options.Yes = False,
) -> None:
    """Delete data files and what interrupted releases left. Ledger, keys and releases stay."""
    with _opened(ledger or read_config().ledger) as book:
        found = purge_paths(paths, ledger=book, dry_run=True)
        for path in found.deleted:
            out.print(line(path))
        for path, why in found.kept:
            out.print(line(f"Stays: {path}: {as_typed(why)}"))
        if dry_run or not found.deleted:
            out.print("Nothing was deleted.")
            return
        confirm(f"Delete {len(found.deleted)}?", yes)
        purge_paths(paths, ledger=book)
        out.print(f"Deleted {len(found.deleted)}. Backups and snapshots are yours to purge.")


def _opened(url: str | None) -> AbstractContextManager[Ledger | None]:
    """A ledger, for those who have one."""
    return nullcontext() if url is None else open_ledger(url)
