"""Run a command that is not perfdash's own on this machine. An engine program.

Request: `Command.request`. It prints into the files `output` and `errors` of the directory; the result says how it ended.

The command is killed with all that it started as soon as this program ends, however that comes about. Where the machine allows,
it has namespaces of its own (`separated`), with which the kernel ends all that is in them. Elsewhere this program adopts what
the command leaves behind, and kills all its descendants; and a *guard*, forked before, in a session of its own, sees the end
of a pipe if this program is killed itself, and kills who belongs to its group, or has its mark in the environment.
"""

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from campaigns.kinds.programs import lifeline, separated
from campaigns.kinds.programs.commands import MARK, MEMORY, OUTPUT, SECRET_FILE_MODE, TIME
from campaigns.kinds.programs.starving import Waiting, waited_so_far
from campaigns.kit import kernel
from campaigns.kit.mappings import ProgramResult

LOOK_SECONDS = 0.25
REPORT_SECONDS = 0.5
CHUNK = 1 << 16
MOST_SWEEPS = 50
MOST_NAMES = 10
DRAIN_SECONDS = 2.0
ENDED = (b"Z", b"X")
PAGE = os.sysconf("SC_PAGE_SIZE")


def main(line: lifeline.Lifeline) -> ProgramResult:
    """Run the command of the request to its end, or to a limit."""
    request = line.request
    guard = _start_guard(line, request["marker"])
    line.watch()
    with suppress(OSError):  # a kernel that refuses: the mark and the group are left
        kernel.adopt_orphans()
    directory = Path(request["directory"])
    work, secrets = directory / "work", directory / "secrets"
    for each in (work, secrets):
        each.mkdir(mode=0o700, exist_ok=True)
    for name, text in request["secrets"].items():
        descriptor = os.open(
            secrets / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=SECRET_FILE_MODE
        )
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    environment = {
        **os.environ,
        "HOME": str(work),
        "TMPDIR": str(work),
        **request["environment"],
        MARK: request["marker"],
    }
    with (directory / "output").open("wb") as output, (directory / "errors").open("wb") as errors:
        try:
            return _Run(line, guard).run((work, secrets), environment, output, errors)
        finally:
            kill_all(os.getpgrp(), request["marker"], (os.getpid(), guard))
            os.kill(
                guard, signal.SIGKILL
            )  # else it stays a zombie where process 1 waits for nobody
            os.waitpid(guard, 0)


class _Run:
    """One command while it runs."""

    def __init__(self, line: lifeline.Lifeline, guard: int) -> None:
        self.line, self.guard = line, guard
        self.printed, self.peak = 0, 0
        self.waiting = Waiting(only_watches=True)
        self.ended_by = ""

    def run(
        self,
        own: tuple[Path, Path],
        environment: dict[str, str],
        output: IO[bytes],
        errors: IO[bytes],
    ) -> ProgramResult:
        request = self.line.request
        arguments = request["arguments"]
        hidden = request.get("hidden", ())
        why_not = separated.why_not(separated.words(own, own[0], hidden))
        told, tells = os.pipe()
        given = _as_file(environment)
        if not why_not:
            # What separates the command does not get its environment, which could change how it does so.
            environment = {**os.environ, MARK: request["marker"]}
            prefix = separated.words(own, own[0], hidden, arguments)
            arguments = [*prefix, *separated.inside(tells, given, arguments)]
        killed_before = oom_kills()
        begun = time.monotonic()
        try:
            process = subprocess.Popen(  # noqa: S603 - an operator has defined it
                arguments,
                cwd=own[0],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[] if why_not else [tells, given],
            )
        except OSError as error:
            return {"not_started": f"{error.strerror or error}"}
        finally:
            os.close(tells)
            os.close(given)
        assert process.stdout and process.stderr  # noqa: S101, PT018 - they are pipes
        self.waiting.begin([process.pid])
        ends = os.pidfd_open(process.pid)
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ, output)
        selector.register(process.stderr, selectors.EVENT_READ, errors)
        selector.register(ends, selectors.EVENT_READ)
        now = looked = reported = begun
        limit = begun + request["seconds"]
        while not self._exchange(selector, ends, max(0.0, min(LOOK_SECONDS, limit - now))):
            now = time.monotonic()
            if (
                now - looked >= LOOK_SECONDS
            ):  # not at each line that it prints: that would slow it down
                looked = now
                self._look_at(process.pid, separate=not why_not)
            if now >= limit:
                self.ended_by = TIME
            elif self.printed > request["output_bytes"]:
                self.ended_by = OUTPUT
            if self.ended_by:
                kill_all(os.getpgrp(), request["marker"], (os.getpid(), self.guard))
                break
            if now - reported >= REPORT_SECONDS:
                reported = now
                so_far = {"seconds": now - begun, "output_bytes": self.printed}
                self.line.report("progress", so_far | waited_so_far(self.waiting))
        self.waiting.look([process.pid], last=True)  # its counts are gone once it is waited for
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begun
        cpu_seconds: float | None = usage.ru_utime + usage.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        left = [*kill_all(os.getpgrp(), request["marker"], (os.getpid(), self.guard)).values()]
        self._drain(selector, ends)
        result = _told(told)
        if "not_started" in result:
            return result
        if not why_not:
            status, seconds = result.get("status", status), result.get("seconds", seconds)
            cpu_seconds, left = result.get("cpu_seconds"), result.get("left", [])
        code = os.waitstatus_to_exitcode(status)
        return {
            "exit_status": code if code >= 0 else None,
            "signal": max(0, -code),
            "ended_by": self.ended_by,
            "out_of_memory": oom_kills() > killed_before,
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
            "peak_memory_bytes": self.peak or None,
            "left": 0 if self.ended_by else len(left),
            "left_names": [] if self.ended_by else sorted(left)[:MOST_NAMES],
            "not_separated": why_not,
            "figures": self.waiting.figures(),
        }

    def _exchange(self, selector: selectors.BaseSelector, ends: int, seconds: float) -> bool:
        """Copy what was printed; return whether the process has ended."""
        over = False
        for key, _ in selector.select(seconds):
            if key.fd == ends:
                over = True
                continue
            data = os.read(key.fd, CHUNK)
            if not data:
                selector.unregister(key.fileobj)
                continue
            room = self.line.request["output_bytes"] - self.printed
            self.printed += len(data)
            key.data.write(data[: max(0, room)])
        return over

    def _look_at(self, process: int, *, separate: bool) -> None:
        """Note what the command and all that it started use and wait for, and whether memory is too much; let go of adopted ones."""
        ours = {self.guard, *(_separators(process) if separate else ())}
        below = [each for each in descendants(os.getpid()) if each.pid not in ours]
        self.peak = max(self.peak, sum(each.memory for each in below))
        self.waiting.look([each.pid for each in below])
        for child in _children(os.getpid()):
            if child not in (process, self.guard):
                with suppress(ChildProcessError):
                    os.waitpid(child, os.WNOHANG)
        most = self.line.request["memory_bytes"]
        if most and self.peak > most:
            self.ended_by = MEMORY

    def _drain(self, selector: selectors.BaseSelector, ends: int) -> None:
        """Copy the rest; a pipe that is still held by a process of somebody else is left."""
        selector.unregister(ends)
        os.close(ends)
        until = time.monotonic() + DRAIN_SECONDS
        while selector.get_map() and time.monotonic() < until:
            self._exchange(selector, ends, LOOK_SECONDS)
        if self.printed > self.line.request["output_bytes"] and not self.ended_by:
            self.ended_by = OUTPUT


def _start_guard(line: lifeline.Lifeline, marker: str) -> int:
    """Fork the guard; return its process id. Its pipe stays open for as long as this process lives."""
    group = os.getpgrp()
    reading, _held = os.pipe()
    guard = os.fork()
    if guard:
        os.close(reading)
        return guard
    os.setsid()
    line.leave()
    os.close(_held)
    for descriptor in (1, 2):
        with suppress(OSError):
            os.close(descriptor)
    os.read(reading, 1)
    kill_all(group, marker, (os.getpid(),))
    os._exit(0)


def kill_all(group: int, marker: str, spare: tuple[int, ...]) -> dict[int, str]:
    """Kill every process of a group, with the mark, or below this process, until there is none; return their names by number."""
    found: dict[int, str] = {}
    for _ in range(MOST_SWEEPS):
        below = {each.pid: each.name for each in descendants(os.getpid())}
        living = {
            pid: name
            for pid, name in (below | dict(_belonging(group, marker))).items()
            if pid not in spare
        }
        if not living:
            break
        found |= living
        for pid in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    return found


def _belonging(group: int, marker: str) -> Iterator[tuple[int, str]]:
    mark = f"{MARK}={marker}".encode()
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        with suppress(OSError, ValueError, IndexError):
            state, _, of_group = _stat(name)[:3]
            if state in ENDED:
                continue
            if int(of_group) == group or mark in Path(f"/proc/{name}/environ").read_bytes().split(
                b"\0"
            ):
                yield int(name), _name(name)


class Descendant(NamedTuple):
    """A living process below another one. memory: resident, in bytes."""

    pid: int
    name: str
    memory: int


def descendants(pid: int) -> list[Descendant]:
    """Return the living processes below a process."""
    found, todo = [], [pid]
    while todo:
        each = todo.pop()
        for child in _children(each):
            todo.append(child)
            with suppress(OSError, ValueError, IndexError):
                fields = _stat(child)
                if fields[0] not in ENDED:
                    found.append(Descendant(child, _name(child), int(fields[21]) * PAGE))
    return found


def _separators(pid: int) -> list[int]:
    """Return the processes that separate a command and are no part of it: bubblewrap, its child, and the first child of that."""
    first = [pid]
    for _ in range(2):
        first += _children(first[-1])[:1]
    return first


def _children(pid: int) -> list[int]:
    result: list[int] = []
    with suppress(OSError, ValueError):
        for task in os.listdir(f"/proc/{pid}/task"):
            result += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return result


def _as_file(environment: dict[str, str]) -> int:
    """Return the descriptor of a file in memory that holds an environment as JSON."""
    descriptor = os.memfd_create("environment")
    with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as file:
        json.dump(environment, file)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _told(descriptor: int) -> dict[str, Any]:
    """Return what the process within has reported; nothing where it was killed before."""
    os.set_blocking(descriptor, False)  # the first process of the namespaces may not have ended yet
    with os.fdopen(descriptor, "rb") as file, suppress(ValueError):
        return dict(json.loads(file.read() or b"{}"))
    return {}


def _stat(pid: Any) -> list[bytes]:
    """Return the fields of a process after its name: state, parent, group and so on."""
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()


def _name(pid: Any) -> str:
    """Return the name of a process, as `ps` shows it."""
    return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()


def oom_kills() -> int:
    """Return how many processes the kernel has ended since it started, for want of memory."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


if __name__ == "__main__":
    lifeline.run(main, forks=True)
