"""The bytes of a virtual host's requests, header by header as the clients send them. Pure."""

from dataclasses import dataclass
from urllib.parse import quote
from uuid import uuid5

from campaigns.kinds.registration.program.bodies import HOSTS
from campaigns.kinds.registration.program.profiles import Auth, Part, Step

CURL = "curl/7.76.1"


@dataclass(frozen=True, slots=True)
class Client:
    """Who sends: subscription-manager of a version, on the host of a name, to a server.

    server: of the header Host. place: the path that the subscription API stands at, such as /rhsm.
    attempt: which time the host tries, from 0; each command has a number of its own.
    """

    version: str
    name: str
    server: str
    place: str
    attempt: int = 0

    @property
    def correlation(self) -> str:
        """The number of the command, 32 hexadecimal digits."""
        return uuid5(HOSTS, f"command {self.attempt} of {self.name}").hex

    def subscription(self, step: Step, path: str, body: bytes, *, kept: bool) -> bytes:
        """Write a request of subscription-manager; kept: the connection has served one before."""
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
        if kept:
            lines.append("Connection: keep-alive")
        return _written(lines, body)

    def script(self, step: Step, path: str, body: bytes, token: str) -> bytes:
        """Write a request of curl, as Foreman's scripts call it."""
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
    """Fill a step's path; what stands in braces is quoted, but for paths that a server gave."""
    if step.part != Part.SUBSCRIPTION:
        return step.path.format(**values)
    return step.path.format(
        **{
            name: value if name == "keys" else quote(value, safe="")
            for name, value in values.items()
        }
    )


def keys_in_query(names: str) -> str:
    """Write the names of activation keys into a query: commas between them stay as they are."""
    return ",".join(quote(name, safe="") for name in names.split(","))


def _written(lines: list[str], body: bytes) -> bytes:
    return "\r\n".join((*lines, "", "")).encode("ascii") + body
