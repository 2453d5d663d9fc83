"""Which errata and packages apply to hosts: Katello is asked to find out again, which changes nothing else.

The path is that of Katello's API v2 (`host_errata_controller.rb`). It names no task: the hosts wait in a queue of Katello, from which an
event takes up to `applicability_batch_size` at a time and begins a task for them. So the tasks are found by their label, the time, and
the ids of the hosts in their input.
"""

import time
from collections.abc import Sequence, Set
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice

from campaigns.kinds.base import Context, DriverError
from campaigns.kinds.base.foreman import first_error_of, patiently
from campaigns.kinds.foreman_task.running import Watched, Work, failure_of
from campaigns.kinds.servers.foreman_hosts import HOSTS
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.katello import SHORTEST_WAIT, Katello

TASK = "Actions::Katello::Applicability::Hosts::BulkGenerate"


def hosts_found(katello: Katello, query: str, count: int) -> list[int]:
    """Return the ids of so many content hosts that a search finds, the smallest first. Raise DriverError for fewer."""
    rows = katello.results(HOSTS, search=query, order="id ASC")
    found = [int(row["id"]) for row in islice(filter(_has_content, rows), count)]
    if len(found) < count:
        raise DriverError(
            f"The search “{query}” finds {len(found)} hosts with content, and {count} are asked for. Register more hosts, ask for "
            "fewer, or change the search."
        )
    return found


def _has_content(row: object) -> bool:
    return isinstance(row, dict) and bool(row.get("content_facet_attributes")) and "id" in row


def compute(katello: Katello, mark: str, work: Work, context: Context) -> Watched:
    """Ask for the applicability of all hosts, and watch the tasks until each host was in one that is at rest, or the time is over.

    Raise TargetUnavailable where Foreman stops answering.
    """
    watched = Watched()
    search = f'label = {TASK} and started_at >= "{_now_of(katello)}"'
    former = {task.id for task in katello.tasks(search)}
    started_at = time.monotonic()
    for pk in work.hosts:
        if time.monotonic() - started_at > context.deadline_seconds:
            break
        katello.send("PUT", f"{HOSTS}/{pk}/errata/applicability", {}, mark)

    def look() -> None:
        _look(katello, watched, search, former, work.hosts)

    while True:
        gone = time.monotonic() - started_at
        katello.rest(gone)
        patiently(katello, look, "its tasks", SHORTEST_WAIT)
        done = len(done_of(watched, work.hosts))
        context.progress({"tasks_total": len(work.hosts), "tasks_done": done, "seconds": gone})
        if done == len(work.hosts):
            break
        if gone > context.deadline_seconds:
            watched.timed_out = True
            break
    watched.wall_seconds = time.monotonic() - started_at
    failed = [task for task in watched.all if failure_of(task)]
    watched.first_error = first_error_of(katello, failed)
    return watched


def done_of(watched: Watched, hosts: Sequence[int]) -> set[int]:
    """Return those of the hosts that were in a task that is at rest."""
    at_rest = (task for task in watched.all if task.at_rest)
    return {pk for task in at_rest for pk in hosts_of(task)} & set(hosts)


def hosts_of(task: ForemanTask) -> list[int]:
    """Return the ids of the hosts of a task."""
    ids = task.input.get("host_ids")
    return [pk for pk in ids if isinstance(pk, int)] if isinstance(ids, list) else []


def _look(
    katello: Katello, watched: Watched, search: str, former: Set[str], hosts: Sequence[int]
) -> None:
    """Note the tasks that a search finds and that have these hosts, without the former ones: its second may have begun before the run."""
    wanted = set(hosts)
    found = [task for task in katello.tasks(search) if task.id not in former]
    ours = [task for task in reversed(found) if wanted.intersection(hosts_of(task))]
    watched.tasks |= {task.id: task for task in ours}
    watched.looks += 1


def _now_of(katello: Katello) -> str:
    """Return the server's time as its search takes it; that of the worker where it tells none."""
    date = katello.date()
    try:
        now = parsedate_to_datetime(date or "")
    except (TypeError, ValueError):
        now = datetime.now(UTC)
    return now.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
