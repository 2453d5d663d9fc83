"""Logins at a target's machine or server that somebody has given already, so that nobody is asked for them again."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from campaigns.kit import network
from campaigns.models import SshLogin, Target
from campaigns.targets.watches.base import Source
from campaigns.targets.watches.registry import UnknownSource, source_of


@dataclass(frozen=True, slots=True)
class Given:
    """A login at one machine. key, password: encrypted, as stored. host_key: the one that was accepted there."""

    host: str
    port: int
    username: str
    key: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    host_key: str = ""

    def __str__(self) -> str:
        return f"{self.username}@{self.address}"

    @property
    def address(self) -> str:
        """Host, and port where it is not that of SSH."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == network.DEFAULT_PORTS["ssh"] else f"{host}:{self.port}"


def given_at_machine(target: Target, *, of_commands: bool) -> list[Given]:
    """Return the SSH logins of a target's machine: of itself, of its watches, and of_commands, which only an administrator may use."""
    logins = SshLogin.objects.filter(target=target) if of_commands else ()
    found = [
        *(
            Given(each.host, each.port, each.username, each.key, each.password, each.host_key)
            for each in logins
        ),
        *own_login(target),
        *_of_watches(target),
    ]
    return [each for each in found if each.key or each.password]


def given_at(
    target: Target, host: str, port: int, username: str, *, of_commands: bool
) -> Given | None:
    """Return the login that was given for a user of a machine; None where there is none."""
    known = given_at_machine(target, of_commands=of_commands)
    place = (host, port, username)
    return next((each for each in known if (each.host, each.port, each.username) == place), None)


def password_at_server(target: Target, host: str, port: int, username: str) -> str:
    """Return the target's stored password for a user of the server itself, encrypted; empty for another one."""
    with suppress(network.NetworkError):
        endpoint = network.parse_url(target.base_url, network.SCHEMES)
        if (endpoint.host, endpoint.port, target.username) == (host, port, username):
            return target.password
    return ""


def address_for(target: Target, source: Source) -> str:
    """Return the target's address where a source has one of the same scheme, such as that of a database; empty for others."""
    if not source.has_login or not target.base_url.startswith(network.SQL_SCHEMES):
        return ""
    try:
        return source.check_address(target.base_url)
    except ValueError:
        return ""


def own_login(target: Target) -> Iterator[Given]:
    """Yield the login of a target that is nothing but a machine."""
    with suppress(network.NetworkError):
        endpoint = network.parse_url(target.base_url, network.SSH_SCHEMES)
        if target.username:
            yield Given(endpoint.host, endpoint.port, target.username, password=target.password)


def _of_watches(target: Target) -> Iterator[Given]:
    for row in target.watches.all():
        with suppress(UnknownSource, ValueError):
            source = source_of(row.source)
            if source.is_by_ssh(row.address):
                host, port = source.host_and_port(row.address)
                yield Given(host, port, row.username, row.key, row.password, row.host_key)
