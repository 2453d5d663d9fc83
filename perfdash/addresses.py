"""What can be read from the addresses of perfdash's own services. Pure."""

from collections.abc import Iterable
from urllib.parse import parse_qs, unquote, urlsplit

PORTS = {
    "postgres": 5432,
    "postgresql": 5432,
    "redis": 6379,
    "rediss": 6379,
    "http": 80,
    "https": 443,
}


def own_addresses(*urls: str, extra: Iterable[str] = ()) -> tuple[tuple[str, int], ...]:
    """Host and port of each URL that has them, and of `extra` (`host:port`).

    Workers never connect there. Services behind a unix socket have no such address.
    """
    result = [_address(url) for url in urls] + [_address(f"//{item}") for item in extra]
    return tuple(dict.fromkeys(address for address in result if address))


def _address(url: str) -> tuple[str, int] | None:
    parts = urlsplit(url)
    if parts.scheme and parts.scheme not in PORTS:
        return None
    host = unquote(parts.hostname or "")
    port = parts.port or PORTS.get(parts.scheme)
    return (host, port) if host and not host.startswith("/") and port else None


def redis_url(broker_url: str) -> str:
    """The broker's address as redis-py spells it: only unix sockets differ from Celery's way."""
    parts = urlsplit(broker_url)
    if parts.scheme != "redis+socket":
        return broker_url
    database = parse_qs(parts.query).get("virtual_host", ["0"])[0]
    secret = f":{parts.password}@" if parts.password else ""
    return f"unix://{secret}{parts.path}?db={database}"
