"""Log in, start the sampler, ask for its clock, and read its frames. Imported where a watch runs: it loads asyncssh."""

import asyncio
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import asyncssh

from campaigns.kit.ssh.access import ActionFailed, SshAccess
from campaigns.kit.ssh.commands import CONNECT_SECONDS, within
from campaigns.kit.ssh.stream import ERRORS, Channel, logged_in, output_of, start
from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Event,
    Sink,
    Span,
    WatchFailed,
)
from campaigns.targets.watches.sources.ssh import scripts
from campaigns.targets.watches.sources.ssh.frames import (
    MOST_OF_RUN,
    Decoder,
    PythonDecoder,
    ShellDecoder,
    TooMuch,
)
from campaigns.targets.watches.sources.ssh.proc import printable
from campaigns.targets.watches.sources.ssh.reader import Reader
from campaigns.targets.watches.sources.ssh.schedule import (
    MOST_OUTPUT,
    Schedule,
    expected,
    schedule_of,
)

LOOK_SECONDS = 0.1
SHORT_SECONDS = 15.0
"""For a command that ends by itself."""
SILENT_SECONDS = 30.0
"""Without a frame, after which a machine counts as one that does not answer."""
SILENT_STEPS = 5
QUESTIONS, QUESTION_SECONDS, BEAT_SECONDS = 15, 60.0, 20.0
LAST_SECONDS = 1.5
"""For the last questions and schedules when a watch is stopped."""
END_SECONDS, ANSWER_SECONDS = 1.0, 5.0
ANSWER = re.compile(rb"Q (\d{1,6}) (\d{1,12}\.\d{1,9})")
MOST_OF_LINE, MOST_ANSWERS = 200, 4 << 20


def sample(
    access: Access, sink: Sink, stopped: Callable[[float], bool], worker: tuple[int, str, str]
) -> None:
    """Read frames until stopped. Raise WatchFailed, ActionFailed, HostKeyRefused."""
    if access.ssh is None:
        raise WatchFailed("This watch has no SSH login: give a user name, and a key or a password.")
    run = Run(access, access.ssh, sink, stopped, worker)
    try:
        asyncio.run(run.all())
    except TooMuch:
        raise WatchFailed(
            f"The machine printed more than {MOST_OF_RUN >> 20} MiB: take a longer step between two samples."
        ) from None


def expected_events(access: Access, span: Span) -> list[Event]:
    """Return the timers and cron jobs of a span. Raise WatchFailed, ActionFailed, HostKeyRefused."""
    if access.ssh is None:
        raise WatchFailed("This watch has no SSH login: give a user name, and a key or a password.")

    async def look(ssh: SshAccess) -> bytes:
        async with logged_in(ssh, access.rules) as connection:
            return await output_of(connection, scripts.TIMERS, SHORT_SECONDS, MOST_OUTPUT)

    work = within(look(access.ssh), lambda: None, CONNECT_SECONDS + SHORT_SECONDS + 5)
    return expected(schedule_of(asyncio.run(work)), span.begin, span.end)


class Run:
    """One watch, from its login to its end."""

    def __init__(
        self,
        access: Access,
        ssh: SshAccess,
        sink: Sink,
        stopped: Callable[[float], bool],
        worker: tuple[int, str, str],
    ) -> None:
        self.access, self.ssh, self.sink, self.stopped = access, ssh, sink, stopped
        self._worker = worker
        self._reading = self._ending = False
        self._asked: tuple[int, float] | None = None
        """The question that waits for its answer: its number, and when it was asked."""
        self._number = self._left = 0
        """The last question's number, and how many are still to be asked now."""
        self._errors = self._last_error = b""

    async def all(self) -> None:
        """Do all of it, and look for whether to stop."""
        work = asyncio.ensure_future(self._watch())
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=LOOK_SECONDS)
                if not self._ending and self.stopped(0):
                    self._ending = True
                    if not self._reading:
                        work.cancel()
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    async def _watch(self) -> None:
        step = self.access.step_seconds
        async with logged_in(self.ssh, self.access.rules) as connection:
            choice = await self._choice(connection)
            async with asyncio.timeout(CONNECT_SECONDS):
                channel = await start(connection, scripts.sampler(choice, step))
            token = secrets.token_hex(16)
            decoder: Decoder = ShellDecoder(token) if choice == "sh" else PythonDecoder()
            if choice == "sh":
                channel.send(token.encode())
            reader = Reader(self.sink, self.access.groups, self._worker, choice)
            early = asyncio.ensure_future(_schedule(connection, SHORT_SECONDS))
            before, after = Schedule(), Schedule()
            self._reading = True
            try:
                await self._read(channel, decoder, reader)
                if early.done():
                    before, after = early.result(), await _schedule(connection, LAST_SECONDS)
            finally:
                early.cancel()
                reader.finish(before, after)
                await channel.close(END_SECONDS)

    async def _choice(self, connection: Any) -> str:
        """Return what runs the sampler there."""
        output = await output_of(connection, scripts.CHOOSE, SHORT_SECONDS, 1 << 16)
        lines = output.decode("latin-1").split("\n")
        names = [line.removeprefix("perfdash ") for line in lines if line.startswith("perfdash ")]
        if not names or names[-1] not in scripts.CHOICES:
            raise WatchFailed(
                f"{self.ssh} has no shell that runs commands for this user: a login with a shell is needed."
            )
        return names[-1]

    async def _read(self, channel: Channel, decoder: Decoder, reader: Reader) -> None:
        silent = max(SILENT_SECONDS, SILENT_STEPS * self.access.step_seconds)
        frame_at = beat_at = monotonic()
        question_at: float | None = None
        end_at: float | None = None
        answered = 0
        while True:
            now = monotonic()
            if self._ending and end_at is None:  # the clock once more, and not for long
                end_at, self._left = now + LAST_SECONDS, QUESTIONS if reader.frames else 0
            if end_at is not None and (now > end_at or not (self._left or self._asked)):
                return
            if now - frame_at > silent:
                raise WatchFailed(f"{self.ssh} has sent nothing for {silent:.0f} s.")
            if question_at is not None and now >= question_at:
                question_at, self._left = now + QUESTION_SECONDS, QUESTIONS
            if now - beat_at >= BEAT_SECONDS:
                beat_at = now
                channel.send(b"")
            self._ask(channel)
            piece = await channel.next(LOOK_SECONDS)
            if piece is None:
                if channel.ended:
                    raise WatchFailed(self._why_ended(channel))
                continue
            stream, data, received = piece
            if stream == ERRORS:
                answered += len(data)
                if answered > MOST_ANSWERS:
                    raise TooMuch
                self._answer(data, received)
                continue
            for raw in decoder.feed(data, received):
                frame_at = received
                reader.read(raw)
                question_at = received if question_at is None else question_at

    def _ask(self, channel: Channel) -> None:
        """Ask for the clock, where a question is left and none waits; one that is not answered is given up."""
        now = monotonic()
        if self._asked is not None and now - self._asked[1] > ANSWER_SECONDS:
            self._asked, self._left = None, 0
        if self._left and self._asked is None:
            self._number += 1
            self._left -= 1
            self._asked = self._number, monotonic()
            channel.send(b"Q %d" % self._number)

    def _answer(self, data: bytes, received: float) -> None:
        *lines, rest = (self._errors + data).split(b"\n")
        for line in lines:
            match = ANSWER.fullmatch(line.strip())
            if match is None:
                self._last_error = line[:MOST_OF_LINE]
            elif self._asked is not None and int(match[1]) == self._asked[0]:
                self.sink.clock(ClockReading(self._asked[1], received, float(match[2])))
                self._asked = None
        self._errors = rest[-MOST_OF_LINE:]

    def _why_ended(self, channel: Channel) -> str:
        status = channel.process.exit_status
        text = printable((self._errors or self._last_error).decode("latin-1"), MOST_OF_LINE)
        if status is None:
            return f"The connection to {self.ssh} broke."
        if channel.process.exit_signal:
            return f"The sampler on {self.ssh} was ended by SIG{channel.process.exit_signal[0]}."
        return f"The sampler on {self.ssh} ended with exit status {status}{f': {text}' if text else ''}."


async def _schedule(connection: Any, seconds: float) -> Schedule:
    """Return what runs at set times there; nothing where the machine does not tell it."""
    with suppress(ActionFailed, OSError, asyncssh.Error):
        return schedule_of(await output_of(connection, scripts.TIMERS, seconds, MOST_OUTPUT))
    return Schedule()
