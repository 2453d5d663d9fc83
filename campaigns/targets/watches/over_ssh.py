"""Ask sockets of the target's machine by way of its sshd, which needs no program there. Pure.

Each question is a channel of its own over one login: a socket of files (`direct-streamlocal`), or a port of loopback.
"""

import asyncio
import shlex
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from ipaddress import ip_address
from typing import Any

from campaigns.kit.network import BadUrl, parse_url
from campaigns.kit.ssh.access import ActionFailed, HostKeyRefused, SshAccess
from campaigns.targets.watches.base import SSH, Access, WatchFailed
from campaigns.targets.watches.polling import Missed

USUAL_PORT = 22
LOOK_SECONDS = 2.0
LOGIN_SECONDS = 16.0
MOST_BYTES = 8 * 1024 * 1024
MOST_OF_FILE = 64 * 1024
LONGEST_PATH = 107
"""Of a socket of files."""

Place = str | tuple[str, int]
"""The path of a socket of files, or host and port."""


def ssh_address(address: str) -> str:
    """Return an address as host, or host:port. Raise BadUrl with a message for a form."""
    host, port = ssh_place(address)
    place = f"[{host}]" if ":" in host else host
    return place if port == USUAL_PORT else f"{place}:{port}"


def ssh_place(address: str) -> tuple[str, int]:
    """Return host and port of a machine, written with ssh:// or without. Raise BadUrl."""
    written = address.strip().removeprefix(SSH)
    if not written or any(letter in written for letter in "/@?#"):
        raise BadUrl("Give a host name or address, such as server.example or server.example:2222.")
    endpoint = parse_url(f"ssh://{written}", ("ssh",))
    return endpoint.host, endpoint.port


def path_of(option: object, what: str) -> str:
    """Return a path of the target from a watch's options. Raise WatchFailed where it is none."""
    path = str(option or "").strip()
    if not path.startswith("/") or not path.isprintable() or len(path) > LONGEST_PATH:
        raise WatchFailed(
            f"{what} has to be a whole path of the target of at most {LONGEST_PATH} characters, not {path[:120]!r}."
        )
    return path


def loopback(host: str, port: int) -> Place:
    """Return a port of the target's loopback. Raise WatchFailed for another host: sshd would carry us anywhere."""
    try:
        inside = host == "localhost" or ip_address(host).is_loopback or ip_address(host).is_unspecified  # fmt: skip
    except ValueError:
        inside = False
    if not inside:
        raise WatchFailed(f"{host[:100]} is not the target's own loopback: watch it without SSH.")
    return "127.0.0.1", port


@contextmanager
def tunnel(access: Access) -> Iterator["Tunnel"]:
    """Open a way to the sockets of a machine. Raise WatchFailed where the watch has no login."""
    if access.ssh is None:
        raise WatchFailed("This watch has no SSH login: give a user name, and a key or a password.")
    with asyncio.Runner() as runner:
        made = Tunnel(access, access.ssh, runner)
        try:
            yield made
        finally:
            made.close()


class Tunnel:
    """A login, renewed where it was lost. HostKeyRefused passes, so that a person can accept the key."""

    def __init__(self, access: Access, ssh: SshAccess, runner: asyncio.Runner) -> None:
        self._access, self._ssh, self._runner = access, ssh, runner
        self._connection: Any = None
        self._stack = AsyncExitStack()

    def ask(self, place: Place, question: bytes) -> bytes:
        """Send a question to a socket, and return what comes until its end. Raise Missed, WatchFailed."""
        self._log_in()
        where = place if isinstance(place, str) else f"port {place[1]}"
        return self._done(self._ask(place, question), where)

    def read_file(self, path: str) -> bytes:
        """Return the beginning of a file. Raise Missed."""
        from campaigns.kit.ssh.stream import output_of

        self._log_in()
        command = shlex.join(["cat", "--", path])
        text = self._done(output_of(self._connection, command, LOOK_SECONDS, MOST_OF_FILE), path)
        if not text:
            raise Missed(
                f"{self._ssh} cannot read {path}: check the path, and whether this user may read it.",
                hopeless=True,
            )
        return text

    def close(self) -> None:
        """Log out."""
        self._connection, stack = None, self._stack
        self._stack = AsyncExitStack()
        with suppress(Exception):
            self._runner.run(stack.aclose())

    def _log_in(self) -> None:
        from campaigns.kit.ssh.stream import logged_in

        if self._connection is not None:
            return
        entering = self._stack.enter_async_context(logged_in(self._ssh, self._access.rules))
        try:
            self._connection = self._runner.run(asyncio.wait_for(entering, LOGIN_SECONDS))
        except HostKeyRefused:
            raise
        except (ActionFailed, TimeoutError) as error:
            text = str(error) or f"{self._ssh} did not answer."
            raise Missed(text, hopeless=True) from None

    def _done(self, work: Coroutine[Any, Any, bytes], where: str) -> bytes:
        import asyncssh

        try:
            return self._runner.run(asyncio.wait_for(work, LOOK_SECONDS + 1))
        except asyncssh.ChannelOpenError as error:
            raise Missed(
                f"{self._ssh} has no way to {where} ({error.reason}): check that it is there and lets this user in, and that "
                "sshd forwards (AllowTcpForwarding, AllowStreamLocalForwarding).",
                hopeless=True,
            ) from None
        except (TimeoutError, ActionFailed):
            self.close()
            raise Missed(f"{where} gave no answer within {LOOK_SECONDS:g} s.") from None
        except (OSError, asyncssh.Error) as error:
            self.close()
            raise Missed(f"The connection to {self._ssh} broke: {error}.") from None

    async def _ask(self, place: Place, question: bytes) -> bytes:
        opening = (
            self._connection.open_unix_connection(place)
            if isinstance(place, str)
            else self._connection.open_connection(*place)
        )
        async with asyncio.timeout(LOOK_SECONDS):
            reader, writer = await opening
            try:
                writer.write(question)
                answer = bytearray()
                while part := await reader.read(65536):
                    answer += part
                    if len(answer) > MOST_BYTES:
                        raise WatchFailed(f"The answer of {place} is too long.")
                return bytes(answer)
            finally:
                writer.close()
