"""The measured part of a run: begin all tasks, and watch them until they are at rest."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex

from campaigns.kinds.base import Context, TargetUnavailable
from campaigns.kinds.base.foreman import AWAY_SECONDS, first_error_of
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import NoAnswer, Unavailable

MOST_LOOKED_AT = 5
"""Running tasks that one look asks for: a look must not load what it measures."""
WORK = "content_views.json"
CANCELLED = "cancelled by others"


@dataclass(slots=True)
class Work:
    """What an attempt passes from one step to the next: ids of its content views and tasks, of the environment, and of hosts."""

    views: list[int]
    environment: int = 0
    hosts: list[int] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)

    def save(self, context: Context) -> None:
        """Write it to the attempt's directory: the next step may run in another process."""
        context.directory.mkdir(parents=True, exist_ok=True)
        _file(context).write_text(json.dumps(asdict(self)))


def work_of(context: Context) -> Work:
    """Return what the earlier steps have written; nothing before them."""
    file = _file(context)
    return Work(**json.loads(file.read_text())) if file.is_file() else Work([])


def _file(context: Context) -> Path:
    return context.directory / WORK


@dataclass(slots=True)
class Watched:
    """The tasks of a run, as of the last look at each."""

    tasks: dict[str, ForemanTask] = field(default_factory=dict)
    wall_seconds: float = 0.0
    looks: int = 0
    timed_out: bool = False
    first_error: str = ""
    """Foreman's message about the first task that failed."""

    @property
    def all(self) -> list[ForemanTask]:
        """The tasks, in the order in which they were begun."""
        return list(self.tasks.values())

    @property
    def at_rest(self) -> int:
        """How many do not change by themselves any more."""
        return sum(task.at_rest for task in self.all)


def failure_of(task: ForemanTask) -> str:
    """Return the class of failure of a task; empty where it runs or has succeeded."""
    if not task.at_rest or task.succeeded:
        return ""
    if task.state == "paused":
        return "paused"
    return CANCELLED if task.result == "cancelled" else task.result


def watch(
    katello: Katello,
    begin: Sequence[Callable[[str], ForemanTask]],
    mark: str,
    work: Work,
    context: Context,
) -> Watched:
    """Begin tasks, each with a request id of its own, and watch until all are at rest or the time limit is over.

    Raise TargetUnavailable where Foreman stops answering.
    """
    started_at = time.monotonic()
    watched = Watched()
    for start in begin:
        task = start(f"{mark}{token_hex(4)}")
        watched.tasks[task.id] = task
        work.tasks.append(task.id)
        work.save(context)
    last_answer = time.monotonic()
    while watched.at_rest < len(watched.tasks):
        gone = time.monotonic() - started_at
        is_over = gone > context.deadline_seconds
        if not is_over:
            katello.rest(gone)
        try:
            _look(katello, watched, len(watched.tasks) if is_over else MOST_LOOKED_AT)
        except (NoAnswer, Unavailable) as error:
            away = time.monotonic() - last_answer
            if is_over or away > AWAY_SECONDS:
                raise TargetUnavailable(
                    f"Foreman has not answered for {away:.0f} s while its tasks ran: {error}"
                ) from None
            continue
        last_answer = time.monotonic()
        context.progress(
            {
                "tasks_total": len(watched.tasks),
                "tasks_done": watched.at_rest,
                "seconds": last_answer - started_at,
            }
        )
        if is_over and watched.at_rest < len(watched.tasks):
            watched.timed_out = True
            break
    watched.wall_seconds = time.monotonic() - started_at
    watched.first_error = first_error_of(
        katello, [task for task in watched.all if failure_of(task)]
    )
    return watched


def _look(katello: Katello, watched: Watched, most: int) -> None:
    """Ask for the oldest tasks that are not at rest, and for further ones as long as those are."""
    open_tasks = [pk for pk, task in watched.tasks.items() if not task.at_rest]
    running = 0
    for pk in open_tasks:
        watched.tasks[pk] = katello.task(pk)
        running += not watched.tasks[pk].at_rest
        if running >= most:
            break
    watched.looks += 1
