"""Run pgbench: describe it, try the scripts, or measure. No Django.

A process is left alone while it works; at the end of the time, who has not been let in, or began late, is killed. Who still
waits for an answer then is hung up, so that it writes down what it did before: its transactions are unfinished.
"""

import os
import selectors
import time
from collections.abc import Callable
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from campaigns.kinds.programs import health, processes
from campaigns.kinds.programs.lifeline import Lifeline
from campaigns.kinds.sql.engine import pgbench
from campaigns.kinds.sql.engine.log import Log
from campaigns.kinds.sql.engine.output import (
    CONNECT,
    GIVEN_UP,
    Failure,
    Summary,
    failure_of,
    progress_of,
    summary_of,
)
from campaigns.kinds.sql.engine.pgbench import Load, NoPgbench, Process, Program
from campaigns.kit.mappings import JsonObject, ProgramRequest, ProgramResult

READ_BYTES = 1 << 20
FOLD_BYTES = 1 << 20
"""How many bytes of lines are folded together, some 50,000 lines at the most."""
FOLD_SECONDS = 0.25
REST_SECONDS = 0.02
"""Between two looks at the pipes, which hold far more: who reads each line as it comes takes the processor from pgbench."""
MOST_OUTPUT = 1 << 20
MOST_LINES = 50
SECONDS_TO_END = 5.0
"""How long processes may take to end once their connections are shut down, and once they are killed."""
SECONDS_AFTER_THE_WINDOW = 1.0
"""After which a client that has not begun in the window of the load is ended."""
SECONDS_TO_FINISH = 10.0
"""Which clients that began late in the window have to end by themselves; what they begin then does not count."""
CLIENTS_A_SECOND = 50
"""How many connect in a second at the least: pgbench counts its time from before that, so it is given so much more of it."""
CALIBRATION_SECONDS = 1.0
FASTER_THAN_THE_FIRST = 1000
"""How much faster than the first transaction, which has to be prepared, the usual one may be."""


def main(keeper: Lifeline) -> ProgramResult:
    """Report the version; then do what the request asks for."""
    request = keeper.request
    try:
        program = pgbench.find()
    except NoPgbench as error:
        keeper.watch()
        return {"no_pgbench": str(error)}
    keeper.report(
        "hello",
        {"engine": pgbench.NAME, "version": program.version, "path": program.path}
        | described(request),
    )
    if request["task"] == "describe":
        keeper.watch()
        return {"described": True}
    directory = Path(request["directory"])
    files = _scripts(request, directory)
    if request["task"] == "try":
        return _try(keeper, program, request, directory, files)
    return _Measurement(keeper, program, request, directory, files).result()


def described(request: ProgramRequest) -> JsonObject:
    """Return the levels that are in force."""
    clients = request["clients"]
    apart = request["apart"]
    each = request["each"]
    threads = 1 if apart else clients if each else min(threads_of(request), clients)
    return {"clients": clients, "threads": threads, "processes": clients if apart else 1}


def threads_of(request: ProgramRequest) -> int:
    """Return the threads that are wanted of one process."""
    return int(request["threads"] or min(4, len(os.sched_getaffinity(0))))


def _scripts(request: ProgramRequest, directory: Path) -> list[tuple[str, int]]:
    """Write the scripts; return their files and weights."""
    files = []
    for number, (_, text, weight) in enumerate(request["scripts"]):
        path = directory / f"script-{number}.sql"
        path.write_text(text, encoding="utf-8")
        files.append((str(path), int(weight)))
    return files


def _try(
    keeper: Lifeline,
    program: Program,
    request: ProgramRequest,
    directory: Path,
    files: list[tuple[str, int]],
) -> ProgramResult:
    """Run each script once, with one client; and find the rate where it may be too high for the whole log.

    All processes are forked beforehand, so that the lease can be watched meanwhile.
    """
    variables = pgbench.environment(request, directory)
    once = Load(1, 1, 0, transactions=1)
    slowest = 0.0
    plain = {**request, "late_after_ms": None}
    commands = [pgbench.arguments(program, plain, [file], once, "") for file, _ in files]
    trials = [_Waiting([command], variables, directory) for command in commands]
    calibration = _calibration(program, request, files, directory)
    keeper.watch()
    for trial, (name, _, _) in zip(trials, request["scripts"], strict=True):
        run = _Run(trial.begin(), None, lambda *_: None)
        in_time = run.wait(request["connect_timeout_seconds"] + request["time_limit_seconds"])
        if failure := run.failures.get(0):
            return {"script": name, "failure": failure.failure, "message": failure.message, "state": failure.state}  # fmt: skip
        if not in_time or 0 not in run.summaries:
            limit = request["time_limit_seconds"]
            return {"script": name, "failure": "timeout", "message": f"it did not end within {limit:g} s", "state": ""}  # fmt: skip
        slowest = max(slowest, (run.summaries[0].latency_ms or 0.0) / 1000)
    return {"tried": len(files), "seconds": slowest} | _rate(request, slowest, calibration)


def _calibration(
    program: Program, request: ProgramRequest, files: list[tuple[str, int]], directory: Path
) -> "_Waiting | None":
    """Fork what finds the rate of a closed loop; None where it cannot be too high for the whole log."""
    open_or_slow = request["rate"] or request["apart"] or request["each"] or request["transactions"]
    if open_or_slow or not request["most_lines"]:
        return None
    levels = described(request)
    load = Load(levels["clients"], levels["threads"], CALIBRATION_SECONDS)
    weighted = [f"{file}@{weight}" for file, weight in files if weight > 0]
    command = pgbench.arguments(program, request, weighted, load, "")
    return _Waiting([command], pgbench.environment(request, directory), directory)


def _rate(request: ProgramRequest, slowest: float, calibration: "_Waiting | None") -> JsonObject:
    """Return the transactions a second of a closed loop, where they may be too many for the whole log."""
    if calibration is None:
        return {}
    if request["clients"] * FASTER_THAN_THE_FIRST < request["most_lines"] * slowest:
        return {}  # the one that waits ends with this program
    run = _Run(calibration.begin(), None, lambda *_: None)
    in_time = run.wait(CALIBRATION_SECONDS + SECONDS_TO_END)
    return {"tps": run.summaries[0].tps} if in_time and 0 in run.summaries else {}


class _Waiting:
    """Processes that have been forked, and wait until all of them begin at one instant."""

    def __init__(
        self,
        commands: list[list[str]],
        variables: dict[str, str],
        directory: Path,
        threads: int = 1,
        *,
        apart: bool = False,
        logs: bool = False,
    ) -> None:
        opens, self._gate = os.pipe()
        self.begun_at = 0.0
        self._made = [
            Process(
                command,
                variables,
                directory,
                opens,
                threads,
                client if apart else None,
                logs=logs,
            )
            for client, command in enumerate(commands)
        ]
        os.close(opens)

    def begin(self) -> list[Process]:
        """Execute them."""
        self.begun_at = time.monotonic()
        os.write(self._gate, b"x" * len(self._made))
        os.close(self._gate)
        return self._made


class _Run:
    """Processes at work: reads their pipes until all of them have ended."""

    def __init__(
        self, made: list[Process], log: Log | None, look: Callable[[int, float, float, int], None]
    ) -> None:
        """look: is called with the number of a process and its line of progress."""
        self.made, self.log, self._look = made, log, look
        self.output = [bytearray() for _ in made]
        self.errors: list[list[str]] = [[] for _ in made]
        self._partial = [bytearray() for _ in made]
        self.summaries: dict[int, Summary] = {}
        self.failures: dict[int, Failure] = {}
        self.killed: set[int] = set()
        self.begun: dict[int, float] = {}
        """When it first told that its clients are connected: by a line of progress, or by lines of its log."""
        self.started: dict[int, float] = {}
        """From when it counts its time, by its lines of progress: before it connects its clients."""
        self.given_up = [0 for _ in made]
        self.cut_off = 0
        """Clients at work that were ended: the database may have done what they waited for."""
        self.unfinished = 0
        """Those of them whose transaction had begun in time."""
        self.waited: float | None = None
        """Seconds that each of these transactions took at the least."""
        self._hung_up: dict[int, tuple[float, int]] = {}
        """When the connections of a process were shut down, and how many of its clients it had given up before."""
        self.ended: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._lines: dict[int, bytearray] = {}
        self._clients = {each: process.client for process in made for each in process.logs}
        self._open = [0 for _ in made]
        for number, process in enumerate(made):
            for descriptor, kind in (
                (process.stdout, "out"),
                (process.stderr, "err"),
                *((each, "log") for each in process.logs),
            ):
                os.set_blocking(descriptor, False)
                self._selector.register(descriptor, selectors.EVENT_READ, (number, kind))
                self._open[number] += kind != "log"
        self._folded_at = time.monotonic()
        self._window = float("inf")

    def wait(
        self,
        seconds: float,
        before_wait: Callable[[], None] = lambda: None,
        window_end: float | None = None,
        own_seconds: float | None = None,
    ) -> bool:
        """Read until all have ended, or the time is over: then end them. Return whether all ended by themselves.

        before_wait: is called before any of them is waited for, when its resources can be read still.
        window_end: an instant; who has not begun by then is killed a moment later.
        own_seconds: after which a process begins nothing more, so that what is under way later is unfinished.
        """
        end = time.monotonic() + seconds
        self._window = window = window_end or end
        late = window + SECONDS_AFTER_THE_WINDOW if window_end else end
        while any(self._open) and time.monotonic() < end:
            self._exchange(min(FOLD_SECONDS, max(0.0, end - time.monotonic())))
            time.sleep(REST_SECONDS)
            if time.monotonic() > late:
                late = end
                self._kill(lambda number: number not in self.begun)
                self._hang_up(lambda number: self.begun[number] > window)
        in_time = not any(self._open)
        if not in_time:
            self._end()
        while self._exchange(0):
            pass
        self._fold()
        before_wait()
        for number, process in enumerate(self.made):
            self._settle(number, process)
        self._count_unfinished(own_seconds)
        self._selector.close()
        return in_time

    def _kill(self, chosen: Callable[[int], bool]) -> None:
        for number, process in enumerate(self.made):
            if self._open[number] and chosen(number):
                self.killed.add(number)
                process.kill()

    def _end(self) -> None:
        """End all that are left, and read what they write."""
        while self._exchange(0):
            pass
        self._kill(lambda number: number not in self.begun)
        self._hang_up(lambda _: True)
        self._read_until(time.monotonic() + SECONDS_TO_END)
        self._kill(lambda _: True)
        self._read_until(time.monotonic() + SECONDS_TO_END)

    def unheard(self) -> int:
        """Return how many clients, each a process that began in time and was killed, have no line in the log that counts."""
        log = self.log
        clients = [
            self.made[number].client
            for number in self.killed & self.begun.keys()
            if self.begun[number] <= self._window
        ]
        return sum(
            1 for client in clients if log and client is not None and not log.of_clients[client]
        )

    def _count_unfinished(self, own_seconds: float | None) -> None:
        for number, (at, before) in self._hung_up.items():
            # Of one that was killed nobody knows how many of its clients waited.
            killed = number in self.killed and number not in self.summaries
            given_up = 1 if killed else self.given_up[number] - before
            self.cut_off += given_up
            if own_seconds is None or not given_up or self._came_late(number):
                continue
            waited = at - self.started.get(number, self.begun[number]) - own_seconds
            if waited > 0:
                self.unfinished += given_up
                self.waited = min(waited, self.waited or waited)

    def _read_until(self, instant: float) -> None:
        while any(self._open) and time.monotonic() < instant:
            self._exchange(FOLD_SECONDS)

    def _hang_up(self, chosen: Callable[[int], bool]) -> None:
        for number, process in enumerate(self.made):
            if self._open[number] and number in self.begun and chosen(number):
                self._hung_up.setdefault(number, (time.monotonic(), self.given_up[number]))
                if not process.hang_up():
                    self._kill(number.__eq__)

    def _settle(self, number: int, process: Process) -> None:
        code = process.wait()
        summary = summary_of(self.output[number].decode(errors="replace"))
        lines = [*self.errors[number], self._partial[number].decode(errors="replace")]
        if summary is not None:
            self.summaries[number] = summary
        never = number in self.killed and number not in self.begun
        if never or self._came_late(number):
            self.failures[number] = Failure(
                CONNECT, "it was not let in before the end of the run", "08001"
            )
            return
        if number in self.killed or (code == 0 and summary is not None):
            return
        if number in self._hung_up and not self._hung_up[number][1]:
            return
        # A thread of pgbench that ends it for an error may crash others, which are connecting still.
        if code < 0 and not any("error:" in line for line in lines):
            self.failures[number] = Failure("generator", f"pgbench was killed by signal {-code}")
            return
        self.failures[number] = failure_of(lines)

    def _came_late(self, number: int) -> bool:
        """Whether a process was let in when the time was over, as others had ended: nothing that it did counts."""
        if self.begun.get(number, 0.0) <= self._window:
            return False
        client = self.made[number].client
        return self.log is None or client is None or not self.log.of_clients[client]

    def _exchange(self, seconds: float) -> bool:
        """Wait for the pipes, and read them; return whether there was anything."""
        anything = False
        for key, _ in self._selector.select(seconds):
            number, kind = key.data
            descriptor: int = key.fd
            try:
                data = os.read(descriptor, READ_BYTES)
            except BlockingIOError:
                continue
            if kind == "log":
                anything |= self._take_log(descriptor, number, data)
                continue
            anything = True
            if not data:
                self._selector.unregister(descriptor)
                os.close(descriptor)
                self._open[number] -= 1
                if not self._open[number]:
                    self.ended.add(number)
            elif kind == "out":
                self.output[number] += data[: MOST_OUTPUT - len(self.output[number])]
            else:
                self._take_errors(number, data)
        if time.monotonic() - self._folded_at > FOLD_SECONDS:
            self._fold()
        return anything

    def _take_log(self, descriptor: int, number: int, data: bytes) -> bool:
        """Collect lines; a pipe that nobody has opened yet has no end."""
        if not data:
            self._selector.unregister(descriptor)
            return False
        self.begun.setdefault(number, time.monotonic())
        lines = self._lines.setdefault(descriptor, bytearray())
        lines += data
        if len(lines) > FOLD_BYTES:
            self._fold_one(descriptor)
        return True

    def _take_errors(self, number: int, data: bytes) -> None:
        partial = self._partial[number]
        partial += data
        *lines, rest = bytes(partial).split(b"\n")
        self._partial[number] = bytearray(rest[:4096])
        for line in lines:
            text = line.decode(errors="replace")
            if found := progress_of(text):
                now = time.monotonic()
                self.begun.setdefault(number, now)
                self.started.setdefault(number, now - found[0])
                self._look(number, *found)
                continue
            self.given_up[number] += bool(GIVEN_UP.search(text))
            if len(self.errors[number]) < MOST_LINES:
                self.errors[number].append(text[:1000])

    def _fold(self) -> None:
        self._folded_at = time.monotonic()
        for descriptor in self._lines:
            self._fold_one(descriptor)

    def _fold_one(self, descriptor: int) -> None:
        lines = self._lines[descriptor]
        whole = lines.rfind(b"\n") + 1
        if not whole or self.log is None:
            return
        text = bytes(lines[:whole])
        del lines[:whole]
        self.log.take(text, self._clients[descriptor])


class _Measurement:
    """One measured run."""

    def __init__(
        self,
        keeper: Lifeline,
        program: Program,
        request: ProgramRequest,
        directory: Path,
        files: list[tuple[str, int]],
    ) -> None:
        self._keeper, self._request = keeper, request
        levels = described(request)
        self.clients, self.threads = levels["clients"], levels["threads"]
        apart = request["apart"]
        self.seconds = None if request["transactions"] else float(request["seconds"])
        self.warm_up = 0.0 if request["transactions"] else float(request["warm_up_seconds"])
        weighted = [f"{file}@{weight}" for file, weight in files if weight > 0]
        names = [name for name, _, weight in request["scripts"] if weight > 0]
        rate, late = request["rate"], request["late_after_ms"]
        many = self.clients if apart else 1
        load = Load(
            1 if apart else self.clients,
            1 if apart else self.threads,
            (self.seconds or 0.0) + self.warm_up + self._to_connect(),
            request["transactions"],
            rate / many if rate else None,
        )
        self.own_seconds = None if self.seconds is None else ceil(load.seconds)
        command = pgbench.arguments(program, request, weighted, load, str(directory / "log"))
        variables = pgbench.environment(request, directory)
        waiting = _Waiting(
            [command] * many, variables, directory, load.threads, apart=apart, logs=True
        )
        self.made = waiting.begin()
        self._gate_at = waiting.begun_at
        self._begun_at = datetime.now(UTC).timestamp()
        self.log = Log(
            self.clients,
            names,
            offered=bool(rate),
            retries=request["tries"] != 1,
            warm_up_seconds=self.warm_up,
            seconds=self.seconds,
            late_us=ceil(late * 1000) if late else None,
            begin=int(self._begun_at * 1e6) if apart else None,
        )
        self._own_before = 0.0
        self._figures: dict[str, float] = {}
        self._rates: list[dict[int, float]] = []
        self._done: list[float] = [0.0] * many
        self._failed: list[int] = [0] * many
        self._monitor = health.Monitor(
            lambda: self.log.measured,
            self._report,
            [p.pid for p in self.made],
            only_watches=True,
        )
        self.run = _Run(self.made, self.log, self._take_progress)
        keeper.watch()

    def _to_connect(self) -> int:
        """Return the seconds that connecting may take, where all clients do it first."""
        first = not (self._request["apart"] or self._request["each"])
        return ceil(self.clients / CLIENTS_A_SECOND) if first else 0

    def result(self) -> ProgramResult:
        """Wait for pgbench; return the counts."""
        request = self._request
        limit = float(request["time_limit_seconds"])
        window, longest = None, limit
        if request["apart"] and self.seconds is not None:
            window = self._gate_at + self.seconds + self.warm_up
            longest = min(limit, self.seconds + self.warm_up + SECONDS_TO_FINISH)
        self._monitor.start()
        self._own_before = processes.cpu_seconds()
        in_time = self.run.wait(longest, self._stop, window, self.own_seconds)
        whole = self.run.summaries
        if not request["apart"] and (summary := whole.get(0)) and summary.tps:
            self.log.ends_after(summary.processed / summary.tps)
        return {
            "complete": in_time or window is not None,
            "log": self.log.result(),
            "processed": sum(each.processed for each in whole.values()),
            "counts": _sum([each.counts for each in whole.values()]),
            "tps": sum(each.tps for each in whole.values()),
            "connect_ms": [each.connect_ms for each in whole.values() if each.connect_ms is not None],
            "summaries": len(whole),
            "processes": len(self.made),
            "killed": len(self.run.killed & self.run.begun.keys()),
            "unheard": self.run.unheard(),
            "cut_off": self.run.cut_off,
            "unfinished": self.run.unfinished,
            "waited_seconds": self.run.waited,
            "failures": [
                [each.failure, each.state, each.message] for each in self.run.failures.values()
            ],
            "figures": self._monitor.figures() | self._figures,
        }  # fmt: skip

    def _stop(self) -> None:
        """Read what the processes have used, before they are waited for."""
        self._monitor.stop()
        own = processes.cpu_seconds() - self._own_before
        others = max(0.0, self._monitor.cpu_seconds - own)
        self._figures = {
            "own_cpu_seconds": own,
            "pgbench_cpu_seconds": others,
            "seconds": self._monitor.seconds,
            "peak_memory_bytes": float(processes.peak_memory_bytes()),
        }

    def _take_progress(self, number: int, at: float, tps: float, failed: int) -> None:
        second = max(0, round(at) - 1)
        while len(self._rates) <= second:
            self._rates.append({})
        self._rates[second][number] = tps
        self._done[number] += tps
        self._failed[number] += failed

    def _report(self, seconds: float) -> None:
        rates = [sum(each.values()) for each in self._rates]
        self._keeper.report(
            "progress",
            {
                "seconds": seconds,
                "doing": "runs transactions",
                "transactions_done": round(sum(self._done)),
                "failed": sum(self._failed),
                "step_seconds": 1.0,
                "rate_series": rates[-600:],
                **self._monitor.waited_so_far(),
            },
        )


def _sum(every: list[dict[str, int]]) -> dict[str, int]:
    names = {name for each in every for name in each}
    return {name: sum(each.get(name, 0) for each in every) for name in sorted(names)}
