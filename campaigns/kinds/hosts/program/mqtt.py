"""The packets of MQTT 3.1.1 that a subscriber needs, to bytes and back. Pure.

Source: MQTT Version 3.1.1, OASIS standard of 29 October 2014. A broker's packets are read by `Reader`; `publish` is for tests.
"""

from dataclasses import dataclass

MOST_PACKET_BYTES = 256 * 1024
"""A packet that announces more is refused: a message of a smart proxy has some 600 bytes."""
CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK = 1, 2, 3, 4, 8, 9
PINGREQ, PINGRESP, DISCONNECT = 12, 13, 14
REFUSALS = {
    1: "the broker does not speak MQTT 3.1.1",
    2: "the broker does not accept the client's identifier",
    3: "the broker is not available",
    4: "the broker does not accept the user or its password",
    5: "the broker does not admit this client",
}
"""What the return code of a CONNACK means."""
NOT_AUTHORISED = frozenset({4, 5})
REFUSED_SUBSCRIPTION = 0x80
SENT_BY_BROKERS = frozenset({CONNACK, PUBLISH, SUBACK, PINGRESP})
"""What a broker sends to a client that subscribes and publishes nothing."""


class BadPacket(ValueError):
    """The bytes are no packet that a broker may send to a subscriber."""


@dataclass(frozen=True, slots=True)
class Connack:
    """The answer to CONNECT; 0 is success, and see REFUSALS."""

    code: int


@dataclass(frozen=True, slots=True)
class Suback:
    """The answer to SUBSCRIBE: the QoS that was granted, or REFUSED_SUBSCRIPTION."""

    packet_id: int
    code: int


@dataclass(frozen=True, slots=True)
class Publish:
    """A message. packet_id: 0 with QoS 0, which nobody acknowledges. again: the broker sends it once more."""

    topic: str
    payload: bytes
    packet_id: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to PINGREQ."""


Packet = Connack | Suback | Publish | Pong


def connect(client_id: str, keep_alive_seconds: int) -> bytes:
    """Return a CONNECT that asks for a session which ends with the connection."""
    head = _text("MQTT") + bytes((4, 0b10)) + keep_alive_seconds.to_bytes(2, "big")
    return _packet(CONNECT, 0, head + _text(client_id))


def subscribe(packet_id: int, topic: str) -> bytes:
    """Return a SUBSCRIBE to one topic with QoS 1."""
    return _packet(SUBSCRIBE, 0b10, packet_id.to_bytes(2, "big") + _text(topic) + b"\x01")


def puback(packet_id: int) -> bytes:
    """Return a PUBACK."""
    return _packet(PUBACK, 0, packet_id.to_bytes(2, "big"))


def publish(topic: str, payload: bytes, packet_id: int = 0, *, again: bool = False) -> bytes:
    """Return a PUBLISH with QoS 1, or with QoS 0 where it has no packet id."""
    flags = 0b10 | again << 3 if packet_id else 0
    number = packet_id.to_bytes(2, "big") if packet_id else b""
    return _packet(PUBLISH, flags, _text(topic) + number + payload)


def ping() -> bytes:
    """Return a PINGREQ."""
    return _packet(PINGREQ, 0, b"")


def disconnect() -> bytes:
    """Return a DISCONNECT."""
    return _packet(DISCONNECT, 0, b"")


class Reader:
    """Reads the packets of a broker from its bytes, however these are cut."""

    def __init__(self, most_bytes: int = MOST_PACKET_BYTES) -> None:
        self.most_bytes = most_bytes
        self._received = bytearray()

    def feed(self, data: bytes) -> list[Packet]:
        """Return the packets that are complete with these bytes. Raise BadPacket; what follows is not read then."""
        self._received += data
        packets, at = [], 0
        while (head := self._head(at)) is not None:
            begin, end = head
            if end > len(self._received):
                break
            packets.append(_read(self._received[at], bytes(self._received[begin:end])))
            at = end
        del self._received[:at]
        return packets

    def _head(self, at: int) -> tuple[int, int] | None:
        """Return where the packet's content begins and ends; None as long as its length is not complete."""
        if at < len(self._received) and self._received[at] >> 4 not in SENT_BY_BROKERS:
            raise BadPacket(
                f"a packet of type {self._received[at] >> 4}, which is for no subscriber"
            )
        length, shift = 0, 0
        for place in range(at + 1, min(at + 5, len(self._received))):
            byte = self._received[place]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if length > self.most_bytes:
                    raise BadPacket(
                        f"a packet of {length:,} bytes, and at most {self.most_bytes:,} are accepted"
                    )
                return place + 1, place + 1 + length
        if shift == 28:
            raise BadPacket("a packet whose length has more than four bytes")
        return None


def _read(first: int, content: bytes) -> Packet:
    """Return the packet with this first byte. Raise BadPacket."""
    kind, flags = first >> 4, first & 0x0F
    if kind == PUBLISH:
        return _published(flags, content)
    if flags:
        raise BadPacket(f"a packet of type {kind} with the flags {flags:#06b}")
    if kind == CONNACK and len(content) == 2 and content[0] <= 1:
        return Connack(content[1])
    if kind == SUBACK and len(content) == 3 and content[2] in (0, 1, REFUSED_SUBSCRIPTION):
        return Suback(int.from_bytes(content[:2], "big"), content[2])
    if kind == PINGRESP and not content:
        return Pong()
    raise BadPacket(f"a packet of type {kind} with {len(content)} bytes")


def _published(flags: int, content: bytes) -> Publish:
    qos = flags >> 1 & 0b11
    if qos > 1:
        raise BadPacket(f"a message with QoS {qos}, and QoS 1 was asked for")
    at = 2 + int.from_bytes(content[:2], "big")
    if len(content) < at + 2 * qos:
        raise BadPacket("a message that is shorter than its topic")
    try:
        topic = content[2:at].decode()
    except UnicodeDecodeError:
        raise BadPacket("a message whose topic is no UTF-8") from None
    packet_id = int.from_bytes(content[at : at + 2], "big") if qos else 0
    if qos and not packet_id:
        raise BadPacket("a message with the packet id 0")
    return Publish(topic, content[at + 2 * qos :], packet_id, bool(flags & 0b1000))


def _packet(kind: int, flags: int, content: bytes) -> bytes:
    length, left = bytearray(), len(content)
    while True:
        left, low = divmod(left, 128)
        length.append(low | (0x80 if left else 0))
        if not left:
            return bytes((kind << 4 | flags,)) + bytes(length) + content


def _text(text: str) -> bytes:
    written = text.encode()
    return len(written).to_bytes(2, "big") + written
