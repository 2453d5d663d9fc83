"""A model of the server: Puma's workers and threads before a database, on a machine. Pure: no clock, no waiting.

A request needs a place in httpd, a thread of a worker, and a connection of that worker to the
database. A worker runs Ruby in one thread at a time, so threads help while others wait for Candlepin
or the database, and each costs a little. All workers share the CPUs with Candlepin and PostgreSQL,
and the memory; what does not fit is swapped. How fast a request goes on is thus the same for all of
a worker, and changes with each that comes or ends.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from random import Random

from sandbox.katello.machine import Machine
from sandbox.katello.usage import Flow, Usage
from sandbox.katello.work import Work

POOL_SECONDS = 5.0
_SPREAD = 0.25  # of the logarithm of a service time
_SWITCH = 1.1e-5  # what switching costs a worker, times the cube of its further threads
_CROWD = 1.2  # what it costs to have twice as many runnable workers as CPUs
_SHARED = 8.0  # CPUs that Candlepin and PostgreSQL can use at once
_SHARP = 2.0  # how sharply a resource saturates
_SYSTEM_SHARE, _WORKER_GIB, _THREAD_GIB = 0.56, 0.5, 0.03
_HOLES_GIB = 0.0084  # that a thread leaves in the heap of its worker if it is made under load; nobody touches them
_SWAP_COST, _SWAP_BEARABLE, _SWAP_FAILURES = 3.0, 0.08, 5.0
_OTHER_CONNECTIONS = 4  # that each worker holds beside those of its threads


class Outcome(Enum):
    """How a request leaves the model."""

    DONE = "done"
    FULL = "full"  # no place in httpd, or in Puma's backlog
    NO_POOL = "no connection of the pool"
    NO_CONNECTION = "too many connections of PostgreSQL"
    TIMED_OUT = "Candlepin did not answer"  # while the machine swaps
    RESTARTED = "the server was restarted"


@dataclass(slots=True, eq=False)
class Request:
    """A request in the model; `leave` is called once, with what became of it."""

    work: Work
    seconds: float  # of its work, on an idle server
    leave: Callable[[Outcome], None]
    gives_up: float = math.inf  # when it waits no longer for a connection


@dataclass(slots=True, eq=False)
class _Worker:
    """A process of Puma. `clock` is how much work each of its requests has had since its start."""

    clock: float = 0.0
    rate: float = 1.0
    opened: int = 0  # connections, which are kept
    running: list[tuple[float, int, Request]] = field(default_factory=list)  # a heap by end
    waiting: deque[Request] = field(default_factory=deque)  # for a connection, in a thread
    ruby: float = 0.0
    elsewhere: float = 0.0
    served: int = 0  # requests that had a thread
    threads: int = 0  # that exist: those of the start, and those that were made since

    @property
    def busy(self) -> int:
        return len(self.running) + len(self.waiting)


class Puma:
    """All workers, and who waits for them. Instants are seconds of the server, and never go back."""

    def __init__(self, machine: Machine, now: float = 0.0, usage: Usage | None = None) -> None:
        self.machine = machine
        self.now = now
        self.usage = usage or Usage()
        self.usage.flow = Flow()
        self.finished = 0
        self._random = Random(machine.seed)
        self._number = count()
        self._workers = _started(machine)
        self._queue: deque[Request] = deque()
        self._inside = 0
        self._swapped = swapped(machine)
        self._stale = True

    def arrive(self, now: float, work: Work, leave: Callable[[Outcome], None]) -> None:
        """Take a request; where the server is full, it leaves at once."""
        self.advance(now)
        if (
            self._inside >= self.machine.httpd_limit
            or len(self._queue) >= self.machine.puma_backlog
        ):
            leave(Outcome.FULL)
            return
        seconds = work.median * math.exp(self._random.gauss(0, _SPREAD))
        self._inside += 1
        self._queue.append(Request(work, seconds, leave))
        self._dispatch()

    def advance(self, now: float) -> None:
        """Let the time pass; who has ended by then leaves."""
        while True:
            at, worker = self._next()
            if worker is None or at > now:
                break
            self._pass(at)
            if worker.waiting and worker.waiting[0].gives_up <= at:
                worker.served += 1
                self._leave(worker.waiting.popleft(), Outcome.NO_POOL)
            else:
                self._end(worker)
            self._dispatch()
        self._pass(now)

    def next_at(self) -> float:
        """When something happens by itself; infinity while nobody is inside."""
        return self._next()[0]

    def told(self) -> dict[str, object]:
        """Tell what Puma's own statistics do."""
        threads = self.machine.puma_threads
        return {
            "backlog": len(self._queue),
            "requests_count": self.finished,
            "workers": [
                {
                    "running": worker.threads,
                    "busy_threads": worker.busy,
                    "pool_capacity": threads - worker.busy,
                    "max_threads": threads,
                    "connections": worker.opened,
                }
                for worker in self._workers
            ],
        }

    def control_statistics(self) -> dict[str, object]:
        """Return what Puma's control server answers to `GET /stats`; the queue is spread over the workers."""
        threads, workers = self.machine.puma_threads, len(self._workers)
        return {
            "workers": workers,
            "phase": 0,
            "booted_workers": workers,
            "old_workers": 0,
            "worker_status": [
                {
                    "index": place,
                    "phase": 0,
                    "booted": True,
                    "last_status": {
                        "backlog": (len(self._queue) + place) // workers,
                        "running": worker.threads,
                        "busy_threads": worker.busy,
                        "pool_capacity": threads - worker.busy,
                        "max_threads": threads,
                        "requests_count": worker.served,
                    },
                }
                for place, worker in enumerate(self._workers)
            ],
        }

    def threads(self) -> int:
        """Count the threads that exist, of all workers."""
        return sum(worker.threads for worker in self._workers)

    def memory_gib(self) -> float:
        """Return the memory that the workers take now. What a thread has taken stays with its worker."""
        made = sum(worker.threads - self.machine.first_threads for worker in self._workers)
        return _WORKER_GIB * len(self._workers) + _THREAD_GIB * self.threads() + _HOLES_GIB * made

    def clear(self) -> None:
        """Let everybody leave: the server is restarted."""
        held = [*self._queue]
        for worker in self._workers:
            held += [request for *_, request in worker.running] + [*worker.waiting]
        self._queue.clear()
        self._workers = _started(self.machine)
        self._stale = True
        for request in held:
            self._leave(request, Outcome.RESTARTED)

    def _leave(self, request: Request, outcome: Outcome) -> None:
        self._inside -= 1
        self.finished += 1
        self._stale = True
        request.leave(outcome)

    def _dispatch(self) -> None:
        """Give the threads that are free to those who wait longest."""
        while self._queue:
            worker = min(self._workers, key=lambda each: each.busy)
            if worker.busy >= self.machine.puma_threads:
                return
            self._admit(worker, self._queue.popleft())

    def _admit(self, worker: _Worker, request: Request) -> None:
        """Let a request have a connection, wait for one, or fail."""
        worker.threads = max(worker.threads, worker.busy + 1)
        if len(worker.running) >= self.machine.pool:
            request.gives_up = self.now + POOL_SECONDS
            worker.waiting.append(request)
            self._stale = True
            return
        if len(worker.running) >= worker.opened:
            others = _OTHER_CONNECTIONS * len(self._workers)
            if sum(each.opened for each in self._workers) + others >= self.machine.max_connections:
                worker.served += 1
                self._leave(request, Outcome.NO_CONNECTION)
                return
            worker.opened += 1
        ends = worker.clock + request.seconds
        heapq.heappush(worker.running, (ends, next(self._number), request))
        worker.ruby += request.work.ruby
        worker.elsewhere += request.work.elsewhere
        self._stale = True

    def _end(self, worker: _Worker) -> None:
        """End the first request of a worker; its connection goes to who waits for one."""
        ends, _, request = heapq.heappop(worker.running)
        worker.clock = max(worker.clock, ends)
        worker.served += 1
        worker.ruby -= request.work.ruby
        worker.elsewhere -= request.work.elsewhere
        if worker.waiting:
            self._admit(worker, worker.waiting.popleft())
        likely = _SWAP_FAILURES * (self._swapped - _SWAP_BEARABLE)
        failed = likely > 0 and self._random.random() < likely
        self._leave(request, Outcome.TIMED_OUT if failed else Outcome.DONE)

    def _pass(self, now: float) -> None:
        gone = now - self.now
        if gone > 0:
            self._set_rates()
            for worker in self._workers:
                worker.clock += gone * worker.rate
            self.usage.add(gone * self.machine.time_scale)
            self.now = now

    def _next(self) -> tuple[float, _Worker | None]:
        """Find when the next request ends or gives up, and in which worker."""
        self._set_rates()
        first: tuple[float, _Worker | None] = (math.inf, None)
        for worker in self._workers:
            if worker.running:
                at = self.now + max(0.0, worker.running[0][0] - worker.clock) / worker.rate
                if at < first[0]:
                    first = (at, worker)
            if worker.waiting and worker.waiting[0].gives_up < first[0]:
                first = (worker.waiting[0].gives_up, worker)
        return first

    def _set_rates(self) -> None:
        """Say how fast each worker's requests go on."""
        if not self._stale:
            return
        self._stale = False
        wanted, active, elsewhere = 0.0, 0.0, 0.0
        for worker in self._workers:
            threads = len(worker.running)
            if threads:
                others = worker.ruby * (threads - 1) / threads  # that want Ruby, too
                slower = (1 + others) * (1 + _SWITCH * (threads - 1) ** 3)
                worker.rate = 1 / slower
                active += min(1.0, worker.ruby / (1 + others))
                elsewhere += worker.elsewhere / slower
        wanted = active + elsewhere
        crowd = 1 + _CROWD * max(0.0, active / self.machine.cpus - 1) ** 2
        full = at_least_one(max(wanted / self.machine.cpus, elsewhere / _SHARED))
        swapping = 1 + _SWAP_COST * self._swapped
        slower = full * crowd * swapping
        switching = wanted / slower * (crowd - 1)
        self.usage.flow = Flow(
            user=wanted / slower,
            system=switching,
            ruby=active / slower + switching,
            wanted=wanted,
            requests=sum(len(worker.running) for worker in self._workers),
            slower=full * crowd,
            swapping=swapping,
        )
        for worker in self._workers:
            if worker.running:
                worker.rate /= slower


def _started(machine: Machine) -> list[_Worker]:
    """Return the workers of a Puma that has just started."""
    return [_Worker(threads=machine.first_threads) for _ in range(machine.puma_workers)]


def at_least_one(load: float) -> float:
    """How much slower a resource is for a load of it: 1 without any, the load itself where it is much."""
    return float((1 + load**_SHARP) ** (1 / _SHARP))


def swapped(machine: Machine) -> float:
    """Say how much more memory is needed than there is, as a share of it; 0 where it fits."""
    return max(0.0, needed_gib(machine) / machine.memory_gib - 1)


def system_gib(machine: Machine) -> float:
    """Return the memory of everything but Puma."""
    return _SYSTEM_SHARE * machine.memory_gib


def needed_gib(machine: Machine) -> float:
    """Return the memory that is touched once each worker has all its threads: what does not fit is swapped."""
    worker = _WORKER_GIB + _THREAD_GIB * machine.puma_threads
    return system_gib(machine) + machine.puma_workers * worker
