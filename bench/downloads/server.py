"""Files of random bytes, and an nginx of one worker on loopback that serves them."""

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory
CONFIGURATION = """
worker_processes 1;
daemon off;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    default_type application/octet-stream;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    server {{ listen 127.0.0.1:{port}; root {place}/www; }}
}}
"""


@dataclass(frozen=True, slots=True)
class Files:
    """A repository: how it is called, where it is served, and its files by name."""

    title: str
    url: str
    digests: dict[str, str]
    size: int

    @property
    def bytes(self) -> int:
        return self.size * len(self.digests)


@dataclass(frozen=True, slots=True)
class Served:
    """What is served, where there is room, and of what kind that is."""

    small: Files
    large: Files
    place: Path
    file_system: str


@contextmanager
def serving(nginx: str) -> Iterator[Served]:
    """Write 2000 files of 20 KB and 100 of 4 MB, and serve them."""
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 2 * 2**30
    with tempfile.TemporaryDirectory(dir=MEMORY if in_memory else None) as written:
        place = Path(written)
        place.chmod(0o755)  # nginx's worker may be another user
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        small = _write(place / "www" / "small", "2000 x 20 KB", f"{url}/small/", 2000, 20 * 1024)
        large = _write(place / "www" / "large", "100 x 4 MB", f"{url}/large/", 100, 4 * 2**20)
        (place / "nginx.conf").write_text(CONFIGURATION.format(place=place, port=port))
        command = [nginx, "-c", str(place / "nginx.conf"), "-e", str(place / "error.log")]
        process = subprocess.Popen(command)  # noqa: S603 - arguments are ours
        try:
            _wait(port)
            yield Served(small, large, place, "tmpfs" if in_memory else "a disk")
        finally:
            process.terminate()
            process.wait()


def _write(directory: Path, title: str, url: str, number: int, size: int) -> Files:
    directory.mkdir(parents=True)
    digests = {}
    for index in range(number):
        content = os.urandom(size)
        (directory / f"file-{index:04}").write_bytes(content)
        digests[f"file-{index:04}"] = hashlib.sha256(content).hexdigest()
    return Files(title, url, digests, size)


def _wait(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"nginx does not listen on port {port} after 5 s")
