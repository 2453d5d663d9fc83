import threading
from collections.abc import Callable, Iterator

import pytest

from campaigns.kinds.programs.program import Outcome, run_program
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.registration.program.recording import Recording, recording

Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def server() -> Iterator[Recording]:
    with recording() as found:
        yield found


@pytest.fixture
def katello(server: Recording) -> Recording:
    """A recording simulator on which nothing was asked yet, and nobody is registered."""
    server.renew()
    return server


@pytest.fixture
def run(katello: Recording, tmp_path) -> Run:
    """Register hosts with the engine program; keywords change the request."""

    def registered(
        hosts=1, profile="rhsm-1.30", module="campaigns.kinds.registration.program", **changes
    ):
        request = {
            "url": katello.url,
            "rules": parse_rules("127.0.0.1:*").to_json(),
            "schedule": {"hosts": hosts, "iterations": 1},
            "timeout_seconds": 10.0,
            "time_limit_seconds": 40.0,
            "ca": katello.ca,
            "insecure": False,
            "profile": profile,
            "place": "/rhsm",
            "prefix": "perfdash-test-",
            "domain": "perfdash.example",
            "organization": "ACME",
            "activation_keys": "bench-ak,more-ak",
            "packages": 30,
            "directory": str(tmp_path),
        } | changes
        return run_program(
            module,
            request,
            cancelled=threading.Event(),
            lease_seconds=lambda: 30.0,
            deadline_seconds=50.0,
        )

    return registered
