"""A replica of Conbench's published call, in an environment of its own, on a database of the same PostgreSQL."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

import psycopg

from bench.submissions import data, processes
from bench.submissions.http import Client
from campaigns.tests.ports import free_port
from e2e import conftest

_ends_with_us: Callable[[], Callable[[], None]] = conftest.ends_with_us
HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "conbench-requirements.txt"
ENVIRONMENT = HERE / ".conbench"
"""Ignored by git."""
API = "/api/benchmark-results/"
MACHINE = {
    **dict.fromkeys(
        ("architecture_name", "kernel_name", "os_name", "os_version", "cpu_model_name"), "a"
    ),
    **{f"cpu_l{level}_cache_bytes": "32768" for level in ("1d", "1i", "2", "3")},
    "cpu_core_count": "8",
    "cpu_thread_count": "8",
    "cpu_frequency_max_hz": "3000000000",
    "memory_bytes": "17179869184",
    "gpu_count": "0",
    "gpu_product_names": [],
}


def environment() -> Path:
    """Make the environment, once."""
    programs = ENVIRONMENT / "bin"
    if not (programs / "gunicorn").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)  # noqa: S603
        pip = [programs / "python", "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS]
        subprocess.run(list(map(str, pip)), check=True)  # noqa: S603
    return programs


class Conbench:
    """A running one."""

    name = "Conbench (replica)"

    def __init__(self, base: str, process: int) -> None:
        self.base, self.process = base, process
        self._cookie = ""

    def log_in(self) -> None:
        """Keep the cookie of a session. Raise OSError until the server answers."""
        body = data.packed({"email": "bench@example.org", "password": "-"})
        entered = Client(self.base, {}).post("/api/login/", body, 204)
        self._cookie = entered.headers["Set-Cookie"].split(";")[0]

    def client(self) -> Client:
        return Client(self.base, {"Cookie": self._cookie})

    def single(self, place: str, number: int) -> tuple[str, bytes, int]:
        """Address and body of a result with one value, and the code that answers it."""
        value = 1 + number / 1000
        result = {
            "run_id": f"{place} {number}", "run_tags": {"name": place}, "run_reason": "nightly", "batch_id": place,
            "timestamp": data.began(number).isoformat(),
            "machine_info": {"name": "machine", **MACHINE},
            "stats": {"data": [value], "times": [], "unit": "s", "time_unit": "s", "iterations": 1},
            "tags": {"name": data.NAMES[number % 50], "suite": "bench"}, "info": {"python": "3.11"},
            "context": {"language": "Python"},
            "github": {"commit": "0" * 40, "repository": "https://example.org/a"},
        }  # fmt: skip
        return API, data.packed(result), 201

    def processor_seconds(self) -> float:
        """Of the web server."""
        return processes.processor_seconds(self.process)

    def settle(self) -> None:
        """Nothing follows: it analyses what is read."""


@contextmanager
def running(url: str, place: Path) -> Iterator[Conbench]:
    """The replica under gunicorn as Conbench runs it, one process of 15 threads, on a new database on the server of `url`."""
    programs = environment()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE conbench")
        info = connection.info
        user = f"{quote(info.user)}:{quote(info.password, safe='')}"
        address = f"postgresql+psycopg2://{user}@/conbench?host={quote(info.host, safe='')}&port={info.port}"
    port = free_port()
    module = "bench.submissions.conbench_replica"
    variables = {**os.environ, "CONBENCH_URL": address, "PYTHONPATH": str(HERE.parent.parent)}
    with (place / "conbench.log").open("w") as log:
        streams = {"stdout": log, "stderr": log, "env": variables}
        subprocess.run([programs / "python", "-m", module], check=True, **streams)  # type: ignore[call-overload]  # noqa: S603
        serve = [
            programs / "gunicorn", "--workers", "1", "--threads", "15", "--keep-alive", "170", "--timeout", "180",
            "--bind", f"127.0.0.1:{port}", f"{module}:make()",
        ]  # fmt: skip
        process = subprocess.Popen(serve, preexec_fn=_ends_with_us(), **streams)  # type: ignore[call-overload]  # noqa: S603
    conbench = Conbench(f"http://127.0.0.1:{port}", process.pid)
    try:
        end = monotonic() + 60
        while True:
            try:
                conbench.log_in()
            except OSError:
                if monotonic() > end or process.poll() is not None:
                    raise
                sleep(0.2)
            else:
                break
        yield conbench
    finally:
        process.terminate()
        process.wait(timeout=30)
