"""A local start with the real processes, for tests: start it, ask it, read its state."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

from campaigns.kit import kernel
from perfdash.local.directory import DataDirectory
from perfdash.local.running import environment_of, state_of
from perfdash.tests.conftest import wait_until

OWN = ("DATABASE_URL", "BROKER_URL", "SECRET_KEY", "PERFDASH_ENCRYPTION_KEYS")


def environment(*, without=OWN):
    remaining = {name: value for name, value in os.environ.items() if name not in without}
    return {**remaining, "FOREIGN_SECRET": "of another program"}


def command(data, *options):
    return [sys.executable, "-m", "perfdash.local", "serve", "--data", str(data), *options]


def state(data):
    try:
        found = json.loads((data / "run/state.json").read_text())
    except FileNotFoundError:
        return {"ready": False, "services": {}}
    directory = DataDirectory.existing(data)
    written = state_of(directory)
    return found | ({"environment": environment_of(directory, written)} if written else {})


def ask(word, data, *options):
    return subprocess.run(
        [sys.executable, "-m", "perfdash.local", word, "--data", str(data), *options],
        env=environment(),
        capture_output=True,
        text=True,
    )


@contextmanager
def served(data, *options, without=OWN, output=subprocess.DEVNULL):
    process = subprocess.Popen(
        command(data, *options),
        env=environment(without=without),
        stdout=output,
        stderr=subprocess.STDOUT,
        preexec_fn=partial(kernel.die_with_parent, os.getpid(), signal.SIGTERM),
    )
    try:
        wait_until(lambda: ready(data, process) or process.poll() is not None, seconds=240)
        assert process.poll() is None, (data / "log/supervisor.log").read_text()
        yield process
    finally:
        process.terminate()
        process.wait(timeout=120)


def ready(data, process):
    result = state(data)
    return result["ready"] and result["pid"] == process.pid
