"""The cost of pages for the server: time, queries, bytes; requested through Django's handler with its middleware."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from campaigns.models import Membership, Role
from campaigns.models.teams import default_team

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Goal:
    """The most seconds that an address may take: of both processors together, or of the database's alone."""

    seconds: float
    database: bool = False


@dataclass(frozen=True, slots=True)
class Visit:
    """One address asked again and again, after a first time. Times in seconds; goal: None where there is none.

    processor: what this process worked, without the database's. database: what the database worked for it.
    """

    what: str
    seconds: tuple[float, ...]
    processor: tuple[float, ...]
    database: tuple[float, ...]
    queries: int
    plain: int
    packed: int
    goal: Goal | None = None

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def missed(self) -> bool:
        """Whether the median of what was worked is above the goal. The machine may be busy: no clock is looked at."""
        if self.goal is None:
            return False
        web = 0.0 if self.goal.database else median(self.processor)
        return web + median(self.database) > self.goal.seconds


def signed_in() -> Client:
    """Return a browser of a member of the team that campaigns without a user belong to."""
    user, _ = User.objects.get_or_create(username="bench")
    Membership.objects.get_or_create(
        team_id=default_team(), user=user, defaults={"roles": [Role.ADMIN]}
    )
    client = Client(HTTP_HOST=HOST)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def visit(client: Client, what: str, address: str, repeats: int, goal: Goal | None = None) -> Visit:
    """Ask once for what is loaded late, then `repeats` times. Raise where the answer is no page."""
    content, queries = _counted(client, address)
    backend = _backend()
    seconds, processor, database = [], [], []
    for _ in range(repeats):
        begun, worked, queried = perf_counter(), process_time(), _worked(backend)
        _read(client, address)
        seconds.append(perf_counter() - begun)
        processor.append(process_time() - worked)
        database.append(_worked(backend) - queried)
    return Visit(
        what,
        tuple(seconds),
        tuple(processor),
        tuple(database),
        queries,
        len(content),
        len(gzip.compress(content, 6)),
        goal,
    )


def _backend() -> int:
    """Return the process of the database that works for this one, and forbid it to have others help."""
    with connection.cursor() as cursor:
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _worked(process: int) -> float:
    """Return the processor seconds of a process, which Linux counts in nanoseconds."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def _counted(client: Client, address: str) -> tuple[bytes, int]:
    count = 0

    def counting(execute: Any, *arguments: Any) -> Any:
        nonlocal count
        count += 1
        return execute(*arguments)

    _read(client, address)
    with connection.execute_wrapper(counting):
        return _read(client, address), count


def _read(client: Client, address: str) -> bytes:
    answer = client.get(address)
    content = b"".join(answer)
    if answer.status_code != 200:
        raise ValueError(f"{address} answered {answer.status_code}.")
    return content


def pages_of(campaign: int, size: str) -> Sequence[tuple[str, str]]:
    """The addresses of one campaign, each with its name."""
    base = f"/campaigns/{campaign}/"
    return (
        (f"result page, {size}", base),
        (f"chart of every run, {size}", f"{base}charts/curve/"),
        (f"chart of drift, {size}", f"{base}charts/drift/"),
        (f"result page, {size}, filtered, second page of runs", f"{base}runs/?q=asyncio&page=2"),
        (f"page of a run, {size}", f"{base}runs/7/"),
        (f"runs as CSV, {size}", f"{base}runs.csv"),
        (f"comparisons as CSV, {size}", f"{base}comparisons.csv"),
        (f"everything as JSON, {size}", f"{base}campaign.json"),
    )


def lists(campaigns: Sequence[int]) -> Sequence[tuple[str, str, Goal | None]]:
    """The addresses of many campaigns, each with its name and its goal; of two single ones, what names others as well."""
    one, other = campaigns
    api = f"/api/v1/campaigns/{one}"
    pages = {
        "search in the list": "/campaigns/?q=sync",
        "list by name": "/campaigns/?sort=name",
        "list of a tag": "/campaigns/?tag=pulp",
        "list of a target": "/campaigns/?target=1",
        "list, page 300": "/campaigns/?page=300",
        "choice of campaigns to compare": "/compare/",
        "comparison of two campaigns": f"/compare/?c={one}&c={other}",
        "form of a campaign": "/campaigns/new/",
        "form of a conclusion": f"/conclusions/new/?campaign={one}",
        "form of an import": "/import/",
        "conclusions": "/conclusions/",
        "targets": "/targets/",
        "target": "/targets/1/",
        "queues": "/queues/",
        "inbox": "/inbox/",
        "activity": "/activity/",
        "disk used": "/storage/",
        "templates": "/templates/",
        "team": "/teams/1/",
        "notifications": "/account/notifications/",
        "metrics of perfdash": "/metrics",
        "result page": f"/campaigns/{one}/",
        "page of a run": f"/campaigns/{one}/runs/7/",
        "draft of a report": f"/campaigns/{one}/report/",
        "runs as CSV": f"/campaigns/{one}/runs.csv",
        **{
            f"REST: {name}": f"/api/v1/{name}"
            for name in (
                *(
                    "campaigns",
                    "campaigns?q=sync",
                    "campaigns?state=finished",
                    "campaigns?tag=pulp",
                ),
                *("campaigns?target=1", "targets", "targets/1/dependants", "queues", "storage"),
                *(
                    "conclusions",
                    "activity",
                    "templates",
                    "inbox",
                    "submissions",
                    "workers",
                    "teams",
                ),
            )
        },
        **{
            f"REST: {name} of a campaign": f"{api}/{name}"
            for name in (
                *("runs", "cells", "attempts", "measurements", "findings", "log", "history"),
                *("conclusions", "threads", "export"),
            )
        },
        "REST: a campaign": api,
        "REST: comparison": f"/api/v1/compare?campaign={one}&campaign={other}",
    }
    return (
        ("list of campaigns", "/campaigns/", Goal(0.06)),
        ("home", "/", Goal(0.06)),
        *((what, address, None) for what, address in pages.items()),
    )


def values_of(campaign: int) -> Sequence[tuple[str, str, Goal | None]]:
    """The addresses that read values of one large campaign."""
    api = f"/api/v1/campaigns/{campaign}"
    return (
        ("history, latest 1,000 runs", f"{api}/history", Goal(0.015, database=True)),
        ("history, 10,000 runs", f"{api}/history?limit=10000", Goal(0.015, database=True)),
        ("history of a cell", f"{api}/history?cell=1", None),
        ("its result page", f"/campaigns/{campaign}/", None),
        ("page of one of its runs", f"/campaigns/{campaign}/runs/7/", None),
        ("REST: its runs", f"{api}/runs", None),
        ("REST: its attempts", f"{api}/attempts", None),
        ("REST: its measurements", f"{api}/measurements", None),
        ("disk used", "/storage/", None),
        ("list of campaigns", "/campaigns/", Goal(0.06)),
        ("home", "/", Goal(0.06)),
    )
