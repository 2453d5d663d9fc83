"""Resolves the name of a server once, and returns the addresses where connections may go. No Django.

Whoever connects goes to one of these, and never resolves the name again: by then it may lead elsewhere. TLS and the header Host keep
the name. How a library is told the address stands where it is used: requests `kit/http/guarded.py`; aiohttp and libcurl
`kinds/downloader/engines/checked_*.py`; sockets of asyncio `kinds/load/wire.py`; asyncssh `kit/ssh/commands.py`; libpq, which has
`hostaddr`, `kinds/sql/server.py` and `targets/watches/sql.py`; programs `kinds/programs/pinned.py`. Chat services have a check of
their own (`kit/chat_services/program.py`).
"""

import socket
from collections.abc import Callable

from campaigns.kit import name_service
from campaigns.kit.network import Address, Rules

Resolver = Callable[[str, int], list[str]]


def allowed_addresses(
    host: str,
    port: int,
    rules: Rules,
    *,
    known: Address | None = None,
    resolve: Resolver = name_service.resolve,
) -> list[str]:
    """Return every address of a host that the rules allow. known: its address, where it needs no name service.

    Raise Refused where there is none, OSError where the name cannot be resolved.
    """
    return rules.allowed_of([str(known)] if known else resolve(host, port), port, host)


async def allowed_addresses_in_thread(host: str, port: int, rules: Rules) -> list[str]:
    """Return what `allowed_addresses` does, without holding up the loop."""
    return rules.allowed_of(await name_service.resolve_in_thread(host, port), port, host)


def family_of(address: str) -> socket.AddressFamily:
    """Return the family of the sockets for an IP address."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET
