"""Connect to the database of a target, and read and prepare what a run needs there.

Only the address that the network rules allow is connected to; the certificate is checked for the name. Every statement is a
transaction of its own and names its schema, so that it works through PgBouncer in transaction mode. What a server of
another make does not have (CockroachDB has no vacuum, and no counters of transactions) is said, and no error.
"""

import math
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import errors

from campaigns.kinds.base import (
    AddressRefused,
    Cancelled,
    Context,
    DriverError,
    NotClean,
    NotOurs,
    RemovedByOthers,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.sql import scripts
from campaigns.kinds.sql.scripts import SCHEMA
from campaigns.kit import sql_bounds
from campaigns.kit.checked_addresses import allowed_addresses
from campaigns.kit.mappings import Parameters
from campaigns.kit.network import SQL_SCHEMES, BadUrl, Refused, Rules, check_url
from campaigns.kit.sql_tls import AUTOMATIC, tls_options

CONNECT_SECONDS = 5.0
LOOK_SECONDS = 0.2
PROBE_SECONDS = 10.0
"""The longest session of a probe, which one thread waits for."""
CANCEL_SECONDS = 2.0
"""In which a server ends a statement that was cancelled; then the connection is cut."""
AT_WORK_SECONDS = 0.3
"""In which another run would begin a statement."""
ROWS_AT_ONCE = 100_000
BYTES_AT_ONCE = 20_000_000
NOT_TOLD = "rights that the server does not tell"
OF_PERFDASH = "perfdash attempt/%"
"""The application names of every perfdash's pgbench, as a pattern."""
NOT_HERE = (
    errors.FeatureNotSupported,
    errors.UndefinedFunction,
    errors.UndefinedTable,
    errors.UndefinedObject,
    errors.UndefinedColumn,
    errors.InsufficientPrivilege,
    errors.SyntaxError,
    errors.InvalidParameterValue,
    errors.CantChangeRuntimeParam,
)
"""A server of another make, or this user, has not what is asked for."""
REFUSED = (
    (("password authentication failed", "no password supplied", "fe_sendauth", "authentication"),
     "Check user name and password on the target's page."),
    (("no pg_hba.conf entry",), "Its pg_hba.conf has to let this machine and user in."),
    (("does not exist", "no such database", "no such user"), "Check the database in the base URL, and the user."),
    (("does not support SSL", "server does not support"), "It offers no TLS: choose the sslmode disable or automatic."),
    (("certificate verify failed", "root certificate", "server certificate"),
     "Its certificate is not trusted: give its CA bundle on the target's page, or choose another sslmode."),
)  # fmt: skip
"""What a server says that another attempt would meet, too, with what to do."""
FACTS = (
    "max_connections", "superuser_reserved_connections", "shared_buffers", "effective_cache_size", "work_mem", "synchronous_commit", "fsync",
    "full_page_writes", "wal_level", "max_wal_size", "checkpoint_timeout", "autovacuum", "max_worker_processes",
    "jit", "huge_pages", "data_checksums", "default_transaction_isolation",
)  # fmt: skip


def place_of(target: Target, rules: Rules) -> dict[str, str]:
    """Return name, address, port and database of a target, as libpq takes them. Raise AddressRefused, DriverError."""
    try:
        endpoint = check_url(target.base_url, rules, SQL_SCHEMES)
        address = allowed_addresses(endpoint.host, endpoint.port, rules)[0]
    except Refused as refusal:
        raise AddressRefused(str(refusal)) from None
    except BadUrl as error:
        raise DriverError(str(error)) from None
    except OSError as error:
        raise TargetUnavailable(
            f"The name in {target.base_url} cannot be resolved: {error}. Check it."
        ) from None
    return {
        "host": endpoint.host,
        "hostaddr": address,
        "port": str(endpoint.port),
        "dbname": database_of(target.base_url),
        "user": target.username,
    }


def database_of(url: str) -> str:
    """Return the database of a URL. Raise DriverError where it names none."""
    name = unquote(urlsplit(url).path.strip("/"))
    if not name or "/" in name:
        raise DriverError(
            f"The base URL {url} names no database: write postgresql://host:port/database on the target's page."
        )
    return name


def translated(error: psycopg.Error) -> DriverError:
    """Return the DriverError that says what a failed connection means for the run."""
    text = " ".join(str(error).split()).removeprefix("connection failed: ")
    for parts, advice in REFUSED:
        if any(part in text for part in parts):
            return DriverError(f"The database refused the connection: {text}. {advice}")
    return TargetUnavailable(
        f"The database gave no connection: {text.removesuffix('?')}. Check that the server runs, the target's base URL, and how many "
        "connections it allows."
    )


class Session:
    """One connection of the driver itself."""

    def __init__(self, connection: psycopg.Connection[Any], context: Context | None) -> None:
        self.connection = connection
        self._context = context

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:  # fmt: skip
        """Execute a statement; return its rows, none where it has no result. Raise Cancelled, NotClean."""
        try:
            return self._rows(sql, parameters)
        except psycopg.Error as error:
            if self._context is not None:
                self._context.check()
            raise NotClean(
                f"The database refused “{' '.join(sql.split())[:80]}”: {_told(error)}"
            ) from None

    def value(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Return the first value of the first row. Raise Cancelled, NotClean."""
        return self.rows(sql, parameters)[0][0]

    def tried(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, str]:
        """Return the first value, or None with the reason where this server or user has no such thing."""
        try:
            rows = self._rows(sql, parameters)
        except NOT_HERE as error:
            return None, _told(error)
        except psycopg.Error as error:
            raise NotClean(
                f"The database refused “{' '.join(sql.split())[:80]}”: {_told(error)}"
            ) from None
        return (rows[0][0] if rows else True), ""

    def _rows(self, sql: str, parameters: Any) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(sql, parameters or None)
        return cursor.fetchall() if cursor.description else []


def _told(error: psycopg.Error) -> str:
    text = error.diag.message_primary or str(error)
    state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
    return f"{' '.join(text.split())}{state}"


@contextmanager
def session(
    target: Target,
    access: Context | Rules,
    sslmode: str = AUTOMATIC,
    *,
    to_the_end: bool = False,
    startup: str = "",
) -> Iterator[Session]:
    """Connect to the database. Raise DriverError.

    access: the context of an attempt, whose end cancels the statement that runs; for a probe, the network rules alone.
    to_the_end: cancelling is ignored, for what cleans up; the end of the lease is not. startup: options of the server's process.
    """
    context = access if isinstance(access, Context) else None
    place = place_of(target, context.rules if context else cast(Rules, access))
    with TemporaryDirectory(prefix="perfdash-") as directory:
        try:
            options: dict[str, Any] = place | tls_options(target.tls, sslmode, Path(directory))
            connection = psycopg.connect(
                **options,
                options=startup,
                password=target.password,
                passfile=f"{directory}/none",
                gssencmode="disable",
                application_name=context.sender.replace("attempt/", "driver/")
                if context
                else "perfdash",
                connect_timeout=math.ceil(CONNECT_SECONDS),
                autocommit=True,
                prepare_threshold=None,
            )
        except psycopg.Error as error:
            raise translated(error) from None
        ends = _Ends(connection, context, to_the_end)
        try:
            with sql_bounds.bounded(connection, ends.gives_up):
                yield Session(connection, None if to_the_end else context)
        except psycopg.Error as error:
            if context is not None and not to_the_end:
                context.check()
            raise TargetUnavailable(f"The database ended the session: {_told(error)}") from None
        finally:
            with suppress(psycopg.Error):
                connection.close()


class _Ends:
    """When a session ends before its time: with the attempt or its lease, and one for a probe after some seconds."""

    def __init__(
        self, connection: psycopg.Connection[Any], context: Context | None, to_the_end: bool
    ) -> None:
        self._connection, self._context, self._to_the_end = connection, context, to_the_end
        self._until = math.inf if context else time.monotonic() + PROBE_SECONDS

    def gives_up(self) -> bool:
        """Return whether to cut the connection: the statement was cancelled, and a server that answers has ended it since."""
        if self._until == math.inf and self._is_over():
            with suppress(psycopg.Error):
                self._connection.cancel_safe(timeout=CANCEL_SECONDS)
            self._until = time.monotonic() + CANCEL_SECONDS
        return time.monotonic() > self._until

    def _is_over(self) -> bool:
        context = self._context
        if context is None:
            return False
        cancelled = context.cancelled.is_set() and not self._to_the_end
        return cancelled or context.lease_seconds() <= 0


# What is there ------------------------------------------------------------------------------------------------------

OTHER_TABLES = """
    SELECT table_schema, count(*) FROM information_schema.tables
    WHERE table_type = 'BASE TABLE'
      AND table_schema NOT IN ('pg_catalog', 'information_schema', 'crdb_internal', 'pg_extension', 'perfdash_bench')
      AND table_schema NOT LIKE 'pg\\_%'
    GROUP BY table_schema ORDER BY table_schema
"""
OTHERS_ACTIVE = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND state NOT IN ('idle') AND coalesce(application_name, '') NOT LIKE 'perfdash driver/%'
"""
RIGHTS = """
    WITH ours AS (SELECT rolname, rolsuper, rolcreaterole FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER')),
    us AS (SELECT coalesce(bool_or(rolsuper), false) AS super, coalesce(bool_or(rolcreaterole), false) AS creates FROM ours),
    rights(place, name) AS (
      SELECT 1, 'superuser' FROM us WHERE super
      UNION ALL SELECT 2, 'CREATEROLE' FROM us WHERE creates AND NOT super
      UNION ALL SELECT 3, rolname::text FROM ours, us WHERE NOT super AND rolname IN (
        'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_create_subscription')
      UNION ALL SELECT 4, proname::text FROM pg_proc, us WHERE NOT super AND has_function_privilege(session_user, pg_proc.oid, 'EXECUTE')
        AND pronamespace = 'pg_catalog'::regnamespace
        AND proname IN ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import', 'lo_export',
          'pg_file_write', 'pg_file_rename', 'pg_file_unlink')
      UNION ALL SELECT 5, 'dblink' WHERE EXISTS (SELECT FROM pg_proc WHERE proname IN ('dblink', 'dblink_connect', 'dblink_connect_u', 'dblink_exec')
        AND has_function_privilege(session_user, oid, 'EXECUTE'))
      UNION ALL SELECT 6, 'the foreign-data wrapper ' || fdwname FROM pg_foreign_data_wrapper, us
        WHERE NOT super AND has_foreign_data_wrapper_privilege(session_user, pg_foreign_data_wrapper.oid, 'USAGE')
      UNION ALL SELECT 7, 'the foreign server ' || srvname FROM pg_foreign_server
        WHERE has_server_privilege(session_user, oid, 'USAGE')
    )
    SELECT coalesce(array_agg(name ORDER BY place, name), '{}') FROM (SELECT DISTINCT place, name FROM rights) AS found
"""
"""Of the user who logged in: whatever role is set for it, a script can reset. It can also take each role that it is a member of."""
SERVERS_OWN = "SET LOCAL search_path = pg_catalog, pg_temp"
"""Find what is the server's own first: else what an earlier script has made, or ALTER ROLE … SET, could tell other rights."""
MAY_MAKE_SCHEMA = "SELECT has_database_privilege(current_database(), 'CREATE')"
END_OURS = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user AND application_name LIKE %s
      AND (%s OR state <> 'idle')
"""
AT_WORK = """
    SELECT min(application_name) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE %s AND query_start > %s
"""
WHOSE_SCHEMA = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s"
CLIENTS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
STARTUP = f"-c search_path={SCHEMA},public"
"""Options of connections for one's own script: its tables need not be named with the schema."""
COMMITTED = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
DIRECT = "SELECT host(inet_server_addr()) = %s AND inet_server_port() = %s"


def takes_search_path(target: Target, context: Context, sslmode: str) -> bool:
    """Return whether connections have the search path that they ask for: a pooler refuses or drops it."""
    try:
        with session(target, context, sslmode, startup=STARTUP) as here:
            return str(here.value("SHOW search_path")).startswith(SCHEMA)
    except DriverError:
        return False


def is_direct(session: Session, target: Target, rules: Rules) -> bool:
    """Return whether there is no proxy between this machine and the database: it has the address that we connect to."""
    place = place_of(target, rules)
    found, _ = session.tried(DIRECT, (place["hostaddr"], int(place["port"])))
    return bool(found)


def facts_of(session: Session) -> dict[str, str]:
    """Return the version and the settings that decide about speed; those that this server has."""
    facts = {"database": str(session.value("SELECT version()"))}
    for name in FACTS:
        value, _ = session.tried(f"SHOW {name}")
        if value is not None:
            facts[name] = str(value)
    return facts


def rights_of(session: Session) -> tuple[str, ...]:
    """Return by which rights a script reaches beyond its database: programs and files of the machine, or other servers.

    What a server of another make does not tell may be any of them.
    """
    with session.connection.transaction():
        rights, why = session.tried(SERVERS_OWN)
        if not why:
            rights, why = session.tried(RIGHTS)
    return (NOT_TOLD,) if why else tuple(rights)


def may_make_schema(session: Session) -> bool:
    """Return whether the user may make a schema, as each run does; True where the server does not tell."""
    may, why = session.tried(MAY_MAKE_SCHEMA)
    return bool(why) or bool(may)


def clients_allowed(session: Session) -> int | None:
    """Return how many connections the database allows to ordinary users; None where it has no limit that can be read."""
    most, _ = session.tried("SHOW max_connections")
    reserved, _ = session.tried("SHOW superuser_reserved_connections")
    try:
        return int(most) - int(reserved or 0)
    except (TypeError, ValueError):
        return None


def bytes_of(text: Any) -> int:
    """Return the bytes of a setting such as 128MB; 0 of a text that is none."""
    found = re.fullmatch(r"(\d+)\s*(B|kB|MB|GB|TB)?", str(text or ""))
    if found is None:
        return 0
    return int(found[1]) << 10 * ("B", "kB", "MB", "GB", "TB").index(found[2] or "B")


# What a run needs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Table:
    """A table with the statement that fills rows %(low)s to %(high)s, and the number of its rows."""

    name: str
    columns: str
    fill: str
    rows: int


def tables_of(parameters: Parameters) -> list[Table]:
    """Return the tables that a script needs. One's own script has the table kv, too."""
    if parameters["script"] not in scripts.OF_PGBENCH:
        size = int(parameters["value_bytes"])
        value = f"decode(rpad(md5(i::text), {2 * size}, md5(i::text)), 'hex')"
        columns = "k bigint PRIMARY KEY, v bytea NOT NULL"
        return [Table("kv", columns, f"SELECT i, {value}", int(parameters["rows"]))]
    scale = int(parameters["scale"])
    tellers, accounts = scripts.TELLERS, scripts.ACCOUNTS
    return [
        Table("pgbench_branches", "bid int PRIMARY KEY, bbalance int, filler char(88)",
              "SELECT i, 0, NULL", scale),
        Table("pgbench_tellers", "tid int PRIMARY KEY, bid int, tbalance int, filler char(84)",
              f"SELECT i, (i - 1) / {tellers} + 1, 0, NULL", scale * tellers),
        Table("pgbench_accounts", "aid int PRIMARY KEY, bid int, abalance int, filler char(84)",
              f"SELECT i, (i - 1) / {accounts} + 1, 0, ''", scale * accounts),
        Table("pgbench_history", "tid int, bid int, aid int, delta int, mtime timestamp, filler char(22)",
              "", 0),
    ]  # fmt: skip


def refuse_another_run(session: Session, context: Context) -> None:
    """Raise NotClean where another attempt begins statements now: it reaches this database by another address."""
    began = session.value("SELECT now()")
    if context.cancelled.wait(AT_WORK_SECONDS):
        context.check()
    name, _ = session.tried(AT_WORK, (OF_PERFDASH, began))
    if name not in (None, True):
        raise NotClean(
            f"Another run ({name}) is at work in this database, by another of its addresses: let them not overlap."
        )


def application_of(target: Target, context: Context) -> str:
    """Return the application name of an attempt's pgbench."""
    return f"{context.sender} of {target.installation}"


def every_application_of(target: Target) -> str:
    """Return the application names of this installation's attempts, as a pattern."""
    return f"{OF_PERFDASH} of {target.installation}"


def end_stale(session: Session, pattern: str, *, idle: bool = True) -> int:
    """End connections of pgbench that an attempt has left; return how many.

    pattern: of their application names. idle: those that do nothing, too; not through a proxy, which keeps them for others.
    """
    ended, _ = session.tried(END_OURS, (pattern, idle))
    return int(ended or 0)


def mark_of(target: Target) -> str:
    """Return the comment on the schema of this installation."""
    return f"{own_prefix(target)}schema"


def is_schema_there(session: Session, target: Target) -> bool:
    """Return whether our schema is there. Raise NotOurs where another installation has made it.

    One without a comment is ours: an earlier version made it, or the server takes none.
    """
    rows = session.rows(WHOSE_SCHEMA, (SCHEMA,))
    if rows and rows[0][0] not in (None, "", mark_of(target)):
        raise NotOurs(
            f"Another perfdash has made the schema {SCHEMA} in the database {database_of(target.base_url)}: its comment is "
            f"“{rows[0][0]}”, and that of this one “{mark_of(target)}”. It is left alone. Give this target a database of its "
            f"own; where the other perfdash is gone, DROP SCHEMA {SCHEMA} CASCADE."
        )
    return bool(rows)


def require_schema(target: Target, context: Context, sslmode: str) -> None:
    """Raise RemovedByOthers where the schema of this run is not there any more, as far as the database answers."""
    is_there = True
    try:
        with session(target, context, sslmode) as here:
            is_there = is_schema_there(here, target)
    except NotOurs:
        is_there = False
    except DriverError:
        pass
    if not is_there:
        raise RemovedByOthers(
            f"Somebody else dropped the schema {SCHEMA} that this run had made: what failed is no failure of the level."
        )


def drop(session: Session, target: Target) -> None:
    """Drop our schema with all that is in it. Raise NotOurs."""
    if is_schema_there(session, target):
        session.rows(f"DROP SCHEMA {SCHEMA} CASCADE")


def fill(session: Session, target: Target, parameters: Parameters, context: Context) -> None:
    """Make our schema and its tables, a part at a time. Raise Cancelled, NotClean."""
    session.rows(f"CREATE SCHEMA {SCHEMA}")
    session.tried(f"COMMENT ON SCHEMA {SCHEMA} IS '{mark_of(target)}'")
    for table in tables_of(parameters):
        name = f"{SCHEMA}.{table.name}"
        session.rows(f"CREATE TABLE {name} ({table.columns})")
        session.tried(f"ALTER TABLE {name} SET (autovacuum_enabled = off)")
        width = 120 + (int(parameters["value_bytes"]) if table.name == "kv" else 0)
        step = max(1, min(ROWS_AT_ONCE, BYTES_AT_ONCE // width))
        for low in range(1, table.rows + 1, step):
            context.check()
            high = min(low + step - 1, table.rows)
            session.rows(
                f"INSERT INTO {name} {table.fill} FROM generate_series({low}, {high}) AS s(i)"
            )
    if parameters["script"] == scripts.OWN and (text := parameters.get("initialise") or "").strip():
        try:
            scripts.check_initialise(text)
        except scripts.BadScript as error:  # of a campaign that was stored when less was refused
            raise DriverError(f"The parameter initialise is refused. {error}") from None
        _initialise(session, text)


def _initialise(session: Session, text: str) -> None:
    """Execute the statements that make the tables of one's own script: in our schema, unless they name another."""
    before = session.rows(OTHER_TABLES)
    # One message is one transaction, also through a pooler; its lines keep their numbers.
    path = f"SET LOCAL search_path = {SCHEMA}, public; "
    try:
        session.connection.execute(path + text)
    except psycopg.Error as error:
        line = ""
        if (at := error.diag.statement_position) and at.isdigit():
            line = f" in line {(path + text).count(chr(10), 0, int(at)) + 1}"
        raise DriverError(
            f"The database refused the parameter initialise{line}: {_told(error)}"
        ) from None
    added = sorted(set(session.rows(OTHER_TABLES)) - set(before))
    if added:
        raise DriverError(
            f"The parameter initialise made tables in the schema {added[0][0]}, which stay there, and which another run would refuse: "
            f"drop them, and name {SCHEMA} instead, or no schema."
        )


def settle(session: Session, parameters: Parameters) -> dict[str, str]:
    """Vacuum, write a checkpoint and reset the counters; return what was done, or why not."""
    results = {}
    names = [table.name for table in tables_of(parameters)]
    reasons = [session.tried(f"VACUUM (ANALYZE) {SCHEMA}.{name}")[1] for name in names]
    results["vacuum"] = next(filter(None, reasons), "")
    results["checkpoint"] = session.tried("CHECKPOINT")[1]
    results["counters reset"] = session.tried("SELECT pg_stat_reset()")[1]
    return {name: f"not done: {why}" if why else "done" for name, why in results.items()}


def counted(session: Session) -> dict[str, int]:
    """Return the rows of our tables, those of one's own script included."""
    names = session.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY 1",
        (SCHEMA,),
    )
    return {
        name: int(session.value(f'SELECT count(*) FROM {SCHEMA}."{name}"')) for (name,) in names
    }


def balances(session: Session) -> dict[str, int]:
    """Return the sums of pgbench's classical check, and the transactions in its history."""
    sums = {
        "accounts": "SELECT coalesce(sum(abalance), 0)::bigint FROM {}.pgbench_accounts",
        "tellers": "SELECT coalesce(sum(tbalance), 0)::bigint FROM {}.pgbench_tellers",
        "branches": "SELECT coalesce(sum(bbalance), 0)::bigint FROM {}.pgbench_branches",
        "history": "SELECT coalesce(sum(delta), 0)::bigint FROM {}.pgbench_history",
        "transactions": "SELECT count(*) FROM {}.pgbench_history",
    }
    return {name: int(session.value(sql.format(SCHEMA))) for name, sql in sums.items()}


def committed(session: Session) -> int | None:
    """Return how many transactions the database has committed; None where it does not count them."""
    value, _ = session.tried(COMMITTED)
    return None if value in (None, True) else int(value)


class Observer:
    """Counts our clients in pg_stat_activity while pgbench runs, once a second, on a connection of its own.

    Not through a proxy: it would take one of the connections that the proxy lets in.
    """

    def __init__(self, target: Target, context: Context, sslmode: str) -> None:
        self._target, self._context, self._sslmode = target, context, sslmode
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.most: int | None = None
        self.problem = ""

    def __enter__(self) -> "Observer":
        self._thread = threading.Thread(target=self._look, name="observer", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(CONNECT_SECONDS)

    def _look(self) -> None:
        try:
            with session(self._target, self._context, self._sslmode) as here:
                while not self._over.wait(0.5 if self.most is None else 1.0):
                    seen = int(here.value(CLIENTS, (application_of(self._target, self._context),)))
                    self.most = max(self.most or 0, seen)
        except (DriverError, Cancelled) as error:
            self.problem = str(error)


def wait_until_quiet(session: Session, context: Context, seconds: float) -> tuple[int | None, str]:
    """Return how many others are active in the database, after a moment's patience; None where that cannot be seen."""
    end = time.monotonic() + seconds
    while True:
        active, why = session.tried(OTHERS_ACTIVE)
        if active in (0, None) or time.monotonic() > end:
            return (None if active is None else int(active)), why
        context.check()
        time.sleep(LOOK_SECONDS)
