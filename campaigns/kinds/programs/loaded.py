"""Keep an engine loaded between runs, and fork each program from it: no start of an interpreter, no imports.

`python -m campaigns.kinds.programs.loaded MODULE DESCRIPTOR PARENT` is the process that waits; `Loaded` is the keeper's side
of it. Each run still has a process of its own, which begins as the module stands after its imports. It is a child of the
keeper, not of the process that waits (CLONE_PARENT of clone(2)): the keeper waits for it and kills it, and the kernel ends it
with the keeper, as any other program. What waits dies with the keeper, too, and ends by itself after IDLE_SECONDS.

No Django.
"""

import ctypes
import gc
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from campaigns.kinds.programs import lifeline
from campaigns.kit import kernel

IDLE_SECONDS = 60.0
LOAD_SECONDS = 20.0
"""The longest that a module may take to load; then the program is started as usual."""
FORK_SECONDS = 2.0
LOOK_SECONDS = 0.05
MOST_LOADED = 3
CLONE_PARENT = 0x00008000
CLONE = {"x86_64": 56, "aarch64": 220}
"""The number of clone(2) by processor."""
NAME = "engine"
"""The name of a forked process in lists; that of the one that waits stays `python`."""


class Loaded:
    """The process that keeps a module loaded, as its keeper sees it."""

    def __init__(self, module: str, directory: Path, environment: Mapping[str, str]) -> None:
        """Start it; it is ready when `is_ready`."""
        self.module, self.keeper, self.ready = module, os.getpid(), False
        self.environment = dict(environment)
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [
                    *(sys.executable, "-E", "-s", "-m", "campaigns.kinds.programs.loaded"),
                    *(module, str(theirs.fileno()), str(os.getpid())),
                ],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=directory,
                env=environment,
                start_new_session=True,
            )

    def wait(self, give_up: Callable[[], bool]) -> bool:
        """Wait until it is ready; False where it has ended, takes too long, or `give_up` says so."""
        end = time.monotonic() + LOAD_SECONDS
        while not self.ready and time.monotonic() < end and not give_up():
            try:
                self._channel.settimeout(LOOK_SECONDS)
                self.ready = bool(self._channel.recv(16))
            except TimeoutError:
                continue
            except OSError:
                return False
            if not self.ready:
                return False
        return self.ready

    def fork(self, descriptors: tuple[int, int, int]) -> int | None:
        """Fork a program with these as stdin, stdout and stderr; return its process, None where that failed."""
        try:
            self._channel.settimeout(FORK_SECONDS)
            socket.send_fds(self._channel, [b"fork"], descriptors)
            return int(self._channel.recv(16) or b"0") or None
        except (OSError, ValueError):
            return None

    def end(self) -> None:
        """End it. What it has forked goes on."""
        self._channel.close()
        if self.keeper == os.getpid():
            self.process.kill()
            self.process.wait()


_loaded: dict[str, Loaded] = {}
_choosing = threading.Lock()


def fork(
    module: str,
    descriptors: tuple[int, int, int],
    give_up: Callable[[], bool],
    directory: Path,
    environment: Mapping[str, str],
) -> int | None:
    """Fork a program of a module, which is loaded where it is not yet; None where it has to be started as usual.

    One that waited and was killed, or has ended by itself, is replaced.
    """
    if platform.machine() not in CLONE:
        return None
    with _choosing:
        for _ in range(2):
            loaded = _loaded.pop(module, None)
            if loaded and loaded.environment != environment:
                loaded.end()  # what it forks would have the old one, as other certificates
                loaded = None
            if loaded is None or loaded.keeper != os.getpid():
                loaded = Loaded(module, directory, environment)
            process = loaded.fork(descriptors) if loaded.wait(give_up) else None
            if process is not None:
                _loaded[module] = loaded  # the one that was used last comes last
                while len(_loaded) > MOST_LOADED:
                    _loaded.pop(next(iter(_loaded))).end()
                return process
            loaded.end()
            if give_up():
                return None
        return None


def main() -> NoReturn:
    """Load the module; then fork it for each message, until the keeper's end is closed or nothing comes."""
    module, descriptor, parent = sys.argv[1:]
    kernel.die_with_parent(int(parent))
    engine = import_module(module)
    program = partial(lifeline.run, engine.main, forks=getattr(engine, "FORKS", False))
    getattr(engine, "prepare", lambda: None)()
    with socket.socket(fileno=int(descriptor)) as channel:
        if len(os.listdir("/proc/self/task")) > 1:
            os._exit(1)  # another thread may hold any lock when we fork
        gc.collect()
        gc.freeze()
        channel.settimeout(IDLE_SECONDS)
        with suppress(OSError):
            channel.send(b"ready")
            while (message := socket.recv_fds(channel, 16, 3))[0]:
                channel.send(str(_fork(program, message[1], channel)).encode())
    os._exit(0)


def _fork(
    program: Callable[[], NoReturn],
    descriptors: list[int],
    channel: socket.socket,
) -> int:
    """Fork the program in a session of its own; return its process, once it has that."""
    reading, writing = os.pipe()
    process = _fork_for_the_parent()
    if process == 0:
        os.setsid()
        channel.close()
        os.close(reading)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        kernel.name_process(NAME)
        os.close(writing)
        program()
    os.close(writing)
    for descriptor in descriptors:
        os.close(descriptor)
    os.read(reading, 1)
    os.close(reading)
    return process


def _fork_for_the_parent() -> int:
    """Fork a child of our own parent. Raise OSError."""
    python = ctypes.PyDLL(None, use_errno=True)
    python.PyOS_BeforeFork()
    process: int = python.syscall(
        CLONE[platform.machine()], CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0
    )
    if process == 0:
        python.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if process < 0:
        raise OSError(error, os.strerror(error))
    return process


if __name__ == "__main__":
    main()
