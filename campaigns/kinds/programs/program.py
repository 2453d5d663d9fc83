"""Start an engine program, keep it under the keeper's control, and collect what it reports.

No Django. The program gets its request on stdin and the lease every half second, and answers with lines of
JSON (see `lifeline`). It runs in a session of its own, so that one signal ends all that it started. Call
`run_program` from a thread that lives as long as the program: the kernel kills the program when that thread
ends.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from campaigns.kinds.programs import loaded
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit.mappings import (
    ProgramHello,
    ProgramMessage,
    ProgramProgress,
    ProgramRequest,
    ProgramResult,
)

ROOT = Path(__file__).resolve().parents[3]
"""The directory of the package `campaigns`, in which the program is started."""
START = Path(__file__).with_name("start.py")
PASSED_ON = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "OPENSSL_CONF",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)
"""The environment of a program: no address of a database, no secret."""
HEARTBEAT_SECONDS = 0.5
LOOK_SECONDS = 0.05
MOST_STDERR_CHUNKS = 8


class ProgramFailed(Exception):
    """The program crashed, or wrote an invalid line; the message quotes the end of its stderr."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a program. `result` is empty where it was cancelled or ran out of time.

    samples: columns of equal length, as far as they were reported.
    cpu_seconds: of the whole process tree, with the start of the interpreter where one was started.
    seconds: from start to end of the process.
    """

    hello: ProgramHello
    result: ProgramResult
    samples: Mapping[str, list[Any]]
    progress: ProgramProgress
    cpu_seconds: float
    seconds: float
    cancelled: bool = False
    timed_out: bool = False


def command(module: str) -> list[str]:
    """Return the command that runs a module as a program, with the packages that this process has."""
    path = [str(ROOT), *(directory for directory in sys.path if os.path.isabs(directory))]
    return [sys.executable, "-I", "-S", str(START), module, os.pathsep.join(dict.fromkeys(path))]


def run_program(
    module: str,
    request: ProgramRequest,
    *,
    cancelled: threading.Event,
    lease_seconds: Callable[[], float],
    deadline_seconds: float,
    progress: Callable[[ProgramProgress], None] = lambda values: None,
    ready: Callable[[ProgramProgress], None] = lambda values: None,
    start_at: Callable[[], float | None] = lambda: None,
    ends: Callable[[], bool] = lambda: False,
    keep_loaded: bool = False,
) -> Outcome:
    """Run a module as a program with `request` until it ends, is cancelled, or its time is over.

    keep_loaded: the module stays loaded between runs, and the program is forked (`loaded`); its function is `main`.
    `ready` is called once a program that waits for its start is prepared; it begins at the instant of
    `monotonic` that `start_at` returns, which is called until it is not None. Once `ends` returns True, a ready program that waits
    for others is asked to report its result.

    It is killed within a fifth of a second once `cancelled` is set or the lease has run out (the
    outcome is `cancelled`), and at the deadline (`timed_out`). Raise ProgramFailed for a crash.
    """
    program = _Program(
        module,
        request,
        lease_seconds,
        {"progress": progress, "ready": ready},
        cancelled if keep_loaded else None,
    )
    program.start_at, program.ends = start_at, ends
    return program.outcome_at_end(cancelled, deadline_seconds)


class WaitingProgram:
    """A program that is prepared and waits for its start, so that what it is to do can be looked at before.

    Use it in one thread. `remove` must be called at last.
    """

    def __init__(
        self,
        module: str,
        request: ProgramRequest,
        *,
        cancelled: threading.Event,
        lease_seconds: Callable[[], float],
        deadline_seconds: float,
    ) -> None:
        """Fork it, and return when it waits, or has ended too early (`ended`)."""
        self._callbacks: dict[str, Callable[[ProgramMessage], None]] = {}
        self._program = _Program(module, request, lease_seconds, self._callbacks, cancelled)
        self.ended: Outcome | None = None
        try:
            while self._program.reported.ready is None and self.ended is None:
                if self._program.ended():
                    self.ended = self._program.outcome()
                elif (stopped := self._program.stopped(cancelled, deadline_seconds)) is not None:
                    self.ended = stopped
                else:
                    self._program.exchange()
        except BaseException:
            self.remove()
            raise

    @property
    def hello(self) -> ProgramHello:
        """What it reported about itself."""
        return self._program.reported.hello

    def is_waiting(self) -> bool:
        """Return whether it still waits; it does not where it was not told of a new lease for too long."""
        program = self._program
        return program.usage is None and not program.ended() and program.leased()

    def run(
        self,
        *,
        cancelled: threading.Event,
        deadline_seconds: float,
        progress: Callable[[ProgramProgress], None] = lambda values: None,
    ) -> Outcome:
        """Start it, and go on like `run_program`, from which on its seconds are counted."""
        program = self._program
        self._callbacks["progress"] = progress
        program.started, program.start_at = time.monotonic(), monotonic
        return program.outcome_at_end(cancelled, deadline_seconds)

    def remove(self) -> None:
        """Kill it where it has not ended."""
        self._program.remove()


@dataclass(slots=True)
class _Reported:
    """What a program has reported so far."""

    hello: ProgramHello = field(default_factory=dict)
    ready: ProgramProgress | None = None
    progress: ProgramProgress = field(default_factory=dict)
    result: ProgramResult = field(default_factory=dict)
    samples: dict[str, list[Any]] = field(default_factory=dict)

    def take(self, line: bytes) -> str:
        """Store the value of a line; return its kind. Raise ValueError or TypeError where it is invalid."""
        ((kind, value),) = json.loads(line).items()
        match kind:
            case "hello" | "ready" | "progress" | "result":
                setattr(self, kind, dict(value))
            case "samples":
                for column, values in value.items():
                    self.samples.setdefault(column, []).extend(values)
            case _:
                raise ValueError(f"unknown kind {kind!r}")
        return str(kind)


class _Process(Protocol):
    """What is needed of a process, started or forked."""

    pid: int
    returncode: Any
    stdin: Any
    stdout: Any
    stderr: Any


@dataclass(slots=True)
class _Forked:
    """A process that was forked for this one, with its pipes."""

    pid: int
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    returncode: int | None = None


def _started(module: str) -> _Process:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=ROOT,
        env=_environment(),
        start_new_session=True,
    )


def _fork(module: str, give_up: Callable[[], bool]) -> _Forked | None:
    """Fork a program of a module that stays loaded; None where it has to be started as usual."""
    pipes = [os.pipe() for _ in range(3)]
    theirs = (pipes[0][0], pipes[1][1], pipes[2][1])
    ours = (pipes[0][1], pipes[1][0], pipes[2][0])
    try:
        process = loaded.fork(module, theirs, give_up, ROOT, _environment())
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    if process is None:
        for descriptor in ours:
            os.close(descriptor)
        return None
    return _Forked(
        process,
        os.fdopen(ours[0], "wb", 0),
        os.fdopen(ours[1], "rb", 0),
        os.fdopen(ours[2], "rb", 0),
    )


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}


class _Program:
    """A running program with its pipes."""

    def __init__(
        self,
        module: str,
        request: ProgramRequest,
        lease_seconds: Callable[[], float],
        callbacks: Mapping[str, Callable[[ProgramMessage], None]],
        loading: threading.Event | None,
    ) -> None:
        """loading: ends waiting for a module that stays loaded; None: an interpreter is started."""
        self.module = module
        self.lease_seconds = lease_seconds
        self.callbacks = callbacks
        self.start_at: Callable[[], float | None] = lambda: None
        self.ends: Callable[[], bool] = lambda: False
        self.reported = _Reported()
        self.started = time.monotonic()
        self.lease_sent_at = monotonic()
        self.alive_until = self._lease_end()
        process = None
        if loading is not None:
            process = _fork(module, lambda: loading.is_set() or lease_seconds() <= 0)
            self.lease_sent_at, self.alive_until = monotonic(), self._lease_end()
        self.known_until = self.alive_until
        """The end of the lease before the newest."""
        envelope = {"request": request, "parent": os.getpid(), "alive_until": self.alive_until}
        self.to_send = memoryview(json.dumps(envelope).encode() + b"\n")
        self.received = bytearray()
        self.stderr_chunks: deque[bytes] = deque(maxlen=MOST_STDERR_CHUNKS)
        self.usage: Any = None
        self.process: _Process = process or _started(module)
        assert self.process.stdin and self.process.stdout and self.process.stderr  # noqa: S101, PT018 - they are pipes
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._stderr = self.process.stderr
        self.selector = selectors.DefaultSelector()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self.selector.register(self._stdout, selectors.EVENT_READ)
        self.selector.register(self._stderr, selectors.EVENT_READ)
        self._end = _end_of(self.process.pid)
        if self._end is not None:
            self.selector.register(self._end, selectors.EVENT_READ)

    def age(self) -> float:
        return time.monotonic() - self.started

    def ended(self) -> bool:
        """Return whether the process has ended; it stays a zombie, so that its number is not reused."""
        return (
            os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        )

    def leased(self) -> bool:
        """Return whether the lease still runs; send its end to the program every half second."""
        now = monotonic()
        if now >= self.lease_sent_at + HEARTBEAT_SECONDS and not self.to_send:
            self.lease_sent_at = now
            self.known_until = self.alive_until
            self.alive_until = self._lease_end()
            line = json.dumps({"alive_until": self.alive_until}).encode() + b"\n"
            self.to_send = memoryview(line)
        return now < self.alive_until

    def stopped(self, cancelled: threading.Event, deadline_seconds: float) -> Outcome | None:
        """Kill it where it may not go on, and return the outcome; else None."""
        if cancelled.is_set() or not self.leased():
            return self.kill(cancelled=True)
        if self.age() > deadline_seconds:
            return self.kill(timed_out=True)
        return None

    def _send_start(self) -> None:
        """Send the start to a program that is ready, as soon as it is known."""
        if self.reported.ready is None or self.to_send:
            return
        instant = self.start_at()
        if instant is not None:
            self.start_at = lambda: None
            self.to_send = memoryview(json.dumps({"start_at": instant}).encode() + b"\n")

    def _send_end(self) -> None:
        """Ask a program that is ready to end, as soon as it has to."""
        if self.reported.ready is not None and not self.to_send and self.ends():
            self.ends = lambda: False
            self.to_send = memoryview(b'{"end": true}\n')

    def exchange(self) -> None:
        """Wait a moment for the pipes; send and read what is possible."""
        self._send_start()
        self._send_end()
        self._send()
        if self.to_send:
            self.selector.register(self._stdin, selectors.EVENT_WRITE)
        for key, _ in self.selector.select(LOOK_SECONDS):
            if key.fileobj not in (self._stdin, self._end):
                self._read(key.fileobj)  # type: ignore[arg-type]
        if self._stdin in self.selector.get_map():
            self.selector.unregister(self._stdin)

    def kill(self, *, cancelled: bool = False, timed_out: bool = False) -> Outcome:
        """Kill the program and all that it started; return what it had reported."""
        self.remove()
        return self._outcome(cancelled=cancelled, timed_out=timed_out)

    def outcome_at_end(self, cancelled: threading.Event, deadline_seconds: float) -> Outcome:
        """Exchange messages until it ends or may not go on, and return the outcome. Raise ProgramFailed."""
        try:
            while not self.ended():
                if outcome := self.stopped(cancelled, deadline_seconds):
                    return outcome
                self.exchange()
            return self.outcome()
        finally:
            self.remove()

    def outcome(self) -> Outcome:
        """Return the outcome of a program that has ended by itself. Raise ProgramFailed."""
        self.remove()
        code = self.process.returncode
        # It ends itself when its lease is over; nobody knows whether it has read the newest one.
        if code == -signal.SIGKILL and monotonic() >= min(self.known_until, self.alive_until):
            return self._outcome(cancelled=True)
        if code != 0:
            raise ProgramFailed(self._message(_reason(code)))
        if not self.reported.result:
            raise ProgramFailed(self._message("ended without a result"))
        return self._outcome()

    def remove(self) -> None:
        """Kill the process group, read what is left in the pipes, and take the exit code."""
        if self.usage is not None:
            return
        os.killpg(self.process.pid, signal.SIGKILL)
        _, status, self.usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self._stdin in self.selector.get_map():
            self.selector.unregister(self._stdin)
        if self._end is not None:
            self.selector.unregister(self._end)
            os.close(self._end)
        try:
            while self.selector.get_map() and (events := self.selector.select(0)):
                for key, _ in events:
                    self._read(key.fileobj)  # type: ignore[arg-type]
        finally:
            self.selector.close()
            for pipe in (self._stdin, self._stdout, self._stderr):
                pipe.close()

    def _lease_end(self) -> float:
        now = monotonic()  # first, so that a pause here shortens the lease
        return now + self.lease_seconds()

    def _send(self) -> None:
        try:
            while self.to_send:
                self.to_send = self.to_send[os.write(self._stdin.fileno(), self.to_send) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.to_send = memoryview(b"")  # it is ending; its exit code shows why

    def _read(self, pipe: IO[bytes]) -> None:
        data = os.read(pipe.fileno(), 1 << 20)
        if not data:
            self.selector.unregister(pipe)
        elif pipe is self._stderr:
            self.stderr_chunks.append(data[-4096:])
        else:
            self.received += data
            if b"\n" in data:
                *lines, self.received = self.received.split(b"\n")
                for line in lines:
                    self._take(bytes(line))

    def _take(self, line: bytes) -> None:
        try:
            kind = self.reported.take(line)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            problem = f"wrote something that cannot be read ({error}): {line[:200]!r}"
            raise ProgramFailed(self._message(problem)) from error
        if kind in self.callbacks:
            self.callbacks[kind](getattr(self.reported, kind))

    def _message(self, what: str) -> str:
        tail = b"".join(self.stderr_chunks)[-4096:].decode(errors="replace").strip()
        return f"The engine program {self.module} {what}." + (
            f" Its stderr:\n{tail}" if tail else ""
        )

    def _outcome(self, *, cancelled: bool = False, timed_out: bool = False) -> Outcome:
        return Outcome(
            hello=self.reported.hello,
            result=self.reported.result,
            samples=self.reported.samples,
            progress=self.reported.progress,
            cpu_seconds=self.usage.ru_utime + self.usage.ru_stime,
            seconds=self.age(),
            cancelled=cancelled,
            timed_out=timed_out,
        )


def _end_of(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends; None where the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _reason(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    hint = " (perhaps the machine was out of memory)" if code == -signal.SIGKILL else ""
    return f"was killed by {signal.Signals(-code).name}{hint}"
