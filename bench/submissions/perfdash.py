"""perfdash as a user starts it, used through its REST API."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import psycopg

from bench.submissions import data, processes
from bench.submissions.http import Client
from e2e.conftest import served

API = "/api/v1"
NO_RATES = {f"PERFDASH_API_{name}_RATE": "off" for name in ("READ", "SESSION")}
"""The default limit of what a token may write stands: what is measured has to keep it."""
WEB = ("web", "database")


class Perfdash:
    """A running one."""

    name = "perfdash"

    def __init__(self, served: Any, connection: Any) -> None:
        state = served.state
        self.base, self.services = state["base_url"], state["services"]
        self.token = served.manage("create_token", "owner", "--name", "benchmark").split()[-1]
        self.cookie = _signed_in(served)
        self.connection = connection
        self.campaigns: dict[str, int] = {}

    def client(self) -> Client:
        return Client(self.base, {"Authorization": f"Bearer {self.token}"})

    def browser(self) -> Client:
        """Somebody who reads pages."""
        return Client(self.base, {"Cookie": self.cookie})

    def submit(self, client: Client, document: dict[str, Any]) -> float:
        """A campaign in one request; give seconds."""
        body = data.packed(document)
        answer = client.post(f"{API}/submissions", body, 201)
        made = json.loads(answer.body)["submission"]["campaign"]
        self.campaigns[document["id"]] = made["id"]
        return answer.seconds

    def submit_build(self, client: Client, place: str, build: int) -> float:
        """One build of all tests: the first makes the campaign, others are appended; give seconds."""
        if place not in self.campaigns:
            return self.submit(client, data.wide(place, range(build, build + 1)))
        body = data.packed({"runs": [data.wide_run(build)]})
        return client.post(f"{API}/campaigns/{self.campaigns[place]}/runs", body, 201).seconds

    def single(self, place: str, number: int) -> tuple[str, bytes, int]:
        """Address and body of a run with one value, and the code that answers it."""
        run = data.narrow_run(number, number % 50, 1 + number / 1000)
        return f"{API}/campaigns/{self.campaigns[place]}/runs", data.packed({"runs": [run]}), 201

    def reads(
        self, client: Client, place: str = "builds", other: str = "others"
    ) -> dict[str, list[str]]:
        """Addresses of what is read: of a campaign of builds, compared with another one."""
        campaign, second = self.campaigns[place], self.campaigns[other]
        return {
            "history": [f"{API}/campaigns/{campaign}/history?metric={data.NAMES[0]}"],
            "comparison": [f"/compare/?c={campaign}&c={second}"],
            "chart": [f"/campaigns/{campaign}/", f"/campaigns/{campaign}/charts/curve/"],
        }

    def _row(self, query: str, *values: Any) -> Any:
        return self.connection.execute(query, values).fetchone()

    def values(self) -> int:
        return int(self._row("SELECT count(*) FROM campaigns_measurement")[0])

    def bytes_of_values(self) -> tuple[int, int]:
        """Of the table of values: heap, indexes."""
        heap, indexes = self._row(
            "SELECT pg_relation_size('campaigns_measurement'), pg_indexes_size('campaigns_measurement')"
        )
        return heap, indexes

    def bytes_of_all(self) -> int:
        return int(
            self._row("SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables")[
                0
            ]
        )

    def processor_seconds(self) -> float:
        """Of the web server."""
        return processes.processor_seconds(self.services["web"])

    def database_seconds(self) -> float:
        """Of PostgreSQL, which both use."""
        return processes.processor_seconds(self.services["database"])

    def analysis_seconds(self) -> float:
        return processes.processor_seconds(self.services["analysis"])

    def web_megabytes(self) -> float:
        return processes.resident_megabytes(self.services["web"])

    def settle(self, seconds: float = 180) -> None:
        """Wait until the analyses that are due are done."""
        end = monotonic() + seconds
        due = "SELECT 1 FROM campaigns_campaign WHERE analysis_requested_at <= now() LIMIT 1"
        while self.connection.execute(due).fetchone() and monotonic() < end:
            sleep(0.2)


def _signed_in(served: Any) -> str:
    """Cookies of the owner, who came by a link."""
    base = served.state["base_url"]
    link = urlsplit(served.manage("sign_in_link", "--base-url", base).split()[-1])
    entered = Client(base, {}).get(link.path, 302)
    return "; ".join(each.split(";")[0] for each in entered.headers.get_all("Set-Cookie"))


@contextmanager
def running(place: Path) -> Iterator[tuple[Perfdash, str]]:
    """perfdash without limits of what is read, and the address of its database."""
    with served(place / "data", **NO_RATES) as started:
        url = started.environment_of_commands["DATABASE_URL"]
        with psycopg.connect(url, autocommit=True) as connection:
            yield Perfdash(started, connection), url
