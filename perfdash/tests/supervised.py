"""Runs three small services under a supervisor: `python -m perfdash.tests.supervised DIRECTORY [KIND]`.

Each writes a line to DIRECTORY/events when it starts and when it is asked to stop. The middle one
has a child of its own, as workers do. DIRECTORY/pids.json tells the process ids.

KIND `broken` adds a service that ends by itself at once; it fares better when DIRECTORY/mended is
there. KIND `hindered` adds the same one on a machine with a full disk. KIND `silent` and `loud` wait for
one that never gets ready, by a clock that goes ten seconds at each look, once the loud one was heard.
"""

import json
import sys
from pathlib import Path

from perfdash.local import child
from perfdash.local.child import Child
from perfdash.local.journal import Journal
from perfdash.local.process import Service
from perfdash.local.supervisor import StartFailed, Supervisor

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

BROKEN = """
import os, sys, time
if not os.path.exists(os.path.join(sys.argv[1], "mended")):
    print("the port is taken", flush=True)
    sys.exit(3)
with open(os.path.join(sys.argv[1], "came-up"), "w"):
    time.sleep(300)
"""


NEVER_READY = """
import sys, time
if sys.argv[1] == "loud":
    print("it begins", flush=True)
time.sleep(300)
"""


def main(directory: Path, kind: str) -> int:
    pids: dict[str, int] = {}

    def changed(one: Child) -> None:
        pids[one.service.name] = one.process.pid if one.process else 0
        new = directory / "pids.new"
        new.write_text(json.dumps(pids))
        new.replace(directory / "pids.json")

    now = 0.0

    def clock() -> float:
        nonlocal now
        if kind == "silent" or (directory / "loud.log").exists():
            now += 10.0
        return now

    hindrance = "The disk is full." if kind == "hindered" else ""
    supervisor = Supervisor(Journal(directory, None), changed, lambda: hindrance, clock)
    for stage, name in enumerate(("first", "second", "third")):
        command = (sys.executable, "-c", PROGRAM, name, str(directory), str(name == "second"))
        supervisor.start([Service(name, command, {}, stage=stage)])
    if kind in ("silent", "loud"):
        never = (sys.executable, "-c", NEVER_READY, kind)
        supervisor.start([Service(kind, never, {}, stage=1, ready=lambda pid: False)])
    elif kind:
        child.FIRST_DELAY_SECONDS = child.LONGEST_DELAY_SECONDS = 0.01
        broken = (sys.executable, "-c", BROKEN, str(directory))
        supervisor.start([Service("broken", broken, {}, stage=1)])
    try:
        supervisor.wait_until_ready()
        supervisor.watch()
    except StartFailed as error:
        supervisor.journal.say(str(error))
        return 1
    finally:
        supervisor.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "".join(sys.argv[2:])))
