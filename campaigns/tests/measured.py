"""Campaigns of the toy kind with stored runs, as the keeper and the importer store them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from campaigns.findings import compute
from campaigns.kinds.base import EffectiveSetting, Health, Measured, Phase, Proof, Series
from campaigns.models import Attempt, Campaign, Run
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.storing import Outcome, Value
from campaigns.tests.stored import import_run
from campaigns.tests.toy import definition

START = datetime(2026, 1, 1, tzinfo=UTC)


def launched(target, person, **changes):
    """A running campaign; two engines in three pairs where nothing else is said."""
    data = definition(target=target.pk, seed=5, **changes)
    return lifecycle.launch(drafts.create(checking.check(data), person), person)


def store(campaign, value_of, *, rate=None, failing=()):
    """Give every run a duration, in the order of the plan, one minute after another."""
    for run in campaign.runs.select_related("cell", "block").order_by("position"):
        if run.position in failing:
            Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED, reason="It refused.")
            continue
        started = START + timedelta(minutes=run.position)
        values = [Value("duration", value_of(run), "s", lower_is_better=True)]
        if rate is not None:
            values.append(Value("rate", rate, "files/s", lower_is_better=False))
        import_run(run, values, started_at=started, finished_at=started + timedelta(seconds=30))


def finish(campaign):
    """Close a campaign and analyse it, as dispatch and the control worker do."""
    Campaign.objects.filter(pk=campaign.pk).update(
        state=Campaign.State.FINISHED, closed_at=timezone.now()
    )
    campaign.refresh_from_db()
    compute.analyse(campaign)
    campaign.refresh_from_db()
    return campaign


def begin(run, phase=Attempt.Phase.MEASURE):
    """Let an attempt at a run be on its way."""
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, started_at=timezone.now())
    return Attempt.objects.create(
        run=run,
        number=run.attempts.count() + 1,
        state=Attempt.State.RUNNING,
        phase=phase,
        pool="measure",
        worker="measure@host",
        token=7,
        claimed_at=timezone.now(),
    )


def outcome(state=Attempt.State.ACCEPTED, **measured):
    """What a whole attempt observes."""
    values: dict[str, Any] = {
        "values": {"duration": 2.5, "rate": 40.0},
        "health": Health("healthy", (), {"cpu_share": 0.31}),
        "samples": {
            "file": [0, 1, 2],
            "start_seconds": [0.0, 0.1, 0.2],
            "first_byte_seconds": [0.001, 0.002, None],
            "total_seconds": [0.005, 0.007, 0.009],
            "status": [200, 200, 503],
            "failure": ["", "", "5xx"],
        },
        "series": [Series("bytes", "B/s", 0.5, [1e6, 2e6, 3e6])],
        "phases": [Phase("first_byte", 0.5), Phase("download", 2.0)],
        "units_done": 2,
        "units_failed": 1,
        "failures": {"5xx": 1},
    }
    return Outcome(
        state=state,
        reason=measured.pop("reason", ""),
        traceback=measured.pop("traceback", ""),
        clean_state=[Proof("files left", 0, 0, "files", ok=True)],
        same_work=[Proof("files there", 3, 2, "files", ok=False)],
        settings=[EffectiveSetting("engine", "new", "new", ok=True)],
        measured=Measured(**(values | measured)),
        steps={"reset": 0.5, "apply": 0.1, "measure": 2.5, "verify": 0.2},
        environment={"target": {"version": "1.0"}, "generator": {"python": "3.11"}},
        measure_started_at=START,
        measure_finished_at=START + timedelta(seconds=3),
    )
