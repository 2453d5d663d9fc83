"""Hosts that register at one instant at the simulated Katello's model of Puma, off line: seconds of the model, no clock."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.katello.machine import Machine
from sandbox.katello.puma import Outcome, Puma
from sandbox.katello.work import work_of

PATIENCE_SECONDS = 180.0
"""A request that is answered later has failed, as a client's timeout has it."""
OWN = "/rhsm/consumers/uuid"
STEPS = [
    work_of(method, path)
    for method, path in (
        ("GET", "/rhsm/"),
        ("POST", "/rhsm/consumers"),
        ("GET", "/rhsm/status"),
        ("GET", f"{OWN}/certificates/serials"),
        ("GET", f"{OWN}/certificates"),
        ("GET", "/rhsm/status"),
        ("GET", f"{OWN}/accessible_content"),
        ("GET", f"{OWN}/content_overrides"),
        ("GET", "/rhsm/status"),
        ("PUT", f"{OWN}/profiles"),
    )
]
MACHINE = Machine(puma_threads=16, cpus=8, memory_gib=32.0)


@dataclass(frozen=True, slots=True)
class Registered:
    """p95_seconds: of all hosts, a failed one being slower than all others; infinity where more than 5 % failed."""

    p95_seconds: float
    failed: int


def registered(hosts: int, workers: int, seed: int) -> Registered:
    """Register so many hosts at one instant."""
    puma = Puma(replace(MACHINE, puma_workers=workers, seed=seed))
    ends: list[float] = []
    due: list[tuple[int, int]] = []
    began = [0.0] * hosts

    def leaving(host: int, step: int) -> Callable[[Outcome], None]:
        def leave(outcome: Outcome) -> None:
            if outcome is not Outcome.DONE or puma.now - began[host] > PATIENCE_SECONDS:
                return
            if step + 1 == len(STEPS):
                ends.append(puma.now)
            else:
                due.append((host, step + 1))

        return leave

    for host in range(hosts):
        puma.arrive(0.0, STEPS[0], leaving(host, 0))
    while due or puma.next_at() < math.inf:
        while due:
            host, step = due.pop()
            began[host] = puma.now
            puma.arrive(puma.now, STEPS[step], leaving(host, step))
        if (at := puma.next_at()) < math.inf:
            puma.advance(at)
    ends.sort()
    rank = math.ceil(0.95 * hosts) - 1
    return Registered(ends[rank] if rank < len(ends) else math.inf, hosts - len(ends))
