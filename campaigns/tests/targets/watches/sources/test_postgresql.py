"""A PostgreSQL that runs is watched with a login that may read statistics, and nothing else."""

import os
import signal
from contextlib import closing, suppress
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest

from campaigns.kit.network import NetworkError
from campaigns.targets.watches.base import WatchFailed
from campaigns.targets.watches.sources.postgresql import source, statement_text
from campaigns.tests.kinds.sql import servers
from campaigns.tests.targets.watches.sources.sinks import watched

SECRET = "hunter2-of-the-watch"  # noqa: S105
WATCH_PID = "SELECT pid FROM pg_stat_activity WHERE application_name = 'perfdash watch'"
LOCKED = "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
OURS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'perfdash watch'"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    place = tmp_path_factory.mktemp("watched")
    with servers.database(
        place,
        "max_connections=10",
        "superuser_reserved_connections=2",
        "wal_level=replica",
        "shared_preload_libraries=pg_stat_statements",
        "autovacuum=on",
    ) as made:
        made.run(f"CREATE ROLE watch LOGIN PASSWORD '{SECRET}'")
        made.run("GRANT pg_monitor TO watch")
        made.run("CREATE ROLE blind LOGIN PASSWORD 'blind'")
        made.run("CREATE EXTENSION pg_stat_statements")
        made.run("CREATE TABLE rows (id int PRIMARY KEY, value int)")
        made.run("INSERT INTO rows VALUES (1, 0)")
        yield made


def watch(database, **more):
    access = {"username": "watch", "password": SECRET} | more
    return watched(source, f"127.0.0.1:{database.port}/bench", **access)


def wait_until(condition):
    end = monotonic() + 20
    while not condition():
        assert monotonic() < end
        sleep(0.02)


@pytest.mark.system
def test_an_idle_database_has_counters_clocks_and_facts_but_not_the_watch_itself(database):
    sink = watch(database)

    assert sink.series("db.connections") == [0.0, 0.0]
    assert sink.last("db.connections_limit") == 10 - 2 - 1
    assert sink.last("db.active", "CPU") == sink.last("db.waits", "IO:WALSync") == 0.0
    assert sink.last("db.refused") == 0.0
    for quantity in ("db.commits", "db.blocks_hit", "db.deadlocks", "db.size", "db.rows_written"):
        assert "bench" in sink.labels(quantity), quantity
    assert sink.last("db.wal") > 0
    assert sink.series("db.checkpoints")
    assert sink.series("db.ungranted_locks") == [0.0]
    assert sink.labels("db.writes")
    assert sink.facts["db.max_connections"] == "10"
    assert sink.facts["db.setting.max_connections"] == "10"
    assert not [name for name in sink.facts if "not_read" in name]
    assert len(sink.clocks) > 15
    wait_until(
        lambda: database.value(OURS) == 0
    )  # its server process ends a moment after the session


@pytest.mark.system
def test_nothing_that_an_owner_of_the_database_has_made_is_executed_by_the_watch(database):
    """ALTER DATABASE … SET search_path puts it before what is the server's own."""
    database.run("CREATE SCHEMA evil")
    database.run(
        "CREATE FUNCTION evil.pg_backend_pid() RETURNS int LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE 'executed as %', current_user; END $$"
    )
    database.run(
        "CREATE VIEW evil.pg_stat_activity AS SELECT *, evil.pg_backend_pid() FROM pg_catalog.pg_stat_activity"
    )
    database.run(
        "GRANT USAGE ON SCHEMA evil TO PUBLIC; GRANT SELECT ON evil.pg_stat_activity TO PUBLIC"
    )
    database.run("ALTER DATABASE bench SET search_path = evil, pg_catalog")
    try:
        sink = watch(database, options={"statements": True})
    finally:
        database.run("ALTER DATABASE bench RESET search_path")
        database.run("DROP SCHEMA evil CASCADE")

    assert sink.series("db.connections") == [0.0, 0.0]
    assert not [name for name in sink.facts if "not_read" in name]


@pytest.mark.system
def test_sessions_are_seen_by_what_they_wait_for(database):
    with closing(database.connect()) as holder, closing(database.connect()) as waiter:
        holder.execute("BEGIN")
        holder.execute("UPDATE rows SET value = value + 1")
        waiter.pgconn.send_query(b"UPDATE rows SET value = value + 1")
        wait_until(lambda: database.value(LOCKED))
        sink = watch(database)

    assert sink.series("db.connections") == [2.0, 2.0]
    assert sink.last("db.sessions", "idle in transaction") == 1.0
    assert sink.last("db.sessions", "active") == 1.0
    assert sink.series("db.active", "Lock") == [1.0, 1.0]
    assert sink.last("db.waits", "Lock:transactionid") == 1.0
    assert sink.last("db.ungranted_locks") == 1.0
    assert sink.last("db.oldest_transaction") > 0
    assert sink.last("db.longest_statement") > 0


@pytest.mark.system
def test_the_youngest_session_tells_whether_connections_are_kept(database):
    assert watch(database).series("db.youngest_session") == []
    with closing(database.connect()):
        kept = watch(database).series("db.youngest_session")
        with closing(database.connect()):
            asked = watch(database).series("db.youngest_session")

    assert kept == sorted(kept)
    assert asked[0] < kept[-1]


@pytest.mark.system
def test_the_statements_that_took_most_time_are_kept_where_the_owner_allows(database):
    def work():
        database.run("SELECT count(*) FROM rows WHERE value > 41 /* secret */")

    assert not [name for name in watch(database, between=work).facts if "statement." in name]
    facts = watch(database, between=work, options={"statements": True}).facts

    (text,) = [
        text for name, text in facts.items() if name.startswith("db.statement.") and "rows" in text
    ]
    assert " s in 1 calls: SELECT count(*) FROM rows WHERE value > $1" in text
    assert "41" not in text
    assert "secret" not in text


def test_statements_are_stored_without_comments_and_without_what_is_not_normalised():
    assert (
        statement_text("/* user 3 */ SELECT a\n FROM b -- why\n WHERE c = $1")
        == "SELECT a FROM b WHERE c = $1"
    )
    assert statement_text("(SELECT 1) UNION (SELECT 2)") == "(SELECT 1) UNION (SELECT 2)"
    assert statement_text(f"ALTER ROLE a PASSWORD '{SECRET}'") == "ALTER …"
    assert statement_text(f"SELECT 1 /* {SECRET}") == "SELECT 1"
    assert statement_text(f"SELECT '{SECRET}' INTO t") == "SELECT …"
    assert statement_text("WITH a AS (SELECT $1) INSERT INTO t SELECT * FROM a").startswith(
        "WITH a AS (SELECT $1)"
    )
    assert statement_text(" ") == "…"
    assert len(statement_text("SELECT " + "a, " * 1000)) == 300


@pytest.mark.system
def test_a_database_without_room_refuses_the_watch_which_counts_it(database):
    held: list[psycopg.Connection[Any]] = []
    looks: list[int] = []

    def leave():
        looks.append(1)
        if len(looks) == 3:
            held.pop().close()
        sleep(0.2)

    with suppress(psycopg.OperationalError):
        while True:
            held.append(database.connect_as("watch", SECRET))
    try:
        sink = watch(database, looks=8, between=leave)
    finally:
        for each in held:
            each.close()

    refused = sink.series("db.refused")
    assert refused[:3] == [1.0, 2.0, 3.0]
    assert refused == sorted(refused)
    assert sink.series("db.connections")
    ats = [frame.at for frame in sink.frames]
    assert ats == sorted(ats)


@pytest.mark.system
def test_a_database_that_never_has_room_is_still_seen_to_refuse(database):
    held: list[psycopg.Connection[Any]] = []
    with suppress(psycopg.OperationalError):
        while True:
            held.append(database.connect_as("watch", SECRET))
    try:
        sink = watch(database, looks=3)
    finally:
        for each in held:
            each.close()

    assert sink.series("db.refused") == [1.0, 2.0, 3.0]
    assert len(sink.clocks) == 3


@pytest.mark.system
def test_who_may_not_see_others_is_told_what_to_grant(database):
    with pytest.raises(WatchFailed, match="GRANT pg_monitor"):
        watch(database, username="blind", password="blind")  # noqa: S106


@pytest.mark.system
def test_a_wrong_password_is_told_without_it(database):
    with pytest.raises(WatchFailed, match="Check user name and password") as raised:
        watch(database, password="wrong-and-secret")  # noqa: S106

    assert "wrong-and-secret" not in str(raised.value)


@pytest.mark.system
def test_a_server_that_hangs_ends_the_watch_after_three_looks(database, monkeypatch):
    monkeypatch.setattr("campaigns.targets.watches.sources.postgresql.HUNG_SECONDS", 0.2)
    monkeypatch.setattr("campaigns.targets.watches.sql.CONNECT_SECONDS", 2)
    hung: list[int] = []

    def hang():
        # On a busy machine the first look of the watch may have been missed.
        pid = None if hung else database.value(WATCH_PID)
        if pid:
            hung.append(pid)
            os.kill(hung[0], signal.SIGSTOP)
            os.kill(database.process.pid, signal.SIGSTOP)

    try:
        with pytest.raises(WatchFailed, match="3 times in a row"):
            watch(database, looks=9, between=hang)
    finally:
        for pid in (database.process.pid, *hung):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("db.example:5433/foreman", "postgresql://db.example:5433/foreman"),
        ("postgresql://DB.example/foreman", "postgresql://db.example:5432/foreman"),
        ("[fd00::1]/a%20b", "postgresql://[fd00::1]:5432/a%20b"),
    ],
)
def test_addresses_have_one_form(address, form):
    assert source.check_address(address) == form
    assert source.check_address(form) == form
    assert source.host_and_port(form)[1] in (5432, 5433)


@pytest.mark.parametrize(
    "address",
    ["", "db.example", "http://db.example/foreman", "watch:secret@db/foreman", "db/a?host=x"],
)
def test_other_addresses_are_refused(address):
    with pytest.raises(NetworkError) as raised:
        source.check_address(address)
    assert "secret" not in str(raised.value)
