"""Counts the SQL statements of the workers by what they are sent for; only `script/bench turnaround` has it on its path.

BEGIN and COMMIT count, too. While the file `on` is in the directory BENCH_STATEMENTS, each process appends the
name of a part of a run's life for each statement to a file of its own there. While the file `stages` is there, the
process that measures appends a line of JSON for each run: the wall and CPU time of each of its stages.
"""

import json
import os
import resource
import sys
import threading
from functools import wraps
from importlib import import_module
from time import monotonic_ns
from typing import Any

PLACE = os.environ["BENCH_STATEMENTS"]
PARTS = (
    ("claim", "execution/claim.py", "claim"),
    ("prepare", "execution/steps.py", "_prepare"),
    ("reset", "execution/steps.py", "_reset"),
    ("apply", "execution/steps.py", "_apply"),
    ("verify", "content.py", "as_before"),
    ("steps: log and phase", "execution/steps.py", "go"),
    ("keeper", "execution/keeper.py", "_keep"),
    ("close", "execution/running.py", "_close"),
    ("close", "execution/running.py", "_report_stored"),
    ("request of an analysis", "planning/analyses.py", "request_analysis_after"),
    ("dispatch", "dispatch/__init__.py", "dispatch"),
    ("overdue conclusions", "reviews/reopening.py", "look_at_overdue"),
    ("analysis", "campaigns/tasks.py", "analyse"),
    ("presence of workers", "campaigns/tasks.py", "_do"),
    ("others", "campaigns/tasks.py", ""),
)
"""Parts by the end of a file's name and a function, the first that is on the stack."""
parts_of_code: dict[object, int] = {}


def part_of(frame):
    best = len(PARTS) - 1
    while frame is not None:
        code = frame.f_code
        if code not in parts_of_code:
            parts_of_code[code] = next(
                (
                    at
                    for at, (_, file, function) in enumerate(PARTS)
                    if code.co_name == function and code.co_filename.endswith(file)
                ),
                len(PARTS) - 1,
            )
        best = min(best, parts_of_code[code])
        frame = frame.f_back
    return PARTS[best][0]


def note(times=1):
    if os.path.exists(f"{PLACE}/on"):
        with open(f"{PLACE}/{os.getpid()}.txt", "a") as file:
            file.write(f"{part_of(sys._getframe(1))}\n" * times)


class Stages:
    """Divides the time of the thread that executes runs: what a stage calls is not its own time."""

    COLUMNS = ("wall", "cpu", "queued", "backend", "backend_queued", "programs")
    """Nanoseconds; queued: ready, but without a processor."""

    def __init__(self):
        self.thread = self.backend = None
        self.stack = []

    def begin(self):
        """Begin a run, in this thread."""
        self.tid, self.stack, self.sums = threading.get_native_id(), ["others"], {}
        self.thread, self.last = threading.get_ident(), self.look()

    def end(self):
        """Write the sums of the run."""
        self.switch()
        self.thread = None
        with open(f"{PLACE}/{os.getpid()}.stages", "a") as file:
            file.write(json.dumps(self.sums) + "\n")

    def look(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (
            monotonic_ns(),
            *scheduled(f"/proc/self/task/{self.tid}/schedstat"),
            *(scheduled(f"/proc/{self.backend}/schedstat") if self.backend else (0, 0)),
            round((used.ru_utime + used.ru_stime) * 1e9),
        )

    def switch(self):
        now = self.look()
        sums = self.sums.setdefault(self.stack[-1], [0] * len(now))
        for at, value in enumerate(now):
            sums[at] += value - self.last[at]
        self.last = now

    def follow(self, backend):
        """Read the times of another process of PostgreSQL from now on."""
        self.switch()
        self.backend = backend
        self.last = self.look()

    def of(self, owner, name, stage):
        """Make a function count as a stage."""
        function = getattr(owner, name)

        @wraps(function)
        def timed(*arguments, **named):
            if threading.get_ident() != self.thread:
                return function(*arguments, **named)
            self.switch()
            self.stack.append(stage)
            try:
                return function(*arguments, **named)
            finally:
                self.switch()
                self.stack.pop()

        setattr(owner, name, timed)


STAGES = (
    ("campaigns.execution.running", "claim", "claim"),
    ("campaigns.execution.running", "_close", "close: store and settle"),
    ("campaigns.execution.running", "claim_next", "close: claim the next"),
    ("campaigns.execution.steps", "Steps._prepare", "prepare"),
    ("campaigns.execution.steps", "Steps._reset", "reset"),
    ("campaigns.execution.steps", "Steps._apply", "apply"),
    ("campaigns.execution.steps", "RunLog.write", "log and phase"),
    ("campaigns.execution.steps", "as_before", "verify"),
    ("campaigns.execution.keeper", "Keeper.__enter__", "keeper: begin"),
    ("campaigns.execution.keeper", "Keeper.__exit__", "keeper: end"),
    ("campaigns.execution.keeper", "Keeper.report", "progress"),
    ("campaigns.kinds.downloader.driver", "Downloader.environment", "facts of the target"),
    ("campaigns.kinds.downloader.driver", "Downloader.measure", "measure"),
    ("campaigns.kinds.downloader.driver", "Downloader.verify", "verify"),
    ("campaigns.kinds.downloader.driver", "Downloader.clean_up", "clean up"),
    ("django.db.backends.base.base", "BaseDatabaseWrapper.commit", "commit"),
)
stages = Stages()


def scheduled(path):
    """Return for how many nanoseconds a thread has run, and has waited for a processor."""
    try:
        with open(path) as file:
            ran, waited, _ = file.read().split()
    except OSError:
        return 0, 0
    return int(ran), int(waited)


def time_stages():
    """Make the functions count as stages, and a run as what is between its claim and the next."""
    for module, path, stage in STAGES:
        owner = import_module(module)
        *outer, name = path.split(".")
        for each in outer:
            owner = getattr(owner, each)
        stages.of(owner, name, stage)
    running: Any = import_module("campaigns.execution.running")
    execute = running._execute

    def timed(*arguments, **named):
        if not os.path.exists(f"{PLACE}/stages"):
            return execute(*arguments, **named)
        stages.begin()
        try:
            return execute(*arguments, **named)
        finally:
            stages.end()

    running._execute = timed


def follow_backend(connection):
    pid = connection.connection.info.backend_pid
    if stages.thread == threading.get_ident() and stages.backend != pid:
        stages.follow(pid)


def count(execute, sql, params, many, context):
    note()
    follow_backend(context["connection"])
    return execute(sql, params, many, context)


def watch(connection, **kwargs):
    if count not in connection.execute_wrappers:
        connection.execute_wrappers.append(count)


def begin(**kwargs):
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.signals import connection_created

    connection_created.connect(watch, weak=False)
    commit = BaseDatabaseWrapper.commit

    def counted(self):
        note(2)
        commit(self)

    BaseDatabaseWrapper.commit = counted  # type: ignore[method-assign]
    time_stages()


# Workers are forked from the fork server, and inherit this.
if {"celery", "perfdash.local.forkserver"} & set(sys.orig_argv):
    from celery.signals import celeryd_init

    celeryd_init.connect(begin, weak=False)
