"""Tasks of Pulp, as its API tells them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from campaigns.kit.http.errors import ClientError, Strange

ENDED = frozenset({"completed", "failed", "canceled", "skipped"})
UNFINISHED = "running,waiting,canceling"


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
    """A task of Pulp as it is now; instants are aware, those that have not come are None."""

    href: str
    name: str
    state: str
    created: datetime
    started: datetime | None
    finished: datetime | None
    progress: Mapping[str, Progress]
    error: Mapping[str, Any]
    created_resources: tuple[str, ...]

    @property
    def ended(self) -> bool:
        """Return whether nothing will change any more."""
        return self.state in ENDED

    @property
    def seconds(self) -> float | None:
        """From start to end, by Pulp's clock; None while it is not known."""
        if self.started is None or self.finished is None:
            return None
        return (self.finished - self.started).total_seconds()

    @property
    def queue_seconds(self) -> float | None:
        """From its creation to its start, by Pulp's clock."""
        return None if self.started is None else (self.started - self.created).total_seconds()

    def done(self, code: str) -> int:
        """How many units a progress report counts; 0 where there is none of that code."""
        report = self.progress.get(code)
        return report.done if report else 0

    @property
    def words(self) -> str:
        """What Pulp says went wrong; empty where it says nothing."""
        for name in ("description", "reason"):
            if said := str(self.error.get(name) or "").strip():
                return said
        return ""


class StillAtIt(ClientError):
    """A task has not ended in the time that it was given."""

    def __init__(self, what: str, task: Task, seconds: float) -> None:
        super().__init__(f"{what} is still {task.state} after {seconds:g} s (task {task.href}).")
        self.task = task


class TaskFailed(ClientError):
    """A task ended, and not well."""

    def __init__(self, what: str, task: Task) -> None:
        said = task.words or "Pulp does not say why"
        super().__init__(f"{what} ended {task.state}: {said}")
        self.task = task


def read_task(said: Any) -> Task:
    """Read what Pulp says of a task. Raise Strange."""
    try:
        reports = [
            Progress(
                each["code"],
                int(each["done"] or 0),
                each["total"],
                each["message"],
                str(each.get("state") or ""),
            )
            for each in said["progress_reports"] or ()
        ]
        return Task(
            href=said["pulp_href"],
            name=said["name"],
            state=said["state"],
            created=_instant(said["pulp_created"]) or datetime.now(UTC),
            started=_instant(said["started_at"]),
            finished=_instant(said["finished_at"]),
            progress={report.code: report for report in reports},
            error=said["error"] or {},
            created_resources=tuple(said.get("created_resources") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Strange(f"Pulp's answer is no task ({error!r}): {str(said)[:200]}") from None


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
