"""The supervisor's side of `forkserver`: asks it for processes."""

import json
import os
import select
import signal
import socket
from collections.abc import Mapping

from perfdash.local.forkserver import READY
from perfdash.local.process import Forked, Service

ANSWER_SECONDS = 10.0
KEYS = "PERFDASH_ENCRYPTION_KEYS"
"""Begins the names of the variables that only some of the forked processes get; the server itself never reads them."""


class ForkServer:
    """The connection to the fork server. Its process is a service as others are."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._connection: socket.socket | None = None
        self._pid = 0

    def connect(self) -> socket.socket:
        """Return the server's end of a new connection, for its next start."""
        self._close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection = ours
        return theirs

    def ready(self, pid: int) -> bool:
        """Return whether the server of this process id has loaded its modules."""
        if self._connection is not None and not self._pid:
            readable, _, _ = select.select([self._connection], [], [], 0)
            if readable and self._connection.recv(len(READY)) == READY:
                self._pid = pid
        return bool(self._pid)

    def is_for(self, service: Service) -> bool:
        """Return whether the service may be forked: but for encryption keys, its secrets are those of the server."""
        mine = {
            name: value for name, value in service.environment.items() if not name.startswith(KEYS)
        }
        return service.forked and mine == self._environment

    @property
    def is_loading(self) -> bool:
        """Whether the server has ended or is not ready yet."""
        if self._connection is not None and self._pid:
            ended, _, _ = select.select([self._connection], [], [], 0)  # it writes only when asked
            if ended:
                self._close()
        return not self._pid

    def spawn(self, service: Service) -> Forked | None:
        """Start a service; None where the server cannot, or may not."""
        if self.is_loading or not self.is_for(service):
            return None
        reader, writer = os.pipe()
        pid = self._ask(service, writer)
        os.close(writer)
        if pid is None:
            os.close(reader)
            return None
        return Forked(pid, os.fdopen(reader, "rb", 0))

    def _ask(self, service: Service, output: int) -> int | None:
        """Return the id of the new process. A server that gives no answer is killed: it could start one later."""
        if self._connection is None:
            return None
        arguments = service.command[service.command.index("-m") + 1 :]
        self._connection.settimeout(ANSWER_SECONDS)
        keys = {name: value for name, value in service.environment.items() if name.startswith(KEYS)}
        given = os.memfd_create("variables")
        os.write(given, json.dumps(keys).encode())
        os.lseek(given, 0, os.SEEK_SET)
        try:
            socket.send_fds(self._connection, [json.dumps(arguments).encode()], [output, given])
            return int(self._connection.recv(32) or 0) or None
        except TimeoutError:
            os.kill(self._pid, signal.SIGKILL)
        except OSError:
            pass  # it has ended
        finally:
            os.close(given)
        self._close()
        return None

    def _close(self) -> None:
        self._pid = 0
        if self._connection is not None:
            self._connection.close()
            self._connection = None
