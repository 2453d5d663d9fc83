"""The current state of a campaign: counts, the current run, the expected time remaining.

Every open page calls every function here every two seconds: the cost does not grow with the queue in which
a campaign waits.
"""

from dataclasses import dataclass, field

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Q
from django.utils import timezone

from campaigns.execution import progress
from campaigns.execution.waiting import Wait, waiting_for
from campaigns.kit.mappings import Levels, ProgramProgress
from campaigns.models import Attempt, Campaign, LogLine, Run, Series
from campaigns.planning.expected import usual_run

LOG_LINES = 200


@dataclass(frozen=True, slots=True)
class Current:
    """The current run with the last progress of its attempt; times in seconds."""

    run: int
    position: int
    trial: bool
    levels: Levels
    block: int
    repetition: int
    attempt: int
    number: int
    state: str
    phase: str
    worker: str
    token: int
    cancelling: bool
    seconds: float | None
    reported: ProgramProgress = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a campaign. open_seconds: expected for its open runs; None while unknown.

    planned, done, failed, void, cancelled: runs, including warm-ups. void_attempts and lost_attempts were
    repeated, or ended their run. waiting: None while a run is executed.
    """

    planned: int
    done: int
    failed: int
    void: int
    cancelled: int
    void_attempts: int
    lost_attempts: int
    elapsed_seconds: float | None
    open_seconds: float | None
    current: Current | None
    waiting: Wait | None

    @property
    def finished(self) -> int:
        """Runs that will not be executed any more."""
        return self.done + self.failed + self.void + self.cancelled

    @property
    def left_seconds(self) -> float | None:
        """Seconds until the last run has ended; None where unknown, as while it waits for something else."""
        return None if self.waiting and self.waiting.open_end else self.open_seconds


def progress_of(campaign: Campaign) -> Progress:
    """Return counts, the current run and an estimate of the rest."""
    now = timezone.now()
    runs = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).aggregate(
        planned=Count("pk"),
        **{
            state: Count("pk", filter=Q(state=state))
            for state in Run.State.values
            if state != "planned"
        },
    )
    attempts = Attempt.objects.filter(run__campaign=campaign).aggregate(
        void=Count("pk", filter=Q(state=Attempt.State.VOID)),
        lost=Count("pk", filter=Q(state=Attempt.State.LOST)),
    )
    session = campaign.sessions.last()
    current = current_of(campaign)
    return Progress(
        planned=runs["planned"],
        done=runs["done"],
        failed=runs["failed"],
        void=runs["void"],
        cancelled=runs["cancelled"],
        void_attempts=attempts["void"],
        lost_attempts=attempts["lost"],
        elapsed_seconds=(now - session.started_at).total_seconds() if session else None,
        open_seconds=seconds_left(campaign, current.seconds if current else None),
        current=current,
        waiting=None
        if current and current.state == Attempt.State.RUNNING
        else waiting_for(campaign),
    )


def current_of(campaign: Campaign) -> Current | None:
    """Return the run that is executed or queued, with the last progress of its attempt."""
    attempt = (
        Attempt.objects.filter(run__campaign=campaign, state__in=Attempt.OPEN)
        .select_related("run__cell", "run__block")
        .order_by("-state", "pk")
        .first()
    )
    if attempt is None:
        return None
    reported = progress.read(attempt.pk) or {}
    since = attempt.claimed_at
    return Current(
        run=attempt.run_id,
        position=attempt.run.position,
        trial=attempt.run.purpose == Run.Purpose.TRIAL,
        levels=attempt.run.cell.levels_by_factor,
        block=attempt.run.block.number,
        repetition=attempt.run.block.repetition,
        attempt=attempt.pk,
        number=attempt.number,
        state=attempt.state,
        phase=str(reported.get("phase") or attempt.phase),
        worker=attempt.worker,
        token=attempt.token,
        cancelling=attempt.cancel_requested_at is not None,
        seconds=(timezone.now() - since).total_seconds() if since else None,
        reported=reported,
    )


def last_series(campaign: Campaign) -> Series | None:
    """Return the latest ended attempt's values per second; None where nothing was measured."""
    return (
        Series.objects.filter(attempt__run__campaign=campaign, attempt__finished_at__isnull=False)
        .select_related("attempt__run")
        .order_by("-attempt__finished_at", "pk")
        .first()
    )


def trial_goes_on(campaign: Campaign) -> bool:
    """Return whether a try-out of the campaign waits or is on."""
    return campaign.runs.filter(purpose=Run.Purpose.TRIAL, state__in=Run.OPEN).exists()


def log_of(campaign: Campaign, after: int | None = None) -> list[LogLine]:
    """Return lines after one, or the last ones, the oldest first."""
    lines = campaign.log.select_related("run").order_by("-pk")
    if after is not None:
        lines = lines.filter(pk__gt=after)
    return list(reversed(lines[:LOG_LINES]))


def seconds_left(campaign: Campaign, spent: float | None) -> float | None:
    """Return the sum of what each open run takes: the mean of its cell's, else of all runs so far.

    spent: seconds that the current run has taken. A current cool-down is included.
    """
    waiting = dict(
        campaign.runs.exclude(purpose=Run.Purpose.TRIAL)
        .filter(state__in=Run.OPEN)
        .values_list("cell")
        .annotate(number=Count("pk"))
        .order_by()
    )
    if not waiting:
        return 0.0
    spans = {
        cell: span.total_seconds()
        for cell, span in Attempt.objects.filter(
            run__campaign=campaign, state__in=Attempt.WITH_VALUES
        )
        .values_list("run__cell")
        .annotate(span=Avg(ExpressionWrapper(F("finished_at") - F("claimed_at"), DurationField())))
        .order_by()
        if span is not None
    }
    if not spans:
        earlier = usual_run(campaign.kind, campaign.target)
        if earlier is None:
            return None
        spans = {0: earlier.seconds}
    usual = sum(spans.values()) / len(spans)
    left: float = sum(number * spans.get(cell, usual) for cell, number in waiting.items())
    left += campaign.cool_down_seconds * (sum(waiting.values()) - 1)
    if spent:
        left -= min(spent, usual)
    elif campaign.not_before is not None:
        left += max(0.0, (campaign.not_before - timezone.now()).total_seconds())
    return max(0.0, left)
