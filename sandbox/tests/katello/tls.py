"""A client that shows the certificate of a host, as subscription-manager does."""

import http.client
import json
import ssl
import tempfile
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sandbox.katello.process import SimulatedKatello

HEADERS = {"Content-type": "application/json", "Accept": "application/json"}
REGISTER = "/rhsm/consumers?owner=ACME&activation_keys=bench-ak"


@dataclass(frozen=True)
class Said:
    status: int
    headers: http.client.HTTPMessage
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


@dataclass
class Client:
    """One connection at a time to a simulator, over TLS."""

    katello: SimulatedKatello
    certificate: str = ""  # with its key
    _connection: http.client.HTTPSConnection | None = field(default=None, repr=False)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Said:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self._connection is None:
            self._connection = self.connected()
        text = None if body is None else json.dumps(body)
        self._connection.request(method, path, text, HEADERS | named)
        answer = self._connection.getresponse()
        return Said(answer.status, answer.headers, answer.read())

    def close(self) -> None:
        if self._connection:
            self._connection.close()

    def connected(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cadata=self.katello.ca())
        if self.certificate:
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(self.certificate)
                file.flush()
                context.load_cert_chain(file.name)
        address = urlsplit(self.katello.tls_url)
        return http.client.HTTPSConnection(
            str(address.hostname), address.port, context=context, timeout=10
        )


def described(name: str, **facts: object) -> dict[str, Any]:
    """What a host tells of itself; a fact that is None is left out, and `__` stands for a dot."""
    answer = {
        "system.certificate_version": "3.2",
        "network.hostname": name,
        "network.fqdn": name,
        "dmi.system.uuid": str(uuid.uuid4()),
        "uname.machine": "x86_64",
        "distribution.name": "AlmaLinux",
        "distribution.version": "9.4",
        "cpu.cpu_socket(s)": "1",
        "memory.memtotal": "1860000",
        "virt.is_guest": "true",
    } | {key.replace("__", "."): value for key, value in facts.items()}
    product = {"productId": "479", "productName": "AlmaLinux", "version": "9.4", "arch": "x86_64"}
    return {
        "type": "system",
        "name": name,
        "facts": {key: value for key, value in answer.items() if value is not None},
        "installedProducts": [product],
        "contentTags": [],
        "role": "",
        "addOns": [],
        "usage": "",
        "serviceLevel": "",
    }
