"""Tasks of Pulp, as its API shows them. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from campaigns.kit.http.errors import ClientError, Strange
from campaigns.kit.mappings import Json

ENDED = frozenset({"completed", "failed", "canceled", "skipped"})
UNFINISHED = "running,waiting,canceling"
FRAME = re.compile(r'File "(?:.*/)?([^/"]+/[^/"]+)", line (\d+)')
"""The place of a frame of a traceback: folder and name of the file, and the line."""
MOST_LETTERS = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """One progress report of a task; `total` is often unknown."""

    code: str
    done: int
    total: int | None
    message: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """The state of a task of Pulp. Instants are aware; those of the future are None."""

    href: str
    name: str
    state: str
    created: datetime
    started: datetime | None
    finished: datetime | None
    progress: Mapping[str, Progress]
    error: Json
    created_resources: tuple[str, ...]

    @property
    def ended(self) -> bool:
        """Whether the task has ended."""
        return self.state in ENDED

    @property
    def seconds(self) -> float | None:
        """Seconds from start to end by Pulp's clock; None while unknown."""
        if self.started is None or self.finished is None:
            return None
        return (self.finished - self.started).total_seconds()

    @property
    def queue_seconds(self) -> float | None:
        """Seconds from creation to start by Pulp's clock; None before the start."""
        return None if self.started is None else (self.started - self.created).total_seconds()

    def done(self, code: str) -> int:
        """Return how many units a progress report counts; 0 where there is none with this code."""
        report = self.progress.get(code)
        return report.done if report else 0

    @property
    def error_text(self) -> str:
        """Pulp's message about the failure; empty where there is none."""
        for name in ("description", "reason"):
            if text := str(self.error.get(name) or "").strip():
                return text
        return ""

    @property
    def failure_text(self) -> str:
        """What there is to say about the failure: Pulp's message, and the end of its traceback."""
        text = self.error_text or f"{self.state}, without a message"
        lines = [line.strip() for line in str(self.error.get("traceback") or "").splitlines()]
        end = next((line for line in reversed(lines) if line.strip("^~ ")), "")
        place = next((match for line in reversed(lines) if (match := FRAME.match(line))), None)
        if not end or end in text:
            return text
        where = f" in {place[1]}, line {place[2]}" if place and end != place[0] else ""
        return f"{text.rstrip('.')} (its traceback ends: {end[:MOST_LETTERS]}{where})"


class StillAtIt(ClientError):
    """A task has not ended within the time allowed."""

    def __init__(self, what: str, task: Task, seconds: float) -> None:
        super().__init__(f"{what} is still {task.state} after {seconds:g} s (task {task.href}).")
        self.task = task


class TaskFailed(ClientError):
    """A task has failed."""

    def __init__(self, what: str, task: Task) -> None:
        super().__init__(f"{what} ended {task.state}: {task.failure_text}")
        self.task = task


def read_task(data: Any) -> Task:
    """Return the task in an answer of Pulp. Raise Strange."""
    try:
        reports = [
            Progress(
                each["code"],
                int(each["done"] or 0),
                each["total"],
                each["message"],
                str(each.get("state") or ""),
            )
            for each in data["progress_reports"] or ()
        ]
        return Task(
            href=data["pulp_href"],
            name=data["name"],
            state=data["state"],
            created=_instant(data["pulp_created"]) or datetime.now(UTC),
            started=_instant(data["started_at"]),
            finished=_instant(data["finished_at"]),
            progress={report.code: report for report in reports},
            error=data["error"] or {},
            created_resources=tuple(data.get("created_resources") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Strange(f"Pulp's answer is no task ({error!r}): {str(data)[:200]}") from None


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
