"""The bytes of a virtual host's requests, with the same headers as the real clients. Pure."""

from dataclasses import dataclass
from urllib.parse import quote
from uuid import uuid5

from campaigns.kinds.registration.program.bodies import HOSTS
from campaigns.kinds.registration.program.profiles import Auth, Part, Step

CURL = "curl/7.76.1"


@dataclass(frozen=True, slots=True)
class Client:
    """The sender: a version of subscription-manager on a host.

    name: of the host. server: the header Host. place: the path of the subscription API, such as /rhsm.
    attempt: the number of the host's attempt, from 0.
    """

    version: str
    name: str
    server: str
    place: str
    attempt: int = 0

    @property
    def correlation(self) -> str:
        """The correlation id of one command, 32 hexadecimal digits, different for each attempt."""
        return uuid5(HOSTS, f"command {self.attempt} of {self.name}").hex

    def subscription(self, step: Step, path: str, body: bytes, *, reused: bool) -> bytes:
        """Return a request of subscription-manager. reused: the connection has served one before."""
        lines = [
            f"{step.method} {self.place}{path} HTTP/1.1",
            f"Host: {self.server}",
            "Content-type: application/json",
            "Accept: application/json",
            f"x-subscription-manager-version: {self.version}",
            f"X-Correlation-ID: {self.correlation}",
            "Accept-Language: en-us",
            f"User-Agent: RHSM/1.0 (cmd=subscription-manager) subscription-manager/{self.version}",
            f"Content-Length: {len(body)}",
        ]
        if reused:
            lines.append("Connection: keep-alive")
        return _written(lines, body)

    def script(self, step: Step, path: str, body: bytes, token: str) -> bytes:
        """Return a request of curl, as Foreman's scripts call it."""
        lines = [
            f"{step.method} {path} HTTP/1.1",
            f"Host: {self.server}",
            f"User-Agent: {CURL}",
            "Accept: */*",
        ]
        if step.auth == Auth.TOKEN:
            lines.append(f"Authorization: Bearer {token}")
        if body:
            lines += [
                f"Content-Length: {len(body)}",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        return _written(lines, body)


def path_of(step: Step, values: dict[str, str]) -> str:
    """Fill in a step's path. Values are quoted, except for paths that the server sent."""
    if step.part != Part.SUBSCRIPTION:
        return step.path.format(**values)
    return step.path.format(
        **{
            name: value if name == "keys" else quote(value, safe="")
            for name, value in values.items()
        }
    )


def keys_in_query(names: str) -> str:
    """Quote the names of activation keys for a query; the commas between them are not quoted."""
    return ",".join(quote(name, safe="") for name in names.split(","))


def _written(lines: list[str], body: bytes) -> bytes:
    return "\r\n".join((*lines, "", "")).encode("ascii") + body
