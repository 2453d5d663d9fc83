"""Finished campaigns of any size, stored as the keeper stores them and analysed as ever."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from time import process_time
from typing import Any

from django.db import connection

from campaigns.findings import compute
from campaigns.kinds.registry import driver_of
from campaigns.models import (
    Attempt,
    Campaign,
    EffectiveSetting,
    EnvironmentFact,
    Measurement,
    MetricOfValues,
    Proof,
    Run,
    Session,
    StoredMetric,
    Target,
)
from campaigns.planning import checking, drafts
from campaigns.planning.lifecycle.planning import design_of, new_session, store_plan
from campaigns.planning.plan import plan_runs
from campaigns.results.importing.demonstration import published_campaign

MANIFESTS, ENGINES = 10, 2
START = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS_A_RUN = 40
FACTS = {
    "target": {
        "version": "3.85.1", "workers": "8", "database": "PostgreSQL 16.4", "kernel": "6.12.9",
        "cpu": "AMD EPYC 7543", "memory": "64 GB", "disk": "NVMe", "server": "nginx 1.26",
    },
    "generator": {
        "python": "3.13.1", "aiohttp": "3.11.11", "cpu": "AMD EPYC 7543", "kernel": "6.12.9",
    },
}  # fmt: skip
BATCH = 500


def published() -> tuple[int, float]:
    """Import the published runs. Give the number of their campaign, and what its analysis took."""
    campaign, _ = published_campaign(None)
    return _analysed(campaign)


def build(cells: int, repetitions: int, *, seed: int = 1, facts: bool = True) -> tuple[int, float]:
    """Store a campaign of the kind `downloader` with two factors, and analyse it.

    cells: a multiple of MANIFESTS or, for few, of ENGINES. One run in a hundred fails. Give its
    number, and the processor seconds of its analysis.
    """
    checked = checking.check(_definition(cells))
    campaign = drafts.create(checked.changed(repetitions=repetitions, seed=seed), None)
    session = new_session(campaign, Session.Kind.IMPORT, None)
    store_plan(campaign, session, plan_runs(design_of(campaign)))
    _measure(campaign, Random(seed), facts=facts)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as PostgreSQL does by itself, but later
    Campaign.objects.filter(pk=campaign.pk).update(
        state=Campaign.State.FINISHED,
        launched_at=START,
        closed_at=START + timedelta(seconds=SECONDS_A_RUN * cells * repetitions),
    )
    return _analysed(campaign)


def _analysed(campaign: Campaign) -> tuple[int, float]:
    begun = process_time()
    compute.analyse(campaign)
    return campaign.pk, process_time() - begun


def _definition(cells: int) -> dict[str, Any]:
    several = cells >= 2 * MANIFESTS
    name, members = ("manifest", MANIFESTS) if several else ("engine", ENGINES)
    levels = [f"repo/files={100 * (n + 1)}/PULP_MANIFEST" for n in range(MANIFESTS)]
    return {
        "kind": "downloader",
        "question": f"Which concurrency is the best one, over {cells} cells?",
        "target": _target(),
        "factors": {
            name: levels if several else ["futures", "asyncio"],
            "concurrency": [1 + 2 * n for n in range(cells // members)],
        },
        "order": "interleaved",
        "repetitions": 1,
    }


def _target() -> int:
    """A server that gets no requests."""
    return Target.objects.get_or_create(
        name="nobody's", defaults={"family": "http", "base_url": "http://127.0.0.1:9"}
    )[0].pk


def _measure(campaign: Campaign, random: Random, *, facts: bool) -> None:
    """Store an attempt of every run with all that an attempt has but samples."""
    runs = list(campaign.runs.select_related("cell", "block").order_by("position"))
    hours = [random.gauss(0, 0.05) for _ in range(campaign.repetitions + 1)]
    for run in runs:
        run.state = Run.State.FAILED if random.random() < 0.01 else Run.State.DONE
        run.reason = "The target answered 503." if run.state == Run.State.FAILED else ""
        run.started_at = START + timedelta(seconds=SECONDS_A_RUN * run.position)
        run.finished_at = run.started_at + timedelta(seconds=SECONDS_A_RUN - 10)
    Run.objects.bulk_update(
        runs, ["state", "reason", "started_at", "finished_at"], batch_size=BATCH
    )
    attempts = Attempt.objects.bulk_create(map(_attempt, runs), batch_size=BATCH)
    metrics = StoredMetric.objects.keys_of(
        MetricOfValues(metric.name, metric.unit, metric.lower_is_better)
        for metric in driver_of("downloader").metrics
    )
    keys = {metric.name: key for metric, key in metrics.items()}
    good = [attempt for attempt in attempts if attempt.state == Attempt.State.ACCEPTED]
    for batch in _batched(good):
        Measurement.objects.bulk_create(
            r for a in batch for r in _measurements(a, keys, hours, random)
        )
        EffectiveSetting.objects.bulk_create(r for a in batch for r in _settings(a))
        Proof.objects.bulk_create(r for a in batch for r in _proofs(a))
        if facts:
            EnvironmentFact.objects.bulk_create(r for a in batch for r in _facts(a))


def _batched(attempts: Sequence[Attempt]) -> Iterator[Sequence[Attempt]]:
    for first in range(0, len(attempts), BATCH):
        yield attempts[first : first + BATCH]


def _attempt(run: Run) -> Attempt:
    return Attempt(
        run=run,
        number=1,
        state=Attempt.State.ACCEPTED if run.state == "done" else Attempt.State.FAILED,
        pool="measure",
        worker="measure@host",
        token=run.position,
        queued_at=run.started_at or START,
        claimed_at=run.started_at,
        measure_started_at=run.started_at,
        measure_finished_at=run.finished_at,
        finished_at=run.finished_at,
        units_done=100,
        health="healthy",
    )


def _measurements(
    attempt: Attempt, keys: Mapping[str, int], hours: Sequence[float], random: Random
) -> Iterable[Measurement]:
    levels = attempt.run.cell.levels_by_factor
    size = 100 + sum(map(ord, str(levels.get("manifest", "")))) % 50
    law = size * (levels["concurrency"] ** -0.6 + 0.002 * levels["concurrency"])
    noise = math.exp(hours[attempt.run.block.repetition] + random.gauss(0, 0.04))
    seconds = law * noise
    for metric in driver_of("downloader").metrics:
        yield Measurement(
            attempt=attempt,
            metric_id=keys[metric.name],
            value=seconds if metric.lower_is_better else 4000 / seconds,
        )


def _facts(attempt: Attempt) -> Iterable[EnvironmentFact]:
    for side, facts in FACTS.items():
        for name, value in facts.items():
            yield EnvironmentFact(attempt=attempt, side=side, name=name, value=value)


def _settings(attempt: Attempt) -> Iterable[EffectiveSetting]:
    for name, level in attempt.run.cell.levels_by_factor.items():
        yield EffectiveSetting(attempt=attempt, name=name, asked=level, in_force=level, ok=True)


def _proofs(attempt: Attempt) -> Iterable[Proof]:
    for step, name, count in (("reset", "files left", 0), ("verify", "files there", 100)):
        yield Proof(
            attempt=attempt, step=step, name=name, expected=count, measured=count, unit="files", ok=True
        )  # fmt: skip
