"""The two ways to run services: `serve` for people, `run` around one command, as tests need it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

from perfdash.local import ports, postgres, services
from perfdash.local.directory import DataDirectory
from perfdash.local.journal import Journal
from perfdash.local.process import die_with_parent
from perfdash.local.services import FOUNDATIONS, Ports
from perfdash.local.state import State
from perfdash.local.supervisor import StartFailed, Stopped, Supervisor

WEB_PORT = 8000
SANDBOX_PORT = 8099
INTERRUPT_SECONDS = 10.0
READY_SECONDS = 60.0


def serve(directory: DataDirectory, port: int | None) -> int:
    """Run everything until somebody asks for the end. The directory must be locked."""
    journal = Journal(directory.log, sys.stdout)
    chosen = Ports(_web_port(port, journal), ports.first_free(SANDBOX_PORT))
    ours = frozenset(name for name in FOUNDATIONS if not services.given(name))
    variables = services.with_servers(services.environment(directory, ours), chosen)
    state = State(os.getpid(), chosen.base_url, chosen.sandbox_url, environment=variables)

    def changed(name: str, pid: int) -> None:
        state.services[name] = pid
        state.save(directory.state)

    state.save(directory.state)  # over what a killed one may have left
    supervisor = Supervisor(journal, changed)
    if "DATABASE_URL" in ours and not directory.database.is_relative_to(directory.path):
        journal.say(f"The database is in {directory.database}: its account cannot walk to --data.")
    try:
        supervisor.start(services.foundations(directory, ours))
        supervisor.wait_until_ready()
        output = supervisor.run(services.preparation(variables, chosen))
        supervisor.start(services.servers(variables, chosen))
        supervisor.wait_until_ready()
        state.ready = True
        state.save(directory.state)
        journal.greet(output[-1] if output else chosen.base_url, directory.path)
        supervisor.watch()
    except Stopped:
        journal.say("Stopped before everything was up.")
    except (StartFailed, postgres.ClusterFailed) as error:
        journal.say(f"perfdash could not start: {error}")
        return 1
    finally:
        journal.say("Stopping.")
        supervisor.stop()
        directory.state.unlink(missing_ok=True)
    return 0


def greet_again(directory: DataDirectory, out: TextIO) -> int:
    """Tell of the perfdash that holds the directory, with a fresh link to sign in once it is ready."""
    end = time.monotonic() + READY_SECONDS
    state = _state(directory)
    while (state is None or not state.ready) and directory.held() and time.monotonic() < end:
        time.sleep(0.1)
        state = _state(directory)
    if state is None or not state.ready:
        out.write(f"perfdash is starting or stopping with {directory.path}; try again.\n")
        return 1
    out.write(f"perfdash is running already (process {state.pid}): {state.base_url}\n")
    out.flush()
    manage = [sys.executable, str(services.ROOT / "manage.py")]
    link = [*manage, "sign_in_link", "--base-url", state.base_url]
    return subprocess.run(link, env=state.environment, stdout=out).returncode


def _state(directory: DataDirectory) -> State | None:
    try:
        return State.load(directory.state)
    except FileNotFoundError:
        return None


def run(command: list[str]) -> int:
    """Run a command beside a database and a broker of its own, and give its exit code.

    They live in a temporary directory, lose nothing but in a power cut, and end with the command.
    """
    place = Path(tempfile.mkdtemp(prefix="perfdash-run-"))
    directory = DataDirectory(place)
    directory.lock()
    supervisor = Supervisor(Journal(directory.log, None), lambda name, pid: None)
    try:
        supervisor.start(services.foundations(directory, FOUNDATIONS, postgres.FAST))
        supervisor.wait_until_ready()
        parent = os.getpid()
        process = subprocess.Popen(
            command,
            env=services.environment(directory, FOUNDATIONS),
            preexec_fn=lambda: die_with_parent(signal.SIGTERM, parent),
        )
        return _wait(supervisor, process)
    except (StartFailed, Stopped) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        supervisor.stop()
        directory.delete()
        shutil.rmtree(place, ignore_errors=True)


def _wait(supervisor: Supervisor, process: subprocess.Popen[bytes]) -> int:
    """Wait for the command. At a request to stop it has time to end by itself, as it saw Ctrl-C too."""
    supervisor.watch(lambda: process.poll() is not None)
    if process.poll() is None:
        end = time.monotonic() + INTERRUPT_SECONDS
        process.send_signal(signal.SIGINT)
        while process.poll() is None and time.monotonic() < end:
            supervisor.turn(0.1)
        process.kill()
    return process.wait()


def _web_port(port: int | None, journal: Journal) -> int:
    """Choose the port of the web server. Raise PortTaken where the wanted one is in use."""
    wanted = port or WEB_PORT
    if ports.is_free(wanted):
        return wanted
    held = f"Port {wanted} is held by {ports.holder(wanted)}"
    if port:
        raise ports.PortTaken(f"{held}; name another with --port.")
    free = ports.first_free(wanted)
    journal.say(f"{held}; perfdash takes {free}.")
    return free
