"""Run a command over SSH whose output is read while it runs, and which takes lines on its standard input.

Like `commands`, but with one channel that stays open. What is read is given out at once, and is bounded
by whoever takes it. Imported where a command runs: asyncssh takes some 15 MiB.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any

import asyncssh

from campaigns.kit.network import Rules
from campaigns.kit.ssh.access import ActionFailed, SshAccess
from campaigns.kit.ssh.commands import connect, leave

CHUNK = 64 * 1024
OUTPUT, ERRORS = 1, 2


class Channel:
    """A command that runs. `pieces` holds what it printed: the stream, the bytes, the monotonic seconds of their arrival."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self.pieces: asyncio.Queue[tuple[int, bytes, float]] = asyncio.Queue(maxsize=64)
        self._pumps = [
            asyncio.ensure_future(self._pump(process.stdout, OUTPUT)),
            asyncio.ensure_future(self._pump(process.stderr, ERRORS)),
        ]

    async def _pump(self, stream: Any, number: int) -> None:
        with suppress(OSError, asyncssh.Error):
            while data := await stream.read(CHUNK):
                await self.pieces.put((number, data, monotonic()))

    @property
    def ended(self) -> bool:
        """Return whether no more output comes."""
        return all(pump.done() for pump in self._pumps) and self.pieces.empty()

    async def next(self, seconds: float) -> tuple[int, bytes, float] | None:
        """Return the next piece of the output; None where none comes within the seconds."""
        try:
            return await asyncio.wait_for(self.pieces.get(), seconds)
        except TimeoutError:
            return None

    def send(self, line: bytes) -> None:
        """Write a line to the command. One that has ended does not take it, and is seen by its output."""
        with suppress(OSError, asyncssh.Error):
            self.process.stdin.write(line + b"\n")

    async def close(self, seconds: float) -> None:
        """End the command by closing its standard input; kill it where it has not ended after the seconds."""
        with suppress(OSError, asyncssh.Error):
            self.process.stdin.write_eof()
        for pump in self._pumps:
            pump.cancel()
        with suppress(TimeoutError, OSError, asyncssh.Error):
            await asyncio.wait_for(self.process.wait(check=False), seconds)
            return
        with suppress(OSError, asyncssh.Error):
            self.process.kill()
        self.process.close()


@asynccontextmanager
async def logged_in(access: SshAccess, rules: Rules) -> AsyncIterator[Any]:
    """Log in, and log out at the end. Raise ActionFailed, HostKeyRefused."""
    connection = await connect(access, rules)
    try:
        yield connection
    except (OSError, asyncssh.Error) as error:
        why = str(error).rstrip(".") or "it did not answer in time"
        raise ActionFailed(f"The connection to {access} broke: {why}.") from error
    finally:
        await leave(connection)


async def start(connection: Any, command: str) -> Channel:
    """Start a command, and return it."""
    return Channel(await connection.create_process(command, encoding=None))


async def output_of(connection: Any, command: str, seconds: float, most: int) -> bytes:
    """Return the output of a short command, at most so many bytes. Raise ActionFailed where it does not end in time."""
    process, data = None, b""
    try:
        async with asyncio.timeout(seconds):
            process = await connection.create_process(
                command, encoding=None, stdin=asyncssh.DEVNULL
            )
            while len(data) < most and (more := await process.stdout.read(CHUNK)):
                data += more
    except TimeoutError:
        raise ActionFailed(f"A command did not end within {seconds:g} s.") from None
    finally:
        if process is not None:
            process.close()
    return data[:most]
