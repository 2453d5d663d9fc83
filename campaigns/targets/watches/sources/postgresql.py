"""PostgreSQL's own statistics, by SQL: sessions each second, counters every ten seconds.

Versions 12 to 18. One connection, which reads only, waits for no lock, and gives up after half a second. Its own session
is left out of all counts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import psycopg
from psycopg import errors

from campaigns.kit.network import SQL_SCHEMES, BadUrl, parse_url
from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Event,
    Frame,
    Key,
    Option,
    Sink,
    Source,
    WatchFailed,
)
from campaigns.targets.watches.polling import Missed, look_in_steps, wall_clock
from campaigns.targets.watches.sql import SHOWN, bounded, connect, text_of

LOOK_SECONDS = 0.5
HUNG_SECONDS = 2.0
"""After which a connection is cut whose server does not even cancel the statement."""
COUNTERS_SECONDS = 10.0
SIZES_SECONDS = 60.0
CLOCK_SECONDS = 60.0
QUESTIONS = 15
MOST_DATABASES, MOST_EVENTS, MOST_SETTINGS, MOST_STATEMENTS = 20, 60, 150, 20
OPTIONS = (
    f"-c statement_timeout={int(LOOK_SECONDS * 1000)} -c lock_timeout=100 -c default_transaction_read_only=on"
    " -c idle_in_transaction_session_timeout=5000 -c search_path=pg_catalog"
)
"""The search path: else views and functions that somebody else has made in the database would run with the rights of the watch."""
SESSION_STATES = ("active", "idle", "idle in transaction")
WAITS = ("CPU", "Lock", "LWLock", "IO", "BufferPin", "Client", "IPC", "Timeout")
EVENTS = (
    "IO:WALSync",
    "IO:WALWrite",
    "IO:DataFileRead",
    "IO:DataFileWrite",
    "IO:DataFileExtend",
    "Lock:transactionid",
    "Lock:tuple",
    "LWLock:WALWrite",
)
"""Labels that are counted from the start, so that a mean over a run knows their zeros."""
NO_ROOM = (
    "too many clients",
    "remaining connection slots",
    "too many connections for",
    "connection limit exceeded",
)
ADVICE = (
    (("password authentication failed", "no password supplied", "fe_sendauth", "authentication"), "Check user name and password."),
    (("no pg_hba.conf entry",), "Its pg_hba.conf has to let this machine and user in."),
    (("unsupported startup parameter",), "A pooler answers there: give the address of PostgreSQL itself."),
    (("does not exist",), "Check the database in the address, and the user."),
    (("does not support SSL",), "It offers no TLS: choose the TLS mode prefer or disable."),
    (("certificate verify failed", "root certificate", "server certificate"), "Its certificate is not trusted: give its CA bundle on the target's page."),
    (("Connection refused",), "Check that it runs, and listens at this address."),
    (("timeout expired",), "Check the address, and what is between: a firewall drops packets silently."),
)  # fmt: skip

STATES = """
    SELECT extract(epoch FROM clock_timestamp())::float8, backend_type, state, wait_event_type, wait_event,
           CASE WHEN backend_type = 'autovacuum worker' THEN left(query, 200) END,
           count(*)::int,
           extract(epoch FROM min(xact_start))::float8,
           (extract(epoch FROM min(query_start) FILTER (WHERE state = 'active')))::float8,
           extract(epoch FROM max(backend_start))::float8
    FROM pg_stat_activity WHERE pid <> pg_backend_pid()
    GROUP BY 2, 3, 4, 5, 6
"""
DATABASES = """
    SELECT d.oid, d.datname FROM pg_database d JOIN pg_stat_database s ON s.datid = d.oid
    WHERE d.datallowconn AND NOT d.datistemplate
    ORDER BY d.datname = current_database() DESC, s.xact_commit DESC LIMIT %s
"""
OF_DATABASES = """
    SELECT datname, xact_commit::float8, xact_rollback::float8, blks_read::float8, blks_hit::float8,
           (tup_inserted + tup_updated + tup_deleted)::float8, temp_bytes::float8, deadlocks::float8
    FROM pg_stat_database WHERE datid = ANY(%s)
"""
OF_DATABASE = (
    "db.commits", "db.rollbacks", "db.blocks_read", "db.blocks_hit", "db.rows_written", "db.temporary", "db.deadlocks",
)  # fmt: skip
SIZES = "SELECT datname, pg_database_size(oid)::float8 FROM pg_database WHERE oid = ANY(%s)"
CHECKPOINTS = {
    17: "SELECT (num_timed + num_requested)::float8 FROM pg_stat_checkpointer",
    0: "SELECT (checkpoints_timed + checkpoints_req)::float8 FROM pg_stat_bgwriter",
}
POSITION = (
    "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END"
)
WAL = {
    14: "SELECT wal_bytes::float8 FROM pg_stat_wal",
    0: f"SELECT pg_wal_lsn_diff({POSITION}, '0/0')::float8",
}
IO = {
    16: """
        SELECT backend_type, sum(reads)::float8, sum(writes)::float8, sum(fsyncs)::float8
        FROM pg_stat_io GROUP BY backend_type
        HAVING sum(coalesce(reads, 0) + coalesce(writes, 0) + coalesce(fsyncs, 0)) > 0
    """
}
LOCKS = "SELECT count(*)::float8 FROM pg_locks WHERE NOT granted"
REPLICAS = f"""
    SELECT coalesce(nullif(application_name, ''), 'replica'), max(pg_wal_lsn_diff({POSITION}, replay_lsn))::float8
    FROM pg_stat_replication WHERE replay_lsn IS NOT NULL GROUP BY 1 LIMIT 20
"""  # noqa: S608 - a constant
PROGRESS = {
    12: {
        "pg_stat_progress_vacuum": "VACUUM",
        "pg_stat_progress_create_index": "CREATE INDEX",
        "pg_stat_progress_cluster": "CLUSTER or VACUUM FULL",
    },
    13: {"pg_stat_progress_analyze": "ANALYZE", "pg_stat_progress_basebackup": "base backup"},
    14: {"pg_stat_progress_copy": "COPY"},
}
SETTINGS = r"""
    SELECT name, setting, coalesce(unit, '') FROM pg_settings
    WHERE source NOT IN ('default', 'override', 'client', 'session')
      AND name NOT LIKE '%%.%%' AND name !~ '(conninfo|command|_file|_directory|passphrase|password|secret|_library|_libraries$)'
    ORDER BY name LIMIT %s
"""
RESERVED = ("superuser_reserved_connections", "reserved_connections")
STATEMENTS = """
    SELECT queryid::text, sum(calls)::float8, sum({time})::float8 FROM {schema}.pg_stat_statements(false)
    WHERE userid <> (SELECT oid FROM pg_roles WHERE rolname = current_user) AND queryid IS NOT NULL GROUP BY 1
"""
WHERE_STATEMENTS = """
    SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
    WHERE extname = 'pg_stat_statements'
"""
TEXTS = "SELECT DISTINCT ON (queryid) queryid::text, left(query, %s) FROM {schema}.pg_stat_statements WHERE queryid::text = ANY(%s)"
ALLOWED = "SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'), current_setting('is_superuser') = 'on'"

NORMALISED = frozenset(("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES"))
"""Statements whose constants pg_stat_statements replaces."""
COMMENT = re.compile(r"/\*.*?(\*/|\Z)|--[^\n]*", re.DOTALL)
READ_OF_TEXT = 2000


class PostgreSQL(Source):
    """PostgreSQL by SQL."""

    name = "postgresql"
    label = "PostgreSQL"
    description = "Sessions, what they wait for, locks, commits, WAL, autovacuum: PostgreSQL's own statistics, by SQL."
    needs = (
        "A login of its own with the role pg_monitor and nothing else: CREATE ROLE perfdash_watch LOGIN PASSWORD '…'; "
        "GRANT pg_monitor TO perfdash_watch;"
    )
    address_help = "host:port/database, of PostgreSQL itself and not of a pooler, such as db.example:5432/foreman"
    has_login = True
    reads = ("database",)
    steps = (1.0, 1.0)
    options = (
        Option(
            "sslmode",
            "TLS",
            "verify-full checks the certificate, by the CA bundle of the target where it has one.",
            type="choice",
            initial="prefer",
            choices=("prefer", "require", "verify-full", "disable"),
        ),
        Option(
            "statements",
            "Store the statements that took most time",
            "The 20 of pg_stat_statements with their normalised texts, without parameters, with each run. They may tell "
            "names of tables and columns: ask the database's owner.",
            type="boolean",
            initial=False,
        ),
    )

    def check_address(self, address: str) -> str:
        """Return the address as postgresql://host:port/database."""
        written = address.strip()
        if "://" not in written:
            written = f"postgresql://{written}"
        endpoint = parse_url(written, SQL_SCHEMES)
        parts = urlsplit(written)
        database = unquote(parts.path.strip("/"))
        if not database or "/" in database or parts.query or parts.fragment:
            raise BadUrl(
                f"The address {address.strip()!r} names no database; write host:port/database."
            )
        place = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        return f"postgresql://{place}:{endpoint.port}/{quote(database, safe='')}"

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where PostgreSQL listens."""
        endpoint = parse_url(self.check_address(address), SQL_SCHEMES)
        return endpoint.host, endpoint.port

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Look at sessions each step, and at counters every ten seconds."""
        watch = _Watch(access, self.check_address(access.address), sink)
        try:
            look_in_steps(watch.look, max(access.step_seconds, self.steps[1]), stopped)
        finally:
            with suppress(WatchFailed):
                watch.finish()
            watch.close()


source = PostgreSQL()


def _of_version(statements: Mapping[int, Any], version: int) -> Any:
    """Return the statement of the newest version that is not newer than the server's; None where there is none."""
    known = [first for first in statements if first <= version]
    return statements[max(known)] if known else None


def _refused(error: psycopg.Error) -> WatchFailed | Missed:
    """Return the error that a failed connection means."""
    text = text_of(error)
    advice = next((advice for parts, advice in ADVICE if any(part in text for part in parts)), "")
    return Missed(f"PostgreSQL gave no connection: {text}. {advice}".strip(), hopeless=True)


class _Watch:
    """The connection of one watch, and what it knows from earlier looks."""

    def __init__(self, access: Access, address: str, sink: Sink) -> None:
        self._access, self._address, self._sink = access, address, sink
        self._connection: psycopg.Connection[Any] | None = None
        self._directory = TemporaryDirectory(prefix="perfdash-")
        self._version = 0
        self._limit: float | None = None
        self._has_facts = False
        self._databases: list[int] = []
        self._due = dict.fromkeys(("counters", "sizes", "clock"), 0.0)
        self._failed: dict[str, int] = {}
        self._labels: dict[str, set[str]] = {
            "db.sessions": set(SESSION_STATES),
            "db.active": set(WAITS),
            "db.waits": set(EVENTS),
        }
        self._refused: list[tuple[float, float]] = []
        self._refused_sent = 0
        self._events: dict[tuple[str, str], tuple[float, float]] = {}
        self._statements: dict[str, tuple[float, float]] | None = None

    def close(self) -> None:
        """End the session."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()
        self._directory.cleanup()

    # One look -------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Read once. Raise Missed, WatchFailed."""
        if self._connection is None and not self._connect():
            return
        asked = monotonic()
        try:
            rows = self._rows(STATES)
        except errors.QueryCanceled:
            raise Missed(f"PostgreSQL gave no answer within {LOOK_SECONDS:g} s.") from None
        except psycopg.Error as error:
            self._lose()
            raise Missed(f"PostgreSQL ended the session: {text_of(error)}.") from None
        answered = monotonic()
        if answered - asked > LOOK_SECONDS:
            raise Missed(f"PostgreSQL took longer than {LOOK_SECONDS:g} s to answer.")
        at = float(rows[0][0])
        self._sink.clock(ClockReading(asked, answered, at))
        values = self._sessions(rows, at)
        self._tell_refused(asked, answered, at, values)
        try:
            if self._is_due("clock", CLOCK_SECONDS, answered):
                self._read_clock()
            if self._is_due("counters", COUNTERS_SECONDS, answered):
                values |= self._counters(at, sizes=self._is_due("sizes", SIZES_SECONDS, answered))
        except psycopg.Error:
            self._lose()  # what was read before is still good
        self._sink.frame(Frame(at, answered, values))

    def finish(self) -> None:
        """Tell what is only known at the end. Raise WatchFailed where nobody listens any more."""
        if self._refused:  # never connected since: no clock but the worker's
            for begun, wall in self._refused:
                self._sink.clock(ClockReading(begun, begun, wall))
            values = [
                Frame(wall, begun, {Key("db.refused"): float(number)})
                for number, (begun, wall) in enumerate(self._refused, 1)
            ]
            for frame in values:
                self._sink.frame(frame)
        for (kind, text), (begin, end) in self._events.items():
            self._sink.event(Event(kind, text, begin, end, "disk"))
        if self._connection is not None:
            with suppress(psycopg.Error, Missed):
                self._read_clock()
                self._tell_statements()

    def _is_due(self, what: str, seconds: float, now: float) -> bool:
        if now < self._due[what]:
            return False
        self._due[what] = now + seconds
        return True

    def _lose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    # Connecting -----------------------------------------------------------------------------------------------------

    def _connect(self) -> bool:
        """Connect; return False where the server has no room: that is an observation. Raise Missed, WatchFailed."""
        begun, wall = monotonic(), wall_clock()
        nowhere = str(Path(self._directory.name, "none"))  # no file of the user who runs this
        try:
            self._connection = connect(
                self._address,
                self._access,
                passfile=nowhere,
                options=OPTIONS,
                **self._tls(nowhere),
            )
        except psycopg.Error as error:
            if any(part in str(error) for part in NO_ROOM):
                self._refused.append((begun, wall))
                return False
            raise _refused(error) from None
        try:
            self._begin()
        except psycopg.Error as error:
            self._lose()
            raise Missed(f"PostgreSQL refused the first questions: {text_of(error)}.") from None
        return True

    def _tls(self, nowhere: str) -> dict[str, str]:
        mode = str(self._access.options.get("sslmode") or "prefer")
        bundle = self._access.tls.ca_bundle
        root = nowhere
        if mode == "verify-full":
            root = "system"
            if bundle:
                root = str(Path(self._directory.name, "root.pem"))
                Path(root).write_text(bundle)
        return {"sslmode": mode, "sslrootcert": root, "sslcert": nowhere, "sslkey": nowhere}

    def _begin(self) -> None:
        """Ask what does not change. Raise WatchFailed where the login may not see other sessions."""
        info = self._live.info
        self._version = info.server_version // 10000
        if self._version < 12:
            raise WatchFailed(
                f"It is PostgreSQL {self._version}; perfdash watches version 12 and later."
            )
        may, is_superuser = self._rows(ALLOWED)[0]
        if not may:
            raise WatchFailed(
                f"The login “{self._access.username}” may not see other sessions: GRANT pg_monitor TO it."
            )
        if not self._has_facts:
            self._read_facts(str(info.parameter_status("server_version")), is_superuser)
            self._has_facts = True

    def _read_facts(self, version: str, is_superuser: bool) -> None:
        facts = {"db.version": version}
        if is_superuser:
            facts["db.login"] = "a superuser; a role with pg_monitor alone would do"
        settings = dict(self._rows("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", (["max_connections", *RESERVED],)))  # fmt: skip
        most = int(settings["max_connections"])
        reserved = sum(int(settings.get(name, 0)) for name in RESERVED)
        self._limit = float(most - reserved - 1)  # its own session is not counted, either
        facts["db.max_connections"] = str(most)
        for name, value, unit in self._rows(SETTINGS, (MOST_SETTINGS,)):
            facts[f"db.setting.{name}"] = f"{value} {unit}".strip()[:SHOWN]
        for name, text in facts.items():
            self._sink.fact(name, text)
        self._databases = [oid for oid, _ in self._rows(DATABASES, (MOST_DATABASES,))]
        if self._access.options.get("statements"):
            self._statements = self._read_statements()

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        connection = self._live
        with bounded(connection, HUNG_SECONDS):
            return connection.execute(sql, parameters or None).fetchall()

    @property
    def _live(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            raise Missed("There is no session with PostgreSQL.")
        return self._connection

    def _read_clock(self) -> None:
        for _ in range(QUESTIONS):
            asked = monotonic()
            rows = self._rows("SELECT extract(epoch FROM clock_timestamp())::float8")
            self._sink.clock(ClockReading(asked, monotonic(), float(rows[0][0])))

    def _tell_refused(
        self, asked: float, answered: float, at: float, values: dict[Key, float]
    ) -> None:
        """Tell the refusals before this look as frames of their own, now that the server's clock is known."""
        for begun, _ in self._refused:
            self._refused_sent += 1
            then = at - ((asked + answered) / 2 - begun)
            self._sink.frame(Frame(then, begun, {Key("db.refused"): float(self._refused_sent)}))
        self._refused.clear()
        values[Key("db.refused")] = float(self._refused_sent)

    # What is read ---------------------------------------------------------------------------------------------------

    def _sessions(self, rows: Sequence[tuple[Any, ...]], at: float) -> dict[Key, float]:
        counts: dict[str, dict[str, float]] = {
            quantity: dict.fromkeys(labels, 0.0) for quantity, labels in self._labels.items()
        }
        connections = workers = oldest = longest = 0.0
        youngest: float | None = None
        running: set[tuple[str, str]] = set()
        for _, kind, state, wait, event, text, count, transaction, statement, began in rows:
            if kind == "autovacuum worker":
                workers += count
                self._happens(running, "autovacuum", text or "autovacuum", transaction or at, at)
            if kind == "client backend":
                connections += count
                _add(counts["db.sessions"], state or "starting", count)
                oldest = max(oldest, at - transaction if transaction else 0.0)
                longest = max(longest, at - statement if statement else 0.0)
                age = max(at - began, 0.0)
                youngest = age if youngest is None else min(youngest, age)
            if kind in ("client backend", "parallel worker") and state == "active":
                _add(counts["db.active"], wait or "CPU", count)
                if event:
                    _add(counts["db.waits"], f"{wait}:{_event(event)}", count)
        self._over(running, "autovacuum")
        values = {
            Key("db.connections"): connections,
            Key("db.oldest_transaction"): oldest,
            Key("db.longest_statement"): longest,
            Key("db.autovacuum_workers"): workers,
        }
        if youngest is not None:
            values[Key("db.youngest_session")] = youngest
        if self._limit is not None:
            values[Key("db.connections_limit")] = self._limit
        for quantity, found in counts.items():
            self._labels[quantity].update(found)
            values |= {Key(quantity, label): count for label, count in found.items()}
        return values

    def _counters(self, at: float, *, sizes: bool) -> dict[Key, float]:
        """Return the counters; what this server or login does not have, or what takes too long, is left out."""
        values: dict[Key, float] = {}
        for name, *counters in self._tried("databases", OF_DATABASES, (self._databases,)):
            labelled = zip(OF_DATABASE, counters, strict=True)
            values |= {Key(quantity, _label(name)): value for quantity, value in labelled if value is not None}  # fmt: skip
        if sizes:
            for name, value in self._tried("sizes", SIZES, (self._databases,)):
                values[Key("db.size", _label(name))] = value
        for quantity, statement in (
            ("db.checkpoints", _of_version(CHECKPOINTS, self._version)),
            ("db.wal", _of_version(WAL, self._version)),
            ("db.ungranted_locks", LOCKS),
        ):
            for (value,) in self._tried(quantity, statement):
                if value is not None:
                    values[Key(quantity)] = value
        for name, value in self._tried("replicas", REPLICAS):
            if value is not None:
                values[Key("db.replication_lag", _label(name))] = value
        if statement := _of_version(IO, self._version):
            for process, *counters in self._tried("io", statement):
                labelled = zip(("db.reads", "db.writes", "db.syncs"), counters, strict=True)
                values |= {Key(quantity, _label(process)): value for quantity, value in labelled if value is not None}  # fmt: skip
        self._tasks(at)
        return values

    def _tasks(self, at: float) -> None:
        """Tell of long commands of others: manual VACUUM, CREATE INDEX, base backups."""
        running: set[tuple[str, str]] = set()
        for first, views in PROGRESS.items():
            if self._version < first:
                continue
            for view, command in views.items():
                backup = view.endswith("basebackup")
                sql = f"""
                    SELECT {"NULL" if backup else "p.datname"}, extract(epoch FROM a.query_start)::float8
                    FROM {view} p JOIN pg_stat_activity a USING (pid)
                    WHERE a.backend_type <> 'autovacuum worker' LIMIT 20
                """  # noqa: S608 - constants
                for database, begun in self._tried(view, sql):
                    where = f" in {_label(database)}" if database else ""
                    self._happens(running, "task", f"{command}{where}", begun or at, at)
        self._over(running, "task")

    def _tried(self, what: str, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return rows; none where the statement failed, and it is not asked again after three failures."""
        if self._failed.get(what, 0) >= 3:
            return []
        try:
            rows = self._rows(sql, parameters)
        except (errors.OperationalError, errors.InterfaceError) as error:
            if not isinstance(error, errors.QueryCanceled | errors.LockNotAvailable):
                raise
            self._fails(what, error, 1)
            return []
        except psycopg.Error as error:
            self._fails(what, error, 3)
            return []
        self._failed[what] = 0
        return rows

    def _fails(self, what: str, error: psycopg.Error, strikes: int) -> None:
        self._failed[what] = self._failed.get(what, 0) + strikes
        if self._failed[what] >= 3:
            self._sink.fact(f"db.not_read.{what}", text_of(error))

    # Events and statements ------------------------------------------------------------------------------------------

    def _happens(
        self, running: set[tuple[str, str]], kind: str, text: str, begun: float, at: float
    ) -> None:
        key = (kind, " ".join(str(text).split())[:SHOWN])
        running.add(key)
        if key in self._events or len(self._events) < 100:
            first, _ = self._events.get(key, (begun, at))
            self._events[key] = (first, at)

    def _over(self, running: set[tuple[str, str]], kind: str) -> None:
        """Tell of the events that run no more."""
        for key in [key for key in self._events if key[0] == kind and key not in running]:
            begin, end = self._events.pop(key)
            self._sink.event(Event(key[0], key[1], begin, end, "disk"))

    def _read_statements(self) -> dict[str, tuple[float, float]] | None:
        column = "total_exec_time" if self._version >= 13 else "total_time"
        try:
            schema = self._schema_of_statements()
            rows = self._rows(STATEMENTS.format(time=column, schema=schema))
        except psycopg.Error as error:
            if self._connection is None or self._connection.broken:
                raise
            self._sink.fact("db.not_read.statements", text_of(error))
            return None
        return {name: (calls, total) for name, calls, total in rows}

    def _schema_of_statements(self) -> str:
        """Return the schema of the extension; where it is not installed, the one in which the server then finds nothing."""
        return str(next((name for (name,) in self._rows(WHERE_STATEMENTS)), "public"))

    def _tell_statements(self) -> None:
        before = self._statements
        if before is None:
            return
        took = []
        for name, (calls, total) in (self._read_statements() or {}).items():
            calls_before, total_before = before.get(name, (0.0, 0.0))
            if calls > calls_before and total > total_before:  # else it was reset meanwhile
                took.append((total - total_before, calls - calls_before, name))
        top = sorted(took, reverse=True)[:MOST_STATEMENTS]
        statement = TEXTS.format(schema=self._schema_of_statements())
        texts = dict(self._rows(statement, (READ_OF_TEXT, [name for *_, name in top])))
        for number, (milliseconds, calls, name) in enumerate(top, 1):
            text = statement_text(str(texts.get(name) or ""))
            self._sink.fact(f"db.statement.{number:02}", f"{milliseconds / 1000:.3f} s in {calls:.0f} calls: {text}")  # fmt: skip


def statement_text(text: str) -> str:
    """Return a statement as it is stored: on one line, without comments, of at most 300 characters.

    PostgreSQL replaces constants by $1 in queries alone: of ALTER ROLE … PASSWORD and the like only the first word is kept.
    """
    words = COMMENT.sub(" ", text).split()
    known = [word.strip("(").upper() for word in words]
    makes_table = "INTO" in known and not {"INSERT", "MERGE"} & set(known)
    if words and known[0] in NORMALISED and not makes_table:
        return " ".join(words)[:SHOWN]
    return f"{words[0][:20]} …" if words else "…"


def _add(counts: dict[str, float], label: str, count: float) -> None:
    """Count under a label; under `other` where there are too many labels."""
    label = _label(label)
    if label not in counts and len(counts) >= MOST_EVENTS:
        label = "other"
    counts[label] = counts.get(label, 0.0) + count


def _event(name: str) -> str:
    """Return the name of an event as all versions have it: 17 renamed WALSync to WalSync."""
    return f"WAL{name[3:]}" if name.startswith("Wal") else name


def _label(name: object) -> str:
    """Return a name as a label: printable, of at most 100 characters."""
    text = "".join(part if part.isprintable() else "?" for part in str(name))
    return text[:100] or "?"
