"""Run a command over SSH: arguments quoted one by one, the host key accepted by a person.

The output of the command is read to its end and stored in part, so that no amount of it fills memory.
Imported where a command runs: asyncssh takes some 15 MiB.
"""

import asyncio
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

import asyncssh

from campaigns.kit.checked_addresses import allowed_addresses_in_thread
from campaigns.kit.network import NetworkError, Rules
from campaigns.kit.ssh.access import ActionFailed, HostKeyRefused, LoginRefused, SshAccess
from campaigns.kit.ssh.keys import fingerprint_of

CONNECT_SECONDS = 15.0
OPEN_SECONDS = 15.0
"""Seconds in which a machine begins a command after the login."""
SILENT_SECONDS = 10.0
MOST_SILENT = 3
"""A machine that answers none of so many questions, one after so many seconds of silence, is gone."""
LOOK_SECONDS = 0.1
LEAVE_SECONDS = 1.0
KEPT_BYTES = 64 * 1024
CHUNK = 64 * 1024
asyncssh.set_log_level("WARNING")  # below that level it logs each command with its arguments


@dataclass(frozen=True, slots=True)
class Ran:
    """The end of a command; `output` and `errors` are texts without their middle where they are long."""

    exit_status: int
    output: str
    errors: str
    cut: bool
    seconds: float


class Kept:
    """The start and the end of a stream of any length."""

    def __init__(self) -> None:
        self.begin, self.end, self.total = b"", b"", 0

    def add(self, data: bytes) -> None:
        """Add bytes."""
        self.total += len(data)
        room = KEPT_BYTES - len(self.begin)
        self.begin += data[:room]
        self.end = (self.end + data[room:])[-KEPT_BYTES:]

    @property
    def cut(self) -> bool:
        """Return whether the middle is missing."""
        return self.total > len(self.begin) + len(self.end)

    @property
    def text(self) -> str:
        """Return the stored part of the output."""
        gap = b"\n[...]\n" if self.cut else b""
        return (self.begin + gap + self.end).decode(errors="replace")


def look(access: SshAccess, rules: Rules, check: Callable[[], None]) -> None:
    """Log in and log out. Raise ActionFailed, HostKeyRefused."""
    asyncio.run(within(_look(access, rules), check, CONNECT_SECONDS + LEAVE_SECONDS))


def run(
    arguments: Sequence[str],
    access: SshAccess,
    rules: Rules,
    check: Callable[[], None],
    seconds: float,
) -> Ran:
    """Run a command to its end, whatever its exit status. Raise ActionFailed, HostKeyRefused."""
    command = shlex.join(arguments)
    ran: Ran = asyncio.run(within(_run(command, access, rules, seconds), check, None))
    return ran


async def within(work: Any, check: Callable[[], None], seconds: float | None) -> Any:
    """Run the coroutine, but stop at once where `check` raises."""
    task = asyncio.ensure_future(work)
    ends = None if seconds is None else monotonic() + seconds
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
            check()
            if ends is not None and monotonic() > ends:
                raise ActionFailed("The machine did not answer in time.")
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await asyncio.wait({task}, timeout=2 * LEAVE_SECONDS)


async def _look(access: SshAccess, rules: Rules) -> None:
    connection = await connect(access, rules)
    await leave(connection)


async def _run(command: str, access: SshAccess, rules: Rules, seconds: float) -> Ran:
    connection = await connect(access, rules)
    begun = monotonic()
    output, errors = Kept(), Kept()
    try:
        process = await opened(connection, command, access, stdin=asyncssh.DEVNULL)
        try:
            # `wait_for` would leave a gathering that it cancels with an error that nobody reads.
            async with asyncio.timeout(seconds):
                await asyncio.gather(
                    _drain(process.stdout, output),
                    _drain(process.stderr, errors),
                    process.wait_closed(),
                )
        except TimeoutError:
            with suppress(OSError, asyncssh.Error):
                process.kill()
            raise ActionFailed(
                f"The command did not end within {seconds:g} s, and was told to stop.",
                (errors.text + output.text).strip(),
            ) from None
        status = process.exit_status
        if status is None or status < 0:
            why = process.exit_signal[0] if process.exit_signal else "the connection"
            raise ActionFailed(
                f"The command was ended by {why}.", (errors.text + output.text).strip()
            )
        return Ran(status, output.text, errors.text, output.cut, monotonic() - begun)
    except (OSError, asyncssh.Error) as error:
        raise ActionFailed(f"The connection to {access} broke: {_why(error)}.") from error
    finally:
        await leave(connection)


async def opened(
    connection: asyncssh.SSHClientConnection, command: str, access: SshAccess, **options: Any
) -> asyncssh.SSHClientProcess[bytes]:
    """Begin a command whose streams are bytes. Raise ActionFailed where the machine begins none."""
    begun = connection.create_process(command, encoding=None, **options)
    try:
        return await asyncio.wait_for(begun, OPEN_SECONDS)
    except TimeoutError:
        raise ActionFailed(
            f"{access} accepted the login, but began no command within {OPEN_SECONDS:g} s."
        ) from None


async def _drain(stream: Any, stored: Kept) -> None:
    while data := await stream.read(CHUNK):
        stored.add(data)


async def leave(connection: asyncssh.SSHClientConnection) -> None:
    """Log out; do not wait long for a machine that does not answer."""
    connection.close()
    with suppress(TimeoutError, OSError, asyncssh.Error):
        await asyncio.wait_for(connection.wait_closed(), LEAVE_SECONDS)
    connection.abort()


class _Client(asyncssh.SSHClient):
    """Refuses unknown host keys, and stores the shown one."""

    offered: asyncssh.SSHKey | None = None

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        self.offered = key
        return False


async def connect(access: SshAccess, rules: Rules) -> asyncssh.SSHClientConnection:
    """Log in. Raise ActionFailed, HostKeyRefused, LoginRefused."""
    address = await _address(access, rules)
    client = _Client()
    known = [asyncssh.import_public_key(access.host_key)] if access.host_key else []
    keys = [asyncssh.import_private_key(access.key)] if access.key else []
    try:
        return await asyncio.wait_for(
            asyncssh.connect(
                address,
                access.port,
                client_factory=lambda: client,
                username=access.username,
                client_keys=keys or None,
                password=access.password or None,
                known_hosts=(known, [], []),
                config=None,
                agent_path=None,
                gss_host=None,
                x509_trusted_certs=None,
                preferred_auth="publickey,password,keyboard-interactive",
                login_timeout=CONNECT_SECONDS,
                keepalive_interval=SILENT_SECONDS,
                keepalive_count_max=MOST_SILENT,
            ),
            CONNECT_SECONDS,
        )
    except asyncssh.HostKeyNotVerifiable:
        raise _refused(access, client.offered) from None
    except asyncssh.PermissionDenied:
        raise LoginRefused(
            f"{access} refuses the login: give the key or password of that user."
        ) from None
    except TimeoutError:
        raise ActionFailed(f"{access} did not answer within {CONNECT_SECONDS:g} s.") from None
    except (OSError, asyncssh.Error) as error:
        if client.offered is not None:
            raise _refused(access, client.offered) from None
        raise ActionFailed(f"{access} cannot be reached: {_why(error)}.") from error


def _refused(access: SshAccess, offered: asyncssh.SSHKey | None) -> ActionFailed:
    if offered is None:
        return ActionFailed(
            f"{access} did not show the host key that was accepted "
            f"({fingerprint_of(access.host_key)}): somebody else may answer there."
        )
    line = offered.export_public_key("openssh").decode().strip()
    known = fingerprint_of(access.host_key)
    shown = offered.get_fingerprint()
    text = (
        f"{access} shows another host key than the one that was accepted ({shown}, not {known}): it "
        "was installed anew, or somebody else answers there. Nothing was sent. Compare it, and have "
        "an admin accept it."
        if known
        else f"The host key of {access} is not known: {shown}. Nothing was sent. Compare it with the "
        "machine's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), and have an admin accept it."
    )
    return HostKeyRefused(text, line)


async def _address(access: SshAccess, rules: Rules) -> str:
    """Resolve the machine, and return the first address that the rules allow. Raise ActionFailed."""
    try:
        rules.check_name(access.host, access.port)
        asking = allowed_addresses_in_thread(access.host, access.port, rules)
        return (await asyncio.wait_for(asking, CONNECT_SECONDS))[0]
    except NetworkError as error:
        raise ActionFailed(str(error)) from None
    except TimeoutError:
        raise ActionFailed(
            f"“{access.host}” did not resolve within {CONNECT_SECONDS:g} s."
        ) from None
    except (OSError, UnicodeError) as error:
        raise ActionFailed(f"“{access.host}” does not resolve: {_why(error)}.") from None


def _why(error: BaseException) -> str:
    return str(error).rstrip(".") or type(error).__name__
