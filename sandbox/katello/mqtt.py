"""What a publisher says to an MQTT broker (MQTT 3.1.1): one message on a connection of its own, as a smart proxy sends it."""

import asyncio
import contextlib
import ssl
import struct

_CONNECTED, _TAKEN = b"\x20\x02\x00\x00", b"\x40\x02\x00\x01"
_SECONDS = 10.0


class NotPublished(Exception):
    """The broker did not take a message."""


async def publish(
    broker: str, port: int, context: ssl.SSLContext, topic: str, payload: bytes
) -> None:
    """Publish a message with QoS 1 and wait until the broker has it. Raise NotPublished."""
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_connection(broker, port, ssl=context)
            try:
                await _exchange(reader, writer, topic, payload)
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise NotPublished(f"{broker}:{port} took no message: {error!r}") from None


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, topic: str, payload: bytes
) -> None:
    writer.write(_packet(0x10, _text("MQTT") + b"\x04\x02\x00\x0f" + _text("")))
    if (answer := await reader.readexactly(4)) != _CONNECTED:
        raise NotPublished(f"The broker refused the connection: {answer.hex()}")
    writer.write(_packet(0x32, _text(topic) + b"\x00\x01" + payload))
    if (answer := await reader.readexactly(4)) != _TAKEN:
        raise NotPublished(f"The broker refused the message: {answer.hex()}")
    writer.write(b"\xe0\x00")


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack(">H", len(raw)) + raw


def _packet(kind: int, body: bytes) -> bytes:
    length, size = bytearray(), len(body)
    while True:
        size, digit = size >> 7, size & 127
        length.append(digit | (0x80 if size else 0))
        if not size:
            return bytes([kind]) + bytes(length) + body
