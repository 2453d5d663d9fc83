"""Makes Pulp's environment and brings its database up to date; each step only where it is needed."""

import hashlib
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Collection
from pathlib import Path

import psycopg

from perfdash.local import postgres, private
from perfdash.local.pulp import programs
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.processes import MARK
from perfdash.local.pulp.state import Choices, State
from perfdash.local.services import ROOT
from perfdash.local.supervisor import StartFailed

LOCK = Path(__file__).with_name("requirements.lock")
CORE = "# [core]\n--no-binary drf-access-policy\npulpcore=={version}\nsetuptools<81\n"
"""Another version than the pinned one, with what the package index offers for it: no digests of it are known here.

Older versions import pkg_resources without naming setuptools, which newer ones of it lack.
"""
PASSWORD = "admin_password"  # noqa: S105 - the name of a file
SHOWN_LINES, SHOWN_LETTERS = 12, 300
# As Pulp's own models would do it, without the seconds that these take to load.
FORGET = (
    "UPDATE core_task SET app_lock_id = NULL WHERE app_lock_id IN"
    " (SELECT pulp_id FROM core_appstatus WHERE name <> ALL(%s))",
    "DELETE FROM core_appstatus WHERE name <> ALL(%s) RETURNING app_type",
)

Say = Callable[[str], None]


def fingerprint(choices: Choices) -> str:
    """Name what is to be installed."""
    named = f"{'rpm' * choices.rpm} {choices.core}"
    return hashlib.sha256(LOCK.read_bytes() + named.encode()).hexdigest()


def install(directory: PulpDirectory, say: Say, choices: Choices) -> None:
    """Install Pulp where exactly this was not installed yet. Raise StartFailed."""
    group, lock = "rpm" if choices.rpm else "pulp", LOCK
    if choices.core:
        group, lock = "core", directory.path / "core.lock"
        lock.write_text(CORE.format(version=choices.core) + "pulp-rpm\n" * choices.rpm)
    venv = directory.path / "venv"
    if not (venv / f".installed-{group}").exists():
        what = f"pulpcore {choices.core}" if choices.core else "the pinned Pulp"
        say(f"Installing {what} (a minute where nothing is in the cache) ...")
    command = [sys.executable, "-B", str(ROOT / "script/environment.py"), group, str(lock)]
    variables = {**os.environ, "PERFDASH_VENV": str(venv), MARK: str(directory.path)}
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    if done.returncode:
        message = re.sub(r" \(from versions: .*\)", "", done.stdout + done.stderr)  # hundreds
        raise StartFailed(f"Pulp could not be installed:\n{_tail(message)}")


def make_ready(directory: PulpDirectory, state: State, say: Say) -> None:
    """Migrate, collect static files, set the password, where that is needed. Raise StartFailed."""
    wanted = fingerprint(state.choices)
    if state.migrated != wanted:
        say("Migrating the database ...")
        manage(directory, "migrate", "--noinput")
        manage(directory, "collectstatic", "--noinput")
        state.migrated = wanted
        state.save(directory.state)
    # Set anew it would end admin's sessions.
    stamp = f"{state.password} {state.choices.fast_auth}"
    wanted = hashlib.sha256(stamp.encode()).hexdigest()
    if state.password_set != wanted:
        say(f"Setting the password of {state.user} ...")
        manage(directory, "reset-admin-password", typed=f"{state.password}\n" * 2)
        state.password_set = wanted
        state.save(directory.state)


def password(directory: PulpDirectory, given: Path | None) -> str:
    """Return the password of `admin`: stored, from a file, or random. Raise StartFailed, OSError."""
    if given is not None:
        word = given.read_text(encoding="utf-8").strip()
        if not word or "\n" in word:
            raise StartFailed(f"{given} has to hold one line, the password.")
        private.replace(directory.path / "secrets" / PASSWORD, word.encode())
        return word
    return directory.secret(PASSWORD)


def forget_killed(directory: PulpDirectory, alive: Collection[str]) -> int:
    """Delete the records of killed processes, and return how many of them were workers.

    Until then Pulp waits for minutes before it fails the task of a killed worker, which stays
    `running` and holds its repository.
    """
    with psycopg.connect(postgres.url(directory)) as connection:
        for statement in FORGET:
            done = connection.execute(statement, [sorted(alive)])
        return [kind for (kind,) in done].count("worker")


def manage(directory: PulpDirectory, *words: str, typed: str = "") -> None:
    """Run one of Pulp's management commands. Raise StartFailed."""
    done = subprocess.run(
        programs.manager(directory, *words),
        env=programs.environment(directory, programs.MANAGER),
        cwd="/",
        input=typed,
        capture_output=True,
        text=True,
        start_new_session=True,  # without a terminal it reads answers from us
    )
    message = done.stdout + done.stderr
    with (directory.log / "manager.log").open("a", encoding="utf-8") as log:
        log.write(message)
    if done.returncode:
        raise StartFailed(f"pulpcore-manager {words[0]} failed:\n{_tail(message)}")


def _tail(text: str) -> str:
    lines = text.strip().splitlines()[-SHOWN_LINES:]
    return "\n".join(textwrap.shorten(line, SHOWN_LETTERS, placeholder=" ...") for line in lines)
