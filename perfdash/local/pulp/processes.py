"""Processes that outlive their parent, and are identified by a mark in their environment.

The mark is a variable of their environment, so no number of an ended process can mislead us, and what
of a killed process are identified, too.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from perfdash.local.process import Account

MARK = "PERFDASH_PULP"
NAME = "PERFDASH_PULP_PROCESS"
KILL_SECONDS = 10.0


def launch(
    command: Iterable[str],
    environment: Mapping[str, str],
    log: Path,
    account: Account | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, its output added to a log."""
    with log.open("ab") as output:
        return subprocess.Popen(
            tuple(command),
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )


def marked(mark: str) -> list[psutil.Process]:
    """Find every process that has the mark, also what a killed one left behind."""
    return [process for process in psutil.process_iter() if _variables(process).get(MARK) == mark]


def leaders(mark: str) -> dict[str, psutil.Process]:
    """Give the processes that were launched with the mark and a name, and still run, by name."""
    results = {}
    for process in marked(mark):
        name = _variables(process).get(NAME)
        if name and _is_leader(process):
            results[name] = process
    return results


def names(mark: str) -> set[str]:
    """Give the names under which processes with the mark are known to Pulp: `worker1-4711`."""
    return {f"{_variables(process).get(NAME)}-{process.pid}" for process in marked(mark)}


def orphans(mark: str) -> list[psutil.Process]:
    """Find marked processes whose leader is gone."""
    alive = {process.pid for process in leaders(mark).values()}
    return [process for process in marked(mark) if _session(process) not in alive]


def signal_all(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Send a signal to those that still run."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kill processes, and return when they have ended."""
    doomed = list(processes)
    signal_all(doomed, signal.SIGKILL)
    wait(doomed, KILL_SECONDS)


def wait(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Give the processes that have not ended after so long."""
    limit = time.monotonic() + seconds
    left = [process for process in processes if runs(process)]
    while left and time.monotonic() < limit:
        time.sleep(0.05)
        left = [process for process in left if runs(process)]
    return left


def runs(process: psutil.Process) -> bool:
    """Say whether a process does anything any more; one that nobody has buried does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _variables(process: psutil.Process) -> Mapping[str, str]:
    try:
        return process.environ() if runs(process) else {}
    except psutil.Error:
        return {}


def _is_leader(process: psutil.Process) -> bool:
    return _session(process) == process.pid


def _session(process: psutil.Process) -> int:
    try:
        return os.getsid(process.pid)
    except ProcessLookupError:
        return process.pid
