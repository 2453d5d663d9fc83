"""One virtual host's way through its profile: connections, certificate, one resend, and no retry."""

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
from campaigns.kinds.registration.program.identities import Identity, Keeper
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
"""The time in which the host makes its certificate ready for use; nobody is asked for anything then."""
COMBINED = "combined_reporting"
ANY_REFUSAL = range(400, 600)


async def prepare(host: Host) -> None:
    """Write the largest request, before the clock runs; the host's name says who it is."""
    request = host.request
    number = request["numbers"][host.number] if request.get("numbers") else host.number
    name = f"{request['prefix']}{number:05d}.{request['domain']}"
    host.kept |= {"name": name, "number": number, "body": bodies.consumer(name)}


async def register(host: Host) -> None:
    """Register a host, once. Raise LoadFailed at the first step that the client could not go on from.

    `at_once` of the request: so many at a time (in a retry phase); without it, as the schedule says.
    """
    most = host.request.get("at_once")
    if most is None:
        await _Registration(host).run()
        return
    async with _at_once(most):
        await _Registration(host).run()


@cache
def _at_once(most: int) -> asyncio.Semaphore:
    """The turns of this process, which has one event loop."""
    return asyncio.Semaphore(most)


def columns_of(profile: Profile) -> list[str]:
    """Name the columns of times, in the order of the steps."""
    names = []
    for step in profile.steps:
        if step.auth == Auth.CERTIFICATE and IDENTITY not in names:
            names.append(IDENTITY)
        names.append(step.name)
    return names


@dataclass(slots=True)
class _Registration:
    """A host that is on its way."""

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
            "name": host.kept["name"],
            "number": host.kept["number"],
            "uuid": "",
            "status": 0,
            "failed_at": "",
            "words": "",
            "profile_refused": 0,
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
            name=self.host.kept["name"],
            server=self.host.place.host_header,
            place=request["place"],
            attempt=request.get("attempt", 0),
        )

    def _is_left_out(self, step: Step) -> bool:
        if step.part == Part.BUILT:
            return not self.known.built
        return not self.known.offers(step.needs)

    async def _take(self, step: Step, client: Client) -> None:
        """Do one step, and note its time; of one that fails, where that was."""
        columns = self.host.columns
        columns["status"] = 0
        try:
            if step.auth == Auth.CERTIFICATE and self.context is None:
                self._make_context()
            answer = await self._asked(step, client)
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
            self._keep(step, client)
            self._note(step.name)

    def _keep(self, step: Step, client: Client) -> None:
        """Keep what the host is known by, also where the client could not go on from there."""
        known, name = self.known, self.host.kept["name"]
        if step.name != CONSUMER or not known.uuid:
            return
        self.host.columns["uuid"] = known.uuid
        if directory := self.host.request["directory"]:
            identity = Identity(name, known.uuid, known.certificate, known.key, client.version)
            _keeper(directory).keep(identity)

    async def _asked(self, step: Step, client: Client) -> Answer:
        """Ask once; once more at once where a kept connection was dropped before any answer."""
        wire = await self._connected(step)
        was_kept = wire.asked > 0
        try:
            return await self._ask(step, client, wire)
        except LoadFailed as failure:
            if not (failure.unanswered and was_kept):
                raise
        self.wire = None
        return await self._ask(step, client, await self._connected(step), again=True)

    async def _ask(self, step: Step, client: Client, wire: Wire, *, again: bool = False) -> Answer:
        data = self._data(step, client, kept=wire.asked > 0)
        accepted = ANY_REFUSAL if step.may_fail else ()
        return await self.host.step(step.name, wire, data, accepted=accepted, retry=again)

    async def _connected(self, step: Step) -> Wire:
        """Return the step's connection; the one before is closed, as the client does."""
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

    def _data(self, step: Step, client: Client, *, kept: bool) -> bytes:
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
        return client.subscription(step, path, body, kept=kept)

    def _body(self, step: Step) -> bytes:
        request: Any = self.host.request
        match step.body:
            case "consumer":
                return bytes(self.host.kept["body"])
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
def _keeper(directory: str) -> Keeper:
    """Return this process's keeper of a directory."""
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    return Keeper(place)
