"""A real PostgreSQL server for tests: its own directory, its own socket, never as root, gone afterwards.

Nothing is installed here; `make test` has done that. Every test gets a schema of its own in one database.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import psycopg

_USERS = ("postgres", "nobody")
_PORT = 5432


class Server:
    """One server, reached through a socket in its own directory."""

    def __init__(self, *, safe: bool = False) -> None:
        """`safe` has the server flush to the disk; tests that only kill clients do without."""
        self._home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        self._user = _not_root()
        self._safe = safe
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            shutil.chown(self._home, user=self._user)
        self._run("initdb", "-D", str(self._data), "-U", "safeside", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def _data(self) -> Path:
        return self._home / "data"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(_binary(program)), *arguments],
            check=True,
            capture_output=True,
            user=self._user,
            cwd=self._home,
        )

    def start(self) -> None:
        """Start it and wait until it answers."""
        flush = "on" if self._safe else "off"
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._home),
            "fsync": flush,
            "full_page_writes": flush,
            "max_connections": "150",
            "shared_buffers": "32MB",
        }
        self._process = subprocess.Popen(
            [str(_binary("postgres")), "-D", str(self._data), "-p", str(_PORT)]
            + [word for name, value in options.items() for word in ("-c", f"{name}={value}")],
            user=self._user,
            cwd=self._home,
            stdout=subprocess.DEVNULL,
            stderr=(self._home / "log").open("ab"),
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """Stop it at once, as if it had crashed; the data stays."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(3)
            except subprocess.TimeoutExpired:
                self._process.send_signal(3)  # SIGQUIT: do not wait for clients
                self._process.wait(30)
            self._process = None

    def crash(self) -> None:
        """SIGQUIT: every connection is cut, nothing is written in good order."""
        if self._process is not None:
            self._process.send_signal(3)
            self._process.wait(30)
            self._process = None

    def remove(self) -> None:
        """Stop it and delete everything."""
        self.crash()
        shutil.rmtree(self._home, ignore_errors=True)

    def url(self, database: str = "postgres", schema: str | None = None) -> str:
        """The address of a database, or of one schema in it."""
        options = f"&options=-csearch_path%3D{schema}" if schema else ""
        return f"postgresql://safeside@/{database}?host={self._home}&port={_PORT}{options}"

    def fresh(self) -> str:
        """The address of an empty schema."""
        schema = f"t{uuid.uuid4().hex}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}".encode())
        return self.url(schema=schema)


def _binary(name: str) -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    if found:
        return found[-1]
    elsewhere = shutil.which(name)
    if elsewhere is None:
        raise FileNotFoundError(f"{name} is not installed: run `make test`, which installs PostgreSQL")
    return Path(elsewhere)


def _not_root() -> str | None:
    """The user to run as: ourselves, unless we are root, as whom PostgreSQL refuses to run."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _USERS if name in known)
