"""Run a load in several processes of one machine: start them, forward messages, and add their results.

Each process is the same program with a part of the schedule. It has a lifeline of its own, to which this
process forwards the lease, so it ends with the lease, too; and the kernel ends it with its parent. Call
from the thread that lives as long as the program.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

from campaigns.kinds.load.job import Job
from campaigns.kinds.load.merging import merge
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.programs.lifeline import Lifeline
from campaigns.kinds.programs.program import command
from campaigns.kit.mappings import ProgramMessage, ProgramProgress, ProgramResult

START_AFTER_SECONDS = 0.1
COUNTED = (
    "requests_done",
    "requests_failed",
    "hosts_done",
    "hosts_failed",
    "hosts_running",
    "hosts",
    *("packages_done", "packages_failed"),
    *(
        "hosts_begun",
        "hosts_connected",
        "jobs_notified",
        "jobs_fetched",
        "disconnects",
        "bad_messages",
    ),
    *("hosts_listening", "connections", "sessions", "jobs_started", "refused", "faults"),
)
WORST = ("waited_share", "unconnected_because")
"""Of progress: that of the process which it is worst for; of words, any that one has."""


class ShardFailed(Exception):
    """A process of a load program ended without a result; the message quotes the end of its stderr."""


def run_shards(lifeline: Lifeline, job: Job) -> ProgramResult:
    """Run the program in `job.most_processes` processes, and return the sum of their results."""
    shards = _Shards(lifeline, job)
    try:
        shards.wait_until_ready()
        shards.begin()
        return shards.result()
    finally:
        shards.remove()


class _Shards:
    def __init__(self, lifeline: Lifeline, job: Job) -> None:
        self.lifeline = lifeline
        self.job = job
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        self.ready: set[int] = set()
        self.ended: set[int] = set()
        self.progress: dict[int, ProgramProgress] = {}
        self.stderr: dict[int, bytes] = {}
        self.results: dict[int, ProgramResult] = {}
        arguments = command(_module())
        self.processes = [
            subprocess.Popen(  # noqa: S603 - our own interpreter and module
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for _ in range(job.most_processes)
        ]
        lifeline.pass_on(self._pass_on)
        for number, process in enumerate(self.processes):
            self._send(process, self._envelope(number))
            threading.Thread(target=self._listen, args=(number, process), daemon=True).start()

    def wait_until_ready(self) -> None:
        """Wait for all; raise ShardFailed where one has ended."""
        with self.changed:
            while len(self.ready) < len(self.processes):
                self._check()
                self.changed.wait(1)
        self.lifeline.report("ready", {"hosts": len(self.job.schedule.numbers)})

    def begin(self) -> None:
        """Send the same start to all, unless it is known or comes from the keeper."""
        if self.job.start_at is None and not self.job.wait_for_start:
            self._pass_on({"start_at": monotonic() + START_AFTER_SECONDS})

    def result(self) -> ProgramResult:
        """Wait for all results, and add them."""
        with self.changed:
            while len(self.results) < len(self.processes):
                self._check()
                self.changed.wait(1)
        merged = merge([self.results[number] for number in range(len(self.processes))])
        figures = merged["figures"]
        if "machine_cpu_share" in figures:  # each process counted its siblings as other programs
            own = figures["cpu_cores"] / figures["cores"]
            figures["others_cpu_share"] = max(0.0, figures["machine_cpu_share"] - own)
        return merged

    def remove(self) -> None:
        """End all of them."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()

    def _envelope(self, number: int) -> ProgramMessage:
        request = dict(self.lifeline.request)
        shard, shards = request.get("shard", (0, 1))
        count = len(self.processes)
        request |= {
            "shard": [shard + number * shards, count * shards],
            "processes": 1,
            "is_shard": True,
            "wait_for_start": self.job.start_at is None,
        }
        return {"request": request, "parent": os.getpid(), "alive_until": self.lifeline.alive_until}

    def _pass_on(self, message: ProgramMessage) -> None:
        if "request" not in message:
            for process in self.processes:
                self._send(process, message)

    def _send(self, process: subprocess.Popen[bytes], message: ProgramMessage) -> None:
        assert process.stdin  # noqa: S101 - for the type checker: it is a pipe
        line = json.dumps(message).encode() + b"\n"
        with self.writing, suppress(BrokenPipeError):
            process.stdin.write(line)
            process.stdin.flush()

    def _listen(self, number: int, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout  # noqa: S101
        stderr = threading.Thread(target=self._read_stderr, args=(number, process))
        stderr.daemon = True
        stderr.start()
        for line in process.stdout:
            ((kind, value),) = json.loads(line).items()
            match kind:
                case "samples":
                    self.lifeline.report(kind, value)
                case "progress":
                    self._progressed(number, value)
                case "ready" | "result":
                    with self.changed:
                        if kind == "ready":
                            self.ready.add(number)
                        else:
                            self.results[number] = value
                        self.changed.notify_all()
        stderr.join()
        with self.changed:
            self.ended.add(number)
            self.changed.notify_all()

    def _read_stderr(self, number: int, process: subprocess.Popen[bytes]) -> None:
        """Store the end of a process's stderr, until the process ends."""
        assert process.stderr  # noqa: S101
        for line in process.stderr:
            self.stderr[number] = (self.stderr.get(number, b"") + line)[-4096:]

    def _progressed(self, number: int, value: ProgramProgress) -> None:
        self.progress[number] = value
        values = list(self.progress.values())
        longest = max(len(part["per_second"]) for part in values)
        self.lifeline.report(
            "progress",
            {
                "seconds": max(part["seconds"] for part in values),
                "longest_seconds": max(part.get("longest_seconds", 0.0) for part in values),
                "per_second": [
                    sum(
                        part["per_second"][second]
                        for part in values
                        if second < len(part["per_second"])
                    )
                    for second in range(longest)
                ],
            }
            | {
                name: combine(part[name] for part in values if name in part)
                for names, combine in ((COUNTED, sum), (WORST, max))
                for name in names
                if any(name in part for part in values)
            },
        )

    def _check(self) -> None:
        lost = self.ended - self.results.keys()
        if lost:
            tail = self.stderr.get(min(lost), b"").decode(errors="replace").strip()
            raise ShardFailed(
                f"Process {min(lost)} of {len(self.processes)} ended without a result. Its stderr:\n{tail}"
            )


def _module() -> str:
    """Return the name of the program."""
    spec = sys.modules["__main__"].__spec__
    assert spec is not None  # noqa: S101 - engine programs are modules that are run
    return spec.name.removesuffix(".__main__")
