"""Commands for a running perfdash: a new sign-in link, and stop."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

import psutil

from perfdash.local import services
from perfdash.local.child import Patience
from perfdash.local.directory import DataDirectory
from perfdash.local.journal import COMBINED
from perfdash.local.process import used_seconds, wants_machine
from perfdash.local.state import State

NOT_RUNNING = 3
STOP_SECONDS = 120.0


def state_of(directory: DataDirectory) -> State | None:
    """Read what a perfdash wrote of itself; one that was killed left it behind."""
    try:
        return State.load(directory.state)
    except FileNotFoundError:
        return None


class SecretsElsewhere(Exception):
    """Secrets that a running perfdash was given are not known here; the message names them."""


def environment_of(
    directory: DataDirectory, state: State, known: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the variables of a running perfdash: its settings, and its secrets from where they are.

    known: variables that may hold those that it was given. Raise SecretsElsewhere.
    """
    if missing := [name for name in state.given if not known.get(name)]:
        raise SecretsElsewhere(
            f"perfdash was started with {', '.join(missing)} as variables, and keeps none of them: set them here as well."
        )
    secrets = {
        name: make()
        for name, make in services.made_secrets(directory, directory.secret).items()
        if name not in state.given and f"{name}_FILE" not in state.environment
    }
    return {**state.environment, **secrets, **{name: known[name] for name in state.given}}


def value_of(environment: Mapping[str, str], name: str) -> str:
    """Give a secret's value, from the variable or from the file that it names."""
    if path := environment.get(f"{name}_FILE"):
        return Path(path).read_text(encoding="utf-8").strip()
    return environment[name]


def greet_again(directory: DataDirectory, out: TextIO) -> int:
    """Tell of the perfdash that holds the directory, with a fresh link to sign in once it is ready.

    One that starts is waited for as long as it makes progress.
    """
    state = state_of(directory)
    patience = Patience(
        lambda: _size(directory.log / f"{COMBINED}.log"),
        lambda: used_seconds(state.pid) if state else 0.0,
        wants=lambda: wants_machine(state.pid) if state else False,
    )
    while (state is None or not state.ready) and directory.held():
        if why := patience.exhausted():
            out.write(f"The perfdash that starts or stops with {directory.path} {why}.\n")
            return 1
        if report := patience.report():
            out.write(f"Waiting for the perfdash that starts with {directory.path}: {report}.\n")
            out.flush()
        time.sleep(0.1)
        state = state_of(directory)
    if state is None or not state.ready:
        out.write(f"perfdash is starting or stopping with {directory.path}; try again.\n")
        return 1
    out.write(f"perfdash is running already (process {state.pid}): {state.base_url}\n")
    out.flush()
    manage = [sys.executable, str(services.ROOT / "manage.py")]
    link = [*manage, "sign_in_link", "--base-url", state.base_url]
    return _run(directory, state, link, out, stdout=out)


def manage(directory: DataDirectory, arguments: Sequence[str], out: TextIO) -> int:
    """Run a command of `manage.py` with the settings of the perfdash that holds the directory.

    They are handed on as variables: nobody else reads them there, nor in the list of processes.
    """
    state = state_of(directory) if directory.held() else None
    if state is None or not state.ready:
        out.write(f"perfdash is not running with {directory.path}; start it with script/server.\n")
        return NOT_RUNNING
    command = [sys.executable, str(services.ROOT / "manage.py"), *arguments]
    return _run(directory, state, command, out)


def _run(
    directory: DataDirectory,
    state: State,
    command: Sequence[str],
    out: TextIO,
    stdout: TextIO | None = None,
) -> int:
    try:
        variables = environment_of(directory, state)
    except SecretsElsewhere as error:
        out.write(f"{error}\n")
        return 1
    return subprocess.run(command, env=variables, stdout=stdout).returncode


def stop(directory: DataDirectory, out: TextIO) -> int:
    """Stop the perfdash that holds the directory, and return when it has ended."""
    if not directory.held():
        out.write(f"perfdash is not running with {directory.path}.\n")
        return 0
    state = state_of(directory)
    if state is None or not _is_perfdash(state.pid):
        out.write(f"perfdash is starting or stopping with {directory.path}; try again.\n")
        return 1
    out.write(f"Stopping perfdash (process {state.pid}) ...\n")
    out.flush()
    try:
        os.kill(state.pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError) as error:
        out.write(f"Process {state.pid} cannot be told to stop ({error.strerror}).\n")
        return 1
    end = time.monotonic() + STOP_SECONDS
    while directory.held():
        if time.monotonic() > end:
            out.write(f"It is still stopping after {STOP_SECONDS:.0f} s; see {directory.log}.\n")
            return 1
        time.sleep(0.05)
    out.write("Stopped.\n")
    return 0


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _is_perfdash(pid: int) -> bool:
    """Say whether the number still belongs to whom we took it from."""
    try:
        return "perfdash.local" in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False
