"""A load program of the tests: every host opens a connection and asks for paths. Run with -m.

The request's `paths` are asked in order; a path that begins with `!` is sent once more where its
connection was dropped. `spin_seconds` of processor time are used before each.
"""

import os
import sys
from pathlib import Path
from time import thread_time

from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.generator import run
from campaigns.kinds.load.host import Host
from campaigns.kinds.programs import lifeline
from campaigns.kit.mappings import ProgramResult
from campaigns.tests.kinds.load.servers import get


async def prepare(host: Host) -> None:
    host.prepared["prepared"] = host.number


async def sequence(host: Host) -> None:
    assert host.prepared["prepared"] == host.number
    host.columns = {"pid": os.getpid(), "parent": os.getppid()}
    wire = await host.connect()
    for path in host.request["paths"]:
        spin(host.request.get("spin_seconds", 0.0))
        name = path.removeprefix("!")
        try:
            await host.step(name, wire, get(name))
        except LoadFailed as failure:
            if not (failure.unanswered and path.startswith("!")):
                raise
            wire = await host.connect()
            await host.step(name, wire, get("ok"), retry=True)


def spin(seconds: float) -> None:
    end = thread_time() + seconds
    while thread_time() < end:
        pass


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    if keeper.request.get("crash_in_shard", "none") == keeper.request.get("shard"):
        sys.exit("no such luck")
    if "pids" in keeper.request:
        Path(keeper.request["pids"], str(os.getpid())).touch()
    return run(keeper, sequence, prepare)


if __name__ == "__main__":
    lifeline.run(main)
