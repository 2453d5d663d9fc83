"""A run with three generators, broken in every way: it is void or lost, says why, and is made anew."""

from time import sleep

import pytest

from e2e.conftest import wait_for
from e2e.faults import processes
from e2e.faults.plant import LEASE_SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

PATH = "/repo/files=4,size=200/latency=40/PULP_MANIFEST"
ROWS = """
    SELECT generator.id, attempt.id AS attempt, attempt.state AS attempt_state, attempt.reason AS why,
        generator.number, generator.state, generator.reason, generator.request, generator.samples,
        generator.start_at IS NOT NULL AS told,
        generator.start_at <= clock_timestamp() AS began
    FROM campaigns_generator generator
    JOIN campaigns_attempt attempt ON attempt.id = attempt_id
    JOIN campaigns_run run ON run.id = attempt.run_id
    WHERE run.campaign_id = %s ORDER BY attempt.id, generator.part, generator.number
"""
ATTEMPTS = """
    SELECT attempt.id, attempt.state, attempt.reason FROM campaigns_attempt attempt
    JOIN campaigns_run run ON run.id = run_id WHERE run.campaign_id = %s ORDER BY attempt.id
"""
ALLOW = "UPDATE campaigns_run SET attempts_allowed = 9 WHERE campaign_id = %s"
OPEN = ("queued", "running")


class Gathered:
    """A launched campaign of one run with three generators, each of which loads for about 4 s."""

    def __init__(self, plant, sandbox, campaign):
        self.plant, self.sandbox, self.campaign = plant, sandbox, campaign

    def wait_for(self, condition, what, seconds=60.0):
        """Wait as everywhere; an error says what became of the attempts, and what the perfdash said last."""
        try:
            return wait_for(condition, what, seconds)
        except AssertionError as error:
            rows = [
                {k: v for k, v in row.items() if k not in ("request", "samples")}
                for row in self.rows()
            ]
            error.add_note(f"{self.attempts()}\n{rows}\n{self.plant.tell()}")
            raise

    def until_accepted(self):
        """Wait until an attempt is accepted."""
        self.wait_for(
            lambda: "accepted" in [attempt["state"] for attempt in self.attempts()[-1:]],
            "an accepted attempt",
            180,
        )

    def rows(self):
        """The generators of the newest attempt that has any."""
        rows = self.plant.rows(ROWS, self.campaign)
        return [row for row in rows if row["attempt"] == rows[-1]["attempt"]]

    def attempts(self):
        return self.plant.rows(ATTEMPTS, self.campaign)

    def until(self, condition, what):
        """Wait until all rows of the newest attempt fulfil a condition; give its key."""

        def all_do():
            rows = self.rows()
            return len(rows) == 3 and all(map(condition, rows)) and rows[0]["attempt"]

        found = self.wait_for(all_do, what)
        self.plant.remember()
        return found

    def until_prepared(self):
        return self.until(lambda row: row["state"] == "claimed", "three that prepare themselves")

    def until_told(self):
        return self.until(lambda row: row["told"], "three that know the start")

    def until_loading(self):
        attempt = self.until(lambda row: row["began"], "three that load")
        self.wait_for(lambda: self.in_flight(attempt), "requests of theirs")
        return attempt

    def in_flight(self, attempt):
        return (
            self.sandbox.stats()["senders"].get(f"perfdash attempt/{attempt}", {}).get("in_flight")
        )

    def assert_it_is_made_anew(self, attempt, states, words=""):
        """The attempt says why it ended, loads nothing any more, and a later one is accepted."""
        ended = self.wait_for(
            lambda: [a for a in self.attempts() if a["id"] == attempt and a["state"] not in OPEN],
            f"the end of attempt {attempt}",
        )[0]
        assert ended["state"] in states, ended
        assert words in ended["reason"], ended
        assert not self.in_flight(attempt)
        self.plant.assert_no_orphans()
        self.until_accepted()
        rows = self.plant.rows(ROWS, self.campaign)
        assert all(not row["request"] and row["samples"] is None for row in rows)
        assert not [
            row for row in rows if row["state"] in ("wanted", "claimed", "ready", "started")
        ]
        accepted = [row for row in rows if row["attempt_state"] == "accepted"]
        assert [row["state"] for row in accepted] == ["done"] * 3
        assert not {row["id"] for row in accepted} & {
            row["id"] for row in rows if row["attempt"] == attempt
        }
        assert [a["state"] for a in self.attempts()].count("accepted") == 1


@pytest.fixture
def gathered(plant, target):
    """Launch it."""
    server = plant.try_api(
        "POST",
        "targets",
        {
            "name": f"loaded {target.base_url}",
            "family": "http",
            "base_url": target.base_url,
            "confirm_address": True,
        },
    )
    campaign = plant.try_api(
        "POST",
        "campaigns",
        {
            "question": "Do three generators survive?",
            "kind": "loads",
            "target": server["id"],
            "parameters": {
                "path": PATH,
                "hosts": 9,
                "iterations": 80,
                "generators": 3,
                "prepare_seconds": 1.5,
            },
            "factors": {"hosts": [9]},
            "order": "interleaved",
            "repetitions": 1,
            "seed": 1,
            "launch": True,
        },
    )
    # The margin before a start follows from the short lease: on a busy machine a program may be late for several.
    plant.connection().execute(ALLOW, (campaign["id"],))
    return Gathered(plant, target, campaign["id"])


def kill_the_generators_worker(plant):
    found = processes.worker(plant.pid, "generate")
    assert found
    processes.kill(found)


@pytest.mark.nightly
def test_the_worker_is_killed_before_its_generators_are_ready(plant, gathered):
    attempt = gathered.until_prepared()

    kill_the_generators_worker(plant)

    gathered.assert_it_is_made_anew(attempt, {"void"}, "was lost")


@pytest.mark.nightly
def test_the_worker_is_killed_between_ready_and_start(plant, gathered):
    attempt = gathered.until_told()

    kill_the_generators_worker(plant)

    gathered.assert_it_is_made_anew(attempt, {"void"}, "was lost")


def test_the_worker_is_killed_in_mid_run(plant, gathered):
    attempt = gathered.until_loading()

    kill_the_generators_worker(plant)

    gathered.wait_for(lambda: not gathered.in_flight(attempt), "the end of the load", 2)
    gathered.assert_it_is_made_anew(attempt, {"void"}, "was lost")


@pytest.mark.nightly
def test_one_program_is_killed_in_mid_run_and_the_others_stop(plant, gathered):
    attempt = gathered.until_loading()

    processes.kill(processes.programs(plant.pid, "e2e.loads_engine")[:1])

    gathered.wait_for(lambda: not gathered.in_flight(attempt), "the end of the load", 2)
    gathered.assert_it_is_made_anew(attempt, {"void"}, "was killed by SIGKILL")


@pytest.mark.nightly
def test_the_worker_stands_still_past_the_lease(plant, gathered):
    attempt = gathered.until_loading()
    (worker,) = processes.worker(plant.pid, "generate")
    worker.suspend()
    try:
        gathered.wait_for(
            lambda: not gathered.in_flight(attempt), "the end of the load", LEASE_SECONDS
        )
        sleep(1.5 * LEASE_SECONDS)
    finally:
        worker.resume()

    gathered.assert_it_is_made_anew(attempt, {"void"}, "was lost")


@pytest.mark.nightly
def test_the_broker_is_killed_while_generators_are_asked_for(plant, gathered):
    gathered.wait_for(lambda: plant.rows(ROWS, gathered.campaign), "rows of generators")

    processes.kill(processes.broker(plant.pid))

    gathered.until_accepted()
    assert [row["state"] for row in gathered.rows()] == ["done"] * 3


@pytest.mark.nightly
def test_the_database_is_away_between_ready_and_start(plant, gathered):
    attempt = gathered.until_told()
    plant.forget_connection()
    stopped = processes.cluster(plant.pid)
    for process in stopped:
        process.suspend()
    try:
        sleep(LEASE_SECONDS)
        assert not gathered.in_flight(attempt)
        sleep(LEASE_SECONDS)
    finally:
        for process in stopped:
            if processes.alive(process):
                process.resume()

    gathered.assert_it_is_made_anew(attempt, {"lost", "void"})


@pytest.mark.nightly
def test_the_runs_keeper_is_killed_and_its_generators_stop_by_themselves(plant, gathered):
    attempt = gathered.until_loading()

    processes.kill(processes.worker_child(plant.pid))

    gathered.wait_for(lambda: not gathered.in_flight(attempt), "the end of the load", LEASE_SECONDS)
    gathered.assert_it_is_made_anew(attempt, {"lost"}, "did not renew its lease")
