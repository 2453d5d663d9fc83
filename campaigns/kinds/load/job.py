"""The request of a load program, as far as it is the same for all sequences. No Django."""

import ssl
from dataclasses import dataclass, field, replace

from campaigns.kinds.load import tls
from campaigns.kinds.load.schedule import Schedule
from campaigns.kinds.programs.pinned import Pinned, pin
from campaigns.kit.mappings import ProgramRequest
from campaigns.kit.network import Rules


@dataclass(frozen=True, slots=True)
class Job:
    """The request of a load program, within the limits of the target's owner.

    url: of the target. ca: trusted certificates in PEM; empty: those of the system. insecure: any
    certificate is accepted. time_limit_seconds: from the start on; what is not done then has timed out.
    most_concurrent, most_per_second: of the whole run, even where this is a part of it.
    start_at: an instant of `monotonic`; wait_for_start: it comes as a line, once this program is ready.
    """

    url: str
    rules: Rules
    schedule: Schedule
    processes: int = 1
    connect_timeout_seconds: float = 10.0
    tls_timeout_seconds: float = 10.0
    timeout_seconds: float = 60.0
    time_limit_seconds: float = 3600.0
    most_concurrent: int | None = None
    most_per_second: float | None = None
    start_at: float | None = None
    wait_for_start: bool = False
    ca: str = ""
    insecure: bool = False
    certificate: str = ""
    key: str = field(default="", repr=False)

    @classmethod
    def from_request(cls, request: ProgramRequest, *, fewer_hosts: bool = False) -> "Job":
        """Return the job of a request; its other fields are for the sequence. Raise BadSchedule or KeyError.

        `shard` [i, n] selects a part of the schedule: that of one of several generators. fewer_hosts: no
        more hosts than the owner allows requests at a time.
        """
        values = {name: request[name] for name in cls.__slots__ if name in request}
        schedule = Schedule.from_request(request["schedule"])
        most = request.get("most_concurrent")
        if fewer_hosts and most is not None:
            schedule = replace(schedule, hosts=min(schedule.hosts, most))
        if "shard" in request:
            schedule = schedule.part(*request["shard"])
        values |= {"rules": Rules.from_json(request["rules"]), "schedule": schedule}
        return cls(**values)

    def pinned(self) -> Pinned:
        """Resolve the target's name once. Raise BadUrl, Refused or OSError."""
        return pin(self.url, self.rules)

    def tls_context(self) -> ssl.SSLContext | None:
        """Return the context of hosts without identities of their own; None where the URL is http."""
        if not self.url.startswith("https:"):
            return None
        if self.certificate:
            return tls.identity_context(self.certificate, self.key, self.ca, insecure=self.insecure)
        return tls.context(self.ca, insecure=self.insecure)

    @property
    def most_processes(self) -> int:
        """How many processes there may be: each needs a share of at least one of the owner's limit."""
        if self.most_per_second is not None:
            return 1
        most = min(self.processes, len(self.schedule.numbers))
        return max(1, most if self.most_concurrent is None else min(most, self.own_concurrent))

    @property
    def own_concurrent(self) -> int:
        """The share that this part has of the most requests at a time; at least one."""
        return max(1, (self.most_concurrent or 0) // self.schedule.shards)

    @property
    def own_per_second(self) -> float | None:
        """The share that this part has of the most requests per second."""
        most = self.most_per_second
        return None if most is None else most / self.schedule.shards
