"""What the modelled machine tells of itself, in the model's own time, and over HTTP like an exporter."""

import json
import math

import pytest

from sandbox.katello.machine import Machine
from sandbox.katello.process import SimulatedKatello
from sandbox.katello.puma import Puma, needed_gib
from sandbox.katello.usage import PAGE_SECONDS, Processes, Usage
from sandbox.katello.work import Work
from sandbox.remote import fetch
from sandbox.tests.katello.test_puma import machine

ALONE = Work(10.0, 0.3, 0.2)


def used(requests: int, seconds: float, **settings: float) -> tuple[Usage, Machine]:
    """What so many requests have used that are served together for a while."""
    made = machine(time_scale=1, **settings)
    puma = Puma(made)
    for _ in range(requests):
        puma.arrive(0.0, Work(1e6, ALONE.ruby, ALONE.elsewhere), lambda outcome: None)
    puma.advance(seconds)
    return puma.usage, made


def test_requests_use_the_cpu_that_their_work_needs() -> None:
    usage, made = used(1, 10.0, cpus=8)

    reading = usage.reading(made, needed_gib(made), 100.0, 20.0)

    assert sum(modes["user"] for modes in reading.cpus) == pytest.approx(5.0, rel=0.01)
    assert len(reading.cpus) == 8
    assert (reading.pages_in, reading.waiting["memory"]) == (0, 0)


def test_a_full_machine_uses_all_of_its_cpus_and_no_more() -> None:
    usage, _ = used(200, 10.0, cpus=2, puma_workers=40, memory_gib=256)

    assert 0.9 * 20 < usage.user + usage.system <= 20
    assert usage.cpu_waiting / 10 > 0.9


def test_a_machine_that_swaps_waits_for_pages() -> None:
    usage, made = used(4, 10.0, puma_workers=6, memory_gib=8)
    share = 1 - 1 / (1 + 3 * (needed_gib(made) / 8 - 1))

    assert usage.pages == pytest.approx(10 * 4 * share / PAGE_SECONDS)
    assert usage.memory_waiting / 10 == pytest.approx(1 - (1 - share) ** 4)
    assert usage.memory_stalled / 10 == pytest.approx(share**4)
    reading = usage.reading(made, needed_gib(made), 100.0, 20.0)
    assert reading.swap_used == pytest.approx((needed_gib(made) - 8) * 2**30)


def test_the_clock_here_runs_slower_or_faster_and_shares_stay() -> None:
    made = machine(time_scale=0.1)
    puma = Puma(made)
    puma.arrive(0.0, ALONE, lambda outcome: None)

    puma.advance(1.0)

    assert puma.usage.user == pytest.approx(0.05, rel=0.01)
    assert math.isfinite(puma.next_at())


def test_an_exporter_answers_anybody_and_is_no_request(server: SimulatedKatello) -> None:
    server.set("time_scale", 0.01)
    before = server.told()["requests"]

    text = fetch(f"{server.base_url}/metrics").decode()
    puma = json.loads(fetch(f"{server.base_url}/stats"))

    assert "sandbox_simulated 1.0" in text
    assert 'nodename="simulated"' in text
    assert 'node_cpu_seconds_total{cpu="7",mode="idle"}' in text
    assert [each["last_status"]["max_threads"] for each in puma["worker_status"]] == [5] * 4
    assert server.told()["requests"] == before


def test_programs_are_told_as_process_exporter_does(server: SimulatedKatello) -> None:
    for name, value in {"puma_workers": 2, "puma_threads": 16, "puma_threads_min": 16}.items():
        server.set(name, value)
    server.set("time_scale", 0.01)

    lines = fetch(f"{server.base_url}/metrics").decode().splitlines()
    told = {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)
            if name.startswith("namedprocess_")}  # fmt: skip

    name = "namedprocess_namegroup"
    assert told[f'{name}_num_procs{{groupname="puma"}}'] == 3
    assert told[f'{name}_num_threads{{groupname="puma"}}'] == 32
    assert told[f'{name}_memory_bytes{{groupname="puma",memtype="resident"}}'] == pytest.approx(
        (2 * 0.5 + 32 * 0.03) * 2**30
    )
    assert told[f'{name}_cpu_seconds_total{{groupname="postgres",mode="user"}}'] >= 0


def test_the_cpu_of_programs_adds_up_to_that_of_the_machine() -> None:
    usage, made = used(40, 10.0, cpus=2, puma_workers=8, memory_gib=64)
    processes = Processes(8, 40, 5.0, 30.0)

    reading = usage.reading(made, 35.0, 100.0, 20.0, processes)

    assert sum(each.cpu for each in reading.processes) == pytest.approx(usage.user + usage.system)
    assert 0 < reading.processes[0].cpu < usage.user + usage.system
    assert sum(each.memory for each in reading.processes) < 35 * 2**30
