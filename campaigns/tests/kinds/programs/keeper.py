"""A keeper in a process of its own, which a test may stop, kill, or limit. Run with -m.

Takes a JSON object as its only argument; prints each progress, and the outcome, as a line of JSON.
"""

import json
import resource
import sys
import threading
from typing import Any

from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.programs.program import run_program


def say(values: Any) -> None:
    print(json.dumps(values), flush=True)  # noqa: T201


def main() -> None:
    asked = json.loads(sys.argv[1])
    for name, most in asked.get("limits", {}).items():
        resource.setrlimit(getattr(resource, name), (most, most))
    renewed = asked["lease_seconds"]
    ends = monotonic() + asked.get("renew_seconds", 60.0)
    outcome = run_program(
        asked["module"],
        asked["request"],
        cancelled=threading.Event(),
        lease_seconds=lambda: min(renewed, ends - monotonic()),
        deadline_seconds=60.0,
        progress=say,
        keep_loaded=asked.get("keep_loaded", False),
    )
    say({"cancelled": outcome.cancelled, "result": outcome.result})


if __name__ == "__main__":
    main()
