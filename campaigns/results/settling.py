"""Set the state of a run after its attempt has ended: done, planned again, void, failed."""

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.db.models.functions import Now

from campaigns.kit.compiled import Compiled
from campaigns.models import Attempt, Block, Campaign, Run
from campaigns.planning.lifecycle.stopping import pause_itself
from campaigns.results.failing_targets import note_end

ENDS = {
    Attempt.State.ACCEPTED: Run.State.DONE,
    Attempt.State.FAILED: Run.State.FAILED,
    Attempt.State.CANCELLED: Run.State.CANCELLED,
}

JUDGED_FROM = 10
"""The share of failures is judged from so many runs on."""
BAD = (Run.State.FAILED, Run.State.VOID)
ENDED = (Run.State.DONE, *BAD)


def settle(
    attempt: Attempt, run: Run, attempt_state: str, reason: str, *, lasting: bool = False
) -> None:
    """Set the state that follows from the end of an attempt. Campaign and run must be locked.

    Void and lost attempts are repeated at once, in their block, up to the run's limit; those that a
    shutdown or quiet hours interrupted do not count. A cancelled run is not repeated, nor one whose failure
    is `lasting`, since it would fail again.

    A campaign with too many failures is paused.
    """
    stopping = run.campaign.state == Campaign.State.CANCELLING
    if attempt_state in ENDS:
        run.state, run.reason = ENDS[Attempt.State(attempt_state)], reason
    elif stopping or run.attempts.filter(pk=attempt.pk, cancel_requested_at__isnull=False).exists():
        run.state, run.reason = Run.State.CANCELLED, run.reason or run.campaign.state_reason
    else:
        _repeat_or_give_up(run, reason, lasting=lasting)
    Run.objects.filter(pk=run.pk).update(
        state=run.state,
        reason=run.reason,
        started_at=run.started_at,
        finished_at=Now() if run.state in Run.CLOSED else None,
    )
    if run.state in Run.CLOSED and run.purpose != Run.Purpose.TRIAL:
        if run.cell.target_id is not None:
            note_end(run)
        stop_where_too_much_fails(run.campaign, run.cell.target_id)


def _repeat_or_give_up(run: Run, reason: str, *, lasting: bool) -> None:
    tries = run.attempts.filter(interrupted_at=None).count()
    if tries < run.attempts_allowed and not lasting:
        run.state, run.reason, run.started_at = Run.State.PLANNED, "", None
    else:
        run.state = Run.State.VOID
        run.reason = f"{reason} ({tries} attempts)" if tries > 1 else reason


# This happens in the transaction that closes a run, so that the next one cannot begin before. It counts runs
# that were closed since the launch or the last resumption, without try-outs. They are ordered by their
# attempts, since a clock may have been set.
def stop_where_too_much_fails(campaign: Campaign, target: int | None = None) -> None:
    """Pause a locked campaign that exceeds its failure limits, unless it has no open run.

    target: the key of one of several, of which alone the runs count.
    """
    if campaign.state != Campaign.State.RUNNING:
        return
    if campaign.search:
        _stop_search_where_nothing_begins(campaign)
        return
    if not _bad.rows(campaign.pk):
        return
    closed = campaign.runs.filter(state__in=ENDED).exclude(purpose=Run.Purpose.TRIAL)
    ended = closed.annotate(newest=Max("attempts")).filter(newest__gt=campaign.counted_after)
    if target is not None:
        ended = ended.filter(cell__target=target)
    counts = ended.aggregate(all=Count("pk"), bad=Count("pk", filter=Q(state__in=BAD)))
    if not counts["bad"] or not campaign.runs.filter(state__in=Run.OPEN).exists():
        return
    latest = list(ended.order_by("-newest")[: campaign.max_consecutive_failures])
    if len(latest) == campaign.max_consecutive_failures and all(run.state in BAD for run in latest):
        what = f"{len(latest)} runs in a row failed or were void"
        if len(latest) == 1:
            what = "a run failed or was void"
    elif counts["all"] >= JUDGED_FROM and counts["bad"] > campaign.max_failed_share * counts["all"]:
        allowed = f"{campaign.max_failed_share * 100:g} %"
        what = f"{counts['bad']} of {counts['all']} runs failed or were void, above {allowed}"
    else:
        return
    last = ended.filter(state__in=BAD).latest("newest")
    pause_itself(campaign, what, last.reason)


_bad = Compiled(
    lambda campaign: (
        Run.objects.filter(campaign=campaign, state__in=BAD).order_by().values_list("pk")[:1]
    )
)
"""One of the runs of a campaign that ended badly."""


def _stop_search_where_nothing_begins(campaign: Campaign) -> None:
    """Pause a search whose last runs loaded nothing. That loads fail is what it looks for, and no reason to stop."""
    latest = (
        campaign.runs.filter(state__in=ENDED)
        .exclude(block__phase=Block.Phase.CHECK)
        .exclude(purpose=Run.Purpose.TRIAL)
        .annotate(
            newest=Max("attempts"),
            measured=Exists(
                Attempt.objects.filter(
                    run=OuterRef("pk"),
                    state__in=Attempt.WITH_VALUES,
                    measure_started_at__isnull=False,
                )
            ),
        )
        .filter(newest__gt=campaign.counted_after)
        .order_by("-newest")[: campaign.max_consecutive_failures]
    )
    if len(latest) == campaign.max_consecutive_failures and not any(run.measured for run in latest):
        number = len(latest)
        what = (
            f"{number} runs in a row measured nothing" if number > 1 else "a run measured nothing"
        )
        pause_itself(campaign, what, latest[0].reason)
