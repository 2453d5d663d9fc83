"""What the model says of the published table: 100 to 1000 hosts, each with three downloads at a time."""

import math
from pathlib import Path
from statistics import fmean

import pytest

from sandbox.katello.content_app import BACKLOG, ContentApp, Place
from sandbox.katello.machine import Machine
from sandbox.tests.katello.test_puma import machine

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "simulated-katello.md"
CLASSES = {4: 12, 8: 24, 16: 46}
PUBLISHED = {4: 9.0, 8: 4.4, 16: 2.5}
"""Seconds a package for 700 hosts, by the CPUs of the smart proxy."""


def proxy(cpus: int, **settings: float) -> Machine:
    return machine(content_scale=1, proxy_cpus=cpus, proxy_memory_gib=CLASSES[cpus], **settings)


def fetched(hosts: int, made: Machine, requests: int = 6) -> tuple[list[float], int]:
    """Seconds of the packages that each of three lanes of each host fetches one after another, and how many are refused."""
    app, seconds, refused = ContentApp(made), [], 0

    def ask(left: int) -> None:
        began = app.now

        def leave(served: bool) -> None:
            nonlocal refused
            if not served:
                refused += 1
                return
            seconds.append(app.now - began)
            if left > 1:
                ask(left - 1)

        app.arrive(app.now, leave)

    for _ in range(3 * hosts):
        ask(requests)
    while (at := app.next_at()) < math.inf:
        app.advance(at)
    return seconds, refused


def burst(app: ContentApp, *, cold: bool = False, new_tls: bool = False) -> float:
    """When the last of 400 requests that come at once is answered."""
    ends: list[float] = []
    for _ in range(400):
        app.arrive(0.0, lambda served: ends.append(app.now), cold=cold, new_tls=new_tls)
    app.advance(1000.0)
    return max(ends)


def settled(hosts: int, cpus: int) -> float:
    """Mean seconds of a package once all downloads are under way."""
    seconds, refused = fetched(hosts, proxy(cpus))
    assert not refused
    return fmean(seconds[3 * hosts : -3 * hosts])


@pytest.mark.parametrize("cpus", PUBLISHED)
def test_700_hosts_wait_as_long_for_a_package_as_published(cpus: int) -> None:
    assert settled(700, cpus) == pytest.approx(PUBLISHED[cpus], rel=0.04)


def test_the_documented_table_is_that_of_the_model() -> None:
    rows = {}
    for line in PAGE.read_text().partition("## Content\n")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0].isdecimal() and 100 <= int(cells[0]) <= 1000:
            rows[int(cells[0])] = [float(cell) for cell in cells[1:]]

    assert list(rows) == list(range(100, 1100, 100))
    for hosts in (100, 600, 1000):
        assert rows[hosts] == [pytest.approx(settled(hosts, cpus), abs=0.06) for cpus in CLASSES]


def test_a_larger_proxy_is_as_much_better_as_published() -> None:
    small, middle, large = (settled(700, cpus) for cpus in CLASSES)

    assert 1 - middle / small == pytest.approx(0.5, abs=0.05)
    assert 1 - large / middle == pytest.approx(0.4, abs=0.05)
    assert 1 - large / small == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize("cpus", CLASSES)
def test_the_time_of_a_package_grows_with_the_number_of_hosts(cpus: int) -> None:
    times = [settled(hosts, cpus) for hosts in (100, 300, 1000)]

    assert times[1] == pytest.approx(3 * times[0], rel=0.05)
    assert times[2] == pytest.approx(10 * times[0], rel=0.05)


def test_a_server_carries_500_hosts_and_no_600() -> None:
    server = machine(content_scale=1, cpus=8, memory_gib=24)

    assert fetched(500, server)[1] == 0
    assert fetched(600, server)[1] == 1800 - server.httpd_limit - BACKLOG


def test_a_proxy_carries_more_than_1000_hosts() -> None:
    assert fetched(1100, proxy(8), 2)[1] == 0


def test_a_server_is_as_fast_as_a_proxy() -> None:
    server, _ = fetched(400, machine(content_scale=1, cpus=8, memory_gib=24))

    assert fmean(server) == pytest.approx(fmean(fetched(400, proxy(8))[0]), rel=0.05)


def test_there_are_as_many_processes_as_the_installer_starts() -> None:
    assert [Place.of(proxy(cpus)).processes for cpus in CLASSES] == [9, 17, 17]
    assert Place.of(proxy(16, content_workers=33)).processes == 33


def test_16_cpus_are_used_up_only_by_more_processes() -> None:
    few, many = (fetched(700, proxy(16, content_workers=number))[0] for number in (17, 33))

    assert 0.08 < 1 - fmean(many) / fmean(few) < 0.15


def test_what_the_feed_has_to_send_first_takes_longer() -> None:
    warm, cold = (burst(ContentApp(proxy(4)), cold=cold) for cold in (False, True))

    assert cold / warm == pytest.approx(31 / 16.8, rel=0.05)


def test_a_handshake_takes_cpu() -> None:
    app = ContentApp(proxy(4, content_wait_ms=0))

    ends = burst(app, new_tls=True)

    assert app.usage.user == pytest.approx(400 * 0.0198, rel=0.05)
    assert ends == pytest.approx(400 * 0.0198 / 4, rel=0.05)


def test_a_proxy_without_enough_memory_is_slow() -> None:
    small = machine(content_scale=1, proxy_cpus=4, proxy_memory_gib=8)

    assert fmean(fetched(300, small)[0]) > 1.5 * fmean(fetched(300, proxy(4))[0])


def test_a_restart_lets_everybody_leave() -> None:
    app = ContentApp(proxy(4))
    left: list[bool] = []
    for _ in range(30):
        app.arrive(0.0, left.append)

    app.clear()

    assert left == [False] * 30
    assert app.next_at() == math.inf
