"""What is told of feeds that are broken or none, on the simulated and on a real Pulp; see suite.py."""

import socket

import pytest

from campaigns.kinds.base.content import PROOFS
from campaigns.tests.kinds.programs.servers import server
from campaigns.tests.kinds.sync.suite import found, good, parameters

LINE = b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def closed_port():
    """A port of this machine that nobody listens on."""
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


def ended(pulp, feed, url, failure, words, **changes):
    """Sync from a broken feed; see that it is classified and told, and that the next run is good."""
    measured, _ = pulp.run(parameters(url, max_retries=1, **changes))

    assert measured.failures == {failure: 1}, measured.failure
    assert f"1 of 1 syncs failed (1 {failure}). Pulp says: " in measured.failure
    assert words in measured.failure
    assert "Traceback" not in measured.failure
    pulp.attempt += 1
    measured, proofs = pulp.run(parameters(feed.manifest(files=2, size=1000)))
    assert not measured.failure
    assert good(proofs), proofs
    assert found(proofs)["files downloaded by these syncs"] == 2


@pytest.mark.parametrize(
    ("settings", "failure", "words"),
    [
        ({"manifest": "missing"}, "feed 4xx", "404, message='Not Found', url='http"),
        ({"missing": 1}, "feed 4xx", "404, message='Not Found', url='http"),
        ({"errors": 1}, "feed 5xx", "500, message='Internal Server Error', url='http"),
        ({"manifest": "error"}, "feed 5xx", "500, message='Internal Server Error', url='http"),
        ({"manifest": "html"}, "not a feed", "valid manifest file"),
        ({"manifest": "wrongdigest"}, "checksum", "failed validation due to checksum"),
        ({"manifest": "wrongsize"}, "checksum", "failed validation due to size"),
        ({"pages": 1}, "checksum", "failed validation due to checksum"),
        ({"truncated": 1}, "feed unreachable", "payload is not completed"),
    ],
    ids=[
        "no manifest",
        "no files",
        "files 500",
        "manifest 500",
        "a page",
        "wrong digest",
        "wrong size",
        "sign-in pages",
        "cut off",
    ],
)
def test_a_broken_feed_is_told_in_pulps_words(pulp, feed, settings, failure, words):
    ended(pulp, feed, feed.manifest(files=3, size=1000, **settings), failure, words)


@pytest.mark.parametrize(
    ("status", "failure"),
    [("401 No", "feed refuses"), ("403 No", "feed refuses"), ("503 No", "feed 5xx")],
)
def test_a_feed_that_refuses_is_told(pulp, feed, status, failure):
    with server(None, any=LINE % status.encode()) as url:
        ended(pulp, feed, url, failure, f"{status[:3]}, message='No'")


def test_a_feed_that_nobody_serves_is_told(pulp, feed):
    url = f"http://127.0.0.1:{closed_port()}/PULP_MANIFEST"

    ended(pulp, feed, url, "feed unreachable", "Cannot connect to host 127.0.0.1")


def test_a_feed_whose_name_does_not_resolve_is_told(pulp, feed):
    url = "http://feed.invalid/PULP_MANIFEST"

    ended(pulp, feed, url, "feed unreachable", "Cannot connect to host feed.invalid:80")


def test_a_feed_that_is_silent_is_told(pulp, feed):
    url = feed.manifest(files=2, size=1000, stalls=1)

    ended(pulp, feed, url, "timeout", "timed out", sock_read_timeout=0.5)


@pytest.mark.parametrize("path", ["repo/files=1", "nowhere"])
def test_packages_that_are_not_there_are_told(pulp, feed, path):
    url = f"{feed.base_url}/{path}/"

    ended(pulp, feed, url, "feed 4xx", "404, message='Not Found'", content="rpm")


def test_the_same_content_at_two_addresses_is_proved_and_one_file_more_is_other_content(pulp, feed):
    def content(label, files):
        measured, proofs = pulp.run(parameters(feed.manifest(files=files, size=1000, label=label)))
        assert not measured.failure
        pulp.attempt += 1
        return [found(proofs)[name] for name in PROOFS]

    here, there, more = content("here", 3), content("there", 3), content("more", 4)

    assert here == there
    assert here[:2] == [3, 3000]
    assert (more[0], more[2] == here[2]) == (4, False)
