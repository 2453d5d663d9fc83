"""What can be read from the addresses of perfdash's own services. Pure."""

from collections.abc import Iterable
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

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


def verified(broker_url: str) -> str:
    """Return the broker's address such that its certificate is checked, unless the URL says otherwise.

    Without any option kombu would connect to `rediss://` and check nothing. redis-py and kombu spell the values of
    `ssl_cert_reqs` differently; `required`, `optional` and `none` are understood by both.
    """
    parts = urlsplit(broker_url)
    if parts.scheme != "rediss":
        return broker_url
    options = dict(parse_qsl(parts.query))
    requirement = options.get("ssl_cert_reqs", "required").removeprefix("CERT_").lower()
    options["ssl_cert_reqs"] = requirement
    return parts._replace(query=urlencode(options, safe="/")).geturl()


def redis_url(broker_url: str) -> str:
    """The broker's address as redis-py spells it: only unix sockets differ from Celery's way."""
    parts = urlsplit(broker_url)
    if parts.scheme != "redis+socket":
        return broker_url
    database = parse_qs(parts.query).get("virtual_host", ["0"])[0]
    secret = f":{parts.password}@" if parts.password else ""
    return f"unix://{secret}{parts.path}?db={database}"
