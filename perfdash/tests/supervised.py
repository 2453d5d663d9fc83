"""Runs three small services under a supervisor: `python -m perfdash.tests.supervised DIRECTORY`.

Each writes a line to DIRECTORY/events when it starts and when it is asked to stop. The middle one
has a child of its own, as workers do. DIRECTORY/pids.json tells the process ids.
"""

import json
import sys
from pathlib import Path

from perfdash.local.journal import Journal
from perfdash.local.process import Service
from perfdash.local.supervisor import Supervisor

PROGRAM = """
import ctypes, os, signal, sys, time
name, directory, forks = sys.argv[1], sys.argv[2], sys.argv[3] == "True"
def tell(what):
    with open(os.path.join(directory, "events"), "a") as file:
        file.write(f"{name} {what}\\n")
def stop(number, frame):
    tell("stops")
    time.sleep(0.2)
    os._exit(0)
if forks and os.fork() == 0:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    with open(os.path.join(directory, "grandchild"), "w") as file:
        file.write(str(os.getpid()))
    while True:
        time.sleep(1)
signal.signal(signal.SIGTERM, stop)
tell("starts")
print("output of", name, flush=True)
while True:
    time.sleep(1)
"""


def main(directory: Path) -> None:
    pids: dict[str, int] = {}

    def changed(name: str, pid: int) -> None:
        pids[name] = pid
        new = directory / "pids.new"
        new.write_text(json.dumps(pids))
        new.replace(directory / "pids.json")

    supervisor = Supervisor(Journal(directory, None), changed)
    for stage, name in enumerate(("first", "second", "third")):
        command = (sys.executable, "-c", PROGRAM, name, str(directory), str(name == "second"))
        supervisor.start([Service(name, command, {}, stage=stage)])
    supervisor.watch()
    supervisor.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
