"""The cost of pages for the server: time, queries, bytes; requested through Django's handler with its middleware."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
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
class Visit:
    """One address asked again and again, after a first time. Times in seconds; goal: None where there is none.

    processor: what this process worked, without the database's.
    """

    what: str
    seconds: tuple[float, ...]
    processor: tuple[float, ...]
    queries: int
    plain: int
    packed: int
    goal: float | None = None

    @property
    def median(self) -> float:
        return median(self.seconds)


def signed_in() -> Client:
    """Return a browser of a member of the team that campaigns without a user belong to."""
    user, _ = User.objects.get_or_create(username="bench")
    Membership.objects.get_or_create(
        team_id=default_team(), user=user, defaults={"roles": [Role.VIEWER]}
    )
    client = Client(HTTP_HOST=HOST)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def visit(
    client: Client, what: str, address: str, repeats: int, goal: float | None = None
) -> Visit:
    """Ask once for what is loaded late, then `repeats` times. Raise where the answer is no page."""
    content, queries = _counted(client, address)
    seconds, processor = [], []
    for _ in range(repeats):
        begun, worked = perf_counter(), process_time()
        _read(client, address)
        seconds.append(perf_counter() - begun)
        processor.append(process_time() - worked)
    return Visit(
        what,
        tuple(seconds),
        tuple(processor),
        queries,
        len(content),
        len(gzip.compress(content, 6)),
        goal,
    )


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
        (f"result page, {size}, filtered, second page of runs", f"{base}?q=asyncio&page=2"),
        (f"page of a run, {size}", f"{base}runs/7/"),
        (f"runs as CSV, {size}", f"{base}runs.csv"),
        (f"comparisons as CSV, {size}", f"{base}comparisons.csv"),
        (f"everything as JSON, {size}", f"{base}campaign.json"),
    )
