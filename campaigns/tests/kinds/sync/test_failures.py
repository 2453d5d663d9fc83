"""What Pulp says of a task that failed, by class; the words are those of a real pulpcore."""

import pytest

from campaigns.kinds.sync.failures import failure_class


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("404, message='Not Found', url='http://feed/PULP_MANIFEST'", "feed 4xx"),
        ("401, message='Unauthorized', url='http://feed/PULP_MANIFEST'", "feed refuses"),
        ("503, message='Service Temporarily Unavailable', url='http://feed/a'", "feed 5xx"),
        (
            "Cannot connect to host 127.0.0.1:24899 ssl:default [Connect call failed ('127.0.0.1', "
            "24899)]",
            "feed unreachable",
        ),
        ("Cannot connect to host a:80 ssl:default [Name or service not known]", "feed unreachable"),
        (
            "[PLP0003] A file located at the url http://feed/a failed validation due to checksum. "
            "Expected 'b', Actual 'c'",
            "checksum",
        ),
        ("[PLP0005] Request timed out for http://feed/a", "timeout"),
        ("Worker has gone missing.", "worker gone"),
        ("Aborted during worker shutdown.", "worker gone"),
        ("[Errno 28] No space left on device", "disk full"),
        ("'utf-8' codec can't decode byte 0x80 in position 0", "not a feed"),
        ("", "other"),
    ],
)
def test_the_words_of_pulp_are_classified(words, expected):
    assert failure_class(words) == expected


def test_the_code_counts_too():
    assert failure_class("something in another language", "PLP0005") == "timeout"
