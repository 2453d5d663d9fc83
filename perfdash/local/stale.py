"""What a killed perfdash or a killed database server may have left behind, and how it is cleared away.

The data directory must be locked: then no other perfdash owns these processes.
"""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from perfdash.local.child import Patience
from perfdash.local.process import used_seconds, wants_machine

IMMEDIATE_SECONDS = 10.0
SILENT_SECONDS = 0.5
PROGRAM = "postgres"


def wait_for_server(cluster: Path, say: Callable[[str], None]) -> None:
    """Return when no server works on the cluster any more; one that does nothing is ended.

    A large one writes for minutes before it ends.
    """
    begun = time.monotonic()
    reported = False
    given_up = 0.0
    server = server_of(cluster)
    patience = Patience(
        lambda: 0,
        lambda: used_seconds(server.pid) if server else 0.0,
        wants=lambda: wants_machine(server.pid) if server else False,
    )
    while server is not None:
        now = time.monotonic()
        if now - begun > SILENT_SECONDS and not reported:
            reported = True
            say("The database of the last start is still ending; perfdash waits for it.")
        if report := patience.report():
            say(f"Waiting for the end of the last database: {report}.")
        if given_up and now - given_up > IMMEDIATE_SECONDS:
            server.kill()
        elif given_up or patience.exhausted():
            given_up = given_up or now
            server.send_signal(signal.SIGQUIT)  # at once; the next start reads its log
        time.sleep(0.05)
        server = server_of(cluster)


def sweep(cluster: Path, sockets: Path) -> None:
    """Before a start: end what lost its server, and remove lock files of servers that are no more.

    PostgreSQL takes such a file seriously as soon as any process has the number in it, and waits
    for sessions that a killed server left at work.
    """
    if server_of(cluster) is not None:
        return
    orphans = _processes(cluster)
    for orphan in orphans:
        _kill(orphan)
    _, alive = psutil.wait_procs(orphans, timeout=2)
    if not alive:
        for path in (cluster / "postmaster.pid", *sockets.glob(".s.PGSQL.*")):
            path.unlink(missing_ok=True)


def server_of(cluster: Path) -> psutil.Process | None:
    """Give the server of the cluster, known by its number in the lock file and by where it works."""
    try:
        parts = (cluster / "postmaster.pid").read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return None
    return next((result for result in _processes(cluster) if parts[:1] == [str(result.pid)]), None)


def _processes(cluster: Path) -> list[psutil.Process]:
    """Find PostgreSQL's processes of the cluster: the server and all others work in its directory.

    Somebody's shell may stand there, too.
    """
    place = str(cluster.resolve())
    return [process for process in psutil.process_iter() if _works_in(process, place)]


def _works_in(process: psutil.Process, place: str) -> bool:
    try:
        alive = process.name() == PROGRAM and process.status() != psutil.STATUS_ZOMBIE
        return alive and process.cwd() == place
    except psutil.Error:
        return False


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return
