"""Keeps this whole process to the rules of addresses, whatever a library in it does. For good.

An audit hook cannot be taken out again, and is asked before each connection, program and datagram.
Names are resolved by one function, which drops what the rules exclude and notes what they allow: a
connection goes to an address that was looked at, not to what a name has come to mean since.
"""

import resource
import socket
import sys
from typing import Any

import requests

from campaigns.kit.network import Refused, Rules, unwrapped

MOST_MEMORY = 1 << 30
MOST_CPU_SECONDS = 20
NEVER = frozenset(
    {
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
        *("os.forkpty", "pty.spawn", "socket.bind", "socket.sendto", "socket.sendmsg"),
    }
)


def keep_to(rules: Rules) -> None:
    """From now on nothing in this process connects elsewhere, starts a program or writes a file."""
    allowed: set[tuple[str, int]] = set()
    resolve = socket.getaddrinfo

    def checked(host: Any, port: Any, *arguments: Any, **named: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else str(host)
        found = resolve(host, port, *arguments, **named)
        number = int(found[0][4][1])
        kept = rules.allowed_of(found, number, name, lambda entry: str(entry[4][0]))
        allowed.update((str(unwrapped(str(entry[4][0]))), number) for entry in kept)
        return kept

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in NEVER:
            raise Refused(f"A chat service may not do this: {event}.")
        if event == "socket.connect":
            made, address = arguments
            if made.family not in (socket.AF_INET, socket.AF_INET6):
                raise Refused("A chat service may only connect by TCP.")
            plain, number = str(unwrapped(str(address[0]))), int(address[1])
            if (plain, number) not in allowed:
                rules.check(plain, number)

    sys.dont_write_bytecode = True
    socket.getaddrinfo = checked
    requests.Session.get_redirect_target = lambda *_: None  # type: ignore[method-assign]
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))
    sys.addaudithook(watch)
