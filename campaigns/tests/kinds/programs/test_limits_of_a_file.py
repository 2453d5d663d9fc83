"""How long a file may take and be, in the parts that engines share. No network."""

import asyncio
import socket
from unittest.mock import Mock

import pytest

from campaigns.kinds.downloader.engines import asyncio as asyncio_downloader
from campaigns.kit.http import pacing, task_pacing
from campaigns.kit.http.failures import NO_LENGTH, FileFailed, normalised_message, refuse_length
from campaigns.kit.http.guarded import Limit, _Response


@pytest.mark.parametrize("announced", ["", "0", "1000", "007", " 12 ", "5, 5", str(2**63 - 1)])
def test_a_length_that_a_file_can_have_is_taken(announced):
    refuse_length(announced)


@pytest.mark.parametrize(
    "announced",
    ["-1", "+1", "many", "1.5", "1_0", "٣", "5,", " ", "1" * 23, str(2**63), "9" * 5000],
)
def test_what_is_no_number_of_bytes_is_refused_in_the_same_words(announced):
    with pytest.raises(FileFailed) as caught:
        refuse_length(announced)

    assert (caught.value.failure, str(caught.value)) == ("protocol", NO_LENGTH)


def test_what_libraries_say_of_other_things_is_left_as_it_is():
    assert normalised_message("Got nothing (libcurl 52)") == "Got nothing (libcurl 52)"


def answering(sent: bytes, limit: Limit):
    """Read the head of an answer that has come already."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        ours.settimeout(10)
        answer = type("Answer", (_Response,), {"_limit": limit})
        response = answer(ours)
        try:
            response.begin()
            return response.read()
        finally:
            response.close()


def test_an_answer_is_read_while_there_is_time_left():
    limit = Limit(10.0)
    limit.begin(used_seconds=9.0)

    assert answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", limit) == b"ok"


def test_nothing_of_an_answer_is_read_when_no_time_is_left():
    limit = Limit(10.0)
    limit.begin(used_seconds=11.0)

    with pytest.raises(FileFailed, match="not whole after 10 s") as caught:
        answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", limit)

    assert caught.value.failure == "timeout"


def test_waiting_for_the_owners_rate_is_no_part_of_a_files_time(monkeypatch):
    transfer = Mock()

    async def turn(self):
        return 1000.0

    async def send(request):
        return "answer"

    monkeypatch.setattr(task_pacing.Tasks, "turn", turn)

    async def main():
        asyncio_downloader.TRANSFER.set(transfer)
        async with asyncio.timeout(5) as limit:
            before = limit.when()
            asyncio_downloader.LIMIT.set(limit)
            answer = await asyncio_downloader._paced(pacing.Pacer(1.0))(Mock(), send)
            return answer, (limit.when() or 0) - (before or 0)

    answer, held_back = asyncio.run(main())

    assert answer == "answer"
    assert held_back == pytest.approx(1000.0)  # instants of the loop's clock are floats: rounded
    transfer.held_back.assert_called_once_with(1000.0)
