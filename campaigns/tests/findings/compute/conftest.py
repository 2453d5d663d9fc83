"""Launched campaigns whose runs get the values that a test gives them."""

import math
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kinds.registry import driver_of
from campaigns.models import Run, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.importing import demonstration
from campaigns.results.storing import Value
from campaigns.tests.remembered import remembered
from campaigns.tests.stored import import_run

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def target(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"
    return remembered(http_server)


def http_server():
    return Target.objects.create(
        name="server", family="http", base_url="http://127.0.0.1:9", address="127.0.0.1:9"
    )


@pytest.fixture
def interleaved(target):
    """Launch an interleaved downloader campaign over levels of concurrency; nothing runs."""

    def make(levels, repetitions=3, order="interleaved", **others):
        data = {
            "question": "How many connections?",
            "kind": "downloader",
            "target": target.pk,
            "factors": {"concurrency": levels, **others},
            "repetitions": repetitions,
            "order": order,
            "seed": 1,
        }
        return lifecycle.launch(drafts.create(checking.check(data), None), None)

    return make


@pytest.fixture
def paired(target):
    """Launch a paired downloader campaign of n manifests and repetitions; nothing runs."""

    def make(manifests, repetitions):
        data = {
            "question": "Is asyncio faster?",
            "kind": "downloader",
            "target": target.pk,
            "factors": {"manifest": manifests, "engine": ["futures", "asyncio"]},
            "order": "paired",
            "paired_factor": "engine",
            "baseline": "futures",
            "repetitions": repetitions,
            "seed": 1,
        }
        return lifecycle.launch(drafts.create(checking.check(data), None), None)

    return make


@pytest.fixture
def published():
    """The imported campaign of Pulp's download_concurrency."""
    campaign, _ = demonstration.published_campaign(None)
    return campaign


def noisy(levels, sd=0.01, seed=1):
    rng = np.random.default_rng(seed)

    def value_of(run):
        level = run.cell.levels_by_factor["concurrency"]
        return float(levels[level] * math.exp(rng.normal(0, sd)))

    return value_of


def store(campaign, value_of, failing=()):
    """Give every run a duration, in the order of the plan, one minute after another."""
    primary = driver_of(campaign.kind).primary_metric
    for run in campaign.runs.select_related("cell", "block").order_by("position"):
        if run.position in failing:
            Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED, reason="refused")
            continue
        started = START + timedelta(minutes=run.position)
        import_run(
            run,
            [Value(primary.name, value_of(run), "s", lower_is_better=True)],
            started_at=started,
            finished_at=started + timedelta(seconds=30),
        )


def findings(campaign):
    """Analyse a campaign; return its findings as they are stored, and its answer as text."""
    compute.analyse(campaign)
    stored = {finding.name: finding.result for finding in campaign.findings.all()}
    return {**stored, "answer": asdict(answers_of([campaign.pk])[campaign.pk])}
