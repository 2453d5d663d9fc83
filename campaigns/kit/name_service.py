"""Resolves names of hosts. No Django."""

import asyncio
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic

ENOUGH_SECONDS = 2.0
MOST_AT_ONCE = 16


def resolve(host: str, port: int | None = None) -> list[str]:
    """Return the IP addresses of a host, without their zones, each once. Raise OSError where none is known."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in entries))


async def resolve_in_thread(host: str, port: int | None = None) -> list[str]:
    """Return what `resolve` does, without holding up the loop, or its end: a name server may take half a minute."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str] | None, error: Exception | None) -> None:
        if not result.done():
            result.set_exception(error) if error else result.set_result(found or [])

    def work() -> None:
        found, error = None, None
        try:
            found = resolve(host, port)
        except (OSError, UnicodeError) as problem:
            error = problem
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, found, error)

    threading.Thread(target=work, name="names", daemon=True).start()
    return await result


def addresses_of(hosts: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the IP addresses of each host; none for one that is unknown, or not resolved in time."""
    names = frozenset(hosts)
    waiting, answers = SimpleQueue[str](), SimpleQueue[tuple[str, frozenset[str]]]()
    for host in names:
        waiting.put(host)
    for _ in range(min(MOST_AT_ONCE, len(names))):
        threading.Thread(
            target=_resolve, args=(waiting, answers), name="names", daemon=True
        ).start()
    known: dict[str, frozenset[str]] = dict.fromkeys(names, frozenset())
    end = monotonic() + ENOUGH_SECONDS
    with suppress(Empty):
        for _ in names:
            host, addresses = answers.get(timeout=max(0.0, end - monotonic()))
            known[host] = addresses
    return known


def _resolve(waiting: SimpleQueue[str], answers: SimpleQueue[tuple[str, frozenset[str]]]) -> None:
    with suppress(Empty):
        while True:
            host = waiting.get_nowait()
            try:
                answers.put((host, frozenset(resolve(host))))
            except (OSError, UnicodeError):
                answers.put((host, frozenset()))
