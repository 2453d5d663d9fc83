"""What lies between the machines is slow, restarted, pooled or doubled under a measurement; the books hold."""

import shutil
import sys
from time import sleep

import pytest

from e2e.conftest import ROOT, wait_for
from e2e.faults.load import loading, telling
from e2e.machines.plant import DATABASE, GENERATE, MEASURE, SECOND, WAY, WEB

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(900, func_only=True)]

MILLISECONDS, LOSS = 25, 0.01
"""Of each direction: 50 ms a round trip."""
MARGIN = "0.5"
"""Of the tests' lease of 4 s: claim and first renewal, with a new connection, are some 40 round trips."""
MORE = 3
A_BLOCK = 8
"""Runs of a block: within one they follow one another without a message."""
ROUNDS = 30


@pytest.fixture
def slow_way(plant):
    """Let everything between the measuring workers and db.example pass a slow and lossy relay."""
    relay = [sys.executable, str(ROOT / "e2e/machines/relay.py"), "0.0.0.0"]  # noqa: S104
    there = plant.network.address(DATABASE)
    for port in ("5432", "6379"):
        plant.run(WAY, f"relay-{port}", [*relay, port, there, port, str(MILLISECONDS), str(LOSS)])
    for host in MEASURE:
        plant.network.resolve(host, DATABASE, plant.network.address(WAY))
        plant.end(host, "measure")
        plant.start_services(host, LEASE_MARGIN_SECONDS=MARGIN)
    plant.wait_until_present(4)
    yield
    for host in MEASURE:
        plant.network.resolve(host, DATABASE, there)
        plant.end(host, "measure")
        plant.start_services(host)
    for port in ("5432", "6379"):
        plant.end(WAY, f"relay-{port}")
    plant.wait_until_present(4)


def until_more(load, count=MORE, seconds=240):
    before = load.accepted()
    wait_for(lambda: len(load.accepted() - before) >= count, f"{count} more results", seconds)
    load.books.check()


def test_a_slow_and_lossy_way_to_the_database(plant, slow_way):
    with loading(plant, plant.target, 1) as load, telling(plant, 1):
        until_more(load)


@pytest.mark.parametrize("persistent", [True, False])
def test_the_broker_is_restarted(plant, persistent):
    with loading(plant, plant.target, 1) as load, telling(plant, 1):
        attempt = load.until_measuring(seconds=120)
        before = load.accepted()
        plant.end(DATABASE, "redis")
        if not persistent:
            shutil.rmtree(plant.place / DATABASE / "redis")
        sleep(2)
        plant.start_broker()
        load.until_it_goes_on(attempt, before, seconds=180)
        until_more(load, A_BLOCK + 1)


def test_pgbouncer_in_transaction_mode(plant):
    plant.start_pool()
    hosts = (WEB, *MEASURE, *GENERATE)
    plant.restart_services(hosts, pooled=True)
    try:
        with loading(plant, plant.target, 1) as load, telling(plant, 1):
            until_more(load)
            headers = {"Authorization": f"Bearer {plant.token}"}
            for path in (
                "runs",
                "export?format=csv",
                "export?format=json",
                "export?format=parquet",
            ):
                status, body = plant.ask(
                    "GET", f"/api/v1/campaigns/{load.campaign}/{path}", headers=headers
                )
                assert status == 200, f"{path}: {status} {body[:500]}"
            clients = plant.rows(
                "SELECT DISTINCT client_addr::text AS address FROM pg_stat_activity WHERE datname = 'perfdash' AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
            assert clients == [{"address": "127.0.0.1/32"}], clients  # all of them by the pool
    finally:
        plant.restart_services(hosts)
        plant.end(DATABASE, "pgbouncer")


def test_a_web_server_leaves_during_a_review(plant):
    plant.start_services(SECOND, ("web",))
    try:
        with loading(plant, plant.target, 1) as load, telling(plant, 1):
            until_more(load, 2)
            load.cancel()
            path = f"campaigns/{load.campaign}"
            wait_for(lambda: plant.api("GET", path)["state"] == "cancelled", "the cancel")
            wait_for(lambda: plant.web_is_up(SECOND), "the second web server", 120)
            sleep(2)  # HAProxy looks every second
            draft = {"claim": "It goes on", "evidence": [{"campaign": load.campaign}]}
            conclusion = f"conclusions/{plant.api('POST', 'conclusions', draft)['id']}"
            for number in range(ROUNDS):
                if number == ROUNDS // 3:
                    plant.terminate(WEB, "web")
                plant.api("POST", f"{path}/threads", {"text": f"comment {number}"})
                plant.api("PATCH", conclusion, {"limits": f"version {number}"})
                assert plant.api("GET", conclusion)["limits"] == f"version {number}"
            assert not plant.web_is_up(WEB)
            threads = plant.api("GET", f"{path}/threads?limit=200")["results"]
            texts = sorted(thread["comments"][0]["text"] for thread in threads)
            assert texts == sorted(f"comment {number}" for number in range(ROUNDS))
    finally:
        plant.end(WEB, "web")
        plant.start_services(WEB, ("web",))
        wait_for(lambda: plant.web_is_up(WEB), "the first web server", 120)
        plant.end(SECOND, "web")
