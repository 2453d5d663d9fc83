"""LNT in an environment of its own, on a database of the same PostgreSQL."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

import psycopg

from bench.submissions import data, processes
from bench.submissions.http import Client
from campaigns.tests.ports import free_port
from e2e import conftest

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "lnt-requirements.txt"
ENVIRONMENT = HERE / ".lnt"
"""Ignored by git."""
TOKEN = "of-the-benchmark"  # noqa: S105  it lives as long as the benchmark
API = "/api/db_default/v4/nts"
INGEST_ONLY = "?ignore_regressions=1"
PAGES = "/db_default/v4/nts"
SERVED = """import lnt.server.ui.app
application = lnt.server.ui.app.App.create_standalone({config!r})
"""


def environment() -> Path:
    """Make the environment, once: it takes a compiler and a minute."""
    if not (ENVIRONMENT / "bin" / "lnt").exists():
        _run([sys.executable, "-m", "venv", ENVIRONMENT])
        pip: list[str | Path] = [ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--quiet"]
        _run([*pip, "-r", REQUIREMENTS])
    return ENVIRONMENT / "bin"


_ends_with_us: Callable[[], Callable[[], None]] = conftest.ends_with_us


def _run(command: Sequence[str | Path], **options: Any) -> None:
    subprocess.run(command, check=True, **options)  # noqa: S603  our own programs


class Lnt:
    """A running one."""

    name = "LNT"

    def __init__(self, base: str, process: int, connection: Any) -> None:
        self.base, self.process, self.connection = base, process, connection
        self.revision = 100_000

    def browser(self) -> Client:
        """Pages are for everybody."""
        return self.client()

    def client(self) -> Client:
        return Client(self.base, {"AuthToken": TOKEN})

    def submit_build(
        self, client: Client, place: str, build: int, query: str = INGEST_ONLY
    ) -> float:
        """One build of all tests; give seconds."""
        report = data.packed(data.lnt_report(place, build, range(data.TESTS)))
        return client.post(f"{API}/runs{query}", report, 301).seconds

    def single(self, place: str, number: int) -> tuple[str, bytes, int]:
        """Address and body of a run with one value, and the code that answers it."""
        self.revision += 1
        report = data.lnt_report(place, number, range(number % 50, number % 50 + 1))
        report["run"]["llvm_project_revision"] = str(self.revision)
        return f"{API}/runs{INGEST_ONLY}", data.packed(report), 301

    def reads(self, client: Client) -> dict[str, list[str]]:
        """Addresses of what is read, after the builds of one machine were submitted."""
        machine = json.loads(client.get(f"{API}/machines").body)["machines"][0]["id"]
        runs = [run["id"] for run in self._runs(client, machine)]
        test = self._row('SELECT "ID" FROM "NT_Test" WHERE "Name" = %s', data.NAMES[0])[0]
        field = self._field(client)
        graph = f"{API}/graph/{machine}/{test}/{field}"
        return {
            "history": [graph],
            "comparison": [f"{PAGES}/{runs[-1]}?compare_to={runs[-2]}"],
            "chart": [f"{PAGES}/graph?plot.0={machine}.{test}.{field}", graph],
        }

    def _runs(self, client: Client, machine: int) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = json.loads(client.get(f"{API}/machines/{machine}").body)[
            "runs"
        ]
        return results

    def _field(self, client: Client) -> int:
        fields = json.loads(client.get(f"{API}/fields").body)["fields"]
        return int([field["column_name"] for field in fields].index("execution_time"))

    def _row(self, query: str, *values: Any) -> Any:
        return self.connection.execute(query, values).fetchone()

    def values(self) -> int:
        return int(self._row('SELECT count(*) FROM "NT_Sample"')[0])

    def bytes_of_values(self) -> tuple[int, int]:
        """Of the table of values: heap, indexes."""
        heap, indexes = self._row(
            """SELECT pg_relation_size('"NT_Sample"'), pg_indexes_size('"NT_Sample"')"""
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
        return processes.processor_seconds(self.process)

    def settle(self) -> None:
        """Nothing follows: it looks for regressions before it answers."""


@contextmanager
def running(url: str, place: Path) -> Iterator[Lnt]:
    """LNT with two processes of gunicorn, on a new database on the server of `url`."""
    programs = environment()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE lnt")
    with psycopg.connect(url, dbname="lnt", autocommit=True) as connection:
        info = connection.info
        way = f"postgresql://{quote(info.user)}:{quote(info.password, safe='')}@"
        arguments = ["--db-dir", way, "--default-db", f"lnt?host={info.host}&port={info.port}"]
        create: list[str | Path] = [
            programs / "lnt",
            "create",
            place / "lnt",
            *arguments,
            "--api-auth-token",
            TOKEN,
        ]
        with (place / "lnt.log").open("w") as log:
            _run(create, stdout=log, stderr=log, cwd=place)
            config = str(place / "lnt" / "lnt.cfg")
            (place / "lnt" / "served.py").write_text(SERVED.format(config=config))
            port = free_port()
            serve: list[str | Path] = [
                programs / "gunicorn", "--workers", "2", "--timeout", "600", "--bind",
                f"127.0.0.1:{port}", "--pythonpath", place / "lnt", "served:application",
            ]  # fmt: skip
            process = subprocess.Popen(  # noqa: S603  our own program
                serve,
                cwd=place,
                stdout=log,
                stderr=log,
                env=dict(os.environ),
                preexec_fn=_ends_with_us(),
            )
        lnt = Lnt(f"http://127.0.0.1:{port}", process.pid, connection)
        try:
            _wait(lnt, process)
            yield lnt
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait(lnt: Lnt, process: "subprocess.Popen[bytes]") -> None:
    end = monotonic() + 60
    while True:
        try:
            lnt.client().get(f"{API}/machines")
        except OSError:
            if monotonic() > end or process.poll() is not None:
                raise
            sleep(0.2)
        else:
            return
