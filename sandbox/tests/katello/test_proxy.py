"""Registration through a smart proxy: what its hardware and its timeout change, in the model's own time and over HTTP."""

import math
from collections.abc import Callable
from statistics import fmean

import pytest

from sandbox.katello.machine import Machine
from sandbox.katello.process import SimulatedKatello
from sandbox.katello.proxy import REQUEST_SECONDS, Proxy
from sandbox.tests.katello.registering import Registered, register
from sandbox.tests.katello.test_puma import machine
from sandbox.tests.katello.test_settings import registered
from sandbox.tests.katello.tls import Client

SERVER = {"puma_workers": 8, "puma_threads": 16, "cpus": 8, "memory_gib": 32}
SIZES = {4: 12, 8: 24, 16: 46}


def through(hosts: int, cpus: int, **settings: float) -> Registered:
    """Let hosts register through a proxy of so many CPUs."""
    made = machine(**SERVER, proxy_cpus=cpus, proxy_memory_gib=SIZES[cpus], **settings)
    return register(hosts, made)


def passed(proxy: Proxy, requests: int) -> list[float]:
    """When so many requests that come at once are passed on."""
    ends: list[float] = []
    for _ in range(requests):
        proxy.arrive(0.0, lambda: ends.append(proxy.now))
    while (at := proxy.next_at()) < math.inf:
        proxy.advance(at)
    return ends


def test_requests_share_the_cpus_of_the_proxy() -> None:
    one = fmean(passed(Proxy(machine(proxy_cpus=4, seed=seed)), 1)[0] for seed in range(40))
    many = passed(Proxy(machine(proxy_cpus=4, proxy_memory_gib=64)), 400)

    assert one == pytest.approx(REQUEST_SECONDS, rel=0.15)
    assert many[-1] == pytest.approx(100 * REQUEST_SECONDS, rel=0.1)


def test_more_connections_than_its_memory_holds_make_a_proxy_slow() -> None:
    roomy = passed(Proxy(machine(proxy_cpus=4, proxy_memory_gib=64)), 1000)[-1]

    assert passed(Proxy(machine(proxy_cpus=4, proxy_memory_gib=12)), 1000)[-1] > 1.5 * roomy


def test_a_proxy_that_restarts_lets_everybody_leave() -> None:
    proxy, left = Proxy(machine(proxy_cpus=4)), []
    proxy.arrive(0.0, lambda: left.append(1))

    proxy.clear()

    assert (left, proxy.next_at()) == ([1], math.inf)


@pytest.mark.parametrize("hosts", [100, 200, 400])
def test_the_largest_proxy_is_at_most_9_percent_faster_than_the_smallest(hosts: int) -> None:
    """As published for proxies of 4 CPUs and 12 GiB, 8 and 24, 16 and 46."""
    times = [fmean(through(hosts, cpus, proxy_timeout=600).ends) for cpus in SIZES]

    assert times == sorted(times, reverse=True)
    assert 0 < 1 - times[-1] / times[0] < 0.09


def test_a_longer_timeout_of_the_proxy_gives_fewer_timeouts() -> None:
    short, long = (through(400, 8, proxy_timeout=seconds).failed for seconds in (60, 600))

    assert short > 0.5 * 400
    assert long == 0
    assert through(100, 8, proxy_timeout=60).failed == 0


def test_without_a_proxy_nothing_changes() -> None:
    assert Machine().proxy_cpus == 0
    assert register(50, machine(proxy_timeout=1)) == register(50, machine())


def test_a_proxy_that_waits_no_longer_answers_so(
    server: SimulatedKatello, connect: Callable[..., Client]
) -> None:
    for name, value in {
        "time_scale": 0.02, "puma_workers": 1, "puma_threads": 1, "proxy_cpus": 4, "proxy_timeout": 10,
    }.items():  # fmt: skip
        server.set(name, value)

    _, answers = registered(connect, 6)

    statuses = [answer.status for answer in answers]
    assert set(statuses) == {200, 504}
    server.set("proxy_timeout", 600)
    _, answers = registered(connect, 6)
    assert {answer.status for answer in answers} == {200}
