"""How a child process is started: its account, its group, and what happens when its parent dies."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from campaigns.kit import kernel


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
    take from `stop_signal` to its end. The output of a `secret` one is not written down.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    stage: int = 0
    directory: str = "/"
    before: Callable[[], None] | None = None
    ready: Callable[[int], bool] | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 5.0
    death_signal: signal.Signals = signal.SIGKILL
    account: Account | None = None
    nice: int = 0
    secret: bool = False


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
    return subprocess.Popen(
        service.command,
        cwd=service.directory,
        env=service.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        preexec_fn=prepare,
    )


def kill_group(process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGKILL) -> None:
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


def describe_end(code: int) -> str:
    """Say how a process ended, from its return code."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"
