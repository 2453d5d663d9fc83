"""The heads by which usual answers are known without parsing."""

import pytest

from campaigns.kinds.load.plain import usual

HEAD = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 3\r\n\r\n"


def test_an_answer_with_a_length_gives_its_head():
    assert usual(HEAD + b"abc") == (HEAD, len(HEAD) + 3)


@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"abcHTTP/1.1 200 OK",
        HEAD + b"ab",
        b"HTTP/1.1 200 OK\r\n\r\nabc",
        b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"abc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD[:-2] + b"content-length: 3\r\n\r\nabc",
        HEAD[:-2] + b"transfer-encoding: chunked\r\n\r\nabc",
        HEAD.replace(b": 3", b": 3, 3") + b"abc",
        HEAD.replace(b": 3", b": +3") + b"abc",
    ],
)
def test_an_answer_that_could_end_elsewhere_gives_none(data):
    assert usual(data) == (b"", 0)
