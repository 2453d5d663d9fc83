"""Debian's mosquitto, and the pull-MQTT side of a smart proxy: it publishes, hands out scripts, and takes updates.

It checks what a real one checks: the CN of the client's certificate is the consumer uuid that a job is for, else 404.
"""

import asyncio
import getpass
import json
import resource
import shutil
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web

from campaigns.kinds.base import HostIdentity
from campaigns.kinds.hosts.program import mqtt
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.ports import free_port

MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin")
PROXY_NAME = "proxy.perfdash.example"
CONFIGURATION = """
user {user}
persistence false
set_tcp_nodelay true
log_dest file {place}/mosquitto.log
connection_messages true
listener {port} 127.0.0.1
cafile {ca}
certfile {certificate}
keyfile {certificate}
require_certificate true
use_identity_as_username true
acl_file {place}/acl
{more}
"""
ACL = f"user {PROXY_NAME}\ntopic write yggdrasil/+/data/in\n\npattern read yggdrasil/%u/data/in\n"
"""A host reads its own topic only; the smart proxy writes to all of them."""


@dataclass
class Broker:
    """A mosquitto that runs."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def usage(self) -> tuple[float, int]:
        """Return its CPU seconds, and its peak memory in bytes."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return (int(stat[11]) + int(stat[12])) / 100, int(peak.split()[1]) * 1024


class Certifier(Protocol):
    """Has a file of the certificates that a broker trusts, and makes one with the key and the certificate of a server."""

    file: Path

    def server(self) -> Path:
        """Write key and certificate of a server on this machine."""


@contextmanager
def mosquitto(
    place: Path, authority: Certifier, more: str = "", open_files: int = 0, port: int = 0
) -> Iterator[Broker]:
    """Run a mosquitto with TLS, client certificates and the ACL. open_files: its limit; 0: as many as this process may have."""
    assert MOSQUITTO, "mosquitto is not installed; script/packages.sh names its package"
    place.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    # A file of its own: it listens before it reads it, and the authority writes the same one for the proxy meanwhile.
    certificate = place / "server.pem"
    shutil.copy(authority.server(), certificate)
    (place / "acl").write_text(ACL)
    text = CONFIGURATION.format(
        place=place, port=port, ca=authority.file, certificate=certificate, more=more,
        user=getpass.getuser(),
    )  # fmt: skip
    (place / "mosquitto.conf").write_text(text)
    limit = open_files or resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    process = subprocess.Popen(
        [MOSQUITTO, "-c", place / "mosquitto.conf"],
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
    )
    try:
        until = time.monotonic() + 10
        while not _listens(port):
            assert process.poll() is None, (place / "mosquitto.log").read_text()
            assert time.monotonic() < until
            time.sleep(0.01)
        yield Broker(port, process, place / "mosquitto.log")
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


@dataclass
class Job:
    """A job of one host at the smart proxy."""

    consumer: str
    script: str
    fetched: int = 0
    cancelled: bool = False
    updates: list[dict[str, Any]] = field(default_factory=list)

    @property
    def exit_codes(self) -> list[int]:
        """Return the exit codes that the host reported."""
        return [each["exit_code"] for each in self.updates if each["type"] == "exit"]


class SmartProxy:
    """A smart proxy in mode pull-mqtt, in threads of this process. statuses: answers in place of the right ones, by path."""

    def __init__(self, authority: Authority, broker_port: int) -> None:
        self.jobs: dict[str, Job] = {}
        self.statuses: dict[str, int] = {}
        self.agents: set[str] = set()
        self.ended = threading.Condition()
        self.broker_port = broker_port
        self._authority = authority
        self._server_context = authority.context()
        self._server_context.verify_mode = ssl.CERT_REQUIRED
        self._server_context.load_verify_locations(authority.file)
        self._client_context = client_context(authority, PROXY_NAME)
        self.url = ""
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10)

    def start(self, consumers: Sequence[str], script: str) -> list[str]:
        """Store a job for each host, and publish it; return their uuids."""
        jobs = [str(uuid.uuid4()) for _ in consumers]
        for job, consumer in zip(jobs, consumers, strict=True):
            self.jobs[job] = Job(consumer, script)
            self.publish_start(job)
        return jobs

    def publish_start(self, job: str, **changes: Any) -> None:
        """Publish the message by which a job begins."""
        self.publish(self._topic(job), self.message_of_start(job, **changes))

    def publish_cancel(self, job: str) -> None:
        """Publish the message by which a job is cancelled."""
        url, metadata = f"{self.url}/ssh/jobs/{job}/cancel", {"event": "cancel", "job_uuid": job}
        self.publish(self._topic(job), _message(content=url, metadata=metadata))

    def message_of_start(self, job: str, **changes: Any) -> bytes:
        """Return the message by which a job begins."""
        url = f"{self.url}/ssh/jobs/{job}"
        metadata = {
            "event": "start",
            "job_uuid": job,
            "return_url": f"{url}/update",
            "version": "v1",
            "effective_user": "root",
        }
        return _message(**{"content": url, "metadata": metadata} | changes)

    def publish(self, topic: str, payload: bytes) -> None:
        """Publish on a new connection, as the proxy does for each message, and wait until the broker has it."""
        with (
            socket.create_connection(("127.0.0.1", self.broker_port), 10) as plain,
            self._client_context.wrap_socket(plain, server_hostname="127.0.0.1") as broker,
        ):
            broker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            broker.sendall(mqtt.connect(str(uuid.uuid4()), 15))
            assert broker.recv(4) == b"\x20\x02\x00\x00"
            broker.sendall(mqtt.publish(topic, payload, 1))
            assert broker.recv(4) == b"\x40\x02\x00\x01"
            broker.sendall(mqtt.disconnect())

    def wait(self, jobs: Sequence[str], seconds: float = 20.0) -> None:
        """Wait until all of these jobs have ended."""
        with self.ended:
            done = self.ended.wait_for(
                lambda: all(self.jobs[job].exit_codes for job in jobs), seconds
            )
        missing = [job for job in jobs if not self.jobs[job].exit_codes]
        assert done, f"{len(missing)} of {len(jobs)} jobs have not ended"

    def stop(self) -> None:
        """Listen no more."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _topic(self, job: str) -> str:
        return f"yggdrasil/{self.jobs[job].consumer}/data/in"

    def _serve(self, ready: threading.Event) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._listen(ready))

    async def _listen(self, ready: threading.Event) -> None:
        self._stopping = asyncio.Event()
        runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
        await web.SockSite(
            runner, listening, ssl_context=self._server_context, backlog=4096
        ).start()
        self.url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        ready.set()
        await self._stopping.wait()
        await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        if status := self.statuses.get(request.path):
            return web.Response(status=status, text="as the test wants it")
        _, _, _, uuid_, *rest = request.path.split("/")
        job = self.jobs.get(uuid_)
        certificate = request.transport.get_extra_info("peercert")  # type: ignore[union-attr]
        names = {name: value for part in certificate["subject"] for name, value in part}
        if job is None or names["commonName"] != job.consumer:
            return web.Response(status=404)
        self.agents.add(request.headers["User-Agent"])
        match request.method, rest:
            case "GET", []:
                job.fetched += 1
                return web.Response(text=job.script)
            case "GET", ["cancel"]:
                job.cancelled = True
                return web.Response(text="{}")
            case "POST", ["update"]:
                told = json.loads(await request.text())
                assert told["version"] == "1"
                with self.ended:
                    job.updates += told["updates"]
                    self.ended.notify_all()
                return web.Response()
        return web.Response(status=405)


def _message(**more: Any) -> bytes:
    """Return a message as a smart proxy writes it."""
    message = {
        "type": "data",
        "message_id": str(uuid.uuid4()),
        "version": 1,
        "sent": "2026-11-21T09:00:00+00:00",
        "directive": "foreman",
        **more,
    }
    return json.dumps(message).encode()


@contextmanager
def smart_proxy(authority: Authority, broker_port: int) -> Iterator[SmartProxy]:
    """Run a smart proxy."""
    proxy = SmartProxy(authority, broker_port)
    try:
        yield proxy
    finally:
        proxy.stop()


def client_context(authority: Authority, name: str) -> ssl.SSLContext:
    """Return the context of a client with a certificate for a name."""
    certificate, key = authority.identity(name)
    file = authority.directory / f"{name}.pem"
    file.write_text(certificate + key)
    context = ssl.create_default_context(cafile=str(authority.file))
    context.load_cert_chain(file)
    return context


def identities_of(authority: Authority, count: int) -> list[HostIdentity]:
    """Return so many hosts with certificates of the authority."""
    consumers = [str(uuid.uuid4()) for _ in range(count)]
    return [HostIdentity(consumer, *authority.identity(consumer)) for consumer in consumers]
