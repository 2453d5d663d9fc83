"""Run commands that are not perfdash's own within a run: on the worker, or on the machine of the target."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings

from campaigns.kinds.base.errors import (
    DriverError,
    GeneratorFailed,
    MachineRefused,
    TargetUnavailable,
)
from campaigns.kinds.base.values import Context, Output, Target
from campaigns.kinds.programs.commands import Command, Ran
from campaigns.kinds.programs.run_apart import run_apart, work_of
from campaigns.kinds.programs.run_here import Broke, Ended, NotStarted, run_in
from campaigns.kinds.programs.service import PREFIX
from campaigns.kit.network import Rules
from campaigns.kit.redaction import REDACTED, SHORTEST, forms_of
from campaigns.kit.ssh.access import ActionFailed, HostKeyRefused, LoginRefused, SshAccess

TURNS = "programs.lock"
NO_PROGRAMS = "This installation runs no programs on its workers: its administrator has set PERFDASH_WORKER_PROGRAMS to off."
NO_LOGIN = (
    "No SSH login is configured for the machine of “{}”: an admin gives it on the page of the target, "
    "and accepts its host key."
)


NO_HOST_KEY = "The host key of the machine of “{}” is not accepted yet: an admin accepts it on the page of the target, after reading it back."


def lacks_login(target: Target) -> str:
    """Return what the SSH login of a target lacks, and what to do; empty where that is nothing."""
    if target.ssh is None:
        return NO_LOGIN.format(target.name)
    return "" if target.ssh.host_key else NO_HOST_KEY.format(target.name)


def run_anywhere(command: Command, where: str, target: Target, context: Context) -> Ran:
    """Run a command on the worker, or on the target. Raise DriverError, Cancelled."""
    return run_here(command, context) if where == "worker" else run_there(command, target, context)


def run_here(command: Command, context: Context, directory: Path | None = None) -> Ran:
    """Run a command on this machine: by the service for programs, or in the directory of the run unless another is named.

    Raise GeneratorFailed, DriverError, Cancelled.
    """
    if settings.WORKER_PROGRAMS == "off":
        raise DriverError(NO_PROGRAMS)
    how: dict[str, Any] = {
        "cancelled": context.cancelled,
        "lease_seconds": context.lease_seconds,
        "progress": context.progress,
    }
    try:
        if settings.PROGRAM_SERVICE:
            turns = Path(settings.WORK_DIRECTORY) / TURNS
            return run_apart(settings.PROGRAM_SERVICE, command, turns, **how)
        hidden = [str(settings.DATA_DIRECTORY), str(settings.WORK_DIRECTORY)]
        return run_in(directory or context.directory, command, hidden, **how)
    except NotStarted as error:
        raise DriverError(str(error)) from None
    except Broke as error:
        raise GeneratorFailed(str(error)) from error
    except Ended:
        context.check()
        raise GeneratorFailed("The command was ended with its lease.") from None


def place_of(command_marker: str, context: Context) -> str:
    """Return the directory in which `run_here` runs a command. Raise GeneratorFailed."""
    if not settings.PROGRAM_SERVICE:
        return str(context.directory)
    try:
        return f"{work_of(settings.PROGRAM_SERVICE)}/{PREFIX}{command_marker}"
    except Broke as error:
        raise GeneratorFailed(str(error)) from error


def run_there(command: Command, target: Target, context: Context) -> Ran:
    """Run a command on the machine of the target. Raise TargetUnavailable, DriverError, Cancelled."""
    from campaigns.kinds.programs import run_remotely

    def progress(seconds: float, printed: int) -> None:
        context.progress({"seconds": seconds, "output_bytes": printed})

    try:
        return run_remotely.run(command, access_of(target), context.rules, context.check, progress)
    except run_remotely.NotStarted as error:
        raise DriverError(f"The command did not begin on {target.name}: {error}") from error
    except ActionFailed as error:
        raise _unavailable(error) from error


def ask(target: Target, context: Context, arguments: Sequence[str]) -> str:
    """Run a short command on the machine of the target, and return what it printed. Raise TargetUnavailable."""
    from campaigns.kinds.programs import run_remotely

    try:
        return run_remotely.ask(arguments, access_of(target), context.rules, context.check)
    except ActionFailed as error:
        raise _unavailable(error) from error


def remove_stale(target: Target, context: Context, scratch: str = "") -> list[str]:
    """Remove what commands of dead runs have left on a target; return what is still there. Raise TargetUnavailable."""
    from campaigns.kinds.programs import run_remotely

    try:
        return run_remotely.remove_stale(access_of(target), context.rules, context.check, scratch)
    except ActionFailed as error:
        raise _unavailable(error) from error


def scratch_place(root: str, marker: str) -> str:
    """Return the directory of a command in a scratch directory of the target."""
    from campaigns.kinds.programs import run_remotely

    return run_remotely.scratch_place(root, marker)


def log_in(target: Target, rules: Rules) -> None:
    """Log in, and out. Raise DriverError without a login, TargetUnavailable."""
    access = access_of(target)
    from campaigns.kit.ssh import commands

    try:
        commands.look(access, rules, lambda: None)
    except ActionFailed as error:
        raise _unavailable(error) from error


def _unavailable(error: ActionFailed) -> TargetUnavailable:
    needs_a_person = isinstance(error, HostKeyRefused | LoginRefused)
    return (MachineRefused if needs_a_person else TargetUnavailable)(str(error))


def access_of(target: Target) -> SshAccess:
    """Return the SSH login of a target. Raise DriverError where there is none."""
    if target.ssh is None:
        raise DriverError(NO_LOGIN.format(target.name))
    return target.ssh


def outputs_of(ran: Ran, secrets: Mapping[str, str]) -> list[Output]:
    """Return what is stored with the run, without the secrets."""
    cut = ran.ended_by == "output"
    found = [
        Output("stdout", ran.output, cut),
        Output("stderr", ran.errors, cut),
        *(Output(name, content, name in ran.cut) for name, content in ran.files.items()),
    ]
    return [
        Output(each.name, _without(each.content, secrets), each.cut)
        for each in found
        if each.content
    ]


def shown_of(ran: Ran, secrets: Mapping[str, str]) -> Ran:
    """Return how a command ended, with what it printed without the secrets."""
    return replace(ran, output=_without(ran.output, secrets), errors=_without(ran.errors, secrets))


def redacted(text: str, secrets: Mapping[str, str]) -> str:
    """Return a text without the secrets."""
    return _without(text.encode(errors="replace"), secrets).decode(errors="replace")


def _without(content: bytes, secrets: Mapping[str, str]) -> bytes:
    """Return what was printed without the secrets, each of their lines, and the forms that either is encoded in.

    The beginning of one, at which an output was cut, goes, too.
    """
    forms: set[bytes] = set()
    for text in secrets.values():
        for part in {text, text.strip(), *map(str.strip, text.splitlines())}:
            if len(part) >= SHORTEST:
                forms |= {form.encode(errors="surrogateescape") for form in forms_of(part)}
    for form in sorted(filter(None, forms), key=len, reverse=True):
        content = content.replace(form, REDACTED.encode())
    for form in forms:
        for letters in range(len(form) - 1, SHORTEST - 1, -1):
            if content.endswith(form[:letters]):
                return content[:-letters] + REDACTED.encode()
    return content
