"""The address of a ledger as people write it: a file, or a PostgreSQL database in any of its spellings.

What looks like the address of a server is never taken for the name of a file: a ledger would be made in a
file of that name, password and all. No message repeats an address that cannot be read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from safeside.errors import LedgerError

_URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9.-]*)(?:\+[a-z0-9_]+)?:(?P<slashes>/*)", re.IGNORECASE)
_POSTGRES: Final = frozenset({"postgresql", "postgres"})
_SQLITE: Final = "sqlite"
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


def postgres_address(text: str) -> str | None:
    """The address as the driver reads it, or None where a file is meant; LedgerError where neither is."""
    text = text.strip()
    found = _URL.match(text)
    if found and found["scheme"].lower() in _POSTGRES:
        if found["slashes"] != "//":
            raise unreadable()
        return f"postgresql://{text[found.end() :]}"
    if _SETTINGS.search(text):
        return text
    if found and found["scheme"].lower() == _SQLITE:
        if len(found["slashes"]) < 3:
            raise unreadable()
        return None
    if "://" in text or _SERVER.search(text):
        raise unreadable()
    return None


def file_path(text: str) -> Path:
    """The file of an address that is not PostgreSQL's: a path, or `sqlite:///` and a path."""
    found = _URL.match(text.strip())
    if found and found["scheme"].lower() == _SQLITE:
        text = text.strip()[found.start("slashes") + 3 :]
    return Path(text).expanduser()


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
