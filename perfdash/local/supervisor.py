"""Keeps services running: starts them, restarts the ones that die, stops all in order.

One thread and one loop: children must be forked from a thread that lives as long as the process,
because the kernel signals the end of that thread.
"""

import os
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

from campaigns.kit import kernel
from perfdash.local.child import Child, Patience
from perfdash.local.forks import ForkServer
from perfdash.local.journal import COMBINED, Journal
from perfdash.local.process import (
    Process,
    Service,
    describe_end,
    kill_group,
    spawn,
    used_seconds,
    wants_machine,
)

TOLD_LINES = 12
CHECK_SECONDS = 0.25  # interval of checks whether a service is ready
IDLE_SECONDS = 5.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StartFailed(Exception):
    """A service does not start; the message says which, why, and where its log is."""


class Stopped(Exception):
    """The stop was requested during the start."""


class Supervisor:
    """Runs services. `changed` is called after every start and end of one.

    `hindrance` returns what keeps services from running that is not their fault, such as a full disk:
    while there is one, nobody is given up. `clock` is what waiting for a start goes by. `forks` starts the
    services that may be forked, while it can.
    """

    def __init__(
        self,
        journal: Journal,
        changed: Callable[[Child], None] = lambda child: None,
        hindrance: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
        forks: ForkServer | None = None,
    ) -> None:
        self.journal = journal
        self.forks = forks
        if forks is not None:
            kernel.adopt_orphans()
        self.changed = changed
        self.hindrance = hindrance
        self.clock = clock
        self.children: list[Child] = []
        self._commands: list[Child] = []
        self.requests = 0  # how often a stop was requested
        self._selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        os.set_blocking(self._wake_writer, False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in STOP_SIGNALS:
            nohup = number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN
            if not nohup:
                signal.signal(number, self._ask_to_stop)

    def start(self, services: Sequence[Service]) -> list[Child]:
        """Start services side by side, and keep them running from now on."""
        started = [Child(service) for service in services]
        for child in started:
            self.children.append(child)
            self._spawn(child)
        return started

    def wait_until_ready(self, children: Sequence[Child] | None = None) -> None:
        """Wait until those that can be checked are ready, of all or some. Raise StartFailed, Stopped."""
        for child in self.children if children is None else children:
            if child.service.ready is not None:
                self._wait(child.check, child)

    def run(self, service: Service) -> list[str]:
        """Run a command to its end and give its lines. Raise StartFailed where it fails; Stopped."""
        return self.finish(self.begin(service))

    def begin(self, service: Service) -> Child:
        """Start a command; `finish` waits for its end."""
        child = Child(service)
        self._commands.append(child)
        self._spawn(child)
        return child

    def finish(self, child: Child) -> list[str]:
        """Wait for the end of a command and give its lines. Raise StartFailed where it fails; Stopped."""
        process = child.process
        if process is None:
            raise AssertionError("a command is finished once")
        try:
            self._wait(lambda: process.poll() is not None, child)
        finally:
            self._end(child)
        if process.returncode:
            if child.service.secret:  # what went wrong is none; the secret comes at a good end
                self.journal.take(child.service.name, "\n".join([*child.output, ""]).encode())
            raise StartFailed(self._advice(child, describe_end(process.returncode)))
        return child.output

    def watch(self, ended: Callable[[], bool] = lambda: False) -> None:
        """Keep the services running until a stop is requested, or `ended` returns true.

        Raise StartFailed where one of them cannot be kept running.
        """
        while not self.requests and not ended():
            self.turn(IDLE_SECONDS)

    def stop(self) -> None:
        """Stop everything, stage by stage. A second request kills all but the last stage."""
        self.requests = max(self.requests, 1)  # nobody is started again from here on
        for command in [*self._commands]:
            self._end(command)
        stages = sorted({child.service.stage for child in self.children}, reverse=True)
        for stage in stages:
            children = [child for child in self.children if child.service.stage == stage]
            self._stop_together(children, patience=2 if stage == stages[-1] else 1)
        self.children.clear()

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.requests += 1

    def _spawn(self, child: Child) -> Process:
        if child.service.before is not None:
            child.service.before()
        process: Process | None = None
        if self.forks is not None:
            process = self.forks.spawn(child.service)
        if process is None:
            process = spawn(child.service)
        child.begin(process)
        if process.stdout is None:
            raise AssertionError("a service writes into a pipe")
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, child)
        if child in self.children:
            self.changed(child)
        return process

    def _wait(self, condition: Callable[[], bool], child: Child) -> None:
        patience = Patience(
            lambda: child.written,
            lambda: sum(map(used_seconds, self._waited_for(child))),
            self.clock,
            lambda: any(map(wants_machine, self._waited_for(child))),
        )
        while not condition():
            if self.requests:
                raise Stopped
            if why := patience.exhausted():
                raise StartFailed(self._advice(child, why))
            if report := patience.report():
                self.journal.say(f"Waiting for {child.service.name}: {report}.")
            self.turn(0.03)

    def _waited_for(self, child: Child) -> list[int]:
        """Return the process ids of a service and of what it builds on: it may wait for that."""
        below = [
            one
            for one in self.children
            if one.service.stage < child.service.stage and one.service.ready is not None
        ]
        return [one.process.pid for one in (child, *below) if one.process is not None]

    def turn(self, timeout: float) -> None:
        """Pass on what was written, take note of who died, start again whose time has come.

        Raise StartFailed where a service ends again and again before it is ready.
        """
        now = time.monotonic()
        waiting = [
            child.due - now
            for child in self.children
            if child.process is None and not self._waits_for_forks(child)
        ]
        checks = [CHECK_SECONDS for child in self.children if _can_be_asked(child)]
        for key, _ in self._selector.select(max(0.0, min([timeout, *waiting, *checks]))):
            if key.fd == self._wake_reader:
                os.read(self._wake_reader, 4096)
            else:
                self._read(key.data)
        for child in self.children:
            if child.process is not None and child.process.poll() is not None:
                self._bury(child)
        if self.forks is not None:
            self._reap_orphans()
        for child in self.children if not self.requests else ():
            if child.process is None and child.due <= time.monotonic():
                if not self._waits_for_forks(child):
                    self._spawn(child)
            elif _can_be_asked(child) and time.monotonic() - child.asked > CHECK_SECONDS:
                child.check()

    def _waits_for_forks(self, child: Child) -> bool:
        """Return whether a service starts as soon as the fork server is back."""
        forks = self.forks
        return forks is not None and forks.is_for(child.service) and forks.is_loading

    def _reap_orphans(self) -> None:
        """Forget the dead processes that were started by one that had died before."""
        ours = {child.process.pid for child in (*self.children, *self._commands) if child.process}
        with suppress(ChildProcessError):
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            while (dead := os.waitid(os.P_ALL, 0, options)) and dead.si_pid not in ours:
                os.waitpid(dead.si_pid, 0)

    def _read(self, child: Child) -> bool:
        """Pass on one piece of output; False where there is none now."""
        if child.process is None or child.process.stdout is None:
            return False
        try:
            piece = os.read(child.process.stdout.fileno(), 65536)
        except BlockingIOError:
            return False
        if piece:
            self._record(child, piece)
        elif child.process.stdout.fileno() in self._selector.get_map():
            self._selector.unregister(child.process.stdout)
        return bool(piece)

    def _record(self, child: Child, piece: bytes) -> None:
        child.written += len(piece)
        child.remember(self.journal.take(child.service.name, piece, secret=child.service.secret))

    def _end(self, command: Child) -> None:
        """End a command, with all that it started."""
        if command.process is not None:
            kill_group(command.process)
            command.process.wait()
            self._close(command)
        self._commands.remove(command)

    def _close(self, child: Child) -> None:
        """Take the last output of an ended process and let go of it."""
        while self._read(child):
            continue
        stdout = child.process.stdout if child.process else None
        if stdout is not None:
            if stdout.fileno() in self._selector.get_map():
                self._selector.unregister(stdout)
            stdout.close()
        self._record(child, b"")
        child.process = None

    def _bury(self, child: Child) -> None:
        """Clear away a dead service, its group included, and plan its next start."""
        process = child.process
        if process is None or (code := process.poll()) is None:
            return
        kill_group(process)
        self._close(child)
        hindrance = self.hindrance()
        child.end(code, excused=bool(hindrance) or self._foundation_fell(child))
        self.changed(child)
        if self.requests:
            return
        end = describe_end(code)
        if child.hopeless:
            times = f"ended {child.false_starts} times in a row before it was ready"
            raise StartFailed(self._advice(child, f"{times}, at last it {end}"))
        wait = max(0.0, child.due - time.monotonic())
        reason = f" {hindrance}" if hindrance else ""
        self.journal.say(f"{child.service.name} {end}; it starts again in {wait:.1f} s.{reason}")

    def _foundation_fell(self, child: Child) -> bool:
        """Say whether something that this service builds on ended since it was started."""
        return any(
            other.service.stage < child.service.stage and other.ended > child.started
            for other in self.children
        )

    def _stop_together(self, children: Sequence[Child], patience: int) -> None:
        """Stop services side by side; kill them when late, or at more than `patience` requests."""
        begun = time.monotonic()
        messages: set[str] = set()
        for child in children:
            if child.process is not None:
                child.process.send_signal(child.service.stop_signal)
        while alive := [child for child in children if child.process is not None]:
            for child in alive:
                late = time.monotonic() - begun > child.service.stop_seconds
                if child.process is not None and (late or self.requests > patience):
                    if child.service.name not in messages:
                        messages.add(child.service.name)
                        self.journal.say(
                            f"{child.service.name} did not stop in time; it is killed."
                        )
                    kill_group(child.process)
            self.turn(0.1)

    def _advice(self, child: Child, what: str) -> str:
        """Say which service, what happened, how its output ends, where the rest is, what to do."""
        log = self.journal.path(child.service.name)
        last = [line for line in child.output if line][-TOLD_LINES:]
        text = "".join(f"\n    {line}" for line in last)
        if last:
            ends = f"Its output ends with:{text}\nAll of it is in {log}."
        elif log.exists():
            ends = f"It wrote nothing since it was started; its log is {log}."
        else:
            ends = f"It wrote nothing; the log of all is {self.journal.path(COMBINED)}."
        return (
            f"{child.service.name} {what}. {ends}\n"
            "Mend what it says, then start perfdash again; what was stored is kept."
        )


def _can_be_asked(child: Child) -> bool:
    """Return whether a service has still to be checked for readiness."""
    return child.process is not None and not child.ready and child.service.ready is not None
