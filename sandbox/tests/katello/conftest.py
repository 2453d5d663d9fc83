from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sandbox.katello.process import SimulatedKatello
from sandbox.process import running
from sandbox.tests.katello.tls import REGISTER, Client, Said, described


@dataclass
class Registered:
    """A host with its identity."""

    client: Client
    consumer: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/rhsm/consumers/{self.consumer['uuid']}"

    def ask(self, method: str, what: str = "", body: Any = None, **headers: str) -> Said:
        return self.client.ask(method, self.path + what, body, **headers)


@pytest.fixture(scope="session")
def registering() -> Iterator[SimulatedKatello]:
    with running(katello={}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def server(registering: SimulatedKatello) -> Iterator[SimulatedKatello]:
    """A simulator as at the start, over TLS too."""
    registering.renew()
    yield registering
    registering.renew()


@pytest.fixture
def connect(server: SimulatedKatello) -> Iterator[Callable[..., Client]]:
    clients = []

    def connected(certificate: str = "") -> Client:
        clients.append(Client(server, certificate))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


@pytest.fixture
def stranger(connect: Callable[..., Client]) -> Client:
    """Whoever has no certificate."""
    return connect()


@pytest.fixture
def register(connect: Callable[..., Client]) -> Callable[..., Registered]:
    def registered(
        name: str = "host1.example", path: str = REGISTER, **facts: object
    ) -> Registered:
        answer = connect().ask("POST", path, described(name, **facts))
        assert answer.status == 200, answer.raw
        identity = answer.json["idCert"]
        return Registered(connect(identity["cert"] + identity["key"]), answer.json)

    return registered
