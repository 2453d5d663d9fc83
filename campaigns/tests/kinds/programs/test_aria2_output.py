"""What aria2c 1.36 says is read as it says it; the lines were copied from it."""

import pytest

from campaigns.kinds.downloader.engines.aria2_output import FileOutcome, Reader

URI = "http://127.0.0.1:8000/f"
BEGIN = f"11/22 08:53:20 [ERROR] CUID#7 - Download aborted. URI={URI}"
END = "11/22 08:53:20 [NOTICE] Download GID#fae21ed96da548da not complete: /tmp/run/partial/3"


def told(*lines: str) -> list[FileOutcome]:
    reader = Reader({URI: 3})
    return [said for line in lines for said in reader.read(line)]


def test_a_file_that_came_is_told_by_its_number():
    said = told(
        "11/22 08:46:16 [NOTICE] Verification finished successfully. file=/tmp/run/partial/3",
        "11/22 08:46:16 [NOTICE] Download complete: /tmp/run/partial/3",
    )

    assert said == [FileOutcome(3)]


@pytest.mark.parametrize(
    ("line", "failure", "status"),
    [
        ("Exception: [AbstractCommand.cc:856] errorCode=1 Failed to establish connection, cause: Connection refused", "connect", None),
        ("Exception: [AbstractCommand.cc:856] errorCode=1 Failed to establish connection, cause: Permission denied", "address", None),
        ("Exception: [DownloadCommand.cc:234] errorCode=1 Got EOF from the server.", "connect", None),
        ("Exception: [AbstractCommand.cc:351] errorCode=2 URI=http://x/ -> [AbstractCommand.cc:340] errorCode=2 Timeout.", "timeout", None),
        ("  -> [HttpSkipResponseCommand.cc:218] errorCode=3 Resource not found", "4xx", 404),
        ("  -> [HttpSkipResponseCommand.cc:231] errorCode=29 The response status is not successful. status=503", "5xx", 503),
        ("  -> [HttpSkipResponseCommand.cc:239] errorCode=22 The response status is not successful. status=429", "4xx", 429),
        ("  -> [HttpResponse.cc:111] errorCode=22 Unexpected status 204", "protocol", None),
        ("  -> [HttpHeaderProcessor.cc:245] errorCode=1 Bad Status-Line: missing status-code", "protocol", None),
        ("  -> [AbstractDiskWriter.cc:459] errNum=28 errorCode=17 Failed to write into the file /tmp/run/partial/3, cause: No space left on device", "disk_full", None),
        ("  -> [SocketCore.cc:1018] errorCode=1 SSL/TLS handshake failure: The certificate is NOT trusted.", "tls", None),
    ],
)  # fmt: skip
def test_a_failure_is_told_by_its_class(line, failure, status):
    (said,) = told(BEGIN, line, END)

    assert said.index == 3
    assert said.failure is not None
    assert said.failure.failure == failure
    assert said.status == status


def test_a_wrong_digest_is_told_without_a_complaint_about_a_uri():
    (said,) = told("11/22 08:46:16 [ERROR] Checksum error detected. file=/tmp/run/partial/3", END)

    assert said.failure is not None
    assert said.failure.failure == "digest"


def test_a_file_of_which_nothing_is_said_at_the_end_is_what_was_complained_about():
    reader = Reader({URI: 3})
    lines = (BEGIN, "Exception: [SegmentMan.cc:126] errorCode=17 Write disk cache flush failure")

    assert [said for line in lines for said in reader.read(line)] == []
    (said,) = reader.remaining()
    assert said.index == 3
