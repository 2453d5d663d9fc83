"""Let virtual hosts answer jobs while a run goes on: start their program, look at it, end it, and read its rows.

A kind uses it so, with the identities of a population of the target (`Context.hosts_of`):

    request = answering_request(context, identities, broker, proxy_url, ca=..., script=PretendedScript())
    with answering(context, request) as hosts:
        # all hosts have tried to connect: look at hosts.connected, and start the job
        while is_running(job):
            hosts.check()  # raises Cancelled, or GeneratorFailed where the program broke
        answered = hosts.end()

The program ends with the lease of the run, as every engine program does, and when the block is left.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.base.errors import Cancelled, DriverError, GeneratorFailed
from campaigns.kinds.base.servers import translated_errors
from campaigns.kinds.base.values import Context, HostIdentity
from campaigns.kinds.programs.pinned import pin
from campaigns.kinds.programs.program import Outcome, ProgramFailed, run_program
from campaigns.kit.mappings import ProgramProgress, ProgramRequest

PROGRAM = "campaigns.kinds.hosts.program"
MOST_HOSTS = 4000
"""Of one generator."""
HOSTS_A_PROCESS = 500
"""How many hosts one process takes, as long as there are cores for more processes."""
LOOK_SECONDS = 0.05
END_SECONDS = 30.0
"""How long the program may take to report its rows."""
MANY_PERCENT = 5.0
NO_ROOM = (
    " A broker that has some of the hosts and not the others has often reached its limit of open files: raise LimitNOFILE of its "
    "service above the number of hosts."
)


@dataclass(frozen=True, slots=True)
class PretendedScript:
    """What each host pretends to run; nothing is executed.

    least_seconds, most_seconds: how long, evenly spread over the hosts. failed_percent: of the hosts, which exit with
    `failed_exit_code`. output: what each host reports on its standard output. seed: gives the same hosts and times again.
    """

    least_seconds: float = 0.0
    most_seconds: float = 0.0
    exit_code: int = 0
    failed_percent: float = 0.0
    failed_exit_code: int = 1
    output: str = "answered by a virtual host: nothing was executed\n"
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Answered:
    """What hosts have answered.

    rows: columns of equal length, a row for each job of a host and for each host without one: host, uuid, job; connected_us,
    notified_us, fetched_us, finished_us: microseconds after the hosts were ready, negative before, None where it did not happen;
    script_sha256, script_bytes, exit_code, cancelled, duplicates (the message came again), disconnects, bad_messages, failure (a
    class of `load.failures`, or empty), words.
    counts: of progress, and `unconnected_CLASS`. figures: of the generator, for `load.judging.judge`. started_at: when the hosts
    were ready, seconds since 1970. connect_seconds: until all were connected, or had tried.
    """

    rows: Mapping[str, Sequence[Any]]
    counts: Mapping[str, int]
    figures: Mapping[str, float]
    started_at: float
    connect_seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    histograms: Mapping[str, str] = field(repr=False, default_factory=dict)

    @property
    def scripts(self) -> Counter[str]:
        """How many jobs had each script, by its SHA-256."""
        return Counter(digest for digest in self.rows.get("script_sha256", ()) if digest)

    @property
    def failures(self) -> Counter[str]:
        """How many rows failed, by their class of failure."""
        return Counter(failure for failure in self.rows.get("failure", ()) if failure)


class Hosts:
    """Virtual hosts that answer. progress: what they have done so far (see `program.crew`, `program.ssh.crew`)."""

    def __init__(self, context: Context, request: ProgramRequest, program: str = PROGRAM) -> None:
        self.progress: ProgramProgress = {}
        self._program = program
        self.asked = int(request["schedule"]["hosts"])
        self._context = context
        self._ready = threading.Event()
        self._cancelled = threading.Event()
        self._ending = threading.Event()
        self._over = threading.Event()
        self._outcome: Outcome | None = None
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(request,), daemon=True)
        self._thread.start()

    @property
    def connected(self) -> int:
        """How many hosts are connected to the broker; or, by SSH, to how many somebody has logged in."""
        return int(self.progress.get("hosts_connected", 0))

    def check(self) -> None:
        """Raise Cancelled where the run is to end, GeneratorFailed where the hosts have ended."""
        self._context.check()
        if not self._over.is_set():
            return
        if self._problem is not None:
            raise GeneratorFailed(str(self._problem)) from self._problem
        if self._outcome is not None and self._outcome.cancelled:
            raise Cancelled
        raise GeneratorFailed("The virtual hosts have ended before the job: its time was over.")

    def end(self) -> Answered:
        """End the hosts, and return what they have answered. Raise Cancelled or GeneratorFailed."""
        self.check()
        self._ending.set()
        if not self._over.wait(END_SECONDS):
            raise GeneratorFailed(f"The virtual hosts did not end within {END_SECONDS:g} s.")
        outcome = self._outcome
        if outcome is None or not outcome.result:
            self.check()
        assert outcome is not None  # noqa: S101 - `check` has raised
        return answered_of(outcome)

    def wait_until_ready(self) -> None:
        """Wait until all hosts are connected, or have tried. Raise Cancelled or GeneratorFailed."""
        while not self._ready.wait(LOOK_SECONDS):
            self.check()

    def remove(self) -> None:
        """Kill the program where it has not ended."""
        self._cancelled.set()
        self._thread.join()

    def _run(self, request: ProgramRequest) -> None:
        """Run the program; the kernel ends it with this thread."""
        context = self._context
        try:
            self._outcome = run_program(
                self._program,
                request,
                cancelled=self._cancelled,
                lease_seconds=context.lease_seconds,
                deadline_seconds=request["time_limit_seconds"] + END_SECONDS,
                progress=self._report,
                ends=self._ending.is_set,
            )
        except ProgramFailed as error:
            self._problem = error
        finally:
            self._over.set()

    def _report(self, values: ProgramProgress) -> None:
        self.progress = values
        if values.get("hosts_begun") == self.asked:
            self._ready.set()


@contextmanager
def answering(context: Context, request: ProgramRequest, program: str = PROGRAM) -> Iterator[Hosts]:
    """Let hosts answer until the block is left; it begins when all are connected, or have tried.

    Raise Cancelled or GeneratorFailed.
    """
    hosts = Hosts(context, request, program)
    try:
        hosts.wait_until_ready()
        yield hosts
    finally:
        hosts.remove()


def answering_request(
    context: Context,
    identities: Sequence[HostIdentity],
    broker: tuple[str, int],
    proxy_url: str,
    *,
    ca: str = "",
    insecure: bool = False,
    script: PretendedScript | None = None,
    **more: Any,
) -> ProgramRequest:
    """Return the request to the program. Raise DriverError or AddressRefused where hosts cannot go there.

    broker: host and port, with TLS. proxy_url: of the smart proxy, https; a message that names another server is not followed.
    ca: PEM, for both; empty: the system's. more: keep_alive_seconds (30), connect_seconds (120) until nobody waits for hosts that
    do not connect, processes, and the timeouts of `load.job`.
    """
    if not 0 < len(identities) <= MOST_HOSTS:
        raise DriverError(
            f"{len(identities):,} virtual hosts were asked for; one generator holds 1 to {MOST_HOSTS:,}."
        )
    host, port = broker
    broker_url = f"https://{f'[{host}]' if ':' in host else host}:{port}/"
    if urlsplit(proxy_url).scheme != "https":
        raise DriverError(
            f"Hosts are known by their certificates, so the URL of the smart proxy has to begin with https:, and is {proxy_url}."
        )
    with translated_errors():
        for url in (broker_url, proxy_url):
            _check(url, context)
    return {
        **hosts_request(context, len(identities), proxy_url, script),
        "broker": broker_url,
        "ca": ca,
        "insecure": insecure,
        "sender": context.sender,
        "most_concurrent": context.most_concurrent,
        "most_per_second": context.most_per_second,
        "identities": [identity._asdict() for identity in identities],
        **more,
    }


def hosts_request(
    context: Context, hosts: int, url: str, script: PretendedScript | None
) -> ProgramRequest:
    """Return what the request to each program of virtual hosts has."""
    return {
        "url": url,
        "rules": context.rules.to_json(),
        "schedule": {"hosts": hosts, "iterations": 1},
        "processes": processes_for(hosts),
        "time_limit_seconds": float(context.deadline_seconds),
        "script": asdict(script or PretendedScript()),
    }


def unconnected(answered: Answered | Hosts) -> str:
    """Return how many hosts are not connected to the broker, and what to do; empty where all are."""
    if isinstance(answered, Hosts):
        asked, connected = answered.asked, answered.connected
        failures = [str(words)] if (words := answered.progress.get("unconnected_because")) else []
    else:
        asked, connected = answered.counts["hosts"], answered.counts["hosts_connected"]
        failures = [words for words, at in _words(answered) if at is None]
    why = f": {failures[0]}" if failures else ""
    if connected >= asked:
        return ""
    advice = NO_ROOM if connected >= asked * MANY_PERCENT / 100 else ""
    return f"{asked - connected} of {asked} virtual hosts are not connected to the broker{why}.{advice}"


def answered_of(outcome: Outcome) -> Answered:
    """Return what the program reported."""
    result = outcome.result
    return Answered(
        rows=outcome.samples,
        counts=result["answering"],
        figures=result["figures"],
        started_at=result["started_at"],
        connect_seconds=result["connect_seconds"],
        cpu_seconds=outcome.cpu_seconds,
        peak_memory_bytes=int(result["peak_memory_bytes"]),
        histograms=result["histograms"],
    )


def processes_for(hosts: int) -> int:
    """Return how many processes share the hosts on this machine."""
    return max(1, min(len(os.sched_getaffinity(0)), -(-hosts // HOSTS_A_PROCESS)))


def _words(answered: Answered) -> Iterator[tuple[str, int | None]]:
    rows = answered.rows
    yield from zip(rows["words"], rows["connected_us"], strict=True)


def _check(url: str, context: Context) -> None:
    try:
        pin(url, context.rules)
    except OSError as error:
        place = urlsplit(url).netloc
        raise DriverError(
            f"{place} cannot be resolved ({error}). Check the name of the broker and of the smart proxy."
        ) from None
