import asyncio
import socket

import pytest

from sandbox.process import Sandbox
from sandbox.pulp.downloading import Downloader, local_socket
from sandbox.pulp.tasks import TaskFailed


def address(host: str, family: socket.AddressFamily = socket.AF_INET) -> tuple[object, ...]:
    return family, socket.SOCK_STREAM, 0, "", (host, 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10"])
def test_this_machine_may_be_connected_to(host: str) -> None:
    local_socket(address(host)).close()


def test_this_machine_may_be_connected_to_by_its_own_address() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent:
        try:
            unsent.connect(("192.0.2.1", 9))  # a datagram socket sends nothing to connect
        except OSError:
            pytest.skip("This machine has no address but loopback.")
        host = unsent.getsockname()[0]

    local_socket(address(host)).close()


@pytest.mark.parametrize("host", ["192.0.2.1", "10.0.0.1", "0.0.0.0", "169.254.169.254"])  # noqa: S104
def test_no_other_machine_may(host: str) -> None:
    with pytest.raises(OSError, match="unreachable"):
        local_socket(address(host))


def test_no_other_machine_may_over_ipv6() -> None:
    with pytest.raises(OSError, match="unreachable"):
        local_socket(address("2001:db8::1", socket.AF_INET6))


def test_a_download_asks_before_it_connects(feed: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a redirect leads, and for a literal address, which no resolver sees."""
    wanted = []

    def refuse(place: tuple[object, ...]) -> socket.socket:
        wanted.append(place[4])
        raise OSError(101, "not from here")

    monkeypatch.setattr("sandbox.pulp.downloading.local_socket", refuse)

    async def download() -> None:
        async with Downloader({"max_retries": 1}, retry_seconds=0) as downloader:
            await downloader.get(feed.manifest())

    with pytest.raises(TaskFailed, match="not from here"):
        asyncio.run(download())
    assert len(wanted) == 2
