"""Campaigns whose connections are load: runs of known durations, with units of work of which some fail."""

import math
from datetime import timedelta

import numpy as np

from campaigns.kinds.base.values import Distribution
from campaigns.models import Attempt, Run
from campaigns.models import Distribution as StoredDistribution
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.storing import Value
from campaigns.tests.findings.compute.conftest import START
from campaigns.tests.stored import import_run

LOADS = [50, 100, 200, 400, 800]
LIMIT = {"conditions": [{"metric": "duration", "at_most": 40.0}]}


def launch(target, factors, repetitions=3, order="interleaved", **fields):
    """Launch a campaign of downloads in which the number of connections is load."""
    data = {
        "question": "What does the server carry?",
        "kind": "downloader",
        "target": target.pk,
        "factors": factors,
        "roles": {"concurrency": "load"},
        "repetitions": repetitions,
        "order": order,
        "seed": 1,
        **fields,
    }
    campaign = lifecycle.launch(drafts.create(checking.check(data), None), None)
    campaign.refresh_from_db()
    return campaign


def queue(capacity=None, at=40.0, sd=0.02, seed=1):
    """Return the duration of a run: it rises with the load, and is `at` where the load is the setting's capacity."""
    rng = np.random.default_rng(seed)
    capacities = capacity or {}

    def value_of(run):
        levels = run.cell.levels_by_factor
        carried = capacities.get(levels.get("engine"), 300.0)
        return float(at * levels["concurrency"] / carried * math.exp(rng.normal(0, sd)))

    return value_of


def store(
    campaign,
    value_of=None,
    *,
    units=None,
    failed=lambda run: 0,
    days=None,
    times=None,
    skip=(),
    also=None,
):
    """Give every run a duration, units of work (the load, unless given), and those that failed.

    days: from the start of a repetition, for several sessions. times: of the units that came through, in seconds; no value of
    a percentile is stored. A run whose units all failed has no values. also: further values of a run.
    """
    value_of = value_of or queue()
    for run in campaign.runs.select_related("cell", "block").order_by("position"):
        if run.position in skip:
            continue
        count = units(run) if units else run.cell.levels_by_factor["concurrency"]
        broken = failed(run)
        day = days[run.block.repetition - 1] if days else 0
        started = START + timedelta(days=day, minutes=run.position)
        values = [Value("duration", value_of(run), "s", lower_is_better=True)]
        values += also(run) if also else []
        attempt = import_run(
            run,
            [] if broken == count else values,
            started_at=started,
            finished_at=started + timedelta(seconds=30),
        )
        Attempt.objects.filter(pk=attempt.pk).update(units_done=count - broken, units_failed=broken)
        if times and broken < count:
            one = Distribution.of(
                "file_time", [round(each * 1e6) for each in times(run, count - broken)]
            )
            StoredDistribution.objects.create(
                attempt=attempt, name=one.name, encoded=one.encoded, count=one.count
            )
        if broken == count:
            Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED, reason="refused")
            Attempt.objects.filter(pk=attempt.pk).update(state=Attempt.State.FAILED)
