"""Where ledgers are: addresses as people write them, and which ledger was ever kept at which.

An address is a file, or a PostgreSQL database in any of its spellings. What looks like the address of a
server is never taken for the name of a file: a ledger would be made in a file of that name, password and all.
No message repeats an address that cannot be read.

The state directory has a small file for each address, made when a ledger is first used there and never
changed. So a ledger that was deleted, dropped or exchanged is missed, and its witness can be found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from safeside import disk
from safeside.errors import LedgerError, StoreUnavailable
from safeside.ledger import events
from safeside.ledger.witness import STATE_VARIABLE, state_directory

SQLITE: Final = "sqlite"
"""How the address of a file begins, where it does not begin with the path."""
_SUFFIX: Final = ".place"
_LONGEST: Final = 10_000

_URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9.-]*)(?:\+[a-z0-9_]+)?:(?P<slashes>/*)", re.IGNORECASE)
_SETTINGS: Final = re.compile(
    r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode|sslcert|sslkey|sslrootcert"
    r"|options|application_name|connect_timeout|target_session_attrs)\s*=",
    re.IGNORECASE,
)
_SERVER: Final = re.compile(r"^[^/\s]+@[^/\s]+(?:/|:\d)|^(?://)?[^/\s]*:[^/\s]*@")
_HOST: Final = re.compile(r"[\w.,:/%-]*")
_PORT: Final = re.compile(r"[\d,]*")
_DATABASE: Final = re.compile(r"[^@/:=?#]*")
_HOW: Final = (
    "Write a file (ledger.db) or postgresql://user@host:5432/database. Characters such as @ : / ? # in a "
    "password are written as %40 %3A %2F %3F %23; better, leave it to PGPASSWORD or to ~/.pgpass. A file "
    "whose name looks like an address is written with ./ in front."
)


def parse(address: str) -> str | Path:
    """A PostgreSQL database as the driver reads it, or a file; LedgerError where neither is meant."""
    text = address.strip()
    found = _URL.match(text)
    scheme, slashes = (found["scheme"].lower(), found["slashes"]) if found else ("", "")
    if found and scheme in ("postgresql", "postgres"):
        if slashes != "//":
            raise unreadable()
        return f"postgresql://{text[found.end() :]}"
    if _SETTINGS.search(text):
        return text
    if found and scheme == SQLITE:
        if len(slashes) < 3:
            raise unreadable()
        return Path(text[found.start("slashes") + 3 :]).expanduser()
    if "://" in text or _SERVER.search(text):
        raise unreadable()
    return Path(address).expanduser()


def shown(parts: dict[str, object]) -> str:
    """The parts of an address that a message may name. An unquoted password may have ended up in any of them.

    libpq ends the password at the first @, and takes what follows for the host; where the password holds a /
    it takes what comes before for the port and the rest for the database.
    """
    host, port, database = (str(parts.get(name) or "") for name in ("host", "port", "dbname"))
    if not (_HOST.fullmatch(host) and _PORT.fullmatch(port) and _DATABASE.fullmatch(database)):
        raise unreadable()
    if parts.get("service") and not host:
        return f'of the service "{parts["service"]}"'
    place = f"{host or 'localhost'}:{port}" if port else host or "localhost"
    return f'"{database}" on {place}'


def unreadable() -> LedgerError:
    """An address that is neither; it is not repeated, because a password may stand in it."""
    return LedgerError("The address of the ledger cannot be read.", _HOW)


def note(addresses: Sequence[str], ledger_id: str) -> None:
    """Remember that this ledger is kept at these addresses; what is remembered already stays."""
    for address in addresses:
        path = _file(address)
        if known([address]).get(path):
            continue
        try:
            disk.make(path.parent)
            # One that a crash or a full disk cut off is written anew.
            handle = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_WRONLY, disk.PRIVATE)
            with os.fdopen(handle, "wb", buffering=0) as file:
                file.write(f"{ledger_id} {address}\n".encode())
                os.fsync(handle)
            disk.sync(path.parent)
        except OSError as error:
            raise _unusable(path, error) from error


def known(addresses: Sequence[str]) -> dict[Path, str]:
    """By file, the ledgers that were ever kept at these addresses; one that a crash cut off has no name."""
    found = {}
    for address in addresses:
        path = _file(address)
        try:
            with path.open("rb") as file:
                text = file.read(_LONGEST).decode(errors="replace")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unusable(path, error) from error
        found[path] = text.partition(" ")[0] if text.endswith("\n") else ""
    return found


def others(addresses: Sequence[str], ledger_id: str) -> bool:
    """Whether another ledger than this one was kept at one of these addresses."""
    return any(one not in ("", ledger_id) for one in known(addresses).values())


def kept_elsewhere(ledger_id: str, addresses: Sequence[str]) -> bool:
    """Whether that ledger is remembered at an address that is none of these and not gone."""
    for path in state_directory().glob(f"*{_SUFFIX}"):
        text = path.read_text(encoding="utf-8", errors="replace")
        name, _, address = text.partition("\n")[0].partition(" ")
        kind, _, where = address.partition(" ")
        there = Path(where).exists() if kind == SQLITE else True
        if name == ledger_id and address not in addresses and there:
            return True
    return False


def _file(address: str) -> Path:
    return state_directory() / (events.digest(address)[:32] + _SUFFIX)


def _unusable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f'The state directory cannot be used: "{path}" ({os.strerror(error.errno or 0)}).',
        f"Make it writable for this user, or set {STATE_VARIABLE} to a directory that lasts; then run the "
        "same command again with the same request id.",
    )
