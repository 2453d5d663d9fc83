"""PgBouncer's admin console: busy connections of its pools, and clients that wait for one."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import psycopg

from campaigns.kit.mappings import Json
from campaigns.kit.network import SQL_SCHEMES, BadUrl, parse_url
from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Frame,
    Key,
    Sink,
    Source,
)
from campaigns.targets.watches.catalog import THROTTLE
from campaigns.targets.watches.polling import Missed, look_in_steps, wall_clock
from campaigns.targets.watches.queues import MOST_QUEUES, count_of, queue_values
from campaigns.targets.watches.sql import bounded, connect, text_of

CONSOLE = "pgbouncer"
HUNG_SECONDS = 2.0
FILES = ("passfile", "sslrootcert", "sslcert", "sslkey")
"""Of the user who runs this; none of them is read."""


class PgBouncer(Source):
    """Pools of PgBouncer."""

    name = "pgbouncer"
    reads = ("queues",)
    label = "PgBouncer"
    description = (
        "Connections in use of PgBouncer's pools, their sizes, and clients that wait for one."
    )
    needs = "A login of its own in PgBouncer's `stats_users`."
    address_help = "host:port of PgBouncer, such as db.example:6432"
    has_login = True
    steps = (1.0, 0.5)

    def check_address(self, address: str) -> str:
        """Return the address as postgresql://host:port/pgbouncer."""
        written = address.strip()
        bare = written.removeprefix("postgresql://").removesuffix(f"/{CONSOLE}").rstrip("/")
        if "/" in bare or "?" in bare:
            raise BadUrl(f"The address {written!r} is more than host:port; write host:6432.")
        has_port = ":" in bare.rpartition("]")[2]
        endpoint = parse_url(f"postgresql://{bare}{'' if has_port else ':6432'}", SQL_SCHEMES)
        place = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        return f"postgresql://{place}:{endpoint.port}/{CONSOLE}"

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        endpoint = parse_url(self.check_address(address), SQL_SCHEMES)
        return endpoint.host, endpoint.port

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read the pools each step."""
        watch = _Watch(access, self.check_address(access.address), sink)
        try:
            look_in_steps(watch.look, max(access.step_seconds, self.steps[1]), stopped)
        finally:
            watch.close()


source = PgBouncer()


class _Watch:
    """The connection of one watch."""

    def __init__(self, access: Access, address: str, sink: Sink) -> None:
        self._access, self._address, self._sink = access, address, sink
        self._connection: psycopg.Connection[Any] | None = None
        self._sizes: dict[str, float | None] = {}

    def close(self) -> None:
        """End the session."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def look(self) -> None:
        """Read once. Raise Missed, WatchFailed."""
        if self._connection is None:
            self._connection = self._connect()
            self._sizes = self._read_sizes(self._connection)
        asked, wall = monotonic(), wall_clock()
        pools = self._show(self._connection, "POOLS")
        answered = monotonic()
        at = wall + (answered - asked) / 2
        self._sink.clock(ClockReading(asked, answered, at))
        self._sink.frame(Frame(at, answered, values_of(pools, self._sizes)))

    def _show(self, connection: psycopg.Connection[Any], what: str) -> list[Json]:
        try:
            with bounded(connection, HUNG_SECONDS):
                cursor = connection.execute(f"SHOW {what}".encode())
                names = [column.name for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except psycopg.Error as error:
            self.close()
            raise Missed(f"PgBouncer did not answer: {text_of(error)}.") from None

    def _read_sizes(self, connection: psycopg.Connection[Any]) -> dict[str, float | None]:
        databases = self._show(connection, "DATABASES")
        for row in self._show(connection, "CONFIG"):
            if row.get("key") in ("default_pool_size", "max_client_conn", "pool_mode"):
                self._sink.fact(f"pgbouncer.{row['key']}", str(row.get("value")))
        return {
            str(row.get("name")): (count_of(row.get("pool_size")) or 0.0)
            + (count_of(row.get("reserve_pool", row.get("reserve_pool_size"))) or 0.0)
            for row in databases
        }

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            return connect(
                self._address,
                self._access,
                prepare_threshold=None,
                **dict.fromkeys(FILES, "/nonexistent"),
            )
        except psycopg.Error as error:
            text = text_of(error)
            advice = ""
            if any(part in text for part in ("not allowed", "authentication", "no such user")):
                advice = " Give a user of its `stats_users`, and the password."
            raise Missed(f"PgBouncer gave no connection: {text}.{advice}", hopeless=True) from None


def values_of(pools: list[Json], sizes: dict[str, float | None]) -> dict[Key, float]:
    """Return the pools, each of one database and user; that of the console itself is none."""
    values: dict[Key, float] = {}
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    for row in pools:
        database, user = str(row.get("database")), str(row.get("user"))
        if database == CONSOLE or len(seen) >= MOST_QUEUES:
            continue
        seen[database, user] += 1
        busy = [count_of(row.get(name)) or 0.0 for name in ("sv_active", "sv_tested", "sv_login")]
        values |= queue_values(
            THROTTLE,
            f"{database} of {user} (PgBouncer)",
            busy=sum(busy),
            limit=sizes.get(database) or None,
            waiting=count_of(row.get("cl_waiting")),
        )
    return values
