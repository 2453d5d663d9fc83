"""An engine program that does what a test asks for. Run with -m, as every engine is."""

import os
import subprocess
import sys
import time

from campaigns.kinds.programs import health, lifeline
from campaigns.kit.mappings import ProgramResult


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    request = keeper.request
    match request["do"]:
        case "report":
            keeper.report("hello", {"environment": sorted(os.environ), "group": os.getpgrp()})
            keeper.report("progress", {"done": 1})
            keeper.report("samples", {"x": [1, 2], "y": ["a", "b"]})
            keeper.report("samples", {"x": [3], "y": ["c"]})
            print("a library prints")  # noqa: T201
        case "wait":
            keeper.report("hello", {"prepared": True})
            keeper.report("ready", {})
            keeper.report("progress", {"started": keeper.start_at() is not None})
        case "hang":
            keeper.report("samples", {"x": [1]})
            child = subprocess.Popen(["sleep", "60"])  # noqa: S607
            keeper.report("progress", {"pids": [os.getpid(), child.pid]})
            time.sleep(60)
        case "crash":
            raise RuntimeError(f"no such luck, {request['name']}")
        case "die":
            os.kill(os.getpid(), request["signal"])
        case "babble":
            os.write(keeper._output, request["line"].encode() + b"\n")
            time.sleep(60)
        case "leave":
            os._exit(0)
        case "allocate":
            bytearray(request["bytes"])
            sum(range(2_000_000))
    return {"peak_memory_bytes": health.peak_memory_bytes(), "echo": request, "argv": sys.argv[1:]}


if __name__ == "__main__":
    lifeline.run(main)
