"""Sends one answer: waits with timers, goes as fast as the reader or the bandwidth allows."""

import asyncio
import socket
import struct
from collections.abc import Callable

from sandbox.answers import Answer, Ending
from sandbox.bodies import PIECE, Body, WholeBody
from sandbox.settings import FOREVER

_END = b"\r\n"
_END_AND_CLOSE = b"Connection: close\r\n\r\n"
_TURN = 4 * PIECE
"""Bytes after which others have their turn."""

_TICK = 0.02
"""Seconds between two pieces where the bandwidth is limited."""

_BEFORE_RESET = 0.02
"""Seconds from the last byte to the reset, which would otherwise overtake what was sent."""

_NOTHING: Body = WholeBody(b"")
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Sending:
    """One answer on its way. Calls `ended(whole)` once, unless it is cancelled before.

    `paused` is set and unset by the connection, which then calls `resume`.
    """

    __slots__ = (
        "_answer", "_begun", "_body", "_close", "_ended", "_ending", "_limit", "_loop", "_timer",
        "_transport", "endless", "head_sent", "paused", "sent",
    )  # fmt: skip

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        answer: Answer,
        close: bool,
        paused: bool,
        ended: Callable[[bool], None],
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._answer = answer
        self._body = answer.body or _NOTHING
        self._ending = answer.ending if self._body.length else Ending.WHOLE
        whole = self._ending is Ending.WHOLE
        self._limit = self._body.length if whole else self._body.length // 2
        self._close = close
        self._ended = ended
        self._timer: asyncio.Handle | None = None
        self._begun = 0.0
        self.paused = paused
        self.head_sent = False
        self.endless = answer.silent
        self.sent = 0

    def start(self) -> None:
        """Begin, after the answer's delay."""
        if self._answer.silent:
            return
        if self._answer.delay > 0:
            self._timer = self._loop.call_later(self._answer.delay, self._begin)
        else:
            self._begin()

    def cancel(self) -> None:
        """Send no more."""
        if self._timer is not None:
            self._timer.cancel()

    def resume(self) -> None:
        """Go on: the reader has caught up."""
        if self._timer is None and not self.endless:
            self._push()

    def _begin(self) -> None:
        """Send the head, with the body where it is a small one."""
        self._timer = None
        self._begun = self._loop.time()
        self.head_sent = True
        parts: list[bytes | memoryview] = [
            self._answer.head,
            _END_AND_CLOSE if self._close else _END,
        ]
        if self._limit <= PIECE and not self._answer.bandwidth:
            while self.sent < self._limit:
                piece = self._body.piece(self.sent, self._limit)
                parts.append(piece)
                self.sent += len(piece)
        self._transport.writelines(parts)
        self._push()

    def _push(self) -> None:
        """Send what may be sent now, and see to being called again for the rest."""
        self._timer = None
        turn = self.sent + _TURN
        while self.sent < self._limit and not self.paused:
            if self.sent >= turn:
                self._timer = self._loop.call_soon(self._push)
                return
            due = self._due()
            if due <= self.sent:
                self._timer = self._loop.call_later(self._until_due(), self._push)
                return
            piece = self._body.piece(self.sent, due)
            self.sent += len(piece)
            self._transport.write(piece)
        if not self.paused and not self._transport.is_closing():
            self._arrived()

    def _due(self) -> int:
        """Give the number of bytes that may have been sent by now."""
        if not self._answer.bandwidth:
            return self._limit
        return min(self._limit, int((self._loop.time() - self._begun) * self._answer.bandwidth))

    def _until_due(self) -> float:
        """Give the seconds to the next piece: a tick, or less at the end, or more for one byte."""
        bandwidth = self._answer.bandwidth
        return max(0.001, 1 / bandwidth, min(_TICK, (self._limit - self.sent) / bandwidth))

    def _arrived(self) -> None:
        """End, or do what the answer wants half way."""
        match self._ending:
            case Ending.WHOLE:
                self._ended(True)
            case Ending.TRUNCATED:
                self._ended(False)
            case Ending.RESET:
                self._timer = self._loop.call_later(_BEFORE_RESET, self._reset)
            case Ending.STALL if self._answer.stall == FOREVER:
                self.endless = True
            case Ending.STALL:
                self._timer = self._loop.call_later(self._answer.stall, self._go_on)

    def _go_on(self) -> None:
        """Send the second half."""
        self._ending = Ending.WHOLE
        self._limit = self._body.length
        if self._answer.bandwidth:
            self._begun = self._loop.time() - self.sent / self._answer.bandwidth
        self._push()

    def _reset(self) -> None:
        """Break the connection with RST, not FIN."""
        connection: socket.socket = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._transport.abort()
