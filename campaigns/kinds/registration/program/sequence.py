"""Register one virtual host by its profile: connections, certificate, one resend, and no retry."""

import asyncio
import ssl
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from campaigns.kinds.load import tls
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.host import Host
from campaigns.kinds.load.wire import Answer, Wire
from campaigns.kinds.registration.program import bodies
from campaigns.kinds.registration.program.answers import Known, take
from campaigns.kinds.registration.program.identities import Identity, IdentityFile
from campaigns.kinds.registration.program.profiles import (
    CONSUMER,
    PROFILES,
    Auth,
    Part,
    Profile,
    Step,
)
from campaigns.kinds.registration.program.requests import Client, keys_in_query, path_of

IDENTITY = "identity"
"""The step in which the host prepares its certificate, without a request."""
COMBINED = "combined_reporting"
ANY_REFUSAL = range(400, 600)


async def prepare(host: Host) -> None:
    """Prepare the host's name and its largest request, before the clock runs."""
    request = host.request
    number = request["numbers"][host.number] if request.get("numbers") else host.number
    name = f"{request['prefix']}{number:05d}.{request['domain']}"
    host.prepared |= {"name": name, "number": number, "body": bodies.consumer(name)}


async def register(host: Host) -> None:
    """Register a host once. Raise LoadFailed at the first step after which the client could not go on.

    In a retry phase, `at_once` of the request limits how many register at a time.
    """
    most = host.request.get("at_once")
    if most is None:
        await _Registration(host).run()
        return
    async with _at_once(most):
        await _Registration(host).run()


@cache
def _at_once(most: int) -> asyncio.Semaphore:
    """Return the semaphore of this process, which has one event loop."""
    return asyncio.Semaphore(most)


def columns_of(profile: Profile) -> list[str]:
    """Return the names of the columns of times, in the order of the steps."""
    names = []
    for step in profile.steps:
        if step.auth == Auth.CERTIFICATE and IDENTITY not in names:
            names.append(IDENTITY)
        names.append(step.name)
    return names


@dataclass(slots=True)
class _Registration:
    """The registration of one host."""

    host: Host
    known: Known = field(default_factory=Known)
    wire: Wire | None = None
    connection: int = 0
    context: ssl.SSLContext | None = None
    at_ns: int = 0

    async def run(self) -> None:
        host, request = self.host, self.host.request
        profile = PROFILES[request["profile"]]
        host.columns |= {
            "name": host.prepared["name"],
            "number": host.prepared["number"],
            "uuid": "",
            "status": 0,
            "failed_at": "",
            "words": "",
            "profile_refused": 0,
            "connections": 0,
            **{f"{name}_us": None for name in columns_of(profile)},
        }
        self.known.token = request.get("token", "")
        self.known.script = request.get("script", "")
        self.at_ns = host.intended_ns
        client = self._client(profile)
        for step in profile.steps:
            if not self._is_left_out(step):
                await self._take(step, client)

    def _client(self, profile: Profile) -> Client:
        request = self.host.request
        return Client(
            version=profile.version,
            name=self.host.prepared["name"],
            server=self.host.place.host_header,
            place=request["place"],
            attempt=request.get("attempt", 0),
        )

    def _is_left_out(self, step: Step) -> bool:
        if step.part == Part.BUILT:
            return not self.known.built
        return not self.known.offers(step.needs)

    async def _take(self, step: Step, client: Client) -> None:
        """Do one step, and record its time, and where it failed."""
        columns = self.host.columns
        columns["status"] = 0
        try:
            if step.auth == Auth.CERTIFICATE and self.context is None:
                self._make_context()
            answer = await self._send_with_resend(step, client)
            columns["status"] = answer.status
            if answer.status not in ANY_REFUSAL:
                take(self.known, step.name, answer)
            else:
                columns["profile_refused"] = 1
        except LoadFailed as failure:
            columns["failed_at"] = step.name
            columns["status"] = failure.status or columns["status"]
            columns["words"] = str(failure)[:300]
            raise
        finally:
            self._store_identity(step, client)
            self._note(step.name)

    def _store_identity(self, step: Step, client: Client) -> None:
        """Store the host's identity once it has one, even where the registration fails."""
        known, name = self.known, self.host.prepared["name"]
        if step.name != CONSUMER or not known.uuid:
            return
        self.host.columns["uuid"] = known.uuid
        if directory := self.host.request["directory"]:
            identity = Identity(name, known.uuid, known.certificate, known.key, client.version)
            _identity_file(directory).add(identity)

    async def _send_with_resend(self, step: Step, client: Client) -> Answer:
        """Send a request; send it again at once where a reused connection was dropped before any answer."""
        wire = await self._connected(step)
        was_reused = wire.request_count > 0
        try:
            return await self._send(step, client, wire)
        except LoadFailed as failure:
            if not (failure.unanswered and was_reused):
                raise
        self.wire = None
        return await self._send(step, client, await self._connected(step), again=True)

    async def _send(self, step: Step, client: Client, wire: Wire, *, again: bool = False) -> Answer:
        data = self._data(step, client, reused=wire.request_count > 0)
        accepted = ANY_REFUSAL if step.may_fail else ()
        return await self.host.step(step.name, wire, data, accepted=accepted, retry=again)

    async def _connected(self, step: Step) -> Wire:
        """Return the step's connection; an earlier one is closed, as the client does."""
        wire = self.wire
        if (
            wire is not None
            and wire.open
            and wire.keep_alive
            and self.connection == step.connection
        ):
            return wire
        if wire is not None:
            wire.close()
        self.connection = step.connection
        self.wire = await self.host.connect(self.context if step.auth == Auth.CERTIFICATE else None)
        self.host.columns["connections"] += 1
        return self.wire

    def _make_context(self) -> None:
        request, known = self.host.request, self.known
        try:
            self.context = tls.identity_context(
                known.certificate, known.key, request["ca"], insecure=request["insecure"]
            )
        except (ssl.SSLError, ValueError) as error:
            raise LoadFailed("tls", f"the certificate that the server gave: {error}") from None
        self._note(IDENTITY)

    def _data(self, step: Step, client: Client, *, reused: bool) -> bytes:
        request, known = self.host.request, self.known
        values = {
            "owner": request["organization"],
            "keys": keys_in_query(request["activation_keys"]),
            "uuid": known.uuid,
            "serial": known.serial,
            "script": known.script,
            "register": known.script.partition("?")[0],
            "built": known.built,
        }
        path, body = path_of(step, values), self._body(step)
        if step.part != Part.SUBSCRIPTION:
            return client.script(step, path, body, known.token)
        if step.body == "profile" and COMBINED not in known.capabilities:
            path = path.removesuffix("profiles") + "packages"
        return client.subscription(step, path, body, reused=reused)

    def _body(self, step: Step) -> bytes:
        request: Any = self.host.request
        match step.body:
            case "consumer":
                return bytes(self.host.prepared["body"])
            case "profile" if COMBINED in self.known.capabilities:
                return bodies.profile(request["packages"], request["organization"])
            case "profile":
                return bodies.package_list(request["packages"])
            case "registered":
                return bodies.registered(
                    self.known.uuid, request["organization_id"], request.get("location_id")
                )
        return b""

    def _note(self, name: str) -> None:
        now = perf_counter_ns()
        self.host.columns[f"{name}_us"] = (now - self.at_ns) // 1000
        self.at_ns = now


@cache
def _identity_file(directory: str) -> IdentityFile:
    """Return this process's file of identities in a directory."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    return IdentityFile(Path(directory))
