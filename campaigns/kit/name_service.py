"""Ask the name service. Knows no rules, and no Django."""

import socket
import threading
from collections.abc import Iterable
from queue import Empty, SimpleQueue
from time import monotonic

ENOUGH_SECONDS = 2.0
MOST_AT_ONCE = 16


def resolve(host: str, port: int | None = None) -> list[str]:
    """Return the IP addresses of a host, without their zones, each once. Raise OSError where none is known."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


def addresses_of(hosts: Iterable[str]) -> dict[str, frozenset[str]]:
    """The IP addresses of each host; none for one that is unknown, or not answered for in time."""
    asked = frozenset(hosts)
    waiting, answers = SimpleQueue[str](), SimpleQueue[tuple[str, frozenset[str]]]()
    for host in asked:
        waiting.put(host)
    for _ in range(min(MOST_AT_ONCE, len(asked))):
        threading.Thread(target=_ask, args=(waiting, answers), name="names", daemon=True).start()
    known: dict[str, frozenset[str]] = dict.fromkeys(asked, frozenset())
    end = monotonic() + ENOUGH_SECONDS
    for _ in asked:
        try:
            host, found = answers.get(timeout=max(0.0, end - monotonic()))
        except Empty:
            break
        known[host] = found
    return known


def _ask(waiting: SimpleQueue[str], answers: SimpleQueue[tuple[str, frozenset[str]]]) -> None:
    while True:
        try:
            host = waiting.get_nowait()
        except Empty:
            return
        try:
            found = frozenset(resolve(host))
        except (OSError, UnicodeError):
            found = frozenset()
        answers.put((host, found))
