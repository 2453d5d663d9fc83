"""Run commands that are not perfdash's own within a run: on the worker, or on the machine of the target."""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from django.conf import settings

from campaigns.kinds.base.errors import DriverError, GeneratorFailed, TargetUnavailable
from campaigns.kinds.base.values import Context, Output, Target
from campaigns.kinds.programs import accounts
from campaigns.kinds.programs.commands import Command, Ran
from campaigns.kinds.programs.program import ProgramFailed, run_program
from campaigns.kit.network import Rules
from campaigns.kit.redaction import REDACTED, SHORTEST, forms_of
from campaigns.kit.ssh.access import ActionFailed, SshAccess

ENGINE = "campaigns.kinds.programs.run_command"
SECONDS_TO_START_AND_END = 15.0
NO_PROGRAMS = "This installation runs no programs on its workers: its administrator has set PERFDASH_WORKER_PROGRAMS to off."
NO_LOGIN = (
    "Nobody has said how commands reach the machine of “{}”: an admin gives its SSH login on the page of the target, "
    "and accepts its host key."
)


NO_HOST_KEY = "Nobody has accepted the host key of the machine of “{}”: an admin does so on the page of the target, after reading it back."


def lacks_login(target: Target) -> str:
    """Return what the SSH login of a target lacks, and what to do; empty where that is nothing."""
    if target.ssh is None:
        return NO_LOGIN.format(target.name)
    return "" if target.ssh.host_key else NO_HOST_KEY.format(target.name)


def run_anywhere(command: Command, where: str, target: Target, context: Context) -> Ran:
    """Run a command on the worker, or on the target. Raise DriverError, Cancelled."""
    return run_here(command, context) if where == "worker" else run_there(command, target, context)


def run_here(command: Command, context: Context, directory: Path | None = None) -> Ran:
    """Run a command on this machine, in the directory of the run unless another is named.

    Raise GeneratorFailed, DriverError, Cancelled.
    """
    if settings.WORKER_PROGRAMS == "off":
        raise DriverError(NO_PROGRAMS)
    directory = directory or context.directory
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    try:
        account = accounts.account_of(settings.PROGRAM_USER)
        if account is not None:
            for place in (context.directory, directory):
                place.chmod(0o711)
            accounts.require_way(directory, account)
    except accounts.NoAccount as error:
        raise DriverError(str(error)) from None
    try:
        outcome = run_program(
            ENGINE,
            {
                **command.request(str(directory)),
                "account": account and asdict(account),
                "hidden": [str(settings.DATA_DIRECTORY), str(settings.WORK_DIRECTORY)],
            },
            cancelled=context.cancelled,
            lease_seconds=context.lease_seconds,
            deadline_seconds=command.seconds + SECONDS_TO_START_AND_END,
            progress=context.progress,
        )
    except ProgramFailed as error:
        raise GeneratorFailed(str(error)) from error
    if outcome.cancelled:
        context.check()
        raise GeneratorFailed("The command was ended with its lease.")
    if why := outcome.result.get("not_started"):
        raise DriverError(
            f"“{command.arguments[0]}” cannot be started on this worker: {why}. Install it there, or correct the program."
        )
    if outcome.timed_out:
        raise GeneratorFailed("The program that runs the command did not end in time.")
    files, cut = {}, []
    for name in command.files:
        content = _read_file(directory / "work" / name, command.output_bytes, account)
        if content is not None:
            files[name] = content[: command.output_bytes]
            if len(content) > command.output_bytes:
                cut.append(name)
    printed = {
        name: _read_file(directory / name, command.output_bytes) for name in ("output", "errors")
    }
    return Ran(
        **outcome.result,
        output=printed["output"] or b"",
        errors=printed["errors"] or b"",
        files=files,
        cut=cut,
    )


def _read_file(path: Path, most: int, account: accounts.Account | None = None) -> bytes | None:
    """Return the beginning of a file, one byte more than `most` where it is longer; None where there is no regular one.

    account: whose file it must be; a link may be that of another.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            of = os.fstat(descriptor)
            if stat.S_ISREG(of.st_mode) and (account is None or of.st_uid == account.uid):
                return file.read(most + 1)
    return None


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
        raise TargetUnavailable(str(error)) from error


def ask(target: Target, context: Context, arguments: Sequence[str]) -> str:
    """Run a short command on the machine of the target, and return what it printed. Raise TargetUnavailable."""
    from campaigns.kinds.programs import run_remotely

    try:
        return run_remotely.ask(arguments, access_of(target), context.rules, context.check)
    except ActionFailed as error:
        raise TargetUnavailable(str(error)) from error


def remove_stale(target: Target, context: Context, scratch: str = "") -> list[str]:
    """Remove what commands of dead runs have left on a target; return what is still there. Raise TargetUnavailable."""
    from campaigns.kinds.programs import run_remotely

    try:
        return run_remotely.remove_stale(access_of(target), context.rules, context.check, scratch)
    except ActionFailed as error:
        raise TargetUnavailable(str(error)) from error


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
        raise TargetUnavailable(str(error)) from error


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
