"""Queries of the home page and the lists of targets. Reads only."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Max, Q
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.execution import progress
from campaigns.execution.live import seconds_left
from campaigns.execution.waiting import Wait, waiting_for
from campaigns.models import Attempt, Campaign, Run, Worker
from campaigns.overview.answered import ENDED, Answered, answered, answers_in, with_campaigns
from campaigns.planning.workers import answering
from campaigns.results.generator_list import busy_workers

PHASES = (
    Attempt.Phase.RESET,
    Attempt.Phase.APPLY,
    Attempt.Phase.MEASURE,
    Attempt.Phase.VERIFY,
)


def has_begun(teams: Set[int]) -> bool:
    """Return whether something was launched here; imports are not."""
    measured = Campaign.objects.filter(team__in=teams, source="")
    return measured.exclude(state=Campaign.State.DRAFT).exists()


@dataclass(frozen=True, slots=True)
class Step:
    """One of the four steps of an attempt. `mark`: done, now or empty."""

    name: str
    mark: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CurrentRun:
    """The current run."""

    pk: int
    position: int
    cell: str
    block: int
    trial: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class OpenCampaign:
    """A campaign that is not closed. `waits`: why no run is active; None while one is."""

    pk: int
    name: str
    state: str
    target: str
    closed: int
    failed: int
    total: int
    blocks: int
    block_word: str
    run: CurrentRun | None
    seconds_left: float | None
    waits: Wait | None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker process. `state`: idle, busy, lost or other, of another version: `version`."""

    name: str
    pools: str
    state: str
    seen_at: datetime
    run: int | None
    position: int | None
    version: str


def open_campaigns(teams: Set[int], most: int = 8) -> list[OpenCampaign]:
    """Return campaigns of teams that run, wait or stop, and drafts with an active try-out; oldest first."""
    measured = Attempt.objects.filter(state__in=Attempt.OPEN).values("run__campaign")
    tried = Q(state=Campaign.State.DRAFT, pk__in=measured)
    rows = (
        Campaign.objects.filter(Q(state__in=Campaign.ACTIVE) | tried, team__in=teams)
        .select_related("target")
        .prefetch_related("places__target")
        .order_by("launched_at", "pk")[:most]
    )
    return [_open_campaign(campaign) for campaign in rows]


def latest_answers(teams: Set[int], most: int = 6) -> list[Answered]:
    """Return the answers of the campaigns of teams that ended last."""
    return answered(with_campaigns(answers_in(teams)).order_by(ENDED.desc(), "-pk")[:most])


def worker_rows(teams: Set[int]) -> list[WorkerRow]:
    """Return the workers that answered within the last day; silent ones are lost.

    Workers execute runs of all teams; runs of other teams are not shown.
    """
    busy = {
        attempt.worker: attempt
        for attempt in Attempt.objects.filter(state=Attempt.State.RUNNING).select_related(
            "run__campaign"
        )
    } | busy_workers()
    answered = set(answering().values_list("pk", flat=True))
    workers = Worker.objects.filter(seen_at__gt=Now() - timedelta(days=1))
    return [
        _worker_row(worker, busy.get(worker.name), teams, lost=worker.pk not in answered)
        for worker in workers
    ]


def _open_campaign(campaign: Campaign) -> OpenCampaign:
    runs = campaign.runs.exclude(purpose=Run.Purpose.TRIAL)
    counts = runs.aggregate(
        total=Count("pk"),
        closed=Count("pk", filter=Q(state__in=Run.CLOSED)),
        failed=Count("pk", filter=Q(state__in=[Run.State.FAILED, Run.State.VOID])),
        blocks=Max("block__number"),
    )
    attempt = (
        Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.RUNNING)
        .select_related("run__cell", "run__block")
        .first()
    )
    return OpenCampaign(
        pk=campaign.pk,
        name=campaign.name,
        state=campaign.state,
        target=campaign.target_names,
        closed=counts["closed"],
        failed=counts["failed"],
        total=counts["total"],
        blocks=counts["blocks"] or 0,
        block_word=campaign.block_word,
        run=_current(attempt) if attempt else None,
        seconds_left=seconds_left(campaign, _spent(attempt)),
        waits=waiting_for(campaign)
        if attempt is None and campaign.state in (Campaign.State.RUNNING, Campaign.State.PAUSED)
        else None,
    )


def _spent(attempt: Attempt | None) -> float | None:
    if attempt is None or attempt.claimed_at is None:
        return None
    return (timezone.now() - attempt.claimed_at).total_seconds()


def _current(attempt: Attempt) -> CurrentRun:
    reported = progress.read(attempt.pk) or {}
    reached = PHASES.index(attempt.phase) if attempt.phase in PHASES else -1
    if attempt.phase == Attempt.Phase.STORE:
        reached = len(PHASES)
    seconds = reported.get("seconds")
    steps = tuple(
        Step(
            phase.value,
            "done" if index < reached else "now" if index == reached else "",
            seconds if index == reached and isinstance(seconds, int | float) else None,
        )
        for index, phase in enumerate(PHASES)
    )
    return CurrentRun(
        pk=attempt.run_id,
        position=attempt.run.position,
        cell=str(attempt.run.cell),
        block=attempt.run.block.number,
        trial=attempt.run.purpose == Run.Purpose.TRIAL,
        steps=steps,
    )


def _worker_row(
    worker: Worker, attempt: Attempt | None, teams: Set[int], *, lost: bool
) -> WorkerRow:
    other = worker.version != settings.VERSION
    seen = attempt is not None and not lost and attempt.run.campaign.team_id in teams
    return WorkerRow(
        name=worker.name,
        pools=", ".join(str(pool) for pool in worker.pools),
        state="lost" if lost else "other" if other else "busy" if attempt else "idle",
        version=worker.version or "0.1.0",
        seen_at=worker.seen_at,
        run=attempt.run_id if attempt and seen else None,
        position=attempt.run.position if attempt and seen else None,
    )
