"""One virtual host: it stays connected to the broker, and answers the jobs it is told of. No Django. Nothing is ever executed."""

import asyncio
import hashlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns

from campaigns.kinds.hosts.program.jobs import KILLED, Job, Script, updates
from campaigns.kinds.hosts.program.messages import BadMessage, Cancel, Start, read_message, topic_of
from campaigns.kinds.hosts.program.mqtt import Publish
from campaigns.kinds.hosts.program.subscription import LEFT, Subscription
from campaigns.kinds.hosts.program.waiting import Tasks, give_up
from campaigns.kinds.load import tls
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.host import Host, Limits
from campaigns.kinds.load.part import Part
from campaigns.kinds.load.wire import Wire, opened
from campaigns.kinds.programs.pinned import Pinned

CONNECTING_AT_ONCE = 64
"""Connections to the broker that a process opens at a time."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 30.0
"""Between two tries to connect, which doubles from the first to the longest."""
TRIES = 3
"""After which nobody waits for this host any longer."""
HOPELESS = frozenset({"auth", "tls", "protocol"})
"""Failures to connect that another try a moment later does not mend."""
MOST_JOBS = 100
"""Of one host, in one run of the program."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What all hosts of a process share. proxy_url: the smart proxy, whose place is that of `limits`.

    settled: is called once a host is connected, or has tried often enough.
    """

    part: Part
    limits: Limits
    broker: Pinned
    proxy_url: str
    sender: str
    keep_alive: int
    script: Script
    settled: Callable[["VirtualHost"], None]
    tasks: Tasks
    connecting: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(CONNECTING_AT_ONCE)
    )


class VirtualHost:
    """A host with its identity. connected_ns: when it was first; disconnects: how often it lost its connection after that."""

    def __init__(self, shared: Shared, number: int, identity: dict[str, str]) -> None:
        self.shared = shared
        self.number = number
        self.uuid = identity["uuid"]
        self.topic = topic_of(self.uuid)
        self.jobs: dict[str, Job] = {}
        self.connected_ns = 0
        self.tries = self.disconnects = self.bad_messages = 0
        self.failure: LoadFailed | None = None
        self.bad_words = ""
        self._certificate, self._key = identity["certificate"], identity["key"]
        self._context: ssl.SSLContext | None = None
        self._subscription: Subscription | None = None

    @property
    def is_connected(self) -> bool:
        """Whether it is subscribed now."""
        return self.failure is None and self.connected_ns > 0

    @property
    def is_busy(self) -> bool:
        """Whether a job of it is not over."""
        return not all(job.is_over for job in self.jobs.values())

    async def stay(self) -> None:
        """Connect, and again after each loss, until this is cancelled."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            self.tries += 1
            try:
                subscription = await self._connect()
            except LoadFailed as failure:
                self.failure = failure
                if self.tries >= TRIES or failure.kind in HOPELESS:
                    self.shared.settled(self)
            else:
                self.failure, pause = None, FIRST_PAUSE_SECONDS
                self.shared.settled(self)
                self.failure = await subscription.ended
                self.disconnects += 1
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def look(self, now: int) -> None:
        """Keep the connection alive."""
        if self._subscription is not None:
            self._subscription.look(now, self.shared.keep_alive)

    def leave(self) -> None:
        """Leave the broker, and count what is not done as failed."""
        if self._subscription is not None:
            self._subscription.leave()
        give_up(self.jobs.values())

    def close(self) -> None:
        """Close the connection at once."""
        if self._subscription is not None:
            self._subscription.fail(LEFT)

    async def _connect(self) -> Subscription:
        """Return a new subscription. Raise LoadFailed."""
        shared, job = self.shared, self.shared.part.job
        async with shared.connecting:
            subscription = await opened(
                lambda: Subscription(self._took),
                shared.broker,
                job.rules,
                self._tls_context(),
                job.connect_timeout_seconds,
                job.tls_timeout_seconds,
            )
            begun = perf_counter_ns()
            self._subscription = subscription
            await subscription.begin(self.uuid, self.topic, shared.keep_alive, job.timeout_seconds)
        recorder = shared.part.recorder
        recorder.add("broker_connect", subscription.connect_ns)
        recorder.add("broker_tls", subscription.tls_ns)
        recorder.add("broker_subscribe", perf_counter_ns() - begun)
        self.connected_ns = self.connected_ns or perf_counter_ns()
        return subscription

    def _tls_context(self) -> ssl.SSLContext:
        """Return the context with the host's certificate. Raise LoadFailed."""
        if self._context is None:
            job = self.shared.part.job
            try:
                self._context = tls.identity_context(
                    self._certificate, self._key, job.ca, insecure=job.insecure
                )
            except (ssl.SSLError, ValueError) as error:
                raise LoadFailed("tls", f"the certificate of {self.uuid}: {error}") from None
            self._certificate = self._key = ""  # thousands of them are some memory
        return self._context

    # Messages

    def _took(self, publish: Publish) -> None:
        """Process a message."""
        try:
            message = self._read(publish)
        except BadMessage as error:
            self.bad_messages += 1
            self.bad_words = self.bad_words or f"a message of the broker is not understood: {error}"
            return
        if isinstance(message, Start):
            self._start(message)
        else:
            self._cancel(message)

    def _read(self, publish: Publish) -> Start | Cancel:
        if publish.topic != self.topic:
            raise BadMessage(f"it is of the topic {publish.topic[:100]}")
        message = read_message(publish.payload, self.shared.proxy_url)
        if message.job not in self.jobs and len(self.jobs) >= MOST_JOBS:
            raise BadMessage(f"the host has {MOST_JOBS} jobs already")
        return message

    def _start(self, message: Start) -> None:
        """Begin a job, unless this is its message again; one whose script was not fetched is tried again then."""
        job = self.jobs.get(message.job)
        if job is None:
            job = self.jobs[message.job] = Job(message.job, notified_ns=perf_counter_ns())
        else:
            job.told += 1
            if job.fetched_ns or not job.failure:
                return
            job.failure = job.words = ""
        self.shared.tasks.run(self._answer(job, message))

    def _cancel(self, message: Cancel) -> None:
        job = self.jobs.get(message.job)
        if job is not None and not job.is_over and not job.cancelled.is_set():
            self.shared.tasks.run(self._confirm(job, message))

    async def _confirm(self, job: Job, message: Cancel) -> None:
        """Fetch what the message names, as a real host does before it reads it, and end the script."""
        host = self._host(perf_counter_ns())
        try:
            wire = await host.connect(self._tls_context())
            await host.step("cancel", wire, self._request("GET", message.path))
            job.cancelled.set()
        except LoadFailed as failure:
            job.words = f"its cancellation: {failure}"[:300]
        finally:
            host.close()

    # Jobs

    async def _answer(self, job: Job, message: Start) -> None:
        """Fetch a script, wait as long as it takes, and report its end."""
        host = self._host(perf_counter_ns() if job.told > 1 else job.notified_ns)
        try:
            wire = await host.connect(self._tls_context())
            answer = await host.step("fetch", wire, self._request("GET", message.script))
            job.fetched_ns = answer.done_ns
            job.sha256 = hashlib.sha256(answer.body).hexdigest()
            job.script_bytes = len(answer.body)
            exit_code = await self._script(job)
            await self._report(host, wire, message.update, exit_code)
            job.exit_code, job.finished_ns = exit_code, perf_counter_ns()
        except LoadFailed as failure:
            job.failure, job.words = failure.kind, str(failure)[:300]
        finally:
            host.close()

    async def _script(self, job: Job) -> int:
        """Wait as long as the script takes, and return its exit code. It is executed nowhere."""
        script = self.shared.script
        if await job.cancelled_within(script.seconds_of(self.number)):
            return KILLED
        return script.exit_code_of(self.number)

    async def _report(self, host: Host, wire: Wire, path: str, exit_code: int) -> None:
        """Post output and exit code, once more where the kept connection was closed before any answer."""
        data = self._request("POST", path, updates(self.shared.script.output, exit_code))
        again = False
        if wire.open and wire.keep_alive:
            try:
                await host.step("update", wire, data)
            except LoadFailed as failure:
                if not failure.unanswered:
                    raise
                again = True
            else:
                return
        wire = await host.connect(self._tls_context())
        await host.step("update", wire, data, retry=again)

    def _host(self, intended_ns: int) -> Host:
        """Return what requests are sent by, within the limits of the target's owner."""
        return Host(self.shared.limits, self.number, len(self.jobs), intended_ns, {})

    def _request(self, method: str, path: str, body: bytes = b"") -> bytes:
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {self.shared.limits.place.host_header}",
            f"User-Agent: {self.shared.sender}",
            "Accept: */*",
        ]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join((*lines, "", "")).encode("ascii") + body
