"""A machine that is not here: an SSH server that plays frames, recorded or constructed, in real time or at once.

It speaks the real protocol; only what the commands print is played.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import asyncssh

from campaigns.targets.watches.sources.ssh import scripts
from campaigns.tests.targets.ssh_server import USER, Machine, new_key, private, public


@dataclass
class Played:
    """What the machine prints. pause: seconds between two frames. hangs: it says nothing more, instead of ending.

    clock: how far its clock is ahead. errors: what the sampler prints on standard error before.
    """

    frames: Sequence[bytes]
    pause: float = 0.0
    hangs: bool = True
    clock: float = 0.0
    errors: bytes = b""
    choice: str = "python3"
    timers: bytes = b""
    ended: threading.Event = field(default_factory=threading.Event)
    """Whether the standard input of the sampler was closed."""

    async def answer(self, process: asyncssh.SSHServerProcess) -> None:
        """Run a command."""
        if process.command == scripts.CHOOSE:
            process.stdout.write(f"Welcome!\nperfdash {self.choice}\n".encode())
        elif process.command == scripts.TIMERS:
            process.stdout.write(self.timers)
        else:
            asked = asyncio.ensure_future(self._answer_questions(process))
            process.stderr.write(self.errors)
            for frame in self.frames:
                process.stdout.write(frame)
                await asyncio.sleep(self.pause)
            if self.hangs:
                with suppress(asyncio.CancelledError):
                    await asked
                self.ended.set()
            asked.cancel()
        process.exit(0 if self.hangs else 3)

    async def _answer_questions(self, process: asyncssh.SSHServerProcess) -> None:
        async for line in process.stdin:
            if line.startswith(b"Q "):
                now = datetime.now(UTC).timestamp() + self.clock
                process.stderr.write(b"%s %.6f\n" % (line.strip(), now))


@contextmanager
def playing(played: Played) -> Iterator[Machine]:
    """Serve it on loopback, in a thread of its own."""
    host_key, user_key = new_key(), new_key()
    loop = asyncio.new_event_loop()

    async def start() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[host_key],
            authorized_client_keys=asyncssh.import_authorized_keys(public(user_key)),
            process_factory=played.answer,
            encoding=None,
        )

    async def stop(server: asyncssh.SSHAcceptor) -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield Machine(server.get_port(), USER, private(user_key), public(host_key))
    finally:
        asyncio.run_coroutine_threadsafe(stop(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()
