"""Rules of where workers may connect: a host or network, and its ports. Pure.

Two checks belong together, and neither is enough alone: `check_url` looks at what a person typed,
`Rules.check` at the resolved address of each connection.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import ip_network
from typing import Any, TypeVar

from campaigns.kit.network.addresses import NEVER, Address, Network, unwrapped
from campaigns.kit.network.errors import BadRule, Refused
from campaigns.kit.network.urls import NAME, NUMBER, Endpoint, parse_url, plain_name

Place = TypeVar("Place")
SETTING = "PERFDASH_ALLOWED_ADDRESSES"

PORTS_ONLY = re.compile(r"(?:\d+(?:\s*-\s*\d+)?|\*)\Z")


@dataclass(frozen=True, slots=True)
class Rule:
    """One host (a name, `*.suffix`, an IP network, or `*`), and inclusive ranges of its ports."""

    host: str
    ports: tuple[tuple[int, int], ...]

    def covers_port(self, port: int) -> bool:
        """Say whether `port` is in one of the ranges."""
        return any(first <= port <= last for first, last in self.ports)

    def covers(self, address: Address, port: int, host: str) -> bool:
        """Say whether a connection to `address`, asked for as `host`, falls under this rule."""
        if not self.covers_port(port):
            return False
        network = _network(self.host)
        if network is not None:
            return address in network
        return self.covers_name(host)

    def covers_name(self, host: str) -> bool:
        """Say whether a rule by name speaks of `host`; a rule by network speaks of no name."""
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in ("*", host)

    def __str__(self) -> str:
        """Write the rule as `parse_rules` reads it."""
        network = _network(self.host)
        host = self.host
        if network is not None:
            bare = str(network.network_address)
            bare = f"[{bare}]" if network.version == 6 else bare
            single = network.prefixlen == network.max_prefixlen
            host = bare if single else f"{bare}/{network.prefixlen}"
        everything = self.ports == ((1, 65535),)
        ports = (str(a) if a == b else f"{a}-{b}" for a, b in self.ports)
        return f"{host}:{'*' if everything else ','.join(ports)}"


@dataclass(frozen=True, slots=True)
class Rules:
    """Where connections may go: `allowed`, but never to `own_services` nor to what NEVER lists.

    `source` names the place where a person changes the rules; each refusal tells it. `of`: whose
    address it is.
    """

    allowed: tuple[Rule, ...] = ()
    own_services: tuple[Rule, ...] = ()
    source: str = SETTING
    of: str = "target"

    def check(self, address: str | Address, port: int, host: str = "") -> None:
        """Raise Refused where no connection may go to the resolved `address`, asked for as `host`."""
        plain = unwrapped(address)
        name = plain_name(host)
        where = f"{plain} port {port}" + (f" ({host})" if host and name != str(plain) else "")
        for network, reason in NEVER:
            if plain in network:
                raise Refused(
                    f"Workers never connect to {where}: it is {reason}, which {self.source} "
                    f"cannot allow. Give the {self.of} another address."
                )
        if any(rule.covers(plain, port, name) for rule in self.own_services):
            raise Refused(
                f"Workers never connect to {where}: it is a service of perfdash itself, which "
                f"{self.source} cannot allow. Give the {self.of} another address."
            )
        if not any(rule.covers(plain, port, name) for rule in self.allowed):
            raise Refused(self._nothing_allows(where))

    def allowed_of(
        self,
        places: Iterable[Place],
        port: int,
        host: str,
        address_of: Callable[[Place], str] = str,
    ) -> list[Place]:
        """Return those of the places that `host` resolved to where connections may go.

        A program connects to one of these, and does not resolve the name again: it may mean another
        address by then. Raise Refused where there is none.
        """
        found: list[Place] = []
        reason: Refused | None = None
        for place in places:
            try:
                self.check(address_of(place), port, host)
            except Refused as refused:
                reason = refused
            else:
                found.append(place)
        if not found:
            raise reason or Refused(f"{host} has no address")
        return found

    def check_name(self, host: str, port: int) -> None:
        """Raise Refused where no address that `host` might resolve to could be allowed."""
        name = plain_name(host)
        possible = any(
            rule.covers_port(port) and (_network(rule.host) is not None or rule.covers_name(name))
            for rule in self.allowed
        )
        if not possible:
            raise Refused(self._nothing_allows(f"{host} port {port}"))

    def allowing(self, text: str) -> "Rules":
        """Give these rules and those of `text`."""
        return replace(self, allowed=self.allowed + parse_rules(text).allowed)

    def to_json(self) -> dict[str, Any]:
        """Give plain values, to go to a program over a pipe."""
        return {
            "allowed": [str(rule) for rule in self.allowed],
            "own_services": [str(rule) for rule in self.own_services],
            "source": self.source,
            "of": self.of,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Rules":
        """Take what `to_json` gave. Raise BadRule where it is something else."""
        return cls(
            allowed=parse_rules("\n".join(values["allowed"])).allowed,
            own_services=parse_rules("\n".join(values["own_services"])).allowed,
            source=str(values["source"]),
            of=str(values["of"]),
        )

    def _nothing_allows(self, where: str) -> str:
        known = "; ".join(str(rule) for rule in self.allowed) or "none"
        return (
            f"Workers may not connect to {where}: no rule allows it (allowed: {known}). "
            f"An administrator adds it to {self.source}."
        )


def parse_rules(
    text: str, own_services: Iterable[tuple[str, int]] = (), source: str = SETTING
) -> Rules:
    """Read rules from lines or commas; `#` begins a comment. Raise BadRule, naming the bad part.

    Example: `127.0.0.1:8099, 10.0.0.0/8:443,8080-8090, [fd12::]/16:80, pulp.example:443, *:443`.
    Each rule is `host:ports`; ports without a host belong to the rule before them; `*` as host is
    every address that is not excluded always, as ports every port. A rule by name trusts that name
    whatever it resolves to. `own_services` are (address, network or name; port), where `localhost`,
    `0.0.0.0` and `::` stand for every loopback address.
    """
    allowed: list[Rule] = []
    for line in text.splitlines():
        for number, part in enumerate(line.partition("#")[0].split(",")):
            written = part.strip()
            if not written:
                continue
            if number and allowed and PORTS_ONLY.match(written):
                last = allowed.pop()
                allowed.append(replace(last, ports=(*last.ports, _ports(written, written))))
            else:
                allowed.append(_rule(written))
    own = tuple(
        Rule(host, ((port, port),))
        for address, port in own_services
        for host in _own_hosts(address)
    )
    return Rules(tuple(allowed), own, source)


def check_url(url: str, rules: Rules) -> Endpoint:
    """Look at a URL before anything is resolved. Raise BadUrl or Refused.

    A name that passes says little: each connection's address must be checked with `Rules.check`.
    """
    endpoint = parse_url(url)
    if endpoint.address is not None:
        rules.check(endpoint.address, endpoint.port, endpoint.host)
    else:
        rules.check_name(endpoint.host, endpoint.port)
    return endpoint


def _rule(written: str) -> Rule:
    host, colon, ports = written.rpartition(":")
    host = host.strip()
    if not colon or not ports.strip() or "]" in ports or (":" in host and "[" not in host):
        raise BadRule(
            f"The rule {written!r} has no port; write host:port, for example 10.0.0.0/8:443, "
            "[fd12::]/16:443 or pulp.example:443,8443; * as port allows every port."
        )
    return Rule(_rule_host(host, written), (_ports(ports.strip(), written),))


def _rule_host(host: str, written: str) -> str:
    if host == "*":
        return host
    bare = host.replace("[", "").replace("]", "").lower()
    if "/" in bare or ":" in bare or NUMBER.match(bare.rpartition(".")[2]):
        try:
            return _canonical(bare)
        except ValueError as error:
            raise BadRule(
                f"The network of the rule {written!r} cannot be read ({error}); write it as "
                "10.0.0.0/8 or [fd12::]/16."
            ) from None
    name = bare.removesuffix(".")
    if not NAME.fullmatch(name.removeprefix("*.")) or len(name) > 253:
        raise BadRule(
            f"The host of the rule {written!r} is neither a name (pulp.example, *.example), nor a "
            "network (10.0.0.0/8), nor *."
        )
    return name


def _canonical(written: str) -> str:
    """Give the network in its one form, an IPv4 one where it is wrapped in IPv6."""
    network = ip_network(written)
    if network.prefixlen == network.max_prefixlen:
        network = ip_network(unwrapped(network.network_address))
    return str(network)


def _ports(written: str, rule: str) -> tuple[int, int]:
    if written == "*":
        return (1, 65535)
    first, dash, last = (part.strip() for part in written.partition("-"))
    if not first.isdecimal() or (dash and not last.isdecimal()) or len(written) > 20:
        raise BadRule(f"The port {written!r} of the rule {rule!r} is not a number or a range.")
    low, high = int(first), int(last or first)
    if not 1 <= low <= high <= 65535:
        raise BadRule(f"The port {written!r} of the rule {rule!r} is not within 1 to 65535.")
    return (low, high)


def _own_hosts(address: str) -> tuple[str, ...]:
    if address.lower() in ("0.0.0.0", "::", "*", "localhost"):  # noqa: S104 - nothing is bound
        return ("127.0.0.0/8", "::1/128", "localhost")
    return (_rule_host(address, address),)


@cache
def _network(host: str) -> Network | None:
    """Give the network of a rule's host; None where it is a name. Only networks hold a slash."""
    return ip_network(host) if "/" in host else None
