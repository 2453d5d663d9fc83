"""Tasks of the simulator, whose state follows from the time, as Foreman shows them."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.katello.behaviour import KatelloBehaviour

REPOSITORY_SYNC = "Actions::Katello::Repository::Sync"
PROXY_SYNC = "Actions::Katello::CapsuleContent::Sync"
JOB = "Actions::RemoteExecution::RunHostsJob"
JOB_OF_HOST = "Actions::RemoteExecution::RunHostJob"
NEVER = datetime.max.replace(tzinfo=UTC)
PACKAGES = 120
MOST_TASKS = 20_000
_METADATA, _INDEXING = 0.2, 0.8  # shares of the time at which the parts of a sync end
_RESULTS = {
    "success": "success",
    "warning": "warning",
    "error": "error",
    "pause": "error",
    "cancelled": "cancelled",
}


@dataclass(slots=True, eq=False)
class Task:
    """A sync, planned with its end: only a cancellation changes it."""

    label: str
    resource: tuple[str, int]  # such as Katello::Repository and 3
    name: str
    username: str
    created: datetime
    seconds: float
    skipped: bool
    forced: bool  # skip_metadata_check
    behaviour: KatelloBehaviour
    request_id: str
    pk: str = field(default_factory=lambda: str(uuid.uuid4()))
    cancelled: datetime | None = None
    stopped: bool = False  # by force, where it was paused
    verb: str = "Synchronize"
    parent: str = ""  # the id of the task whose part it is

    @property
    def begins(self) -> datetime:
        """When it runs."""
        return self.created + timedelta(seconds=self.behaviour.start_seconds)

    @property
    def ends(self) -> datetime:
        """When it is at rest."""
        if self.cancelled is not None:
            return self.cancelled + timedelta(seconds=self.behaviour.cancel_seconds)
        return self.begins + timedelta(seconds=self.seconds)

    def state(self, now: datetime) -> str:
        """Planned, running, paused or stopped."""
        if now >= self.ends:
            paused = self.behaviour.outcome == "pause" and not self.cancelled and not self.stopped
            return "paused" if paused else "stopped"
        return "running" if now >= self.begins else "planned"

    def result(self, now: datetime) -> str:
        """Give what became of it; “pending” until it is at rest."""
        if now < self.ends:
            return "pending"
        return "cancelled" if self.cancelled else _RESULTS[self.behaviour.outcome]

    def locks(self, now: datetime) -> bool:
        """Whether its repository is locked: until it has stopped, so also while it is paused."""
        return self.label == REPOSITORY_SYNC and self.state(now) != "stopped"

    def is_there(self, now: datetime) -> bool:
        """Whether Foreman has planned it."""
        return self.created <= now

    def end_early(self, now: datetime) -> None:
        """Be cancelled."""
        self.cancelled = now

    def document(self, now: datetime) -> dict[str, Any]:
        """Tell of it as `GET /foreman_tasks/api/tasks/:id` does."""
        state, result = self.state(now), self.result(now)
        ended = self.ends if state == "stopped" else None
        write = _iso if self.behaviour.iso else _seconds
        action = f"{self.verb}: Skip Metadata Check" if self.forced else self.verb
        messages = {
            "id": self.pk,
            "label": self.label,
            "pending": state != "stopped",
            "action": f"{action} {self.name}",
            "username": self.username,
            "started_at": write(self.begins) if state != "planned" else None,
            "ended_at": write(ended) if ended else None,
            "state": state,
            "result": result,
            "progress": 1.0 if ended else round(self._share(now), 2),
            "input": self._input(),
            "output": {"post_action_skipped": True} if ended and self.skipped else {},
            "humanized": {
                "action": action,
                "input": [],
                "output": "\n".join(self._lines(now)) if self.label == REPOSITORY_SYNC else "",
                "errors": self._errors(now),
            },
            "cli_example": None,
            "start_at": write(self.created),
            "available_actions": {
                "cancellable": state == "running",
                "resumable": state == "paused",
            },
        }
        if self.behaviour.duration:
            until = ended or max(now, self.begins)
            messages["duration"] = str(round((until - self.begins).total_seconds(), 3))
        return messages

    def details(self, now: datetime) -> dict[str, Any]:
        """Tell more of it."""
        errors = self._errors(now)
        steps = [
            {
                "error": {"exception_class": "Katello::Errors::Pulp3Error", "message": each},
                "action_class": "Actions::Pulp3::Repository::Sync",
                "state": "skipped",
            }
            for each in errors
        ]
        return self.document(now) | {
            "failed_steps": steps,
            "running_steps": [],
            "has_sub_tasks": False,
        }

    def _input(self) -> dict[str, Any]:
        kind, pk = self.resource
        request = {"current_request_id": self.request_id} if self.behaviour.request_ids else {}
        if self.label not in (REPOSITORY_SYNC, PROXY_SYNC):
            return request
        if kind == "SmartProxy":
            options = {"skip_metadata_check": self.forced}
            return {"smart_proxy": {"id": pk}, "options": options} | request
        return {"repository": {"id": pk}, "skip_metadata_check": self.forced} | request

    def _errors(self, now: datetime) -> list[str]:
        if now < self.ends or self.result(now) in ("success", "pending"):
            return []
        return ["Task canceled"] if self.result(now) == "cancelled" else [self.behaviour.error]

    def _share(self, now: datetime) -> float:
        gone = (min(now, self.ends) - self.begins).total_seconds()
        return max(0.0, min(1.0, gone / self.seconds)) if self.seconds else 1.0

    def _lines(self, now: datetime) -> Iterator[str]:
        """Give the lines of humanized.output."""
        share = self._share(now)
        if now < self.begins or not share:
            yield "Waiting to start."
            return
        if self.skipped:
            counted = {"Skipping Sync (no change from previous sync)": (1, 1)}
        else:
            parsed = round(
                PACKAGES * max(0.0, min(1.0, (share - _METADATA) / (_INDEXING - _METADATA)))
            )
            counted = {
                "Associating Content": (self.behaviour.added, self.behaviour.added),
                "Downloading Artifacts": (self.behaviour.added, self.behaviour.added),
                "Downloading Metadata Files": (min(6, round(6 * share / _METADATA)), 6),
                "Parsed Packages": (parsed, PACKAGES),
            }
        if now >= self.ends:
            added = self.behaviour.added
            yield f"Added Rpms: {added}" if added else "No content added."
        done, total = (sum(each) for each in zip(*counted.values(), strict=True))
        yield f"Total steps: {done}/{total}"
        yield "--------------------------------"
        for name, (done, total) in counted.items():
            yield f"{name}: {done}/{total}"


@dataclass(slots=True, eq=False)
class Tasks:
    """All tasks, oldest first."""

    now: Callable[[], datetime]
    all: dict[str, Task] = field(default_factory=dict)
    of_job: dict[int, Task] = field(default_factory=dict)

    def add(self, task: Task) -> Task:
        """Begin a task; the oldest is forgotten where there are too many."""
        self.all[task.pk] = task
        if len(self.all) > MOST_TASKS:
            del self.all[next(iter(self.all))]
        return task

    def cancel(self, task: Task) -> bool:
        """Ask for the end of a task; False where that cannot be."""
        now = self.now()
        if task.state(now) not in ("running", "planned") or task.cancelled:
            return False
        task.end_early(now)
        return True

    def holding(self, resource: tuple[str, int]) -> list[Task]:
        """Find the tasks that lock a resource."""
        now = self.now()
        return [each for each in self.all.values() if each.resource == resource and each.locks(now)]

    def found(self, terms: Mapping[str, tuple[str, str]]) -> list[Task]:
        """Find tasks by terms of a search, newest first."""
        now = self.now()

        known: dict[str, Callable[[Task], str]] = {
            "parent_task_id": lambda task: task.parent,
            "label": lambda task: task.label,
            "resource_type": lambda task: task.resource[0],
            "resource_id": lambda task: str(task.resource[1]),
            "state": lambda task: task.state(now),
            "result": lambda task: task.result(now),
            "started_at": lambda task: (
                "" if task.state(now) == "planned" else _seconds(task.begins)
            ),
        }
        asked = [
            (read, *terms[name]) for name, read in known.items() if name in terms
        ]  # those that are quick to compare come first

        def fits(task: Task) -> bool:
            return task.is_there(now) and all(
                _holds(read(task), sign, value) for read, sign, value in asked
            )

        return [task for task in reversed(self.all.values()) if fits(task)]


def _holds(known: str, sign: str, value: str) -> bool:
    """Return whether a term of a search holds. Instants are written so that they sort."""
    return known >= value if sign == ">=" else (known == value) == (sign == "=")


def _seconds(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def _iso(at: datetime) -> str:
    return f"{at.strftime('%Y-%m-%dT%H:%M:%S')}.{at.microsecond // 1000:03}Z"
