"""One virtual host: an SSH server with a port of its own, and the jobs that were run on it. No Django. Nothing is ever executed."""

import os
from dataclasses import dataclass
from time import perf_counter_ns

import asyncssh

from campaigns.kinds.hosts.program.jobs import Job, Script
from campaigns.kinds.hosts.program.ssh.commands import SCRIPT, Command
from campaigns.kinds.hosts.program.ssh.session import Session
from campaigns.kinds.hosts.program.waiting import Tasks, give_up
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.part import Part

MOST_JOBS = 100
"""Of one host, in one run of the program."""
MOST_FILES = 3 * MOST_JOBS


@dataclass(frozen=True, slots=True)
class Shared:
    """What all hosts of a process share. address: where they listen. keys: which may log in, in their binary form."""

    part: Part
    address: str
    first_port: int
    keys: frozenset[bytes]
    options: asyncssh.SSHServerConnectionOptions
    script: Script
    tasks: Tasks


class SshHost:
    """A host with its port. connected_ns: when somebody first logged in; begun (connections), sessions, refused, faults: how many.

    refused: keys that may not log in. faults: what no smart proxy asks for.
    """

    def __init__(self, shared: Shared, number: int) -> None:
        self.number = number
        self.port = shared.first_port + number
        self.script = shared.script
        self.tasks = shared.tasks
        self.jobs: dict[str, Job] = {}
        self.connected_ns = 0
        self.begun = self.logins = self.sessions = self.refused = self.faults = 0
        self.failure: LoadFailed | None = None
        self.words = ""
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._shared = shared
        self._files: dict[tuple[str, str], tuple[str, int]] = {}
        self._acceptor: asyncssh.SSHAcceptor | None = None

    @property
    def is_listening(self) -> bool:
        """Whether its port is open."""
        return self._acceptor is not None

    @property
    def is_busy(self) -> bool:
        """Whether a job of it is not over, or its proxy still clears up."""
        return bool(self.connections) or not all(job.is_over for job in self.jobs.values())

    async def listen(self) -> None:
        """Open its port; where that is not possible, `failure` says why."""
        shared = self._shared
        try:
            self._acceptor = await asyncssh.listen(
                shared.address,
                self.port,
                options=shared.options,
                server_factory=lambda: Server(self, shared),
            )
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            words = f"port {self.port} of {shared.address} cannot be opened: {why}"
            self.failure = LoadFailed("connect", words)

    def leave(self) -> None:
        """Close the port, take leave of those who are connected, and count what is not done as failed."""
        if self._acceptor is not None:
            self._acceptor.close()
        for connection in self.connections:
            connection.close()
        give_up(self.jobs.values())

    def close(self) -> None:
        """Close the connections at once."""
        for connection in list(self.connections):
            connection.abort()

    def fault(self, words: str) -> None:
        """Count what no smart proxy asks for."""
        self.faults += 1
        self.words = self.words or words

    # Files and jobs

    def took(self, command: Command, sha256: str, size: int) -> None:
        """Note a file that was uploaded; a script is what its job will run."""
        if command.job not in self.jobs and len(self.jobs) >= MOST_JOBS:
            self.fault(f"it has {MOST_JOBS} jobs already")
            return
        job = self.jobs.setdefault(command.job, Job(command.job))
        self._files[command.job, command.file] = sha256, size
        if command.file == SCRIPT and not job.started_ns:
            job.sha256, job.script_bytes, job.fetched_ns = sha256, size, perf_counter_ns()

    def has(self, command: Command) -> bool:
        """Return whether it has a file."""
        return (command.job, command.file) in self._files

    def removed(self, command: Command) -> bool:
        """Remove a file, or all of a job; return whether there was one, which `rm -rf` does not mind."""
        if command.file:
            return self._files.pop((command.job, command.file), None) is not None
        for file in [each for each in self._files if each[0] == command.job]:
            del self._files[file]
        return True

    def started(self, name: str) -> Job | None:
        """Return a job whose script begins now; None where it has no script, or has begun before."""
        job = self.jobs.get(name)
        if job is None or job.started_ns or (name, SCRIPT) not in self._files:
            return None
        job.started_ns = perf_counter_ns()
        return job

    def killed(self, name: str) -> bool:
        """End the script of a job; return whether it ran."""
        job = self.jobs.get(name)
        if job is None or not job.started_ns or job.is_over:
            return False
        job.cancelled.set()
        return True


class Server(asyncssh.SSHServer):
    """One connection to a host, from its beginning on."""

    def __init__(self, host: SshHost, shared: Shared) -> None:
        self._host, self._shared = host, shared
        self._connection: asyncssh.SSHServerConnection | None = None
        self._begun_ns = perf_counter_ns()
        self._is_in = False

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Begin."""
        self._connection = conn
        self._host.begun += 1
        self._host.connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        """End; an error after a login that is not of the protocol is a bug of this program, and no stranger's doing."""
        if self._connection is not None:
            self._host.connections.discard(self._connection)
        if self._is_in and exc is not None and not isinstance(exc, (OSError, asyncssh.Error)):
            self._shared.tasks.broke(exc)

    def public_key_auth_supported(self) -> bool:
        """Let keys in, and nothing else."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Let in who has one of the keys, by whatever name."""
        allowed = key.public_data in self._shared.keys
        self._host.refused += not allowed
        return allowed

    def auth_completed(self) -> None:
        """Note a login."""
        now, host = perf_counter_ns(), self._host
        self._is_in = True
        host.logins += 1
        host.connected_ns = host.connected_ns or now
        self._shared.part.recorder.add("ssh_login", now - self._begun_ns)

    def session_requested(self) -> Session:
        """Answer one command."""
        return Session(self._host)
