"""Rules of where workers may connect: hosts or networks, and their ports. Pure: no Django, no I/O, no name service.

Two checks belong together, and neither is enough alone: `check_url` checks what a person typed,
`Rules.check` the resolved address of each connection.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TypeVar
from urllib.parse import urlsplit

from campaigns.kit.mappings import Json, JsonObject


class NetworkError(ValueError):
    """An address cannot be used; the message says which one and what to do."""


class BadRule(NetworkError):
    """The text of a rule is not valid."""


class BadUrl(NetworkError):
    """The URL is not valid for a target."""


class Refused(NetworkError):
    """The rules exclude the address."""


Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NEVER: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("169.254.169.254/32", "an address of cloud metadata"),
        ("100.100.100.200/32", "an address of cloud metadata"),
        ("192.0.0.192/32", "an address of cloud metadata"),
        ("168.63.129.16/32", "an address of cloud metadata"),
        ("fd00:ec2::/32", "an address of cloud metadata"),
        ("fd20:ce::254/128", "an address of cloud metadata"),
        ("0.0.0.0/8", "an unspecified address"),
        ("::/128", "an unspecified address"),
        ("169.254.0.0/16", "a link-local address"),
        ("fe80::/10", "a link-local address"),
        ("224.0.0.0/4", "a multicast address"),
        ("ff00::/8", "a multicast address"),
        ("240.0.0.0/4", "a reserved or broadcast address"),
        ("2001::/32", "a tunnelled (Teredo) address"),
        ("64:ff9b:1::/48", "a translated (NAT64) address"),
    )
)
NAT64 = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")


def unwrapped(address: str | Address) -> Address:
    """Return the IPv4 address inside an IPv6 one (mapped, compatible, 6to4, NAT64), or the address.

    Raise BadUrl where the text is no IP address.
    """
    if isinstance(address, str):
        try:
            address = ip_address(address.partition("%")[0])
        except ValueError:
            raise BadUrl(f"{address!r} is not an IP address.") from None
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is not None:
        return inner
    if address in NAT64 or (address in COMPATIBLE and int(address) > 0xFFFF):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return IPv6Address(int(address))  # without a zone


def is_local(address: str | Address) -> bool:
    """Return whether the address is loopback or private, so that the owner has to confirm it."""
    plain = unwrapped(address)
    return plain.is_loopback or plain.is_private


DEFAULT_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "ssh": 22}
WEB_SCHEMES = ("http", "https")
SQL_SCHEMES = ("postgresql",)
SSH_SCHEMES = ("ssh",)
SCHEMES = (*WEB_SCHEMES, *SQL_SCHEMES, *SSH_SCHEMES)
"""Of the URLs of targets; whoever sends HTTP takes those of the web alone."""
LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NUMBER = re.compile(r"(?:\d+|0x[0-9a-f]*)\Z")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a URL leads; `address`: of a host that is an IP address."""

    scheme: str
    host: str
    port: int
    address: Address | None


AUTHORITY_ENDS = re.compile(r"[/?#]")


def parse_url(url: str, schemes: Sequence[str] = WEB_SCHEMES) -> Endpoint:
    """Return scheme, host and port of a URL of one of the schemes. Raise BadUrl where anything is ambiguous."""
    if len(url) > 2000:
        raise BadUrl(f"The URL has {len(url)} characters; give one of at most 2000.")
    if "@" in AUTHORITY_ENDS.split(url.partition("//")[2], maxsplit=1)[0]:
        # First, since all other messages quote the URL.
        raise BadUrl("The URL holds a user name or password; give those in their own fields.")
    if not url.isprintable() or "\\" in url or " " in url:
        raise BadUrl(f"The URL {url!r} holds a blank, a backslash or a control character.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadUrl(
            f"The URL {url!r} cannot be read ({error}); give {_example(schemes)}."
        ) from None
    if parts.scheme not in schemes:
        known = " or ".join(f"{scheme}://" for scheme in schemes)
        raise BadUrl(f"The URL {url!r} must begin with {known}.")
    if not parts.hostname:
        raise BadUrl(f"The URL {url!r} names no host; give {_example(schemes)}.")
    if port == 0:
        raise BadUrl(f"The URL {url!r} has port 0; give a port from 1 to 65535.")
    host, address = _host(parts.hostname, bracketed="[" in parts.netloc)
    return Endpoint(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], address)


def _example(schemes: Sequence[str]) -> str:
    known: dict[tuple[str, ...], str] = {
        SQL_SCHEMES: "postgresql://host:port/database",
        SSH_SCHEMES: "ssh://host:port",
    }
    return known.get(tuple(schemes), "http(s)://host:port/")


def normalised_address(url: str) -> str:
    """Return `host:port` in a form that is equal for all addresses of one server, of any scheme of targets.

    `localhost` and `::1` become 127.0.0.1 (RFC 6761, section 6.3): should two servers listen there, they
    share one machine anyway. Raise BadUrl.
    """
    endpoint = parse_url(url, SCHEMES)
    host = str(unwrapped(endpoint.address)) if endpoint.address else endpoint.host
    if host in ("localhost", "::1") or host.endswith(".localhost"):
        host = "127.0.0.1"
    return f"[{host}]:{endpoint.port}" if ":" in host else f"{host}:{endpoint.port}"


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL of the web, equal for all spellings of one server. Raise BadUrl."""
    return f"{parse_url(url).scheme}://{normalised_address(url)}"


def _host(written: str, *, bracketed: bool) -> tuple[str, Address | None]:
    """Return a URL's host as a name or an address. Raise BadUrl where it is ambiguous."""
    host = plain_name(written)
    if "%" in host:
        raise BadUrl(f"The host {written!r} holds a zone or an escape; give a plain address.")
    try:
        address = ip_address(host)
    except ValueError:
        if bracketed or not NAME.fullmatch(host) or len(host) > 253:
            raise BadUrl(
                f"The host {written!r} is neither a name nor an IP address; write a name beyond "
                "ASCII in its xn-- form."
            ) from None
        if NUMBER.match(host.rpartition(".")[2]):
            raise BadUrl(
                f"The host {written!r} is a number that programs read in different ways; write an "
                "IPv4 address as four decimal numbers without leading zeros."
            ) from None
        return host, None
    return str(address), address


def plain_name(host: str) -> str:
    """Return a name in lower case and without the last dot, as rules compare it."""
    return host.lower().removesuffix(".")


Place = TypeVar("Place")
SETTING = "PERFDASH_ALLOWED_ADDRESSES"

PORTS_ONLY = re.compile(r"(?:\d+(?:\s*-\s*\d+)?|\*)\Z")


@dataclass(frozen=True, slots=True)
class Rule:
    """One host (a name, `*.suffix`, an IP network, or `*`), and inclusive ranges of its ports."""

    host: str
    ports: tuple[tuple[int, int], ...]

    def covers_port(self, port: int) -> bool:
        """Return whether `port` is in one of the ranges."""
        return any(first <= port <= last for first, last in self.ports)

    def covers(self, address: Address, port: int, host: str) -> bool:
        """Return whether the rule covers a connection to `address`, to which the name `host` resolved."""
        if not self.covers_port(port):
            return False
        network = _network(self.host)
        if network is not None:
            return address in network
        return self.covers_name(host)

    def covers_name(self, host: str) -> bool:
        """Return whether the rule covers the name `host`; a rule with a network covers no name."""
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in ("*", host)

    def __str__(self) -> str:
        """Return the rule as `parse_rules` reads it."""
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
    """Where connections may go: to `allowed`, but never to `own_services` or the networks of NEVER.

    source: where a person changes the rules, for messages. of: whose address it is, for messages.
    """

    allowed: tuple[Rule, ...] = ()
    own_services: tuple[Rule, ...] = ()
    source: str = SETTING
    of: str = "target"

    def check(self, address: str | Address, port: int, host: str = "") -> None:
        """Raise Refused where no connection may go to `address`, to which the name `host` resolved."""
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
        """Return the places, to which `host` resolved, where connections may go.

        A program connects to one of these without resolving the name again, since the name may then
        resolve to another address. Raise Refused where there is none.
        """
        allowed: list[Place] = []
        reason: Refused | None = None
        for place in places:
            try:
                self.check(address_of(place), port, host)
            except Refused as refused:
                reason = refused
            else:
                allowed.append(place)
        if not allowed:
            raise reason or Refused(f"{host} has no address")
        return allowed

    def check_name(self, host: str, port: int) -> None:
        """Raise Refused where no address of `host` could be allowed."""
        name = plain_name(host)
        possible = any(
            rule.covers_port(port) and (_network(rule.host) is not None or rule.covers_name(name))
            for rule in self.allowed
        )
        if not possible:
            raise Refused(self._nothing_allows(f"{host} port {port}"))

    def allowing(self, text: str) -> "Rules":
        """Return these rules together with those of `text`."""
        return replace(self, allowed=self.allowed + parse_rules(text).allowed)

    def to_json(self) -> JsonObject:
        """Return values for JSON, to be sent to a program."""
        return {
            "allowed": [str(rule) for rule in self.allowed],
            "own_services": [str(rule) for rule in self.own_services],
            "source": self.source,
            "of": self.of,
        }

    @classmethod
    def from_json(cls, values: Json) -> "Rules":
        """Return the rules that `to_json` has written. Raise BadRule."""
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


def check_url(url: str, rules: Rules, schemes: Sequence[str] = WEB_SCHEMES) -> Endpoint:
    """Check a URL of one of the schemes before anything is resolved. Raise BadUrl or Refused.

    That is not enough for a name: check the address of each connection with `Rules.check`.
    """
    endpoint = parse_url(url, schemes)
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
    """Return the network in its canonical form: as IPv4 where it is wrapped in IPv6."""
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
    """Return the network of a rule's host; None for a name. Only networks contain a slash."""
    return ip_network(host) if "/" in host else None
