"""Hosts that register at one instant at the model of Puma, off line: seconds of the model, no clock."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox.katello.machine import Machine
from sandbox.katello.proxy import Proxy
from sandbox.katello.puma import Outcome, Puma
from sandbox.katello.work import work_of

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


@dataclass(frozen=True, slots=True)
class Registered:
    """When hosts have registered, in order, and how many had no answer, or one too late. hosts: how many began."""

    hosts: int
    ends: Sequence[float]
    failed: int

    @property
    def p95_seconds(self) -> float:
        """The 95th percentile over all hosts; infinity where too few registered."""
        rank = math.ceil(0.95 * self.hosts) - 1
        return self.ends[rank] if rank < len(self.ends) else math.inf


def register(hosts: int, machine: Machine, patience_seconds: float = math.inf) -> Registered:
    """Let hosts register at one instant: each sends the requests of rhsm one after another.

    patience_seconds: a host has failed where an answer takes longer. With CPUs of a proxy they come through it; it gives up
    after its timeout.
    """
    puma, proxy = Puma(machine), Proxy(machine)
    through = bool(machine.proxy_cpus)
    ends: list[float] = []
    failed: set[int] = set()
    due: list[tuple[int, int]] = []  # hosts with the step that comes next

    def leaving(
        host: int, step: int, began: float, asked: float = 0.0
    ) -> Callable[[Outcome], None]:
        def leave(outcome: Outcome) -> None:
            if outcome is not Outcome.DONE or puma.now - began > patience_seconds:
                failed.add(host)
            if through:
                proxy.answered(puma.now)
                if puma.now - asked > machine.proxy_timeout:
                    failed.add(host)
                    return
            if outcome is Outcome.DONE and step + 1 < len(STEPS):
                due.append((host, step + 1))
            elif outcome is Outcome.DONE:
                ends.append(puma.now)

        return leave

    def ask(host: int, step: int, now: float) -> None:
        if not through:
            puma.arrive(now, STEPS[step], leaving(host, step, now))
            return

        def passed_on() -> None:
            puma.arrive(proxy.now, STEPS[step], leaving(host, step, now, proxy.now))

        proxy.arrive(now, passed_on)

    for host in range(hosts):
        ask(host, 0, 0.0)
    while due or min(puma.next_at(), proxy.next_at()) < math.inf:
        while due:
            host, step = due.pop()
            ask(host, step, puma.now)
        at = min(puma.next_at(), proxy.next_at())
        if at < math.inf:
            proxy.advance(at)
            puma.advance(at)
    return Registered(hosts, sorted(ends), len(failed))
