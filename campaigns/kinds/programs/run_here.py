"""Run a command in an engine program of this machine, and read what it left. Standard library and its neighbours only."""

import os
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from campaigns.kinds.programs.commands import Command, Ran
from campaigns.kinds.programs.program import ProgramFailed, run_program
from campaigns.kit.mappings import ProgramProgress

ENGINE = "campaigns.kinds.programs.run_command"
SECONDS_TO_START_AND_END = 15.0


class NotStarted(Exception):
    """The command cannot be started; the message says why, and what to do."""


class Broke(Exception):
    """What runs the command broke; the message says how."""


class Ended(Exception):
    """The command was ended: its run was cancelled, or lost its lease."""


def run_in(
    directory: Path,
    command: Command,
    hidden: Sequence[str],
    *,
    cancelled: threading.Event,
    lease_seconds: Callable[[], float],
    progress: Callable[[ProgramProgress], None],
) -> Ran:
    """Run a command in a directory, which is made where it is missing; hidden: directories that it finds empty.

    Raise NotStarted, Broke, Ended.
    """
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    try:
        outcome = run_program(
            ENGINE,
            {**command.request(str(directory)), "hidden": list(hidden)},
            cancelled=cancelled,
            lease_seconds=lease_seconds,
            deadline_seconds=command.seconds + SECONDS_TO_START_AND_END,
            progress=progress,
        )
    except ProgramFailed as error:
        raise Broke(str(error)) from error
    if outcome.cancelled:
        raise Ended
    if why := outcome.result.get("not_started"):
        raise NotStarted(
            f"“{command.arguments[0]}” cannot be started on this worker: {why}. Install it there, or correct the program."
        )
    if outcome.timed_out:
        raise Broke("The program that runs the command did not end in time.")
    files, cut = {}, []
    for name in command.files:
        content = _read(directory / "work" / name, command.output_bytes)
        if content is not None:
            files[name] = content[: command.output_bytes]
            if len(content) > command.output_bytes:
                cut.append(name)
    printed = {name: _read(directory / name, command.output_bytes) for name in ("output", "errors")}
    try:
        return Ran(
            **outcome.result,
            output=printed["output"] or b"",
            errors=printed["errors"] or b"",
            files=files,
            cut=cut,
        )
    except TypeError as error:  # a command that is not separated may have written to its pipe
        what = f"The program that runs the command reported something else ({error})."
        raise Broke(what) from error


def _read(path: Path, most: int) -> bytes | None:
    """Return the beginning of a file, one byte more than `most` where it is longer; None where there is no regular one.

    A link may lead to what the command may not read itself.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read(most + 1)
    return None
