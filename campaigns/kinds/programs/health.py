"""Watch the generator while it measures, and judge whether it, or its machine, set the value.

`Monitor` reads this process and /proc; `judge` is pure. For most kinds a busy client spoils the
measurement. The subject of the `downloader` kind is a client: its own CPU time and its own late event loop
are part of what is measured. They only cause a warning (the value does not describe the server then). Only
causes outside the subject make the value a bound: exhausted descriptors, ports or memory, and an owner's limit.
A generator that other programs keep waiting is *starved* (`starving`), whatever the kind.
"""

import os
import resource
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address

from campaigns.kinds.programs import processes
from campaigns.kinds.programs.processes import peak_memory_bytes as peak_memory_bytes
from campaigns.kinds.programs.starving import Waiting, waited_so_far, why_starved, why_warned
from campaigns.kit.network import SCHEMES, parse_url

HEALTHY, WARNED, STARVED, SATURATED = "healthy", "warned", "starved", "saturated"
BOUNDS = (STARVED, SATURATED)
"""Verdicts that make the values of a run bounds."""

CPU_WARNS = 0.7
"""Cores of own CPU time from which on the engine's own speed is what was measured."""
CONCURRENCY_WARNS = 0.8
"""Share of the configured concurrency that has to be reached."""
DESCRIPTORS_WARN = 0.8
"""Share of the limit of open files and sockets."""
LAG_WARNS = 0.25
"""The most that the loop may be late (99th percentile), as a share of the median time of a file."""
HELD_BACK_SATURATES = 0.02
"""Share of the time of all tasks spent waiting for their turn, from which on the owner's rate limit sets
the value."""

STEP_SECONDS = 0.25
MOST_STEPS = 240


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of the generator. word: healthy, warned, saturated or starved; reasons: a message for each, with its figure."""

    word: str
    reasons: tuple[str, ...]


def judge(figures: Mapping[str, float]) -> Verdict:
    """Return the verdict on the figures of a run, from `Monitor.figures` and the engine.

    Missing figures are not judged: some kernels do not count them, some engines have no event loop.
    """
    return verdict_of(figures, _bounds(figures), _warnings(figures))


def verdict_of(
    figures: Mapping[str, float], bounds: Sequence[str], warnings: Sequence[str]
) -> Verdict:
    """Return the verdict with its reasons: what the generator itself bounds, that it was starved, and what may have disturbed."""
    starved, warnings = why_starved(figures), (*why_warned(figures), *warnings)
    word = SATURATED if bounds else STARVED if starved else WARNED if warnings else HEALTHY
    return Verdict(word, (*bounds, *starved, *warnings))


def _bounds(figures: Mapping[str, float]) -> list[str]:
    reasons = []
    if exhausted := figures.get("exhausted", 0):
        reasons.append(
            f"The generator ran out of file descriptors, ports or memory {exhausted:.0f} times; "
            "lower the concurrency, or raise its limits."
        )
    held = figures.get("held_back_share", 0.0)
    if held > HELD_BACK_SATURATES:
        reasons.append(
            "The engine was held back by the target's limit of "
            f"{figures['requests_allowed_per_second']:g} requests/s for {held:.0%} of the time; "
            "ask the target's owner for more, or lower the concurrency."
        )
    return reasons


def _warnings(figures: Mapping[str, float]) -> list[str]:
    reasons = []
    cpu = figures.get("cpu_cores", 0.0)
    if cpu > CPU_WARNS:
        reasons.append(
            f"The engine used {cpu:.2f} of {figures.get('cores', 1):.0f} cores: its own speed is "
            "what was measured, not the server's."
        )
    reached = figures.get("effective_concurrency", 0.0)
    wanted = figures.get("reachable_concurrency", 0.0)
    if wanted and reached < CONCURRENCY_WARNS * wanted:
        reasons.append(
            f"The effective concurrency was {reached:.1f} of {wanted:.0f}: more connections were "
            "configured than were kept busy."
        )
    descriptors, limit = figures.get("descriptors", 0.0), figures.get("descriptor_limit", 0.0)
    if limit and descriptors > DESCRIPTORS_WARN * limit:
        reasons.append(f"{descriptors:.0f} of {limit:.0f} file descriptors were in use.")
    lag, median = figures.get("loop_lag_p99_seconds", 0.0), figures.get("file_time_p50_seconds")
    if median and cpu <= CPU_WARNS and lag > LAG_WARNS * median:
        reasons.append(
            f"The event loop was {lag * 1000:.0f} ms late (99th percentile) without being busy: "
            "the disk or other programs held it up."
        )
    return reasons


@dataclass(slots=True)
class Steps:
    """Bytes in steps of equal length; what arrived between two looks is spread evenly over that time."""

    step_seconds: float = STEP_SECONDS
    values: list[float] = field(default_factory=list)
    at: float = 0.0

    def add(self, until: float, amount: float) -> None:
        """Add what arrived between the last look and `until` (seconds of the clock)."""
        length = until - self.at
        while self.at < until:
            step = int(self.at / self.step_seconds)  # exact: steps are powers of two
            end = min(until, (step + 1) * self.step_seconds)
            self.values.extend([0.0] * (step + 1 - len(self.values)))
            self.values[step] += amount * (end - self.at) / length
            self.at = end
        if len(self.values) > MOST_STEPS and self.step_seconds < 1:
            self._coarsen()

    def per_second(self) -> list[float]:
        """Return the rate in each step; the last one may be shorter."""
        whole = len(self.values) - 1
        last = self.at - whole * self.step_seconds
        rates = [value / self.step_seconds for value in self.values[:-1]]
        return [*rates, self.values[-1] / last] if self.values and last > 1e-6 else rates

    def _coarsen(self) -> None:
        pairs = [self.values[i : i + 2] for i in range(0, len(self.values), 2)]
        self.values = [sum(pair) for pair in pairs]
        self.step_seconds *= 2


class Monitor:
    """A thread that reads the state of the process four times a second, between `start` and `stop`."""

    def __init__(
        self,
        received: Callable[[], int],
        look: Callable[[float], None],
        children: Sequence[int] = (),
        *,
        only_watches: bool = False,
    ) -> None:
        """received: returns the bytes so far; look: is called with the seconds at each look.

        children: processes whose resources count, too; they may be waited for only after `stop`. only_watches: the children are
        the generator, so it does not matter whether this process waits for a CPU.
        """
        self.children = children
        self.steps = Steps()
        self._received = received
        self._look = look
        self._bytes = 0
        self._descriptors = 0
        self._begun, self._ended = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._waiting = Waiting(only_watches=only_watches)
        self._first_cpu = self._last_cpu = 0.0
        self._start_ns = self._stop_ns = 0
        threading.Thread(target=self._watch, name="monitor", daemon=True).start()

    def start(self) -> int:
        """Begin; return the instant that is second 0, in nanoseconds of perf_counter."""
        self._first_cpu = processes.cpu_seconds(self.children)
        self._waiting.begin(self.children)
        self._start_ns = time.perf_counter_ns()
        self._begun.set()
        return self._start_ns

    def stop(self) -> None:
        """Take the last reading. May be called from any thread, and again."""
        now = time.perf_counter_ns()
        with self._lock:
            if not self._ended.is_set():
                self._ended.set()
                self._stop_ns = now
                self._last_cpu = processes.cpu_seconds(self.children)
                self._waiting.look(self.children, last=True)
                self._note(self.seconds)

    @property
    def seconds(self) -> float:
        """The time between `start` and `stop`."""
        return (self._stop_ns - self._start_ns) / 1e9

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and its children between `start` and `stop`."""
        return self._last_cpu - self._first_cpu

    def figures(self) -> dict[str, float]:
        """Return the figures for `judge` that this machine provides."""
        return {
            "cpu_cores": self.cpu_seconds / self.seconds if self.seconds else 0.0,
            "cores": float(len(os.sched_getaffinity(0))),
            "descriptors": float(self._descriptors),
            "descriptor_limit": float(resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        } | self._waiting.figures()

    def waited_so_far(self) -> dict[str, float]:
        """Return the share of the time that others kept the generator waiting, for progress; nothing where that is not known."""
        return waited_so_far(self._waiting)

    def _watch(self) -> None:
        self._begun.wait()
        looks = 0
        while True:
            looks += 1
            due = self._start_ns / 1e9 + looks * STEP_SECONDS
            if self._ended.wait(max(0.0, due - time.perf_counter())):
                return
            with self._lock:
                if self._ended.is_set():
                    return
                seconds = (time.perf_counter_ns() - self._start_ns) / 1e9
                self._note(seconds)
            self._look(seconds)

    def _note(self, seconds: float) -> None:
        received = self._received()
        self.steps.add(seconds, received - self._bytes)
        self._bytes = received
        self._descriptors = max(self._descriptors, processes.most_descriptors(self.children))
        if not self._ended.is_set():
            self._waiting.look(self.children)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value at rank floor(n x share + 0.5), at least 1; 0 where there are no values."""
    if not values:
        return 0.0
    rank = max(1, int(len(values) * share + 0.5))
    return sorted(values)[min(rank, len(values)) - 1]


def is_local(url: str) -> bool:
    """Return whether the host of a URL is this machine; a name other than localhost is not resolved."""
    endpoint = parse_url(url, SCHEMES)
    if endpoint.address is None:
        return endpoint.host == "localhost"
    return is_here(str(endpoint.address))


def is_here(address: str) -> bool:
    """Return whether an IP address belongs to this machine: loopback, or one of its interfaces."""
    import psutil  # programs need no list of interfaces, and start without it

    own = {
        entry.address.partition("%")[0]
        for entries in psutil.net_if_addrs().values()
        for entry in entries
    }
    return address in own or ip_address(address).is_loopback
