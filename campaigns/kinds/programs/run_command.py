"""Run a command that is not perfdash's own on this machine. An engine program.

Request: `Command.request`. It prints into the files `output` and `errors` of the directory; the result says how it ended.

The command is killed with all that it started as soon as this program ends, however that comes about: a *guard*, forked
before, in a session of its own, sees the end of a pipe and kills who belongs to the group of this program, or has its mark in
the environment. So neither a keeper that is killed, nor a command that makes a session of its own, leaves a process behind.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from campaigns.kinds.programs import lifeline
from campaigns.kinds.programs.commands import MARK, MEMORY, OUTPUT, SECRET_FILE_MODE, TIME
from campaigns.kit.mappings import ProgramResult

LOOK_SECONDS = 0.25
REPORT_SECONDS = 0.5
CHUNK = 1 << 16
MOST_SWEEPS = 50
MOST_NAMES = 10
DRAIN_SECONDS = 2.0
PAGE = os.sysconf("SC_PAGE_SIZE")


def main(line: lifeline.Lifeline) -> ProgramResult:
    """Run the command of the request to its end, or to a limit."""
    request = line.request
    guard = _start_guard(line, request["marker"])
    line.watch()
    directory = Path(request["directory"])
    work, secrets = directory / "work", directory / "secrets"
    account = request.get("account")
    for each in (work, secrets):
        each.mkdir(mode=0o700, exist_ok=True)
        if account:
            os.chown(each, account["uid"], account["gid"])
    for name, text in request["secrets"].items():
        descriptor = os.open(
            secrets / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=SECRET_FILE_MODE
        )
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            if account:
                os.fchown(descriptor, account["uid"], account["gid"])
    environment = {
        **os.environ,
        "HOME": str(work),
        "TMPDIR": str(work),
        **request["environment"],
        MARK: request["marker"],
    }
    with (directory / "output").open("wb") as output, (directory / "errors").open("wb") as errors:
        try:
            return _Run(line, guard).run(work, environment, output, errors)
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
        self.ended_by = ""

    def run(
        self, work: Path, environment: dict[str, str], output: IO[bytes], errors: IO[bytes]
    ) -> ProgramResult:
        request = self.line.request
        killed_before = oom_kills()
        begun = time.monotonic()
        try:
            account = request.get("account") or {}
            process = subprocess.Popen(  # noqa: S603 - an operator has defined it
                request["arguments"],
                user=account.get("uid"),
                group=account.get("gid"),
                extra_groups=[] if account else None,
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            return {"not_started": f"{error.strerror or error}"}
        assert process.stdout and process.stderr  # noqa: S101, PT018 - they are pipes
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
                self._look_at_memory(process.pid)
            if now >= limit:
                self.ended_by = TIME
            elif self.printed > request["output_bytes"]:
                self.ended_by = OUTPUT
            if self.ended_by:
                kill_all(os.getpgrp(), request["marker"], (os.getpid(), self.guard))
                break
            if now - reported >= REPORT_SECONDS:
                reported = now
                self.line.report("progress", {"seconds": now - begun, "output_bytes": self.printed})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        left = kill_all(os.getpgrp(), request["marker"], (os.getpid(), self.guard))
        self._drain(selector, ends)
        return {
            "exit_status": process.returncode if process.returncode >= 0 else None,
            "signal": max(0, -process.returncode),
            "ended_by": self.ended_by,
            "out_of_memory": oom_kills() > killed_before,
            "seconds": seconds,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_memory_bytes": self.peak or None,
            "left": 0 if self.ended_by else len(left),
            "left_names": [] if self.ended_by else sorted(left.values())[:MOST_NAMES],
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

    def _look_at_memory(self, pid: int) -> None:
        """Note how much it uses, and whether that is too much."""
        used = memory_of_tree(pid)
        self.peak = max(self.peak, used)
        most = self.line.request["memory_bytes"]
        if most and used > most:
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
    """Kill every process of a group, or with the mark, until there is none; return their names by number."""
    found: dict[int, str] = {}
    for _ in range(MOST_SWEEPS):
        living = {pid: name for pid, name in _belonging(group, marker) if pid not in spare}
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
            if state in (b"Z", b"X"):
                continue
            if int(of_group) == group or mark in Path(f"/proc/{name}/environ").read_bytes().split(
                b"\0"
            ):
                yield int(name), _name(name)


def _stat(pid: Any) -> list[bytes]:
    """Return the fields of a process after its name: state, parent, group and so on."""
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()


def _name(pid: str) -> str:
    """Return the name of a process, as `ps` shows it."""
    return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()


def memory_of_tree(pid: int) -> int:
    """Return the resident memory of a process and its descendants, in bytes."""
    total, todo = 0, [pid]
    while todo:
        each = todo.pop()
        with suppress(OSError, ValueError, IndexError):
            total += int(_stat(each)[21]) * PAGE
            for task in os.listdir(f"/proc/{each}/task"):
                children = Path(f"/proc/{each}/task/{task}/children").read_text()
                todo += map(int, children.split())
    return total


def oom_kills() -> int:
    """Return how many processes the kernel has ended since it started, for want of memory."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


if __name__ == "__main__":
    lifeline.run(main, forks=True)
