"""Reports the state of a perfdash, like `systemctl status` of a service. Changes nothing."""

import json
import shutil
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from perfdash.local import machine
from perfdash.local.directory import DataDirectory
from perfdash.local.running import NOT_RUNNING, SecretsElsewhere, environment_of, state_of, value_of
from perfdash.local.state import State

RUNNING = 0
TABLE = "  {:<10}{:>8}  {:<20}{:>9}  {}\n"


@dataclass(frozen=True, slots=True)
class Status:
    """What is known; sizes in bytes, None where the database does not answer."""

    running: bool
    ready: bool
    pid: int | None
    base_url: str | None
    started: str | None
    services: list[dict[str, Any]]
    data: str
    free_bytes: int
    log: str
    log_bytes: int
    database_bytes: int | None
    ended_without_order: bool


def report(directory: DataDirectory, out: TextIO, *, as_json: bool) -> int:
    """Write the status and give the exit code: 0 where perfdash runs, 3 where it does not."""
    status = look(directory)
    out.write(json.dumps(asdict(status), indent=1) + "\n" if as_json else _text(status))
    return RUNNING if status.running else NOT_RUNNING


def look(directory: DataDirectory) -> Status:
    """Find out everything."""
    running = directory.held()
    left = state_of(directory)
    state = left if running else None
    return Status(
        running=running,
        ready=state is not None and state.ready,
        pid=state.pid if state else None,
        base_url=state.base_url if state else None,
        started=state.started if state else None,
        services=_services(state) if state else [],
        data=str(directory.path),
        free_bytes=shutil.disk_usage(directory.path).free,
        log=str(directory.log),
        log_bytes=_size(directory.log),
        database_bytes=_database_bytes(directory, state) if state else None,
        ended_without_order=left is not None and not running,
    )


def _services(state: State) -> list[dict[str, Any]]:
    return [{"name": name, **asdict(record)} for name, record in state.records.items()]


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir() if path.is_file())


def _database_bytes(directory: DataDirectory, state: State) -> int | None:
    import psycopg  # the supervisor, which loads this module, has no use for its memory

    try:
        url = value_of(environment_of(directory, state), "DATABASE_URL")
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    except (SecretsElsewhere, OSError, psycopg.Error):
        return None
    return int(row[0]) if row else None


def _text(status: Status) -> str:
    full = machine.disk_is_full([Path(status.data)])
    data = f"  data      {status.data}, {_amount(status.free_bytes)} free\n"
    data += f"            {full}\n" if full else ""
    logs = f"  logs      {status.log}, {_amount(status.log_bytes)}\n"
    if not status.running:
        how = " (the last one was killed; the data is kept)" if status.ended_without_order else ""
        return f"perfdash is not running{how}.\n{data}{logs}"
    if not status.started:
        return f"perfdash is starting or stopping.\n{data}{logs}"
    what = "runs" if status.ready else "is starting"
    head = (
        f"perfdash {what}: {status.base_url} (process {status.pid}, since {_age(status.started)})\n"
    )
    size = _amount(status.database_bytes) if status.database_bytes is not None else "no answer"
    table = TABLE.format("service", "process", "up since", "restarts", "last end")
    rows = (
        TABLE.format(
            service["name"],
            service["pid"] or "–",
            _instant(service["since"]) if service["since"] else "starts again soon",
            service["restarts"],
            service["last_end"] or "–",
        )
        for service in status.services
    )
    return f"{head}\n{table}{''.join(rows)}\n{data}  database  {size}\n{logs}"


def _instant(text: str) -> str:
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S}"


def _age(text: str) -> str:
    """Write an instant with its distance from now."""
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(text)).total_seconds())
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        age = f"{days} d {hours % 24} h"
    elif hours:
        age = f"{hours} h {minutes % 60} min"
    else:
        age = f"{minutes} min" if minutes else f"{seconds} s"
    return f"{_instant(text)} UTC, {age} ago"


def _amount(number: int) -> str:
    units = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
    return next(
        (f"{number / one:.1f} {unit}" for one, unit in units if number >= one), f"{number} B"
    )
