"""How a child process is started: its account, its group, and what happens when its parent dies."""

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

import psutil

from campaigns.kit import kernel

BUSY = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
"""States of a process that goes on as soon as the machine lets it; one that hangs sleeps."""


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a process runs as, where that is somebody else than we are."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Service:
    """A process that is restarted until it is stopped.

    Of two services the one with the higher `stage` is stopped first. `before` is called before
    each start; `ready` says whether the process of that id answers; `stop_seconds` is how long it may
    take from `stop_signal` to its end. The output of a `secret` one is not written down. `stdin` gives what
    its process reads from. A `forked` one is started by the fork server where that is possible.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    stage: int = 0
    directory: str = "/"
    before: Callable[[], None] | None = None
    ready: Callable[[int], bool] | None = None
    stdin: Callable[[], socket.socket] | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 5.0
    death_signal: signal.Signals = signal.SIGKILL
    account: Account | None = None
    nice: int = 0
    secret: bool = False
    forked: bool = False


class Forked:
    """A child that the fork server started, with the methods of `subprocess.Popen` that a supervisor uses."""

    def __init__(self, pid: int, stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdout: IO[bytes] | None = stdout
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """Wait for the end and return the exit code."""
        return self._wait(0)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


Process = subprocess.Popen[bytes] | Forked


def spawn(service: Service) -> subprocess.Popen[bytes]:
    """Start a service in a session of its own, with stdout and stderr in one pipe.

    The calling process must have one thread only, as code runs between fork and exec.
    """
    parent = os.getpid()

    def prepare() -> None:
        kernel.die_with_parent(parent, service.death_signal)
        if service.nice:
            os.nice(service.nice)

    account = service.account
    with service.stdin() if service.stdin else open(os.devnull, "rb") as stdin:
        return subprocess.Popen(
            service.command,
            cwd=service.directory,
            env=service.environment,
            stdin=stdin.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            preexec_fn=prepare,
        )


def kill_group(process: Process, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to what is left of a service's process group."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


def used_seconds(pid: int) -> float:
    """Give the time of processors and disks that a process has used, with all that it started."""
    used = 0.0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                used += sum(one.cpu_times())
    return used


def wants_machine(pid: int) -> bool:
    """Return whether a process, or one that it started, waits for a processor or a disk."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                if one.status() in BUSY:
                    return True
    return False


def describe_end(code: int) -> str:
    """Say how a process ended, from its return code."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"
