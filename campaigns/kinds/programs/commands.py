"""A command that is not perfdash's own, and how it ended. Standard library only.

`run_command` is the engine program that runs one on this machine, `run_remotely` runs one by SSH. Both start it without a
shell, with an environment that names no service of perfdash, and mark it and all that it starts by an environment variable,
so that what leaves its process group is found and ended, too.
"""

import os
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

MARK = "PERFDASH_RUN"
"""The environment variable of every process of a command; its value is random for each run."""
SECRET_FILE_MODE = 0o600
MIB = 1024 * 1024
MARKER_BYTES = 12
TIME, MEMORY, OUTPUT = "time", "memory", "output"
"""The limits of a command, by which it may be ended."""
MOST_QUOTED = 600
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}\Z", re.ASCII)
"""A file that a command writes and that is read back: in its own directory, not below it."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is run, where, and its limits.

    arguments: the program and its arguments. environment: variables besides the usual ones. secrets: by the names of
    their files. files: names of files in its directory that are read back. marker: the value of MARK.
    memory_bytes, 0: no limit. output_bytes: of all that it prints, and of each file that is read back. scratch: a directory of
    the machine in which the command gets one of its own, which is removed at the end, too; by SSH alone.
    """

    arguments: Sequence[str]
    seconds: float
    output_bytes: int
    marker: str
    memory_bytes: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Sequence[str] = ()
    scratch: str = ""

    def request(self, directory: str) -> dict[str, Any]:
        """Return the request of the engine program that runs it in a directory."""
        return {**asdict(self), "directory": directory}


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. Output and errors are bytes as printed; `files`: what was read back, by name.

    exit_status: None where a signal ended it. ended_by: the limit that it exceeded, or empty. out_of_memory: the kernel ended
    a process for want of memory meanwhile. left: processes that it had left behind, and that were
    ended; left_names: of the first of them, known on a worker alone.
    not_separated: why the command had no namespaces of its own on the worker; empty where it had, and on a target.
    peak_memory_bytes, cpu_seconds: None where they were not observed. cut: names of files that were longer than the limit.
    figures: of its waiting for a CPU (`starving`); empty where it was not observed.
    """

    exit_status: int | None
    signal: int = 0
    ended_by: str = ""
    out_of_memory: bool = False
    output: bytes = b""
    errors: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    cut: Sequence[str] = ()
    seconds: float = 0.0
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    left: int = 0
    left_names: Sequence[str] = ()
    not_separated: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)


def new_marker() -> str:
    """Return a random value of MARK."""
    return os.urandom(MARKER_BYTES).hex()


def why_failed(command: Command, ran: Ran, name: str = "") -> str:
    """Return why a command failed, as a sentence with the end of what it printed; empty where it succeeded.

    name: of the command, where its first argument is not what people call it.
    """
    name = name or command.arguments[0].rpartition("/")[2]
    match ran.ended_by:
        case "time":
            what = f"{name} did not end within {command.seconds:g} s, and was killed"
        case "memory":
            what = f"{name} used more than its {command.memory_bytes / MIB:,.0f} MiB of memory, and was killed"
        case "output":
            what = f"{name} printed more than {command.output_bytes:,} bytes, and was killed"
        case _ if ran.signal:
            what = f"{name} was ended by {signal_name(ran.signal)}"
            if ran.signal == signal.SIGKILL:
                what += (
                    ": the machine was out of memory"
                    if ran.out_of_memory
                    else ", which perfdash did not send; somebody killed it, or the machine was out of memory"
                )
        case _ if ran.exit_status:
            what = f"{name} ended with exit status {ran.exit_status}"
            if ran.out_of_memory:
                what += "; the machine was out of memory"
        case _:
            return ""
    said = tail(ran.errors) or tail(ran.output)
    return f"{what}. It printed: {said}" if said else f"{what}. It printed nothing."


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def tail(printed: bytes) -> str:
    """Return the end of a text, where error messages are, in one line."""
    text = " ".join(printed[-4 * MOST_QUOTED :].decode(errors="replace").split())
    return text if len(text) <= MOST_QUOTED else f"…{text[-MOST_QUOTED:]}"
