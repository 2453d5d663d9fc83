"""One connection of a virtual host to an MQTT broker, on the connection of the load engine. No Django."""

import asyncio
import ssl
from collections.abc import Callable
from time import perf_counter_ns
from typing import TypeVar, cast

from campaigns.kinds.hosts.program import mqtt
from campaigns.kinds.load.failures import LoadFailed, of_error
from campaigns.kinds.load.framing import Opened

PacketOf = TypeVar("PacketOf", mqtt.Connack, mqtt.Suback)
NS = 1_000_000_000
LEFT = LoadFailed("connect", "the host has left")
THE_ONLY_ID = 1
"""The packet id of the one SUBSCRIBE of a connection."""


class Subscription(Opened, asyncio.Protocol):
    """A connection that is subscribed to one topic. took: is called with each message, which is acknowledged already.

    `ended` is done when the connection is over, with the reason.
    """

    def __init__(self, took: Callable[[mqtt.Publish], None]) -> None:
        self.ended: asyncio.Future[LoadFailed] = asyncio.get_running_loop().create_future()
        self._took = took
        self._reader = mqtt.Reader()
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[mqtt.Packet] | None = None
        self._heard_ns = self._sent_ns = perf_counter_ns()

    async def begin(self, client_id: str, topic: str, keep_alive: int, timeout: float) -> None:
        """Open the session and subscribe. Raise LoadFailed; the connection is closed then."""
        try:
            async with asyncio.timeout(timeout):
                asked = mqtt.connect(client_id, keep_alive)
                connack = await self._answer(asked, mqtt.Connack)
                _check_connack(connack)
                asked = mqtt.subscribe(THE_ONLY_ID, topic)
                suback = await self._answer(asked, mqtt.Suback)
                _check_suback(suback, topic)
        except TimeoutError:
            failure = LoadFailed("timeout", f"waited {timeout:g} s for the broker's answer")
        except LoadFailed as error:
            failure = error
        else:
            return
        self.fail(failure)
        raise failure

    def look(self, now: int, keep_alive: int) -> None:
        """Send a ping where nothing was sent for most of the keep-alive time; give up where none was answered."""
        if self.ended.done():
            return
        if now - self._heard_ns > 2 * keep_alive * NS:
            self.fail(LoadFailed("timeout", f"no ping was answered for {2 * keep_alive} s"))
        elif (
            now - self._sent_ns > keep_alive * NS * 3 // 4 or now - self._heard_ns > keep_alive * NS
        ):
            self._send(mqtt.ping())

    def leave(self) -> None:
        """Say goodbye; `fail` closes the connection a moment later."""
        if not self.ended.done():
            self._send(mqtt.disconnect())
        self._end(LEFT)

    def fail(self, failure: LoadFailed) -> None:
        """Close the connection because of a failure."""
        if self._transport is not None:
            self._transport.abort()
        self._end(failure)

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._heard_ns = perf_counter_ns()
        try:
            for packet in self._reader.feed(data):
                self._process(packet)
        except mqtt.BadPacket as error:
            self.fail(LoadFailed("protocol", f"the broker sent {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if isinstance(exc, ssl.SSLError):
            self._end(of_error(exc, "TLS ended the connection to the broker"))
        else:
            why = f" ({exc})" if exc else ""
            self._end(LoadFailed("connect", f"the broker closed the connection{why}"))

    def _process(self, packet: mqtt.Packet) -> None:
        if isinstance(packet, mqtt.Publish):
            if packet.packet_id:
                self._send(mqtt.puback(packet.packet_id))
            self._took(packet)
        elif isinstance(packet, mqtt.Connack | mqtt.Suback):
            if self._waiting is None or self._waiting.done():
                raise mqtt.BadPacket("an answer that nothing had asked for")
            self._waiting.set_result(packet)

    async def _answer(self, asked: bytes, kind: type[PacketOf]) -> PacketOf:
        """Send a packet, and return its answer. Raise LoadFailed."""
        if self.ended.done():
            raise self.ended.result()
        self._waiting = asyncio.get_running_loop().create_future()
        self._send(asked)
        packet = await self._waiting
        if not isinstance(packet, kind):
            raise LoadFailed("protocol", f"the broker sent no {kind.__name__.upper()} first")
        return packet

    def _send(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)
            self._sent_ns = perf_counter_ns()

    def _end(self, failure: LoadFailed) -> None:
        if not self.ended.done():
            self.ended.set_result(failure)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(failure)


def _check_connack(connack: mqtt.Connack) -> None:
    """Raise LoadFailed where the broker refuses the connection."""
    if code := connack.code:
        kind = "auth" if code in mqtt.NOT_AUTHORISED else "connect"
        words = mqtt.REFUSALS.get(code, f"the broker refuses it with the code {code}")
        raise LoadFailed(kind, words)


def _check_suback(suback: mqtt.Suback, topic: str) -> None:
    """Raise LoadFailed where the broker refuses the subscription."""
    if suback.code == mqtt.REFUSED_SUBSCRIPTION or suback.packet_id != THE_ONLY_ID:
        raise LoadFailed("auth", f"the broker refuses the subscription to {topic}")
