"""All virtual hosts of one process that are SSH servers, as the load engine runs them. No Django."""

from time import perf_counter_ns
from typing import Any

import asyncssh

from campaigns.kinds.hosts.program.jobs import Job, Script
from campaigns.kinds.hosts.program.ssh.virtual_host import Shared, SshHost
from campaigns.kinds.hosts.program.waiting import Waiting
from campaigns.kinds.load.part import NS, Part
from campaigns.kit.mappings import ProgramProgress, ProgramRequest, ProgramResult

LOGIN_SECONDS = 60.0
"""How long a login may take: a proxy begins with a hundred hosts at a time."""
asyncssh.set_log_level("WARNING")  # below that level it logs each command with its arguments


class SshCrew(Waiting[SshHost]):
    """The hosts of a process: see `load.part.Work`."""

    def __init__(self, part: Part, request: ProgramRequest) -> None:
        """Make the hosts of this part of the run."""
        super().__init__(part)
        self.shared = Shared(
            part=part,
            address=str(request["address"]),
            first_port=int(request["first_port"]),
            keys=frozenset(asyncssh.import_public_key(key).public_data for key in request["keys"]),
            options=options_of(str(request["host_key"])),
            script=Script(hosts=part.job.schedule.hosts, **request.get("script", {})),
            tasks=self.tasks,
        )
        self.hosts = [SshHost(self.shared, number) for number in part.job.schedule.numbers]
        self._open_ns = 0

    async def prepare(self) -> None:
        """Open all ports, as far as they can be opened."""
        begun = perf_counter_ns()
        for host in self.hosts:
            await host.listen()
            if host.failure is not None:
                self.part.examples.setdefault(host.failure.kind, str(host.failure))
        self._open_ns = perf_counter_ns() - begun

    def progress(self) -> ProgramProgress:
        """Return what the hosts have done so far."""
        jobs = list(self.jobs())
        return {
            "hosts": len(self.hosts),
            "hosts_begun": len(self.hosts) if self.part.first_ns else 0,
            "hosts_listening": sum(host.is_listening for host in self.hosts),
            "hosts_connected": sum(host.connected_ns > 0 for host in self.hosts),
            "connections": sum(host.begun for host in self.hosts),
            "sessions": sum(host.sessions for host in self.hosts),
            "jobs_fetched": sum(job.fetched_ns > 0 for job in jobs),
            "jobs_started": sum(job.started_ns > 0 for job in jobs),
            "hosts_done": sum(job.finished_ns > 0 for job in jobs),
            "hosts_failed": sum(bool(job.failure) for job in jobs),
            "refused": sum(host.refused for host in self.hosts),
            "faults": sum(host.faults for host in self.hosts),
        }

    def row(self, host: SshHost, job: Job | None) -> dict[str, Any]:
        """Return the row of a job, or of a host without one."""
        job = job or Job("")
        failure, words = job.failure, job.words or host.words
        if host.failure is not None:
            failure, words = host.failure.kind, str(host.failure)
        return {
            "host": host.number,
            "port": host.port,
            "job": job.uuid,
            "connected_us": self.since(host.connected_ns),
            "fetched_us": self.since(job.fetched_ns),
            "started_us": self.since(job.started_ns),
            "finished_us": self.since(job.finished_ns),
            "script_sha256": job.sha256,
            "script_bytes": job.script_bytes,
            "exit_code": job.exit_code,
            "cancelled": int(job.cancelled.is_set()),
            "connections": host.begun,
            "logins": host.logins,
            "sessions": host.sessions,
            "refused": host.refused,
            "faults": host.faults,
            "failure": failure,
            "words": words,
        }

    def result(self) -> ProgramResult:
        """Return the counts."""
        counts = self.progress()
        return {
            "hosts": len(self.hosts),
            "hosts_done": counts["hosts_done"],
            "hosts_failed": counts["hosts_failed"],
            "connect_seconds": self._open_ns / NS,
            "answering": counts,
        }


def options_of(host_key: str) -> asyncssh.SSHServerConnectionOptions:
    """Return what all servers have: one host key, keys alone for a login, and no terminal of a person."""
    return asyncssh.SSHServerConnectionOptions(
        server_host_keys=[asyncssh.import_private_key(host_key)],
        encoding=None,
        gss_host=None,
        line_editor=False,
        agent_forwarding=False,
        password_auth=False,
        kbdint_auth=False,
        login_timeout=LOGIN_SECONDS,
    )
