"""nginx with one worker on loopback, which can stand still for a moment now and then."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from types import MappingProxyType
from typing import Any

from campaigns.tests.ports import free_port
from e2e import conftest

STALL_SECONDS, STALL_EVERY_SECONDS = 0.2, 5.0
BODY_BYTES = 1024
CONFIGURATION = """
worker_processes 1; daemon off; pid {place}/pid; error_log {place}/errors;
events {{ worker_connections 8192; multi_accept on; }}
http {{
  access_log off; keepalive_requests 1000000000; client_body_temp_path {place}/body;
  server {{ listen 127.0.0.1:{port} backlog=4096; root {place}/www; }}
}}
"""
_ends_with_us: Callable[..., Callable[[], None]] = conftest.ends_with_us


class Server:
    """A running one. `url`: of a body of 1 KB."""

    def __init__(self, url: str, process: subprocess.Popen[bytes]) -> None:
        self.url = url
        self.process = process

    def worker(self) -> int:
        """Give the process that answers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    @contextmanager
    def stalling(self) -> Iterator[None]:
        """Let the worker stand still for 200 ms every 5 s."""
        over = threading.Event()
        worker = self.worker()

        def stall() -> None:
            while not over.wait(STALL_EVERY_SECONDS - STALL_SECONDS):
                os.kill(worker, signal.SIGSTOP)
                try:
                    sleep(STALL_SECONDS)
                finally:
                    os.kill(worker, signal.SIGCONT)

        thread = threading.Thread(target=stall)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@contextmanager
def serving(nginx: str, files: Mapping[str, bytes] = MappingProxyType({})) -> Iterator[Server]:
    """Run nginx with a small file and others by their names, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="perfdash-bench-") as directory:
        place = Path(directory)
        place.chmod(0o755)  # its worker may run as another user
        (place / "www").mkdir()
        (place / "www" / "answer.json").write_bytes(b"x" * BODY_BYTES)
        for name, content in files.items():
            (place / "www" / name).write_bytes(content)
        with running_nginx(nginx, place, CONFIGURATION) as (port, process):
            yield Server(f"http://127.0.0.1:{port}/answer.json", process)


@contextmanager
def running_nginx(
    nginx: str, place: Path, configuration: str
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run nginx, and give its port; it ends with this program."""
    port = free_port()
    (place / "nginx.conf").write_text(configuration.format(place=place, port=port))
    command = [nginx, "-p", str(place), "-c", str(place / "nginx.conf")]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(  # noqa: S603  Debian's nginx
        command, preexec_fn=_ends_with_us(), **quiet
    )
    try:
        _wait(port)
        yield port, process
    finally:
        process.terminate()
        process.wait()


def _wait(port: int) -> None:
    ends = monotonic() + 10
    while monotonic() < ends:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        sleep(0.05)
    raise SystemExit("nginx did not start.")
