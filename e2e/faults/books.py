"""What must be true of runs, attempts, leases and the target after any fault."""

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from psycopg import IsolationLevel

from e2e.conftest import wait_for
from e2e.faults.plant import GRACE_SECONDS, LEASE_SECONDS

RUNS = "SELECT * FROM campaigns_run WHERE campaign_id = %s ORDER BY position"
PARTS = ("measurement", "proof", "effectivesetting", "series", "distribution", "rawsamples", "phase",
         "environmentfact")  # fmt: skip
ATTEMPTS = f"""
    SELECT attempt.*, {
    ", ".join(
        f"(SELECT count(*) FROM campaigns_{part} part WHERE part.attempt_id = attempt.id) AS {part}"
        for part in PARTS
    )
}, (SELECT count FROM campaigns_rawsamples WHERE attempt_id = attempt.id) AS samples
    FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s ORDER BY run_id, number
"""  # noqa: S608 - our own names
LEASES = """
    SELECT 'target' AS what, lease.attempt_id, lease.holder, lease.expires_at, clock_timestamp() AS now,
        attempt.state, lease.token = attempt.token AS fits
    FROM campaigns_targetlease lease LEFT JOIN campaigns_attempt attempt ON attempt.id = attempt_id
    UNION ALL
    SELECT 'generator', lease.attempt_id, lease.holder, lease.expires_at, clock_timestamp(),
        attempt.state, true
    FROM campaigns_generatorlease lease
    LEFT JOIN campaigns_attempt attempt ON attempt.id = attempt_id
"""
OPEN = ("queued", "running")
ENDS = {"done": "accepted", "failed": "failed", "cancelled": "cancelled"}
PROOFS = {"downloader": 10, "http": 5}
TAKEN_BACK = "which did not renew its lease"


class Books:
    """Checks one campaign, in one snapshot of the database and one look at the target."""

    def __init__(self, plant, sandbox, campaign, clock_is_ours=True, kind="downloader"):
        self.plant, self.sandbox, self.campaign, self.kind = plant, sandbox, campaign, kind
        self.manifests = int(kind == "downloader")  # it asks for one, besides its units of work
        self.clock_is_ours = clock_is_ours
        self.counted = {}
        self.lost = self.void = self.attempts = 0

    def check(self, *, final=False):
        """Check everything; `final`: nothing is open any more. Raise AssertionError."""
        runs, attempts, leases = wait_for(self._snapshot, "a look at the books")
        senders = self.sandbox.stats()["senders"]
        by_run = defaultdict(list)
        for attempt in attempts:
            by_run[attempt["run_id"]].append(attempt)
        for run in runs:
            check_run(run, by_run[run["id"]])
        for attempt in attempts:
            check_evidence(attempt, self.kind)
        for lease in leases:
            check_lease(lease)
        self._check_target(attempts, senders)
        self._check_leftovers(attempts)
        if final:
            assert not [run for run in runs if run["state"] in ("planned", "running")]
            assert not [attempt for attempt in attempts if attempt["state"] in OPEN]
            ours = {attempt["id"] for attempt in attempts}
            assert not [lease for lease in leases if lease["attempt_id"] in ours]
        self.attempts = len(attempts)
        self.lost = sum(attempt["state"] == "lost" for attempt in attempts)
        self.void = sum(run["state"] == "void" for run in runs)

    def _snapshot(self):
        connection = self.plant.connection()
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        try:
            with connection.transaction():
                runs = connection.execute(RUNS, (self.campaign,)).fetchall()
                attempts = connection.execute(ATTEMPTS, (self.campaign,)).fetchall()
                return runs, attempts, connection.execute(LEASES).fetchall()
        finally:
            connection.isolation_level = None

    def _check_target(self, attempts, senders):
        """No request after an attempt's end, no two at once, and as many as the results say."""
        spans = []
        for attempt in attempts:
            counted = senders.get(f"perfdash attempt/{attempt['id']}")
            name = f"attempt {attempt['id']} ({attempt['state']}: {attempt['reason']})"
            if counted and counted["first_request"]:
                spans.append((counted["first_request"], counted["last_request"], name))
            if attempt["state"] in OPEN:
                continue
            requests = counted["requests"] if counted else 0
            self._check_sender(attempt, counted, name)
            assert self.counted.setdefault(attempt["id"], requests) == requests, (
                f"{name} loaded the target after its end"
            )
        spans.sort()
        for (_, last, one), (first, _, other) in pairwise(spans):
            assert last <= first, f"{one} loaded the target until {last}, {other} from {first}"

    def _check_sender(self, attempt, counted, name):
        if attempt["state"] == "accepted":
            assert counted, f"{name} never asked the target"
            units = attempt["units_done"] + attempt["units_failed"]
            assert counted["manifests"] == self.manifests, f"{name}: {counted}"
            expected = units + self.manifests
            assert counted["requests"] == expected, f"{name}: {units} units, {counted}"
        if not counted or not counted["last_request"]:
            return
        assert counted["in_flight"] == 0, f"{name} has ended, and loads the target: {counted}"
        if self.clock_is_ours:
            end = attempt["finished_at"]
            if TAKEN_BACK in attempt["reason"]:
                end -= timedelta(seconds=GRACE_SECONDS)  # then its lease was over
            last = datetime.fromisoformat(counted["last_request"])
            assert last <= end + timedelta(milliseconds=5), f"{name}: {end}, {counted}"

    def _check_leftovers(self, attempts):
        """What an ended attempt has downloaded is gone once a later one got to work."""
        directory = Path(self.plant.environment.get("WORK_DIRECTORY", self.plant.data / "work"))
        left = {int(path.name.split("-")[1]) for path in directory.glob("attempt-*")}
        at_work = [a["id"] for a in attempts if a["phase"] in ("measure", "verify", "store")]
        newest = max(at_work, default=0)
        ended = {a["id"] for a in attempts if a["state"] not in OPEN and a["id"] < newest}
        assert not left & ended, f"left in {directory}: {sorted(left & ended)}"


def check_run(run, attempts):
    """Its state follows from its attempts, which are numbered without a gap."""
    name = f"run {run['position']} ({run['state']})"
    states = [attempt["state"] for attempt in attempts]
    assert [a["number"] for a in attempts] == list(range(1, len(attempts) + 1)), name
    assert states.count("accepted") == (run["state"] == "done"), f"{name}: {states}"
    assert sum(state in OPEN for state in states[:-1]) == 0, f"{name}: {states}"
    match run["state"]:
        case "planned":
            assert states[-1:] in ([], ["queued"], ["lost"], ["void"]), f"{name}: {states}"
        case "running":
            assert states[-1] == "running", f"{name}: {states}"
        case "done":
            assert states[-1] == "accepted", f"{name}: {states}"
        case _:
            assert run["reason"], f"{name} does not say why"
            assert not set(states) & set(OPEN), f"{name}: {states}"
    closed = run["state"] not in ("planned", "running")
    assert bool(run["finished_at"]) == closed, name


def check_evidence(attempt, kind):
    """An accepted attempt has all its rows, one that never got to store has none."""
    name = f"attempt {attempt['id']} ({attempt['state']}: {attempt['reason']})"
    rows = {part: attempt[part] for part in PARTS}
    assert (attempt["finished_at"] is None) == (attempt["state"] in OPEN), name
    if attempt["state"] == "accepted":
        assert all(rows.values()), f"{name}: {rows}"
        assert attempt["rawsamples"] == 1, f"{name}: {rows}"
        if kind == "downloader":  # a scenario has a sample for each host
            assert attempt["samples"] == attempt["units_done"] + attempt["units_failed"], name
        assert attempt["proof"] == PROOFS[kind], f"{name}: {rows}"
    elif attempt["state"] in OPEN or TAKEN_BACK in attempt["reason"]:
        assert not any(rows.values()), f"{name}: {rows}"
    elif attempt["measurement"]:
        assert attempt["rawsamples"] == 1, f"{name}: {rows}"
    if attempt["state"] not in ("accepted", *OPEN):
        assert attempt["reason"], f"{name} does not say why"


def check_lease(lease):
    """It is free, or held by an attempt that lives, for no longer than it may."""
    if lease["attempt_id"] is None:
        assert not lease["holder"], lease
        assert lease["expires_at"] is None, lease
        return
    assert lease["state"] in (OPEN if lease["what"] == "target" else ("running",)), lease
    assert lease["fits"], lease
    assert lease["expires_at"] <= lease["now"] + timedelta(seconds=LEASE_SECONDS), lease
