"""A task and its progress reports, as Pulp writes them."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sandbox.pulp.names import PREFIX, instant

DOMAIN = "shared:prn:core.domain:00000000-0000-7000-8000-000000000000"
UNAVAILABLE = "<unavailable>"
_TRACEBACK = """\
  File "/pulp/site-packages/pulpcore/tasking/tasks.py", line 86, in _execute_task
    result = task_function()
             ^^^^^^^^^^^^^^^
"""  # of a real one, the beginning


class State(StrEnum):
    """States of tasks and of progress reports."""

    WAITING = "waiting"
    SKIPPED = "skipped"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    CANCELING = "canceling"


FINAL = frozenset({State.SKIPPED, State.COMPLETED, State.FAILED, State.CANCELED})


class TaskFailed(Exception):
    """A task that fails as a real one would; the message is Pulp's description."""

    def __init__(self, description: str, error_code: str | None = None) -> None:
        super().__init__(description)
        self.description = description
        self.error_code = error_code

    def document(self) -> dict[str, Any]:
        """Write the error of the task."""
        code = {"error_code": self.error_code} if self.error_code else {}
        return {"traceback": _TRACEBACK, **code, "description": self.description}


@dataclass(slots=True)
class Report:
    """A progress report."""

    message: str
    code: str
    total: int | None = None
    done: int = 0
    state: State = State.RUNNING

    def document(self) -> dict[str, Any]:
        """Write the report."""
        return {
            "message": self.message, "code": self.code, "state": self.state.value,
            "total": self.total, "done": self.done, "suffix": None,
        }  # fmt: skip


@dataclass(slots=True, eq=False)
class Task:
    """A task. `work` gives its result; `immediate` needs no worker where nothing is in its way."""

    pk: str
    name: str
    created: datetime
    work: Callable[["Task"], Awaitable[Any]]
    exclusive: frozenset[str]
    shared: frozenset[str]
    immediate: bool
    state: State = State.WAITING
    unblocked: datetime | None = None
    started: datetime | None = None
    finished: datetime | None = None
    error: dict[str, Any] | None = None
    reports: list[Report] = field(default_factory=list)
    made: list[tuple[str, str]] = field(default_factory=list)  # href and PRN
    result: Any = None

    @property
    def href(self) -> str:
        """Where the task is."""
        return f"{PREFIX}tasks/{self.pk}/"

    @property
    def is_over(self) -> bool:
        """Whether its state is final."""
        return self.state in FINAL

    def report(self, message: str, code: str, total: int | None = None) -> Report:
        """Begin a progress report."""
        report = Report(message, code, total)
        self.reports.append(report)
        return report

    @contextmanager
    def reporting(self, message: str, code: str, total: int | None = None) -> Iterator[Report]:
        """Report on a block: it is completed, or what made it fail."""
        with closing(self.report(message, code, total)) as report:
            yield report

    def end(self, state: State, at: datetime, error: dict[str, Any] | None = None) -> None:
        """Give the task its final state; reports that run are canceled."""
        self.state, self.finished, self.error = state, at, error
        if state != State.COMPLETED:
            self.made = [(href, prn) for href, prn in self.made if href != UNAVAILABLE]
        for report in self.reports:
            if report.state == State.RUNNING:
                report.state = State.CANCELED

    def document(self) -> dict[str, Any]:
        """Write the task."""
        shared = [f"shared:{name}" for name in sorted(self.shared)]
        return {
            "pulp_href": self.href,
            "prn": f"prn:core.task:{self.pk}",
            "pulp_created": instant(self.created),
            "pulp_last_updated": instant(self.created),
            "state": self.state.value,
            "name": self.name,
            "logging_cid": self.pk.replace("-", ""),
            "created_by": f"{PREFIX}users/1/",
            "unblocked_at": instant(self.unblocked),
            "started_at": instant(self.started),
            "finished_at": instant(self.finished),
            "error": self.error,
            "worker": None,  # as seen in every state
            "parent_task": None,
            "child_tasks": [],
            "task_group": None,
            "progress_reports": [report.document() for report in self.reports],
            "created_resources": [href for href, _ in self.made],
            "created_resource_prns": [prn for _, prn in self.made],
            "reserved_resources_record": [*sorted(self.exclusive), *shared, DOMAIN],
            "result": self.result,
            "pulp_api_version": "v3",
        }


@contextmanager
def closing(report: Report) -> Iterator[Report]:
    """End a report with the block: completed, or failed with the block's error."""
    try:
        yield report
    except Exception:
        report.state = State.FAILED
        raise
    report.state = State.COMPLETED
