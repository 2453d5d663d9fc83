"""Counts the SQL statements of the workers by what they are sent for; only `script/bench turnaround` has it on its path.

BEGIN and COMMIT count, too. While the file `on` is in the directory BENCH_STATEMENTS, each process appends the
name of a part of a run's life for each statement to a file of its own there.
"""

import os
import sys

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


def count(execute, sql, params, many, context):
    note()
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


# Workers are forked from the fork server, and inherit this.
if {"celery", "perfdash.local.forkserver"} & set(sys.orig_argv):
    from celery.signals import celeryd_init

    celeryd_init.connect(begin, weak=False)
