"""The commands that a smart proxy sends to a host over SSH. Pure: they are read, and executed nowhere.

Source: smart_proxy_remote_execution_ssh, runner ScriptRunner. All files of a job are in one directory of the host, whose name ends with
the job's. Whatever is not written just as the proxy writes it is an `UnknownCommand`.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import PurePosixPath

MOST_LETTERS = 4000
"""Of a command."""
DIRECTORY = "foreman-ssh-cmd-"
"""Begins the name of a job's directory; the job's follows."""
SCRIPT, WRAPPER, PID = "script", "script-wrapper", "pid"
"""Files of a job. The wrapper runs the script; before, the proxy tries whether another script of the same name can run."""
FILES = frozenset({SCRIPT, WRAPPER, PID, "output"})
PATH = re.compile(r"/[\w ./-]{0,1000}\Z", re.ASCII)
JOB = re.compile(r"[0-9A-Za-z_-]{1,64}\Z", re.ASCII)
MODE = re.compile(r"[0-7]{3,4}\Z", re.ASCII)


class UnknownCommand(ValueError):
    """A command is none that a smart proxy sends."""


class Action(Enum):
    """What a command asks for."""

    NOTHING = auto()
    """What has no trace on a virtual host: `true`, a directory, a mode, a right."""
    UPLOAD = auto()
    """Take a file from the standard input."""
    RUN = auto()
    REMOVE = auto()
    KILL = auto()


@dataclass(frozen=True, slots=True)
class Command:
    """A command. job, file: what it is about; file is empty for the directory of a job, and both are for `true`."""

    action: Action
    job: str = ""
    file: str = ""


def read_command(text: str) -> Command:
    """Return what a command asks for. Raise UnknownCommand."""
    if len(text) > MOST_LETTERS:
        raise UnknownCommand
    try:
        return _command(shlex.split(text))
    except ValueError:  # quotes without an end, too
        raise UnknownCommand from None


def _command(words: Sequence[str]) -> Command:
    match words:
        case ["true"]:
            return Command(Action.NOTHING)
        case ["mkdir", "-p", directory]:
            return Command(Action.NOTHING, _job(directory))
        case ["tee", path, ">/dev/null", "&&", "chmod", mode, again] if path == again:
            return _with_mode(Action.UPLOAD, mode, path)
        case ["chmod", mode, path]:
            return _with_mode(Action.NOTHING, mode, path)
        case ["setfacl", "-m", _, path, *others]:
            for other in others:
                _file(Action.NOTHING, other)
            return _file(Action.NOTHING, path)
        case ["rm", "-rf", directory]:
            return Command(Action.REMOVE, _job(directory))
        case ["rm", path]:
            return _file(Action.REMOVE, path)
        case ["kill", "$(cat", path] if path.endswith(f"/{PID})"):
            return _file(Action.KILL, path[:-1])
        case (
            [path]
            | ["sudo", "-p", _, "-u", _, path]
            | ["dzdo", "-u", _, path]
            | ["su", "-", _, "-c", path]
        ):
            return _file(Action.RUN, path)
    raise UnknownCommand


def _with_mode(action: Action, mode: str, path: str) -> Command:
    if not MODE.match(mode):
        raise UnknownCommand
    return _file(action, path)


def _file(action: Action, path: str) -> Command:
    """Return a command about a file of a job."""
    directory, _, name = path.rpartition("/")
    if name not in FILES:
        raise UnknownCommand
    return Command(action, _job(directory), name)


def _job(directory: str) -> str:
    """Return the job whose directory it is."""
    name = PurePosixPath(directory).name
    job = name.removeprefix(DIRECTORY)
    if not PATH.match(directory) or job == name or not JOB.match(job):
        raise UnknownCommand
    return job
