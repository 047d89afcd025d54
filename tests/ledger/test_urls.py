"""Addresses: every spelling of PostgreSQL's is understood or refused, and no password is ever repeated."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import psycopg
import pytest
from tests.ledger.stores import QUESTION, cost
from tests.postgres import Server

from safeside.errors import LedgerError, LedgerMissing, StoreUnavailable
from safeside.ledger import Draw, addresses, create_ledger, open_ledger

SECRET = "hunter2"
ONE_GROUP = pytest.mark.xdist_group("postgres")


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me@host/db",
        "postgres://me@host/db",
        "POSTGRESQL://me@host/db",
        "Postgres://me@host/db",
        "postgresql+psycopg://me@host/db",
        "postgresql+psycopg2://me@host/db",
        "postgres+asyncpg://me@host/db",
        "  postgresql://me@host/db ",
    ],
)
def test_every_spelling_of_a_url_is_one_address(text: str) -> None:
    assert addresses.parse(text) == "postgresql://me@host/db"


@pytest.mark.parametrize(
    "text", ["host=h dbname=d", "dbname = d", "service=city", "user=me password='a b' host=h", "HOST=h"]
)
def test_settings_are_an_address(text: str) -> None:
    assert addresses.parse(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"mysql://me:{SECRET}@host/db",
        f"jdbc:postgresql://me:{SECRET}@host/db",
        f"postgresql:/me:{SECRET}@host/db",
        f"postgresql:me:{SECRET}@host/db",
        f"me:{SECRET}@host/db",
        f"me:{SECRET}@host",
        f"//me:{SECRET}@host/db",
        "me@host/db",
        "me@host:5432",
        f"postgresql://me:{SECRET}@[host/db",
        f"postgresql://me:a@{SECRET}@host/db",
        f"postgresql://me:a/{SECRET}@host/db",
        f"postgresql://me:{SECRET}/x@host/db",
        f"postgresql://host/db?dbname=postgresql://me:{SECRET}@h/d",
        f"host=h {SECRET}",
        f"host=h pasword={SECRET}",
        "sqlite://ledger.db",
        "file:///ledger.db?mode=rw",
        "https://example.org/ledger",
    ],
)
def test_what_looks_like_an_address_and_is_none_is_refused_and_not_repeated(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for act in (open_ledger, create_ledger):
        with pytest.raises(LedgerError) as caught:
            act(text)
        assert type(caught.value) is LedgerError
        assert caught.value.what == "The address of the ledger cannot be read."
        assert "postgresql://user@host:5432/database" in caught.value.do
        assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["ledger.db", "./a@b/ledger.db", "ledger@home.db", "a=b.db", "x:y.db", "~/l.db"]
)
def test_other_text_is_the_name_of_a_file(text: str) -> None:
    assert addresses.parse(text) == Path(text).expanduser()


def test_sqlite_urls_name_a_file() -> None:
    for text, path in [("sqlite:///a.db", "a.db"), ("SQLite:////tmp/a.db", "/tmp/a.db")]:
        assert addresses.parse(text) == Path(path)


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://me:{SECRET}@/none?host=/nowhere",
        "postgresql://me:hunt%65r2@/none?host=/nowhere",
        f"postgresql://me@/none?host=/nowhere&password={SECRET}",
        f"user=me password={SECRET} host=/nowhere dbname=none",
    ],
)
def test_a_password_is_in_no_message_and_no_traceback(text: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        open_ledger(text)
    assert caught.value.what.endswith("cannot be reached (the server does not answer).")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_service_that_nobody_described_is_said_to_be_missing() -> None:
    with pytest.raises(LedgerError, match='service "no-such-service" cannot be found') as caught:
        open_ledger("service=no-such-service")
    assert "that PGSERVICEFILE or ~/.pg_service.conf describes it" in caught.value.do


@pytest.fixture
def stranger(postgres: Server) -> str:
    """The address of a database in which a user with a password may do nothing."""
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS stranger")
        connection.execute(f"CREATE ROLE stranger LOGIN PASSWORD '{SECRET}'")
        ((path,),) = connection.execute("SHOW hba_file").fetchall()
        rules = Path(path).read_text()
        rule = "local all stranger scram-sha-256\n"
        if not rules.startswith(rule):
            Path(path).write_text(rule + rules)
        connection.execute("SELECT pg_reload_conf()")
    return postgres.url().replace("safeside@", "stranger@")


@ONE_GROUP
def test_the_server_is_called_unreachable_only_if_it_is(stranger: str, postgres: Server) -> None:
    right = stranger.replace("stranger@", f"stranger:{SECRET}@")
    for address, what in [
        (stranger, "refuses this user or password"),
        (stranger.replace("stranger@", "stranger:wrong@"), "refuses this user or password"),
        (stranger.replace("stranger@", "nobody-known@"), "refuses this user or password"),
        (postgres.url("missing"), 'There is no such database: the ledger "missing" on'),
    ]:
        with pytest.raises(LedgerError, match=what) as caught:
            open_ledger(address)
        assert type(caught.value) is LedgerError
        assert re.search(
            r"the password in PGPASSWORD|, or make the database on the server \(createdb\) first",
            caught.value.do,
        )
        assert "cannot be reached" not in caught.value.what
    with pytest.raises(LedgerMissing):
        open_ledger(right)
    with pytest.raises(LedgerError, match="This user may not do that in") as caught:
        create_ledger(right)
    assert "CREATE on its schema" in caught.value.do
    with pytest.raises(LedgerError, match="has no schema of that name") as caught:
        create_ledger(postgres.url(schema="no_such_schema"))
    assert "or make the schema with CREATE SCHEMA" in caught.value.do


@ONE_GROUP
def test_a_ledger_that_others_may_not_read_says_so(stranger: str, postgres: Server) -> None:
    address = postgres.fresh()
    create_ledger(address).close()
    with psycopg.connect(address, autocommit=True) as connection:
        ((schema,),) = connection.execute("SELECT current_schema()").fetchall()
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO stranger".encode())
    with pytest.raises(LedgerError, match="This user may not do that in"):
        open_ledger(address.replace("safeside@", f"stranger:{SECRET}@"))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"REVOKE ALL ON SCHEMA {schema} FROM stranger".encode())


@ONE_GROUP
def test_the_rights_that_a_message_asks_for_are_enough(stranger: str, postgres: Server, state: Path) -> None:
    address = postgres.fresh()
    with create_ledger(address) as made:
        made.create_dataset("city", "person", 3)
    theirs = address.replace("safeside@", f"stranger:{SECRET}@")
    with psycopg.connect(address, autocommit=True) as connection:
        ((schema,),) = connection.execute("SELECT current_schema()").fetchall()
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO stranger".encode())
    with pytest.raises(LedgerError) as caught:
        open_ledger(theirs)
    asked = re.search(r"([A-Z, ]+ and [A-Z]+) on its tables to be used", caught.value.do)
    assert asked is not None
    rights = asked[1].replace(" and ", ", ")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"GRANT {rights} ON ALL TABLES IN SCHEMA {schema} TO stranger".encode())
    with open_ledger(theirs, checkpoint_every=2) as ledger:
        for number in range(4):
            paid = ledger.reserve("city", f"r{number}", QUESTION, cost("1/2"))
            paid = ledger.commit(paid, f"m{number}", draw=Draw(file="f", size=1, key=b"k" * 32))
            ledger.forget_draw(paid)
        assert ledger.remaining("city").epsilon == 1
        assert not ledger.draws()
        with ledger.chain.reading() as (kept, _):
            assert kept.checkpoint.number
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())


@ONE_GROUP
def test_settings_and_drivers_open_the_same_ledger(postgres: Server) -> None:
    address = postgres.fresh()
    create_ledger(address).close()
    for other in (
        address.replace("postgresql://", "postgres://"),
        address.replace("postgresql://", "POSTGRESQL+psycopg://"),
        psycopg.conninfo.make_conninfo(**psycopg.conninfo.conninfo_to_dict(address)),
    ):
        with open_ledger(other) as book:
            assert book.verify() == 1


@ONE_GROUP
def test_an_error_of_the_server_that_has_no_words_of_ours_is_named(postgres: Server) -> None:
    address = postgres.fresh()
    with create_ledger(address) as made:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("ALTER TABLE safeside_events ADD CHECK (number < 2)")
        with pytest.raises(LedgerError, match=r"was reached, and answered with an error \(Check") as caught:
            made.create_dataset("city", "person", 1)
    assert "is that of a ledger of this version; look into the log" in caught.value.do
