"""Work on what somebody sent in a process of its own, with limits of memory and time: the worst file costs one request.

The child has no environment, no database and no key. It imports the module that does the work, and nothing else. No Django.
"""

import errno
import logging
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any

import msgspec

from campaigns.kit import kernel

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent.parent
AT_ONCE = 2
"""Children of one process at a time; who comes then waits."""
NO_MEMORY, TOO_LARGE = 3, 4
"""Exit codes of a child: it reached its limit of memory, or has more to return than it may."""
MOST_RESULT_BYTES = 128 * 1024 * 1024
MOST_ERROR_BYTES = 100_000
_PLACES = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a piece of work may take. seconds: of processor time; it may last three times as long by the clock."""

    memory_mb: int
    seconds: int


class TookTooMuch(Exception):
    """The work reached a limit, or ended its process; the message says which, and what to do."""


def work(
    function: Callable[..., bytes],
    content: bytes | IO[bytes],
    arguments: Any,
    limits: Limits,
) -> bytes:
    """Return what `function(file, arguments)` returns in a process of its own. Raise TookTooMuch.

    function: of the top of a module that imports no Django. arguments: anything that JSON can hold. content: is the
    function's `file`, from its current position.
    """
    if not _PLACES.acquire(timeout=limits.seconds):
        raise TookTooMuch(
            "Other files are being read, and their readers did not end. Send it again in a minute."
        )
    try:
        with ExitStack() as open_files:
            file = open_files.enter_context(as_file(content))
            result = open_files.enter_context(tempfile.TemporaryFile())
            errors = open_files.enter_context(tempfile.TemporaryFile())
            ended = _child(function, (file, result, errors), arguments, limits)
            if ended not in (0, NO_MEMORY, TOO_LARGE):
                errors.seek(0)
                log.warning("%s ended (%d): %s", function.__name__, ended, _last(errors))
            if ended != 0:
                raise TookTooMuch(_said(ended, limits))
            result.seek(0)
            return result.read()
    finally:
        _PLACES.release()


def as_file(content: bytes | IO[bytes]) -> IO[bytes]:
    """Return a file of the content that a child can read."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    if isinstance(content, bytes):
        file.write(content)
    else:
        copyfileobj(content, file)
    file.seek(0)
    return file


def _child(
    function: Callable[..., bytes],
    files: tuple[IO[bytes], IO[bytes], IO[bytes]],
    arguments: Any,
    limits: Limits,
) -> int:
    """Run the function in a child; return its exit code, negative for a signal. files: what it reads, returns, and its errors."""
    file, result, errors = files
    command = [
        *(sys.executable, "-m", __name__, function.__module__, function.__name__),
        *(str(file.fileno()), str(limits.memory_mb), str(limits.seconds), str(os.getpid())),
    ]
    try:
        return subprocess.run(  # noqa: S603 - this program, with names of our own
            command,
            input=msgspec.json.encode(arguments),
            stdout=result,
            stderr=errors,
            pass_fds=[file.fileno()],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
            timeout=3 * limits.seconds,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return -signal.SIGXCPU


def _last(errors: IO[bytes]) -> str:
    """Return the end of what a child said of an error of ours."""
    return errors.read(MOST_ERROR_BYTES).decode(errors="replace")[-2_000:]


def _said(ended: int, limits: Limits) -> str:
    if ended == NO_MEMORY:
        return (
            f"Reading it takes more than {limits.memory_mb:,} MB of memory. Send a part of it, or leave out what is "
            "nested or repeated."
        )
    if -ended in (signal.SIGXCPU, signal.SIGKILL):
        return (
            f"Reading it takes more than {limits.seconds} s of a processor. Send a part of it, or leave out what is "
            "nested or repeated."
        )
    if ended == TOO_LARGE:
        return f"What it holds has more than {MOST_RESULT_BYTES:,} bytes. Send a part of it."
    return f"It broke the program that reads it ({ended}). Send a part of it, to find what does."


def main() -> None:
    """Do the work that the arguments name; end with NO_MEMORY where there is not enough."""
    module, name, descriptor, memory_mb, seconds, parent = sys.argv[1:]
    kernel.die_with_parent(int(parent))
    function = getattr(import_module(module), name)
    memory = int(memory_mb) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_RESULT_BYTES, MOST_RESULT_BYTES))  # errors, too
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open(int(descriptor), "rb") as file:
            result = function(file, msgspec.json.decode(sys.stdin.buffer.read()))
        if len(result) > MOST_RESULT_BYTES:
            os._exit(TOO_LARGE)
        sys.stdout.buffer.write(result)
        sys.stdout.buffer.flush()
    except MemoryError:
        os._exit(NO_MEMORY)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        os._exit(NO_MEMORY)
    os._exit(0)  # what was read need not be taken apart


if __name__ == "__main__":
    main()
