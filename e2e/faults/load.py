"""A long campaign of short runs on a sandbox that outlives every fault."""

from contextlib import contextmanager, suppress
from itertools import count

from e2e.conftest import wait_for
from e2e.faults import processes
from e2e.faults.books import Books

MEASURING = """
    SELECT attempt.id FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'running' AND attempt.phase = 'measure'
"""
ACCEPTED = """
    SELECT attempt.id FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted'
"""
ENDED = "SELECT id FROM campaigns_attempt WHERE id = %s AND state NOT IN ('queued', 'running')"
BLAMED = """
    SELECT attempt.id, attempt.state, attempt.reason, attempt.failures FROM campaigns_attempt attempt
    JOIN campaigns_run run ON run.id = run_id WHERE run.campaign_id = %s AND
    (attempt.state = 'failed' OR attempt.state = 'accepted' AND attempt.units_failed > 0)
"""
SCENARIO = """
steps:
  - {name: small, get: "/repo/files=24,size=2000/latency=100/file-000001.bin"}
  - {name: other, get: "/repo/files=24,size=2000/latency=100/file-00000{random:2-9}.bin"}
"""
PLAYED = {
    "kind": "http",
    "parameters": {
        "scenario": SCENARIO,
        "iterations": 6,
        "duration_seconds": None,
        "warm_up_seconds": 0,
    },
    "factors": {"hosts": [3, 4, 5, 6]},
}
"""Of a campaign that plays a scenario; each run takes somewhat more than a second."""
NUMBERS = count(1)
STATE = "SELECT state FROM campaigns_campaign WHERE id = %s"


class Load:
    """A launched campaign and the sandbox that it loads."""

    def __init__(self, plant, sandbox, campaign, clock_is_ours=True, kind="downloader"):
        self.plant, self.sandbox, self.campaign = plant, sandbox, campaign
        self.books = Books(plant, sandbox, campaign, clock_is_ours, kind)
        self.is_cancelled = False

    def sender(self, attempt):
        """What the target counted of an attempt."""
        return self.sandbox.stats()["senders"].get(f"perfdash attempt/{attempt}", {})

    def until_measuring(self, seconds=60.0):
        """Wait until an attempt measures, an engine works, and the target feels it."""

        def measuring():
            for row in self.plant.rows(MEASURING, self.campaign):
                if self.sender(row["id"]).get("in_flight") and processes.engine(self.plant.pid):
                    return row["id"]
            return None

        attempt = wait_for(measuring, "an attempt that measures", seconds)
        self.plant.remember()
        return attempt

    def accepted(self):
        return {row["id"] for row in self.plant.rows(ACCEPTED, self.campaign)}

    def assert_nothing_is_said_of_the_target(self):
        """What broke here is no observation: no attempt `failed`, and none with failures is kept."""
        assert not self.plant.rows(BLAMED, self.campaign)

    def until_it_goes_on(self, attempt, before, seconds=60.0):
        """Wait until the attempt has ended, and one is accepted that was not before the fault."""
        wait_for(
            lambda: self.accepted() - before and self.plant.rows(ENDED, attempt),
            f"a result after attempt {attempt}",
            seconds,
        )

    def cancel(self):
        """Say that the campaign ends here, once."""
        if not self.is_cancelled:
            self.plant.try_api("POST", f"campaigns/{self.campaign}/cancel", {"reason": "enough"})
            self.is_cancelled = True

    def end(self):
        """Cancel what is left; the target is left alone and nothing stays leased."""
        self.cancel()
        wait_for(
            lambda: self.plant.rows(STATE, self.campaign) == [{"state": "cancelled"}], "cancelled"
        )
        self.books.check(final=True)
        self.plant.assert_no_orphans()


@contextmanager
def loading(
    plant,
    sandbox,
    rounds,
    *,
    clock_is_ours=True,
    engines=("asyncio", "futures"),
    definition=None,
    **parameters,
):
    """Launch a campaign whose runs load the sandbox for about a second each.

    definition: of another kind than downloader.
    """
    target = plant.try_api(
        "POST",
        "targets",
        {
            "name": f"outlives {sandbox.base_url} {next(NUMBERS)}",
            "family": "http",
            "base_url": sandbox.base_url,
            "confirm_address": True,
        },
    )
    content = parameters.pop("content", "files=24,size=2000/latency=150")
    campaign = plant.try_api(
        "POST",
        "campaigns",
        {
            "question": "Does it survive?",
            "kind": "downloader",
            "target": target["id"],
            "parameters": {"manifest": f"/repo/{content}/PULP_MANIFEST"} | parameters,
            "factors": {"engine": list(engines), "concurrency": [3, 4, 5, 6]},
            **(definition or {}),
            "order": "random",
            "repetitions": min(200, 3 + rounds),
            "seed": 1,
            "launch": True,
        },
    )
    load = Load(plant, sandbox, campaign["id"], clock_is_ours, campaign["kind"])
    try:
        yield load
    except BaseException:
        with suppress(Exception):
            load.cancel()  # the next test's campaign would wait behind it
        raise
    load.end()


def again_and_again(load, rounds, fault, *, settle=lambda: None):
    """Do a fault in the middle of `measure` so many times, and check the books after each.

    `fault` gets the attempt that measures; `settle` waits for what it has to wait for.
    """
    for number in range(1, rounds + 1):
        with telling(load.plant, number):
            attempt = load.until_measuring()
            before = load.accepted()
            fault(attempt)
            settle()
            load.until_it_goes_on(attempt, before)
            load.plant.assert_no_orphans()
            load.books.check()


@contextmanager
def telling(plant, number):
    """Add to an error what the perfdash said last."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"In round {number}. {plant.tell()}")
        raise
