"""Determine when each virtual host begins and ends. Pure: no clock; instants are nanoseconds after the start.

closed    `hosts` hosts; each does its work, thinks, and does it again, until `iterations` or
          `duration_seconds` are over. A slow target slows them down.
open      work arrives at `rate_per_second`, independent of the target; it waits where all hosts are
          busy. Latency counts from the intended start, so it includes a stall of the target in full.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from campaigns.kit.mappings import ProgramRequest

NS = 1_000_000_000
CLOSED, OPEN = "closed", "open"
CONSTANT, POISSON = "constant", "poisson"


class BadSchedule(ValueError):
    """The schedule is inconsistent; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a run's virtual hosts begin and repeat.

    hosts: at a time, over all processes and generators. ramp_seconds: over which the first starts of a
    closed loop are spread evenly; 0 is a barrier: all at one instant. iterations: of each host (closed)
    or all arrivals (open); None: until the duration is over. warm_up_seconds: what begins before is done,
    but not counted. shard, shards: which part of the run this is.
    """

    hosts: int
    loop: str = CLOSED
    ramp_seconds: float = 0.0
    iterations: int | None = None
    duration_seconds: float | None = None
    think_seconds: float = 0.0
    rate_per_second: float | None = None
    arrivals: str = CONSTANT
    seed: int = 1
    warm_up_seconds: float = 0.0
    shard: int = 0
    shards: int = 1

    def __post_init__(self) -> None:
        if problem := _problem(self):
            raise BadSchedule(problem)

    @classmethod
    def from_request(cls, values: ProgramRequest) -> "Schedule":
        """Return the schedule of a request. Raise BadSchedule, or TypeError for an unknown name."""
        return cls(**values)

    def part(self, shard: int, shards: int) -> "Schedule":
        """Return one part of a schedule; a part may be split again (by generator, then by process)."""
        return replace(self, shard=self.shard + shard * self.shards, shards=self.shards * shards)

    @property
    def numbers(self) -> range:
        """The numbers of the hosts of this part; the first host of the whole run is 0."""
        return range(self.shard, self.hosts, self.shards)

    @property
    def warm_up_ns(self) -> int:
        """When values begin to count."""
        return int(self.warm_up_seconds * NS)

    @property
    def end_ns(self) -> int | None:
        """When the last work may begin; work in progress is finished."""
        return None if self.duration_seconds is None else int(self.duration_seconds * NS)

    @property
    def interval_seconds(self) -> float | None:
        """The expected time between two requests of one host in an open loop; None in a closed one."""
        return self.hosts / self.rate_per_second if self.rate_per_second else None

    @property
    def every_ns(self) -> int:
        """The time between two arrivals of this part, rounded down; 0 where it is not constant."""
        if not self.rate_per_second or self.arrivals != CONSTANT:
            return 0
        return int(self.shards * NS / self.rate_per_second)

    def start_ns(self, number: int) -> int:
        """Return when a host of a closed loop begins for the first time."""
        return int(self.ramp_seconds * NS * number / self.hosts)

    def arrivals_ns(self) -> Iterator[tuple[int, int]]:
        """Yield number and intended start of the arrivals in this part of an open loop, in order of time."""
        assert self.rate_per_second is not None  # noqa: S101 - for the type checker
        instants = (
            self._constant(self.rate_per_second)
            if self.arrivals == CONSTANT
            else self._poisson(self.rate_per_second)
        )
        for number, instant in instants:
            if self.iterations is not None and number >= self.iterations:
                return
            if self.end_ns is not None and instant >= self.end_ns:
                return
            yield number, instant

    def _constant(self, rate: float) -> Iterator[tuple[int, int]]:
        number = self.shard
        while True:
            yield number, int(number * NS / rate)
            number += self.shards

    def _poisson(self, rate: float) -> Iterator[tuple[int, int]]:
        """Yield arrivals with independent exponential intervals: the union of such parts is a Poisson process, too."""
        chance = random.Random(f"{self.seed} {self.shard} {self.shards}")
        number, at = self.shard, 0.0
        while True:
            at += chance.expovariate(rate / self.shards)
            yield number, int(at * NS)
            number += self.shards


def _problem(schedule: Schedule) -> str:
    """Return what is wrong; empty where nothing is."""
    if schedule.hosts < 1:
        return f"{schedule.hosts} hosts cannot load anything; give at least 1."
    if schedule.loop not in (CLOSED, OPEN):
        return f"The loop {schedule.loop!r} is neither closed nor open."
    if schedule.loop == OPEN and not (schedule.rate_per_second and schedule.rate_per_second > 0):
        return "An open loop needs a rate: give rate_per_second, more than 0."
    if schedule.loop == OPEN and schedule.shard >= schedule.hosts:
        return (
            f"{schedule.hosts} hosts cannot be shared by {schedule.shards} generators and processes; "
            f"give at least {schedule.shards}."
        )
    if schedule.loop == CLOSED and schedule.rate_per_second is not None:
        return "A closed loop has no rate; leave rate_per_second out, or choose the open loop."
    if schedule.arrivals not in (CONSTANT, POISSON):
        return f"Arrivals are constant or poisson, not {schedule.arrivals!r}."
    if schedule.iterations is None and schedule.duration_seconds is None:
        return "The load would never end; give iterations, duration_seconds, or both."
    if schedule.iterations is not None and schedule.iterations < 1:
        return f"{schedule.iterations} iterations are nothing to do; give at least 1."
    if min(schedule.ramp_seconds, schedule.think_seconds, schedule.warm_up_seconds) < 0:
        return "Ramp, think time and warm-up cannot be negative."
    if schedule.duration_seconds is not None and (
        schedule.duration_seconds <= schedule.warm_up_seconds
    ):
        return (
            f"The warm-up of {schedule.warm_up_seconds:g} s leaves nothing of the "
            f"{schedule.duration_seconds:g} s; make it shorter, or the duration longer."
        )
    return ""
