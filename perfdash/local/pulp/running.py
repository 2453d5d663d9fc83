"""Starts what is missing of a Pulp, and stops all of it. Whoever calls must hold the directory."""

import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil

from perfdash.local import ownership, ports, postgres, stale
from perfdash.local.process import Service
from perfdash.local.pulp import installation, processes, programs
from perfdash.local.pulp.choices import Wishes, choose
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.installation import Say
from perfdash.local.pulp.programs import API, CONTENT, DATABASE
from perfdash.local.pulp.readiness import missing, online
from perfdash.local.pulp.state import State
from perfdash.local.supervisor import StartFailed

READY_SECONDS = 90.0
DATABASE_SECONDS = 60.0
STOP_SECONDS = 20.0  # a worker leaves its task after 5
SHOWN_LINES = 15


def start(directory: PulpDirectory, wishes: Wishes, say: Say) -> State:
    """Bring everything up that does not run, and return when Pulp is ready.

    Raise StartFailed, PortTaken, ClusterFailed, DirectoryRefused.
    """
    for line in ownership.claim(directory):
        say(line)
    mark = _mark(directory)
    processes.kill(processes.orphans(mark))  # they may hold our ports
    running = processes.leaders(mark)
    state = State.load(directory.state, directory.path)
    before, password = state.choices, state.password
    choices = choose(before, wishes, say, running=running)
    state.password = installation.password(directory, wishes.password_file)
    same = (before, password) == (replace(choices, workers=before.workers), state.password)
    if running and not (same and state.migrated == installation.fingerprint(choices)):
        say("Restarting Pulp's processes with what has changed ...")
        _stop_programs(directory, say)
    state.choices = choices
    state.base_url = f"http://{ports.HOST}:{choices.port}"
    state.content_url = f"http://{ports.HOST}:{choices.content_port}"
    state.ready = False
    state.save(directory.state)
    installation.install(directory, say, choices)
    _start_database(directory, state, say)
    programs.write_settings(directory, choices)
    installation.make_ready(directory, state, say)
    _start_programs(directory, state, say)
    state.ready = True
    state.save(directory.state)
    return state


def stop(directory: PulpDirectory, say: Say) -> None:
    """End every process of the directory, what killed ones left behind, too."""
    state = State.load(directory.state, directory.path)
    _stop_programs(directory, say)
    cluster = postgres.cluster_of(directory)
    if server := stale.server_of(cluster):
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):  # fast, at once, by force
            processes.signal_all([server], number)
            if not processes.wait([server], DATABASE_SECONDS):
                break
        say("Stopped the database.")
    stale.sweep(cluster, directory.run / "database")
    state.ready = False
    state.services = {}
    state.save(directory.state)


def _start_database(directory: PulpDirectory, state: State, say: Say) -> None:
    cluster = postgres.cluster_of(directory)
    if not cluster.exists():
        state.migrated = state.password_set = ""
    service = postgres.service(directory)
    log = directory.log / "database.log"
    if pid := _serving(service, cluster, log):
        state.services[DATABASE] = pid
        return
    _end_cut_off(directory, say)
    stale.sweep(cluster, directory.run / "database")
    say("Starting the database ...")
    pid = processes.launch(service.command, service.environment, log, service.account).pid
    state.services[DATABASE] = pid
    state.save(directory.state)
    end = time.monotonic() + DATABASE_SECONDS
    while not (service.ready and service.ready(pid)):
        if time.monotonic() > end or not processes.runs(psutil.Process(pid)):
            raise StartFailed(f"The database did not start:\n{_tail(log)}")
        time.sleep(0.05)


def _serving(service: Service, cluster: Path, log: Path) -> int:
    """Return the process of the database, once it takes sessions; 0 where none runs.

    One that was told to stop, or is just being started, still runs but takes none. Raise StartFailed.
    """
    end = time.monotonic() + DATABASE_SECONDS
    while server := stale.server_of(cluster):
        if service.ready and service.ready(server.pid):
            return server.pid
        if time.monotonic() > end:
            raise StartFailed(
                f"The database (process {server.pid}) runs, but takes no sessions; script/pulp stop "
                f"ends it:\n{_tail(log)}"
            )
        time.sleep(0.05)
    return 0


def _end_cut_off(directory: PulpDirectory, say: Say) -> None:
    """End what has lost its database.

    None of it is of use any more: a worker waits for the end of its task's process, and a web server for
    that of its requests. Until then each of them runs and counts as online, and ends only when Pulp has
    been called ready.
    """
    mark = _mark(directory)
    if cut_off := processes.leaders(mark):
        processes.kill(processes.marked(mark))
        say(f"Ended {', '.join(sorted(cut_off))}, which had lost the database.")


def _start_programs(directory: PulpDirectory, state: State, say: Say) -> None:
    """Start what does not run, and return when Pulp is ready."""
    mark = _mark(directory)
    commands = programs.commands(directory, state.choices)
    running = processes.leaders(mark)
    _end({name: process for name, process in running.items() if name not in commands})
    state.services = {DATABASE: state.services[DATABASE]}
    started: set[str] = set()
    end = time.monotonic() + READY_SECONDS
    while True:
        # What still ran at first may end a moment later, as a worker does that lost its database.
        running = processes.leaders(mark)
        gone = [name for name in commands if name not in running]
        for name in started.intersection(gone):
            tail = _tail(directory.log / f"{name}.log")
            raise StartFailed(f"Pulp's process {name} ended as soon as it was started:\n{tail}")
        if gone:
            processes.kill(processes.orphans(mark))  # they may hold its port
        if gone and (count := installation.forget_killed(directory, processes.names(mark))):
            say(f"Cleaned up after {count} killed worker{'s' if count > 1 else ''}.")
        for name in gone:
            say(f"Starting {name} ...")
            variables = programs.environment(directory, name)
            processes.launch(commands[name], variables, directory.log / f"{name}.log")
            started.add(name)
        lack = missing(online(state.base_url), processes.names(mark), set(commands) - {API})
        if not lack and not gone:
            break
        if time.monotonic() > end:
            raise StartFailed(
                f"Not ready within {READY_SECONDS:.0f} s: {lack}. See {directory.log}."
            )
        time.sleep(0.1)
    state.services |= {name: process.pid for name, process in running.items()}


def _stop_programs(directory: PulpDirectory, say: Say) -> None:
    mark = _mark(directory)
    running = processes.leaders(mark)
    _end(running)
    if running:
        say(f"Stopped {', '.join(sorted(running))}.")
    if rest := processes.marked(mark):
        processes.kill(rest)
        say("Ended what was left of them.")


def _end(running: Mapping[str, psutil.Process]) -> None:
    """End processes, all at once. On SIGTERM a worker would wait for its task for ever."""
    for name, process in running.items():
        servers = {API, CONTENT}
        processes.signal_all([process], signal.SIGTERM if name in servers else signal.SIGINT)
    processes.kill(processes.wait(running.values(), STOP_SECONDS))


def _mark(directory: PulpDirectory) -> str:
    return str(directory.path)


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-SHOWN_LINES:])
