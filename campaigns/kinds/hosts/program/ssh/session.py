"""One SSH session of a virtual host, which is one command: it is read, and answered as a machine would. Nothing is executed."""

import asyncio
import hashlib
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import asyncssh

from campaigns.kinds.hosts.program.jobs import KILLED, Job
from campaigns.kinds.hosts.program.ssh.commands import (
    WRAPPER,
    Action,
    Command,
    UnknownCommand,
    read_command,
)

if TYPE_CHECKING:
    from campaigns.kinds.hosts.program.ssh.virtual_host import SshHost

NOT_FOUND = 127
"""The exit status of a shell that finds no such program."""
NOT_THERE = 1
"""The exit status of `rm` and `kill` where there is no such file, or process."""


class Session(asyncssh.SSHServerSession[bytes]):
    """A session of a host."""

    def __init__(self, host: "SshHost") -> None:
        self._host = host
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._text = ""
        self._upload: Command | None = None
        self._digest = hashlib.sha256()
        self._size = 0
        self._has_terminal = False
        self._running: tuple[Job, asyncio.Task[None]] | None = None

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        """Begin."""
        self._channel = chan
        self._host.sessions += 1

    def pty_requested(self, *_: Any) -> bool:
        """Have a terminal, as the proxy asks for with the wrapper."""
        self._has_terminal = True
        return True

    def exec_requested(self, command: str) -> bool:
        """Take a command; it is answered once the session has started."""
        self._text = command
        return True

    def shell_requested(self) -> bool:
        """Refuse a shell."""
        self._host.fault("it was asked for a shell")
        return False

    def subsystem_requested(self, subsystem: str) -> bool:
        """Refuse a subsystem, such as sftp."""
        self._host.fault(f"it was asked for the subsystem {subsystem[:100]!r}")
        return False

    def session_started(self) -> None:
        """Answer the command."""
        try:
            command = read_command(self._text)
        except UnknownCommand:
            self._host.fault(f"no smart proxy sends the command {self._text[:100]!r}")
            self._exit(NOT_FOUND)
            return
        self._answer(command)

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Take a part of a file. Whatever else is sent is not read."""
        if self._upload is not None:
            self._digest.update(data)
            self._size += len(data)

    def eof_received(self) -> bool:
        """End an upload. True: a command that has no input goes on."""
        if self._upload is not None:
            self._host.took(self._upload, self._digest.hexdigest(), self._size)
            self._upload = None
            self._exit(0)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """End a script with its connection, as the loss of its terminal would."""
        if self._running is None:
            return
        job, task = self._running
        if not job.is_over:
            task.cancel()
            job.failure, job.words = "connect", "the connection ended while the script ran"

    def _answer(self, command: Command) -> None:
        host = self._host
        match command.action:
            case Action.NOTHING:
                self._exit(0)
            case Action.UPLOAD:
                self._upload = command
            case Action.REMOVE:
                self._exit(0 if host.removed(command) else NOT_THERE)
            case Action.KILL:
                self._exit(0 if host.killed(command.job) else NOT_THERE)
            case Action.RUN:
                self._start(command)

    def _start(self, command: Command) -> None:
        """Run a file: the wrapper is a script's run, the other one what the proxy tries before."""
        host = self._host
        if not host.has(command):
            host.fault(f"it was to run the file {command.file} of a job, and has none")
            self._exit(NOT_FOUND)
        elif command.file != WRAPPER:
            self._exit(0)
        elif (job := host.started(command.job)) is None:
            host.fault(
                "it was to run the wrapper of a job whose script it does not have, or has run"
            )
            self._exit(NOT_FOUND)
        else:
            self._running = job, host.tasks.run(self._run(job))

    async def _run(self, job: Job) -> None:
        """Wait as long as the script takes, print, and exit. It is executed nowhere."""
        script, number = self._host.script, self._host.number
        if await job.cancelled_within(script.seconds_of(number)):
            job.exit_code = KILLED
        else:
            job.exit_code = script.exit_code_of(number)
        job.finished_ns = perf_counter_ns()
        self._tell(script.output, job.exit_code)

    def _tell(self, output: str, exit_code: int) -> None:
        assert self._channel is not None  # noqa: S101 - a script runs in a channel
        if exit_code == KILLED:
            self._channel.exit_with_signal("TERM")
            return
        if self._has_terminal:
            output = output.replace("\n", "\r\n")  # as a terminal does
        self._channel.write(output.encode())
        self._exit(exit_code)

    def _exit(self, status: int) -> None:
        assert self._channel is not None  # noqa: S101 - it was made before anything was asked
        self._channel.exit(status)
