"""The packets of MQTT 3.1.1, byte by byte. The right bytes are those of the standard."""

import pytest

from campaigns.kinds.hosts.program import mqtt
from campaigns.kinds.hosts.program.mqtt import BadPacket, Connack, Pong, Publish, Reader, Suback

CONNACK, SUBACK, PONG = b"\x20\x02\x00\x00", b"\x90\x03\x00\x01\x01", b"\xd0\x00"
LONG = mqtt.publish("a/b", b"x" * 20_000, 7)
STREAM = (
    CONNACK + SUBACK + mqtt.publish("a/b", b"hello", 513) + PONG + LONG + mqtt.publish("c", b"")
)
PACKETS = [
    Connack(0),
    Suback(1, 1),
    Publish("a/b", b"hello", 513),
    Pong(),
    Publish("a/b", b"x" * 20_000, 7),
    Publish("c", b""),
]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # Figures 3.2 to 3.6 of the standard: protocol name and level, clean session, keep alive, identifier.
        (mqtt.connect("id", 30), b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x1e\x00\x02id"),
        (mqtt.subscribe(1, "a/b"), b"\x82\x08\x00\x01\x00\x03a/b\x01"),
        (mqtt.puback(513), b"\x40\x02\x02\x01"),
        (mqtt.publish("a", b"hi", 1), b"\x32\x07\x00\x01a\x00\x01hi"),
        (mqtt.publish("a", b"hi", 1, again=True), b"\x3a\x07\x00\x01a\x00\x01hi"),
        (mqtt.publish("a", b"hi"), b"\x30\x05\x00\x01ahi"),
        (mqtt.ping(), b"\xc0\x00"),
        (mqtt.disconnect(), b"\xe0\x00"),
    ],
    ids=["connect", "subscribe", "puback", "publish", "again", "unacknowledged", "ping", "leave"],
)
def test_packets_are_written_as_the_standard_shows_them(written, expected):
    assert written == expected


@pytest.mark.parametrize(
    ("length", "written"),
    [(127, b"\x7f"), (128, b"\x80\x01"), (16_383, b"\xff\x7f"), (16_384, b"\x80\x80\x01")],
)
def test_lengths_at_the_limits_of_the_standard(length, written):
    packet = mqtt.publish("t", b"x" * (length - 3))

    assert packet[1 : 1 + len(written)] == written
    assert Reader().feed(packet) == [Publish("t", b"x" * (length - 3))]


def test_packets_are_read_whole():
    assert Reader().feed(STREAM) == PACKETS


def test_packets_are_read_wherever_they_are_cut():
    for cut in range(len(STREAM)):
        reader = Reader()
        assert reader.feed(STREAM[:cut]) + reader.feed(STREAM[cut:]) == PACKETS


def test_packets_are_read_byte_by_byte():
    reader = Reader()
    assert [packet for byte in STREAM for packet in reader.feed(bytes((byte,)))] == PACKETS


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x30\xff\xff\xff\x7f", "a packet of 268,435,455 bytes"),
        (b"\x30\xff\xff\xff\xff\x01", "more than four bytes"),
        (b"\x20\x03\x00\x00\x00", "type 2 with 3 bytes"),
        (b"\x20\x02\x02\x00", "type 2"),
        (b"\x21\x02\x00\x00", "flags 0b0001"),
        (b"\x90\x03\x00\x01\x03", "type 9"),
        (b"\x10\x00", "type 1, which"),
        (b"\xd0\x01\x00", "type 13 with 1 bytes"),
        (b"\x00", "type 0"),
        (b"\xf0", "type 15"),
        (b"\x34\x05\x00\x01a\x00\x01", "QoS 2"),
        (b"\x36\x05\x00\x01a\x00\x01", "QoS 3"),
        (b"\x30\x00", "shorter than its topic"),
        (b"\x30\x03\x00\x09a", "shorter than its topic"),
        (b"\x32\x04\x00\x01a\x00", "shorter than its topic"),
        (b"\x32\x05\x00\x01a\x00\x00", "packet id 0"),
        (b"\x30\x03\x00\x01\xff", "no UTF-8"),
        (b"HTTP/1.1 400 Bad Request\r\n", "a packet of type 4, which is for no subscriber"),
    ],
)
def test_what_no_broker_may_send_is_refused(data, words):
    with pytest.raises(BadPacket, match=words):
        Reader().feed(data)


def test_a_huge_packet_is_refused_before_it_comes():
    reader = Reader(most_bytes=1000)

    with pytest.raises(BadPacket, match="at most 1,000"):
        reader.feed(b"\x30\xe9\x07")
