"""Forks processes from one that has loaded perfdash: they share its memory, and start at once.

Usage: python -m perfdash.local.forkserver, with a socket as standard input. Each message on it asks for one
process: the arguments of `python -m` as JSON, with the file descriptors of its output, and of a file that holds its encryption
keys, which the server itself does not read. The answer is its process id.
"""

import gc
import json
import os
import runpy
import socket
import sys
import time
from importlib import import_module
from typing import NoReturn

from django.conf import settings

from campaigns.kit import kernel
from perfdash import environment

MODULES = (
    "celery.apps.worker", "celery.bin.celery", "celery.concurrency.prefork", "celery.concurrency.thread",
    "django.core.management", "django.db.backends.postgresql.base", "kombu.transport.redis",
)  # fmt: skip
"""What workers load besides their tasks."""
MOST_BYTES = 65536
READY = b"ready"


def main() -> None:
    """Serve until the other end of the socket is closed."""
    connection = socket.socket(fileno=os.dup(0))
    _load()
    connection.send(READY)
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, MOST_BYTES, 2)
        if not message:
            return
        output, given = descriptors
        pid = _fork(json.loads(message), connection, output, given)
        os.close(output)
        os.close(given)
        connection.send(str(pid).encode())


def _load() -> None:
    """Load what workers use, and keep the collector from writing into it, which would copy it."""
    from perfdash.celery import app

    app.loader.import_default_modules()
    app.finalize()
    for module in MODULES:
        import_module(module)
    gc.collect()
    gc.freeze()


def _fork(arguments: list[str], connection: socket.socket, output: int, given: int) -> int:
    """Start a process, and return its id as soon as it is a child of our own parent.

    Our parent adopts orphans, and the process between us and the new one ends at once.
    """
    parent = os.getppid()
    reader, writer = os.pipe()
    between = os.fork()
    if between == 0:
        between = os.getpid()
        pid = os.fork()
        if pid:
            os.write(writer, str(pid).encode())
            os._exit(0)
        for descriptor in (reader, writer, connection.detach()):
            os.close(descriptor)
        while os.getppid() == between:
            time.sleep(0.001)
        kernel.die_with_parent(parent)
        _take(given)
        _become(arguments, output)
    os.close(writer)
    os.waitpid(between, 0)
    with os.fdopen(reader) as answer:
        return int(answer.read())


def _take(given: int) -> None:
    """Read the encryption keys of this process."""
    with os.fdopen(given) as file:
        os.environ.update(json.load(file))
    settings.ENCRYPTION_KEYS = environment.fernet_keys("PERFDASH_ENCRYPTION_KEYS")
    settings.SECRETS += settings.ENCRYPTION_KEYS


def _become(arguments: list[str], output: int) -> NoReturn:
    """Run a module in this process, as `python -m` does in a new one."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, place in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, place)
    for descriptor in (nothing, output):
        os.close(descriptor)
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    main()
