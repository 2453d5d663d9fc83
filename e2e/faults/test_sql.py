"""pgbench at a PostgreSQL, and everything above it, killed or stopped: no connection of ours is left at the database."""

import shutil

import pytest

from campaigns.tests.kinds.sql import servers
from e2e.conftest import place, wait_for
from e2e.faults import processes
from e2e.faults.load import ACCEPTED, ENDED, MEASURING, telling
from e2e.faults.plant import LEASE_SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(1800)]
OURS = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'perfdash attempt/%'"
SECONDS_AFTER_THE_LEASE = 2.0
CLIENTS = 3


def pgbench(pid):
    return [
        p for p in processes.tree(pid) if processes.words(p) and processes.words(p)[0].endswith("/pgbench")
    ]  # fmt: skip


@pytest.fixture(scope="module")
def database():
    with place() as path, servers.database(path) as made:
        yield made


@pytest.fixture(scope="module")
def campaign(plant, database):
    """Runs of some seconds, together and apart."""
    target = {
        "name": f"database {database.port}",
        "family": "postgresql",
        "base_url": database.target().base_url,
        "username": servers.USER,
        "password": database.password,
        "confirm_address": True,
    }
    definition = {
        "question": "Does it leave anything behind?",
        "kind": "sql",
        "target": plant.try_api("POST", "targets", target)["id"],
        "parameters": {
            "rows": 100,
            "clients": CLIENTS,
            "duration_seconds": 4,
            "warm_up_seconds": 0,
        },
        "factors": {"client_processes": ["together", "apart"], "protocol": ["simple", "prepared"]},
        "repetitions": 50,
        "seed": 1,
        "max_consecutive_failures": 20,
        "launch": True,
    }
    made = plant.try_api("POST", "campaigns", definition)
    yield made["id"]
    plant.try_api("POST", f"campaigns/{made['id']}/cancel", {"reason": "enough"})


def killed(find):
    def fault(plant):
        found = find(plant.pid)
        assert found
        processes.kill(found)
        return []

    return fault


def stopped(*finds):
    def fault(plant):
        found = [process for find in finds for process in find(plant.pid)]
        assert found
        for process in found:
            process.suspend()
        return found

    return fault


FAULTS = {
    "worker killed": killed(processes.worker_child),
    "engine killed": killed(processes.engine),
    "pgbench killed": killed(pgbench),
    "worker stopped": stopped(processes.worker_child),
    "all stopped": stopped(processes.worker_child, processes.engine, pgbench),
}


@pytest.mark.skipif(not shutil.which("pgbench"), reason="pgbench is not installed")
@pytest.mark.parametrize("name", FAULTS)
def test_no_connection_is_left(plant, database, campaign, name):
    def measuring():
        rows = plant.rows(MEASURING, campaign)
        return rows[0]["id"] if rows and database.value(OURS) >= CLIENTS else None

    with telling(plant, name):
        attempt = wait_for(measuring, "clients at the database", 90)
        before = {row["id"] for row in plant.rows(ACCEPTED, campaign)}
        left = FAULTS[name](plant)
        try:
            wait_for(
                lambda: not database.value(OURS.replace("%", str(attempt))),
                "the end of our connections",
                LEASE_SECONDS + SECONDS_AFTER_THE_LEASE,
            )
            wait_for(lambda: plant.rows(ENDED, attempt), "the end of the attempt")
        finally:
            for process in reversed(left):
                if processes.alive(process):
                    process.resume()
        wait_for(
            lambda: {row["id"] for row in plant.rows(ACCEPTED, campaign)} - before, "the next result", 90
        )  # fmt: skip
        assert not pgbench(plant.pid) or plant.rows(MEASURING, campaign)
