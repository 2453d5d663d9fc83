import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from campaigns.kinds.programs.program import Outcome, run_program
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.load.servers import misbehaving

SEQUENCE = "campaigns.tests.kinds.load.sequence"
Load = Callable[..., Outcome]


@pytest.fixture(scope="session")
def place() -> Iterator[str]:
    """Give `host:port` of a server that misbehaves as it is asked to."""
    with misbehaving() as found:
        yield found


def request_for(place: str, schedule: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Give the request of a load program."""
    return {
        "url": place if "://" in place else f"http://{place}/",
        "rules": parse_rules("127.0.0.1:*").to_json(),
        "schedule": schedule,
        "timeout_seconds": 30.0,
        "time_limit_seconds": 50.0,
    } | changes


@pytest.fixture
def load(place: str) -> Load:
    """Run a load program; `schedule` is a dict, keywords change the request or the call."""

    def run(schedule: dict[str, Any], module: str = SEQUENCE, **changes: Any) -> Outcome:
        call = {
            name: changes.pop(name)
            for name in ("ready", "start_at", "progress", "cancelled")
            if name in changes
        }
        return run_program(
            module,
            request_for(changes.pop("place", place), schedule, **changes),
            cancelled=call.pop("cancelled", threading.Event()),
            lease_seconds=lambda: 30.0,
            deadline_seconds=60.0,
            **call,
        )

    return run
