"""Allow or refuse each connection of a confined program (`confined`). No Django.

The program waits in `connect` for the decision: it goes on, or gets EACCES. Its traffic is not touched, so
it is as fast as elsewhere. The decision is about the address in the program's memory at that moment; a
program that changes it meanwhile from another thread is not stopped. This confines a tool that follows a
redirect, not one that tries to break out.
"""

import errno
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from campaigns.kinds.programs.confined import calls
from campaigns.kit.network import unwrapped

RECEIVE, SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV, _SEND
GO_ON = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE
NOTICE = struct.Struct("=QIIiIQ6Q")
ANSWER = struct.Struct("=QqiI")
LONGEST_ADDRESS = 128
SECONDS_TO_BE_HANDED_OVER = 10.0
NAME_SERVICE_PORT = 53
RESOLVER = Path("/etc/resolv.conf")

May = Callable[[str, int], bool]
"""Returns whether a connection to an address and port is allowed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest size of a file of the program, and of its memory."""

    file_bytes: int
    memory_bytes: int


class Confined:
    """A program that connects only where `may` allows it.

    refused: the refused addresses with ports. `at_end` is called before the program ends.
    """

    def __init__(
        self,
        command: Sequence[str],
        may: May,
        environment: Mapping[str, str],
        limits: Limits,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Start it. Raise OSError where it cannot be started, or its connections cannot be watched."""
        self.refused: list[str] = []
        self._may = may
        self._at_end = at_end
        self._calls = calls()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.process = subprocess.Popen(  # noqa: S603 - arguments are ours, there is no shell
                [
                    *(sys.executable, "-E", "-s", "-m", "campaigns.kinds.programs.confined"),
                    *(str(theirs.fileno()), str(os.getpid())),
                    *(str(limits.file_bytes), str(limits.memory_bytes)),
                    *command,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=dict(environment),
                pass_fds=(theirs.fileno(),),
            )
            theirs.close()
            ours.settimeout(SECONDS_TO_BE_HANDED_OVER)
            _, handed, _, _ = socket.recv_fds(ours, 16, 1)
        if not handed:
            raise OSError(errno.ENOSYS, "the kernel does not let us watch connections")
        self._listener = handed[0]
        threading.Thread(target=self._answer_all, name="connections", daemon=True).start()

    def _answer_all(self) -> None:
        """Decide until the program has ended."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        while not poll.poll()[0][1] & select.POLLHUP:
            notice = bytearray(NOTICE.size)
            try:
                fcntl.ioctl(self._listener, RECEIVE, notice)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR):
                    continue  # it was killed meanwhile
                raise
            number, process, _, call, _, _, *arguments = NOTICE.unpack(notice)
            if call == self._calls.connect:
                refused = self._refuses(process, arguments[1], arguments[2])
            else:
                self._at_end()
                refused = 0
            answer = ANSWER.pack(number, 0, -refused, 0 if refused else GO_ON)
            with suppress(FileNotFoundError):  # it was killed meanwhile
                fcntl.ioctl(self._listener, SEND, answer)

    def _refuses(self, process: int, pointer: int, length: int) -> int:
        """Return the error number for a refused connection; 0 for an allowed one."""
        try:
            with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
                memory.seek(pointer)
                written = memory.read(min(length, LONGEST_ADDRESS))
            place = _place(written)
        except (OSError, ValueError, struct.error):
            return errno.EACCES
        if place is None or self._may(*place) or _is_name_service(*place):
            return 0
        self.refused.append(f"{place[0]} port {place[1]}")
        return errno.EACCES


def _place(written: bytes) -> tuple[str, int] | None:
    """Read a sockaddr: an address and a port; None where it is none of the internet.

    Raise ValueError or struct.error where it is broken, or of a family that no client needs.
    """
    (family,) = struct.unpack_from("=H", written)
    match family:
        case socket.AF_INET:
            return socket.inet_ntop(family, written[4:8]), _port(written)
        case socket.AF_INET6:
            return str(unwrapped(socket.inet_ntop(family, written[8:24]))), _port(written)
        case socket.AF_UNIX | socket.AF_UNSPEC:
            return None  # a name service on this machine; the end of a connection
    raise ValueError(f"addresses of family {family} are not for clients")


def _port(written: bytes) -> int:
    port: int = struct.unpack_from("!H", written, 2)[0]
    return port


def _is_name_service(address: str, port: int) -> bool:
    """Return whether this is a name server of this machine's resolver."""
    if port != NAME_SERVICE_PORT:
        return False
    with suppress(OSError, ValueError):
        lines = [line.split() for line in RESOLVER.read_text().splitlines()]
        servers = [parts[1] for parts in lines if len(parts) > 1 and parts[0] == "nameserver"]
        return ip_address(address) in [ip_address(one.partition("%")[0]) for one in servers]
    return False
