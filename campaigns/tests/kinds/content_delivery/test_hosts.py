"""What a host fetches next, in which order, and what it forgives."""

import pytest

from campaigns.kinds.content_delivery.program.delivery import PACKAGE, Download, Queue
from campaigns.kinds.content_delivery.program.files import File, is_sampled, order_of, written
from campaigns.kinds.load.failures import LoadFailed

pytestmark = pytest.mark.unit

FILES = [File(f"Packages/{name}.rpm", 1, "", b"", place) for place, name in enumerate("abcde")]
PATHS = ["pool/z/a.rpm", "pool/a/c.rpm", "pool/b/b.rpm"]
TIMEOUT, ERROR = LoadFailed("timeout", "slow"), LoadFailed("5xx", "no")


def queue() -> Queue:
    return Queue(PACKAGE, FILES, range(len(FILES)), 3)


def test_files_are_taken_in_order_and_a_returned_one_first():
    files = queue()
    first = files.take()
    assert first is not None
    files.returned.append(first)

    assert files.take_new() is None
    assert files.take() is first
    rest = [files.take() for _ in range(5)]
    assert [each and each.file.path[-5:] for each in rest] == [
        *("b.rpm", "c.rpm", "d.rpm", "e.rpm"),
        None,
    ]


def test_nothing_is_taken_after_the_end():
    files = queue()
    files.returned.append(Download(FILES[0]))
    files.is_over = True

    assert files.take() is None
    assert files.take_new() is None


def test_three_failures_of_a_call_are_forgiven_whatever_files_they_are_of():
    files = queue()

    assert [files.forgives(ERROR) for _ in range(5)] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("running", "fetched", "forgiven"), [(3, 1, True), (1, 1, False), (3, 0, False)]
)
def test_a_timeout_is_forgiven_as_long_as_other_downloads_run(running, fetched, forgiven):
    files = queue()
    files.failures, files.running, files.fetched = 9, running, fetched

    assert files.forgives(TIMEOUT) is forgiven
    assert files.is_too_much(TIMEOUT) is forgiven
    assert not files.is_too_much(ERROR)


def test_orders():
    assert list(order_of(PATHS, "same", 1, 0)) == [0, 1, 2]
    assert list(order_of(PATHS, "dnf", 1, 0)) == [0, 2, 1]
    many = [str(number) for number in range(1000)]
    shuffled = list(order_of(many, "shuffled", 1, 0))
    assert sorted(shuffled) == list(range(1000))
    assert shuffled == list(order_of(many, "shuffled", 1, 0))
    assert shuffled != list(order_of(many, "shuffled", 1, 1))
    assert shuffled != list(order_of(many, "shuffled", 2, 0))


def test_one_package_in_twenty_is_sampled_and_always_the_same():
    sampled = [is_sampled(1, host, place) for host in range(100) for place in range(200)]

    assert 900 < sum(sampled) < 1100
    assert sampled[:200] == [is_sampled(1, 0, place) for place in range(200)]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/Packages/libstdc++-1.0~rc1-1.rpm", "/Packages/libstdc++-1.0~rc1-1.rpm"),
        ("/a%20b", "/a%20b"),
        ("/a b\r\nHost: x", "/a%20b%0D%0AHost:%20x"),
        ("/ä", "/%C3%A4"),
    ],
)
def test_a_path_is_sent_as_it_is_but_for_what_no_client_could_send(path, sent):
    assert written(path) == sent
