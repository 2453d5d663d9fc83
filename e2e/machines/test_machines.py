"""Several machines measure together; one is cut off, clocks differ, a worker is of another version."""

import struct
import subprocess
from time import sleep

import pytest

from e2e.conftest import ROOT, wait_for
from e2e.faults.load import loading, telling
from e2e.faults.plant import LEASE_SECONDS
from e2e.machines.plant import GENERATE, MEASURE
from perfdash import __version__

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(600, func_only=True)]

ATTEMPT = "SELECT id, worker, host, state, reason FROM campaigns_attempt WHERE id = %s"
HOSTS = """
    SELECT DISTINCT attempt.host FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted'
"""
GENERATORS = """
    SELECT attempt.id AS attempt, attempt.state AS attempt_state, generator.host, generator.state,
        generator.clock_offset_seconds AS offset, generator.clock_uncertainty_seconds AS uncertainty,
        generator.start_at
    FROM campaigns_generator generator
    JOIN campaigns_attempt attempt ON attempt.id = attempt_id
    JOIN campaigns_run run ON run.id = attempt.run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted' ORDER BY generator.host
"""
REQUESTS = """
    SELECT measurement.value FROM campaigns_measurement measurement
    JOIN campaigns_storedmetric metric ON metric.id = measurement.metric_id
    JOIN campaigns_attempt attempt ON attempt.id = measurement.attempt_id
    JOIN campaigns_run run ON run.id = attempt.run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted' AND metric.name = 'requests'
"""
PATH = "/repo/files=4,size=200/latency=40/PULP_MANIFEST"
STATE = "SELECT state FROM campaigns_campaign WHERE id = %s"
OLD = "0.0.9"
LONG = "files=200,size=2000/latency=150"
SEND_AGAIN = """
from perfdash.celery import app
for _ in range(6):
    app.send_task("campaigns.execute_attempt", args=[{}, "{}"], queue="measure")
"""
"""What a broker that was restarted delivers twice: the older worker gets it while the other one measures."""


def test_a_worker_that_is_cut_off_for_twice_the_lease_loses_its_run_and_the_other_goes_on(plant):
    with loading(plant, plant.target, 1) as load, telling(plant, 1):
        attempt = load.until_measuring(seconds=240)
        before = load.accepted()
        (cut,) = plant.rows(ATTEMPT, attempt)
        plant.network.unplug(cut["host"])
        try:
            sleep(2 * LEASE_SECONDS)
            load.until_it_goes_on(attempt, before, seconds=240)
            (lost,) = plant.rows(ATTEMPT, attempt)
            later = plant.rows(HOSTS, load.campaign)
        finally:
            plant.network.plug(cut["host"])
        assert lost["state"] == "lost", lost
        assert {row["host"] for row in later} >= set(MEASURE) - {cut["host"]}
        load.books.check()
        plant.wait_until_present(4)


@pytest.fixture
def clocks(plant):
    """Let the clocks of the two generators differ by two seconds."""
    library = plant.place / "clock.so"
    source = ROOT / "e2e/faults/clock.c"
    subprocess.run(["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source], check=True)
    for host, seconds in zip(GENERATE, (-1, 1), strict=True):
        offset = plant.place / host / "offset"
        offset.write_bytes(struct.pack("q", seconds))
        plant.end(host, "generate")
        plant.start_services(host, LD_PRELOAD=str(library), SHIFTED_CLOCK=str(offset))
    plant.wait_until_present(4)
    yield
    for host in GENERATE:
        (plant.place / host / "offset").write_bytes(struct.pack("q", 0))


def campaign(plant, kind, parameters, **more):
    target = plant.try_api(
        "POST",
        "targets",
        {"name": f"of {kind} {len(more)}", "family": "http", "base_url": plant.target.base_url},
    )
    body = {"question": "Do they agree?", "kind": kind, "target": target["id"], "launch": True}
    return plant.try_api("POST", "campaigns", body | {"parameters": parameters, "seed": 1} | more)[
        "id"
    ]


def test_two_generators_whose_clocks_differ_by_two_seconds_begin_together(plant, clocks):
    hosts, iterations = 20, 10
    launched = campaign(
        plant,
        "loads",
        {"path": PATH, "iterations": iterations, "generators": 2},
        factors={"hosts": [hosts]},
        repetitions=2,
    )
    wait_for(lambda: plant.rows(STATE, launched)[0]["state"] == "finished", "the end", 240)

    rows = plant.rows(GENERATORS, launched)
    attempts = {row["attempt"] for row in rows}
    assert {row["host"] for row in rows} == set(GENERATE)
    assert {row["state"] for row in rows} == {"done"}
    assert len({row["start_at"] for row in rows}) == len(attempts) == 2  # one start for each run
    for row in rows:
        there = 1 if row["host"] == GENERATE[0] else -1  # from there to the database's
        assert abs(row["offset"] - there) <= row["uncertainty"] + 0.05, row
    assert [row["value"] for row in plant.rows(REQUESTS, launched)] == [hosts * iterations] * 2
    senders = plant.target.stats()["senders"]
    for attempt in attempts:
        assert senders[f"perfdash attempt/{attempt}"]["requests"] == hosts * iterations


@pytest.fixture
def older(plant):
    """Let the first measuring worker be of an older version."""
    host = MEASURE[0]
    plant.end(host, "measure")
    program = (
        "import perfdash, sys; from celery.__main__ import main;"
        f" perfdash.__version__ = '{OLD}'; sys.exit(main())"
    )
    _, *words = plant.services(host)["measure"]
    plant.run(host, "measure", [str(plant.programs / "python"), "-c", program, *words])
    yield host
    plant.end(host, "measure")
    plant.start_services(host)
    plant.wait_until_present(4)


def test_a_worker_of_an_older_version_gets_no_runs_and_this_is_said(plant, older):
    told = plant.log_of(older, "measure")
    wait_for(lambda: f"has perfdash {OLD}" in told.read_text(), "the word in its log", 120)
    by_name = {row["name"]: row for row in plant.api("GET", "workers")["results"]}
    assert by_name[f"measure@{older}"]["version"] == OLD
    assert not by_name[f"measure@{older}"]["present"]

    with loading(plant, plant.target, 1, content=LONG) as load, telling(plant, 1):
        attempt = load.until_measuring(seconds=120)
        plant.manage("shell", "-c", SEND_AGAIN.format(attempt, __version__))
        wait_for(lambda: len(load.accepted()) >= 3, "three results", 240)
        assert plant.rows(ATTEMPT, attempt)[0]["state"] == "accepted"
        assert {row["host"] for row in plant.rows(HOSTS, load.campaign)} == {MEASURE[1]}
