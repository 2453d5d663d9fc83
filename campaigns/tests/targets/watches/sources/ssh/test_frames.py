"""What is not a frame, and limits."""

import ast
import zlib

import pytest

from campaigns.targets.watches.sources.ssh import frames, scripts
from campaigns.targets.watches.sources.ssh.frames import PythonDecoder, ShellDecoder, TooMuch


def test_the_program_is_one_of_old_python():
    ast.parse(scripts.PROGRAM, feature_version=(3, 6))  # Enterprise Linux 8


def header(length, at="1.000000"):
    return b"perfdash F %d %s 1.000 0.0100\n" % (length, at.encode())


def frame(body=b"3 /proc/x\nabc"):
    data = zlib.compress(body)
    return header(len(data)) + data


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"perfdash F x\n",
        b"perfdash F 5 1.000000",
        header(3) + b"abc",
        header(2) + zlib.compress(b"3 /proc/x\nabc")[:2],
        frame(b"9 /proc/x\nabc"),
        frame(b"x /proc/x\nabc"),
        frame(b"-1 /proc/x\nabc"),
        frame(bytes(frames.MOST_OF_FRAME + 1)),
        header(frames.MOST_OF_FRAME + 1) + bytes(frames.MOST_OF_FRAME + 1),
    ],
)
def test_what_is_wrong_is_left_out_and_the_next_frame_is_read(wrong):
    decoder = PythonDecoder()
    found = list(decoder.feed(wrong, 0.0)) + list(decoder.feed(b"\n" + frame(), 0.0))
    assert [raw.parts for raw in found] == [{"/proc/x": "abc"}]


@pytest.mark.parametrize("decoder", [PythonDecoder(), ShellDecoder("token")])
def test_a_run_brings_no_more_than_its_limit(decoder, monkeypatch):
    monkeypatch.setattr(frames, "MOST_OF_RUN", 1000)
    with pytest.raises(TooMuch):
        list(decoder.feed(bytes(1001), 0.0))


def test_a_frame_of_sh_that_is_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(frames, "MOST_OF_FRAME", 200)
    decoder = ShellDecoder("token")
    text = b"token F 1.5\n" + 50 * b"/proc/stat:cpu 1\n" + b"token E\ntoken F 2.%N 7.49 7.51\ntoken E\n"  # fmt: skip
    [raw] = decoder.feed(text, 9.0)
    assert (raw.at, raw.uptime, raw.received, decoder.dropped) == (2.0, 7.5, 9.0, 1)


def test_a_clock_of_sh_is_not_held_against_an_uptime_that_was_read_long_before_or_after():
    decoder = ShellDecoder("token")
    times = (b"100.00 100.02", b"100.00 100.40", b"")
    text = b"".join(b"token F 2.5 %s\ntoken E\n" % each for each in times)
    assert [(raw.uptime, raw.at_once) for raw in decoder.feed(text, 9.0)] == [
        (pytest.approx(100.01), True),
        (pytest.approx(100.2), False),
        (None, False),
    ]
