"""The two ways to run services: `serve` for people, `run` around one command, as tests need it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from campaigns.kit import kernel
from perfdash.local import machine, ownership, ports, postgres, services, stale, swap
from perfdash.local.book import Book
from perfdash.local.directory import DataDirectory
from perfdash.local.gate import PREPARED, Gate
from perfdash.local.journal import Journal
from perfdash.local.services import FOUNDATIONS, Ports
from perfdash.local.state import SECRETS, State, needed
from perfdash.local.supervisor import StartFailed, Stopped, Supervisor

WEB_PORT = 8000
SIMULATOR_PORTS = (8099, 8199, 8299, 8399)
"""Of the sandbox, its Pulp, its Katello without and with TLS."""
INTERRUPT_SECONDS = 10.0
FOUNDATIONS_FAILED = 70  # of `run`: the codes of its command stay its own


def serve(directory: DataDirectory, port: int | None) -> int:
    """Run everything until a stop is requested, and return the exit code.

    The directory must be locked. Raise DirectoryRefused, MachineRefused, PortTaken.
    """
    journal = Journal(directory.log, sys.stdout)
    for line in ownership.claim(directory):
        journal.say(line)
    swap.finish(directory)
    directory.state.unlink(missing_ok=True)  # what a killed one may have left
    ours = frozenset(name for name in FOUNDATIONS if not services.is_set(name))
    look_at_machine(directory, ours, journal)
    held = [
        _hold_web_port(port, journal),
        *ports.hold_again(directory.path / "ports.json", SIMULATOR_PORTS),
    ]
    chosen = Ports(*map(ports.number, held))
    variables = services.with_servers(services.environment(directory, ours), chosen, directory)
    environment = needed(variables)
    katello_ca = directory.path / "secrets" / "katello_ca.pem"
    book = Book(
        State(
            os.getpid(),
            chosen.base_url,
            chosen.sandbox_url,
            chosen.pulp_url,
            chosen.katello_url,
            chosen.katello_tls_url,
            environment=environment,
            given=sorted(name for name in SECRETS if os.environ.get(name)),
        ),
        directory.state,
    )
    book.save()
    # Most of a start is loading of modules, which needs nothing: the web server is held where it needs something.
    prepared = Gate(directory.path, PREPARED)
    disk = machine.DiskWatch([directory.path, directory.database], journal.say)
    forkserver, forks = services.forkserver(variables)
    supervisor = Supervisor(journal, book.note, disk.hindrance, forks=forks)
    if "DATABASE_URL" in ours and not directory.database.is_relative_to(directory.path):
        journal.say(f"The database is in {directory.database}: its account cannot walk to --data.")
    try:
        stale.wait_for_server(postgres.cluster_of(directory), journal.say)
        foundations = supervisor.start(services.foundations(directory, ours))
        held.pop(0).close()
        web = services.web(variables, chosen, lambda: prepared.is_open)
        foundations += supervisor.start([forkserver])
        supervisor.start([web])
        supervisor.wait_until_ready(foundations)
        *output, link = supervisor.run(services.preparation(variables, chosen, katello_ca))
        prepared.open()
        for line in output:
            journal.say(line)
        supervisor.wait_until_ready()
        for port_of_server in held:
            port_of_server.close()
        supervisor.start(services.others(variables, chosen, katello_ca))
        book.ready()
        journal.greet(link, directory.path)
        supervisor.watch(partial(_look_after, disk, book))
    except Stopped:
        journal.say("Stopped before everything was up.")
    except (StartFailed, postgres.ClusterFailed) as error:
        could_not = "had to stop" if book.state.ready else "could not start"
        journal.say(f"perfdash {could_not}: {error}")
        return 1
    finally:
        journal.say("Stopping.")
        supervisor.stop()
        book.close()
        journal.say("Stopped.")
    return 0


def _look_after(disk: machine.DiskWatch, book: Book) -> bool:
    """Do what is to be done now and then. False: it ends nothing."""
    disk.look()
    book.catch_up()
    return False


def look_at_machine(directory: DataDirectory, ours: frozenset[str], journal: Journal) -> None:
    """Say what this machine is short of. Raise MachineRefused where nothing could work."""
    places = [directory.path]
    if work := os.environ.get("WORK_DIRECTORY"):
        places.append(Path(work))
    if "DATABASE_URL" in ours:
        places.append(directory.database)
    fresh = "DATABASE_URL" in ours and not postgres.cluster_of(directory).exists()
    for line in machine.prepare(places, fresh=fresh):
        journal.say(f"Warning: {line}")


def run(command: list[str]) -> int:
    """Run a command with a database and a broker of its own, and return its exit code.

    They live in a temporary directory, lose nothing but in a power cut, and end with the command.
    """
    place = Path(tempfile.mkdtemp(prefix="perfdash-run-"))
    directory = DataDirectory(place)
    directory.lock()
    kernel.raise_open_files()
    supervisor = Supervisor(Journal(directory.log, None))
    failed = False
    try:
        supervisor.start(services.foundations(directory, FOUNDATIONS, postgres.FAST))
        supervisor.wait_until_ready()
        parent = os.getpid()
        process = subprocess.Popen(
            command,
            env=services.environment(directory, FOUNDATIONS),
            preexec_fn=lambda: kernel.die_with_parent(parent, signal.SIGTERM),
        )
        return _wait(supervisor, process)
    except (StartFailed, Stopped) as error:
        failed = isinstance(error, StartFailed)
        sys.stderr.write(f"{error}\n")
        supervisor.journal.say(str(error))
        return FOUNDATIONS_FAILED
    finally:
        supervisor.stop()
        directory.delete(keep_logs=failed)  # they were named
        if not failed:
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


def _hold_web_port(port: int | None, journal: Journal) -> socket.socket:
    """Choose the port of the web server. Raise PortTaken where the wanted one is in use."""
    wanted = port or WEB_PORT
    if held := ports.hold(wanted):
        return held
    used = f"Port {wanted} is held by {ports.holder(wanted)}"
    if port:
        raise ports.PortTaken(f"{used}; name another with --port.")
    other = ports.hold_first(wanted)
    journal.say(f"{used}; perfdash takes {ports.number(other)}.")
    return other
