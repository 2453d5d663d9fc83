"""How the workers of Dynflow get through the plans of tasks: a fluid model on the clock here. No thread, no timer.

A worker is one process of Ruby: its threads run at once, and one of them computes at a time. So with n plans on a worker the part
of each that is Ruby takes n times as long; the rest, in which Pulp and Candlepin work, does not. Workers share the CPUs. Plans
beyond workers times threads wait for a thread.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sandbox.katello.machine import Machine

RUBY = 0.6
"""The share of a plan's time that is Ruby, on an idle server."""
SPREAD = 0.04
"""The standard deviation of the logarithm of a plan's time."""


@dataclass(slots=True, eq=False)
class Plan:
    """What one task has to do. seconds: alone on an idle worker; done: of these."""

    seconds: float
    begun: datetime | None = None
    ended: datetime | None = None
    done: float = 0.0
    worker: int = 0


@dataclass(slots=True, eq=False)
class Dynflow:
    """Plans that wait, and those that run. machine: has the numbers of workers and threads, now; a change takes effect at the next look."""

    now: Callable[[], datetime]
    machine: Callable[[], Machine]
    waiting: list[Plan] = field(default_factory=list)
    running: list[Plan] = field(default_factory=list)
    _at: datetime | None = None
    _known: Machine = field(default_factory=Machine)
    _random: random.Random | None = None

    def add(self, seconds: float) -> Plan:
        """Take a plan."""
        self.advance()
        if self._random is None:
            self._random = random.Random(self.machine().seed)
        plan = Plan(seconds * self._random.lognormvariate(0.0, SPREAD))
        self.waiting.append(plan)
        self._start()
        return plan

    def drop(self, plan: Plan) -> None:
        """Forget a plan that was cancelled."""
        self.advance()
        for plans in (self.waiting, self.running):
            if plan in plans:
                plans.remove(plan)
        self._start()

    def advance(self) -> None:
        """Let everything go on until now."""
        now = self.now()
        if self._at is None or now < self._at:
            self._at, self._known = now, self.machine()
        while self.running:
            rates = self._rates()
            left = {plan: (plan.seconds - plan.done) / rates[plan] for plan in self.running}
            first = min(self.running, key=lambda plan: left[plan])
            seconds = min(left[first], (now - self._at).total_seconds())
            for plan in self.running:
                plan.done += rates[plan] * seconds
            self._at += timedelta(seconds=seconds)
            if seconds < left[first]:
                break
            first.ended = self._at
            self.running.remove(first)
            self._start()
        self._at, self._known = now, self.machine()
        self._start()

    def renew(self) -> None:
        """Be as at the start."""
        self.waiting.clear()
        self.running.clear()
        self._random = None

    def _start(self) -> None:
        machine = self._known
        while self.waiting:
            held = [0] * machine.dynflow_workers
            for plan in self.running:
                if plan.worker < len(held):
                    held[plan.worker] += 1
            worker = held.index(min(held))
            if held[worker] >= machine.dynflow_threads:
                return
            plan = self.waiting.pop(0)
            plan.begun, plan.worker = self._at, worker
            self.running.append(plan)

    def _rates(self) -> dict[Plan, float]:
        """Return how many seconds of its own each plan gets through in one."""
        together: dict[int, int] = {}
        for plan in self.running:
            together[plan.worker] = together.get(plan.worker, 0) + 1
        crowd = max(1.0, RUBY * len(together) / self._known.cpus)
        return {
            plan: 1 / (1 - RUBY + RUBY * together[plan.worker] * crowd) for plan in self.running
        }
