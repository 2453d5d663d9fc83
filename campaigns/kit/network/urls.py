"""URLs of targets, as a person types them. Pure: nothing is resolved."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from campaigns.kit.network.addresses import Address, unwrapped
from campaigns.kit.network.errors import BadUrl

DEFAULT_PORTS = {"http": 80, "https": 443}
LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NUMBER = re.compile(r"(?:\d+|0x[0-9a-f]*)\Z")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a URL connects to. `address` is set where the host is an IP address already."""

    scheme: str
    host: str
    port: int
    address: Address | None


def parse_url(url: str) -> Endpoint:
    """Read scheme, host and port of an http(s) URL. Raise BadUrl where anything is unclear."""
    if len(url) > 2000:
        raise BadUrl(f"The URL has {len(url)} characters; give one of at most 2000.")
    if not url.isprintable() or "\\" in url or " " in url:
        raise BadUrl(f"The URL {url!r} holds a blank, a backslash or a control character.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadUrl(
            f"The URL {url!r} cannot be read ({error}); give http(s)://host:port/."
        ) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise BadUrl(f"The URL {url!r} must begin with http:// or https://.")
    if "@" in parts.netloc:
        raise BadUrl("The URL holds a user name or password; give those in their own fields.")
    if not parts.hostname:
        raise BadUrl(f"The URL {url!r} names no host; give http(s)://host:port/.")
    if port == 0:
        raise BadUrl(f"The URL {url!r} has port 0; give a port from 1 to 65535.")
    host, address = _host(parts.hostname, bracketed="[" in parts.netloc)
    return Endpoint(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], address)


def normalised_address(url: str) -> str:
    """Give `host:port` in the one form that makes two rows for one server one target.

    `localhost` and `::1` count as 127.0.0.1 (RFC 6761, section 6.3): should two servers stand
    there, they share one machine anyway. Raise BadUrl.
    """
    endpoint = parse_url(url)
    host = str(unwrapped(endpoint.address)) if endpoint.address else endpoint.host
    if host in ("localhost", "::1") or host.endswith(".localhost"):
        host = "127.0.0.1"
    return f"[{host}]:{endpoint.port}" if ":" in host else f"{host}:{endpoint.port}"


def _host(written: str, *, bracketed: bool) -> tuple[str, Address | None]:
    """Read a URL's host as a name or an address. Raise BadUrl where it is neither for certain."""
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
    """Give a name as rules are compared with it: lower case, without the last dot."""
    return host.lower().removesuffix(".")
