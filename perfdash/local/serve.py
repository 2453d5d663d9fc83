"""The two ways to run services: `serve` for people, `run` around one command, as tests need it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from perfdash.local import leftovers, machine, ports, postgres, services
from perfdash.local.book import Book
from perfdash.local.directory import DataDirectory
from perfdash.local.journal import Journal
from perfdash.local.process import die_with_parent
from perfdash.local.services import FOUNDATIONS, Ports
from perfdash.local.state import State, needed
from perfdash.local.supervisor import StartFailed, Stopped, Supervisor

WEB_PORT = 8000
SANDBOX_PORT = 8099
INTERRUPT_SECONDS = 10.0


def serve(directory: DataDirectory, port: int | None) -> int:
    """Run everything until somebody asks for the end, and give the exit code.

    The directory must be locked. Raise MachineRefused, PortTaken.
    """
    directory.state.unlink(missing_ok=True)  # what a killed one may have left
    journal = Journal(directory.log, sys.stdout)
    ours = frozenset(name for name in FOUNDATIONS if not services.given(name))
    look_at_machine(directory, ours, journal)
    chosen = Ports(_web_port(port, journal), ports.first_free(SANDBOX_PORT))
    variables = services.with_servers(services.environment(directory, ours), chosen)
    environment = needed(variables)
    book = Book(
        State(os.getpid(), chosen.base_url, chosen.sandbox_url, environment=environment),
        directory.state,
    )
    book.save()
    supervisor = Supervisor(
        journal, book.note, lambda: machine.disk_is_full([directory.path, directory.database])
    )
    if "DATABASE_URL" in ours and not directory.database.is_relative_to(directory.path):
        journal.say(f"The database is in {directory.database}: its account cannot walk to --data.")
    try:
        leftovers.wait_for_server(postgres.cluster_of(directory), journal.say)
        supervisor.start(services.foundations(directory, ours))
        supervisor.wait_until_ready()
        *said, link = supervisor.run(services.preparation(variables, chosen))
        for line in said:
            journal.say(line)
        supervisor.start(services.servers(variables, chosen))
        supervisor.wait_until_ready()
