"""How a smart proxy gets through the hosts of a job. Pure: the whole course of a job follows from its start.

Foreman plans one host after another, and hands them to the proxy in batches. The proxy works on so many at once; each host costs it
CPU (15 programs of OpenSSH, or a share of an ansible-runner) and waits for the rest of its time. Hosts share the CPUs. A host of a
job keeps memory of the proxy until the job has ended: hosts beyond what the memory holds are never reported.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from sandbox.katello.machine import Machine

BATCH = 100
"""Hosts in a request of Foreman to the proxy."""
FORKS = 5
"""Hosts that one ansible-runner works on at a time; it has a batch."""
SPREAD = 0.25
"""The standard deviation of the logarithm of a host's time."""
SYSTEM_GIB = 2.0
FAILED = "failed"
"""A failure of which a test says what it is."""


@dataclass(frozen=True, slots=True)
class Backend:
    """What a host costs the proxy. cpu: seconds of CPU in one second of a host's time."""

    cpu: float
    host_gib: float
    runners: bool


SCRIPT = Backend(0.2, 0.0026, runners=False)
ANSIBLE = Backend(0.5, 0.0034, runners=True)


@dataclass(slots=True, eq=False)
class Span:
    """A host of a job, in seconds since the job's start. ended: None: never. failure: why it ended with an error; empty where it did not."""

    planned: float
    begun: float = 0.0
    ended: float | None = None
    failure: str = ""


def _cpus(machine: Machine) -> int:
    return machine.proxy_cpus or machine.cpus


def _memory_gib(machine: Machine) -> float:
    return machine.proxy_memory_gib if machine.proxy_cpus else machine.memory_gib


def most_hosts(machine: Machine, backend: Backend) -> int:
    """Return how many hosts of a job the proxy's memory holds."""
    return max(0, int((_memory_gib(machine) - SYSTEM_GIB) / backend.host_gib))


def course(
    machine: Machine,
    backend: Backend,
    hosts: int,
    at_once: int | None,
    plan_seconds: float,
    seed: int,
) -> list[Span]:
    """Return what becomes of each host of a job. at_once: the job's own limit of hosts at a time; None: none."""
    random = Random(seed)
    slots = min(machine.rex_slots, at_once or hosts)
    if backend.runners:
        slots = min(slots, FORKS * -(-hosts // BATCH))
    spans = [Span((number + 1) * plan_seconds) for number in range(hosts)]
    _choose(spans, random, machine)
    silent = set(random.sample(range(hosts), round(machine.rex_hang_share * hosts)))
    silent |= set(range(most_hosts(machine, backend), hosts))
    waiting = iter([number for number in range(hosts) if number not in silent])
    work = [machine.rex_seconds * random.lognormvariate(0.0, SPREAD) for _ in range(hosts)]
    _run(spans, waiting, work, slots, backend.cpu / _cpus(machine), batched=at_once is None)
    return spans


def _choose(spans: Sequence[Span], random: Random, machine: Machine) -> None:
    for number in random.sample(range(len(spans)), round(machine.rex_fail_share * len(spans))):
        spans[number].failure = FAILED


def _run(
    spans: Sequence[Span],
    waiting: Iterator[int],
    work: Sequence[float],
    slots: int,
    load: float,
    *,
    batched: bool,
) -> None:
    """Let hosts begin in their order, as many at a time as there are slots; all go on at the same rate."""
    running: list[tuple[float, int]] = []
    now = done = 0.0  # done: what each host has had of its work since the start
    following = next(waiting, None)
    while running or following is not None:
        rate = 1 / max(1.0, len(running) * load)
        ends = now + (running[0][0] - done) / rate if running else float("inf")
        begins = float("inf")
        if following is not None and len(running) < slots:
            begins = max(now, handed_over(spans, following, batched=batched))
        at = min(ends, begins)
        done += (at - now) * rate
        now = at
        if begins <= ends and following is not None:
            spans[following].begun = now
            heapq.heappush(running, (done + work[following], following))
            following = next(waiting, None)
        else:
            _, number = heapq.heappop(running)
            spans[number].ended = now


def handed_over(spans: Sequence[Span], number: int, *, batched: bool) -> float:
    """Return when the proxy knows of a host: with the last of its batch, or alone where the job limits hosts at a time."""
    last = min(len(spans), (number // BATCH + 1) * BATCH) - 1 if batched else number
    return spans[last].planned
