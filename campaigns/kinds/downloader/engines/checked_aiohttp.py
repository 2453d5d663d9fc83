"""Sessions of `aiohttp` that connect only where the rules allow. No Django.

aiohttp resolves names by a resolver that it is given, and asks a factory for every socket, also to an address for which it needs no
resolver: there the address is checked that the resolver has not.
"""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from functools import partial
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import ContentLengthError, HttpProcessingError, TransferEncodingError

from campaigns.kit.checked_addresses import allowed_addresses_in_thread, family_of
from campaigns.kit.http.failures import ANONYMOUS, ErrorClasses, headers
from campaigns.kit.network import Rules

FAILURE_CLASSES: ErrorClasses = (
    (socket.gaierror, "dns"),
    (aiohttp.ClientConnectorDNSError, "dns"),
    (aiohttp.ClientSSLError, "tls"),
    (ssl.SSLError, "tls"),
    (TimeoutError, "timeout"),
    (ContentLengthError, "connect"),  # the connection ended before the body did
    (TransferEncodingError, "connect"),
    (HttpProcessingError, "protocol"),
    (aiohttp.ServerDisconnectedError, "connect"),
    (aiohttp.ClientPayloadError, "connect"),
    (OSError, "connect"),
)
"""Classes of failure by the exceptions of aiohttp; the first match counts."""

EXPECTED = (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError)
"""The exceptions of a request that are no bugs; Refused and decoding errors are ValueErrors."""


def checked_session(
    rules: Rules,
    tls: ssl.SSLContext,
    concurrency: int,
    connect_timeout_seconds: float,
    read_timeout_seconds: float,
    sender: str = ANONYMOUS,
    middlewares: Sequence[aiohttp.ClientMiddlewareType] = (),
) -> aiohttp.ClientSession:
    """Return a session that sends each request once, without cookies, decoding, proxies, netrc, or total timeout."""
    checked = _Checked(rules)
    connector = aiohttp.TCPConnector(
        limit=concurrency,
        ssl=tls,
        resolver=_Resolver(checked),
        socket_factory=checked.socket,
        happy_eyeballs_delay=None,  # addresses one after the other, as urllib3 tries them
    )
    handler: type[ResponseHandler] = _Handler
    connector._factory = partial(handler, loop=asyncio.get_running_loop())
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        headers=headers(sender),
        middlewares=middlewares,
        timeout=aiohttp.ClientTimeout(
            total=None, sock_connect=connect_timeout_seconds, sock_read=read_timeout_seconds
        ),
    )
    # aiohttp would silently repeat a request whose connection is lost, and nothing would count it.
    # There is no public switch; aiohttp's own test client sets it like this.
    session._retry_connection = False
    return session


class _Handler(ResponseHandler):
    """The handler of aiohttp, which also raises parser errors in the reader of the body.

    Where the head has been read and a trailer is too long, aiohttp 3.14 closes the connection and drops
    its timeout, so that the reader would wait for ever.
    """

    def set_exception(self, exc: Any, *cause: Any) -> None:
        """Set the exception of the body, too."""
        super().set_exception(exc, *cause)
        body = self._payload
        if isinstance(exc, HttpProcessingError) and body is not None and not body.is_eof():
            error = aiohttp.ClientPayloadError("What follows cannot be read.")
            error.__cause__ = exc
            body.set_exception(error, exc)


class _Checked:
    """Makes sockets for addresses that the rules allow, by a name or by themselves."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.good: set[tuple[str, int]] = set()

    def socket(self, info: Any) -> socket.socket:
        """Make the socket of one connection; the last place where an address can be refused."""
        family, kind, protocol, _, address = info
        if (address[0], address[1]) not in self.good:
            self.rules.check(address[0], address[1], address[0])
        return socket.socket(family, kind, protocol)


class _Resolver(AbstractResolver):
    """Resolves names to the addresses that the rules allow."""

    def __init__(self, checked: _Checked) -> None:
        self._checked = checked

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the allowed addresses of a name. Raise Refused where there is none."""
        allowed = await allowed_addresses_in_thread(host, port, self._checked.rules)
        self._checked.good.update((address, port) for address in allowed)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=family_of(address),
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in allowed
        ]

    async def close(self) -> None:
        """Close nothing."""
