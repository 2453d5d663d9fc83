"""End campaigns that have no open run left."""

from django.db.models.functions import Now

from campaigns.execution.dispatch.analyses import untouched
from campaigns.kit.activity import Action, record
from campaigns.kit.numbers import plain_percent, without_sign
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Attempt, Campaign, Finding, LogLine, Run
from campaigns.planning.analyses import request_analysis
from campaigns.planning.carried import why_permission
from campaigns.planning.lifecycle.planning import add_block
from campaigns.planning.lifecycle.searching import add_run
from campaigns.planning.lifecycle.stopping import pause_itself
from campaigns.results.search_runs import state_of
from campaigns.stats.capacity_search import Why
from campaigns.targets import overload
from campaigns.targets.allowed import same_server
from campaigns.targets.names import target_name

STOPS = {
    "precise": "precise enough",
    "most_blocks": "the most blocks are made",
    "out_of_time": "another block would not fit into the time budget",
}


def close_campaigns() -> None:
    """Finish campaigns without an open run, and end a cancel whose load has stopped."""
    open_runs = Run.objects.filter(state__in=Run.OPEN)
    open_attempts = Attempt.objects.filter(state__in=Attempt.OPEN)
    launched = Campaign.objects.filter(state__in=[Campaign.State.RUNNING, Campaign.State.PAUSED])
    for campaign in untouched(launched.exclude(pk__in=open_runs.values("campaign"))):
        if open_runs.filter(campaign=campaign).exists():  # since it is locked
            continue
        if not _goes_on(campaign):
            _end(campaign, Campaign.State.FINISHED)
    cancelling = Campaign.objects.filter(state=Campaign.State.CANCELLING)
    for campaign in untouched(cancelling.exclude(pk__in=open_attempts.values("run__campaign"))):
        _end(campaign, Campaign.State.CANCELLED)


def _goes_on(campaign: Campaign) -> bool:
    """Add a block where the stop rule requires one, or wait for the analysis that decides it."""
    if campaign.search:
        return _searches_on(campaign)
    if campaign.stop_rule != Campaign.StopRule.PRECISION or campaign.state_reason:
        return False
    if campaign.state == Campaign.State.PAUSED or campaign.analysis_requested_at is not None:
        return True
    closed = campaign.runs.filter(purpose=Run.Purpose.MEASURED, state__in=Run.CLOSED).count()
    outlook = Finding.objects.filter(campaign=campaign, name="outlook").values_list(
        *(
            f"result__{name}"
            for name in ("closed", "primary", "half_width_pct", "target_pct", "stop", "undecided")
        )
    )
    closed_then, primary, width, target, stop, undecided = outlook.first() or (None,) * 6
    if closed_then != closed:
        if LogLine.objects.filter(
            campaign=campaign, text__startswith=LogLine.ANALYSIS_FAILED
        ).exists():
            return False  # it would fail again, and nobody knows how precise it is
        request_analysis(campaign)
        return True
    which = "interval of the primary contrast" if primary else "widest interval"
    precise = f"the {which} is {'not known' if width is None else f'±{without_sign(width)}'}"
    missing = f"{precise}, wanted are ±{plain_percent(target or 0)}"
    if undecided is not None:
        are = "capacity is" if undecided == 1 else "capacities are"
        precise = missing = (
            f"{undecided} {are} not decided" if undecided else "each capacity is decided"
        )
    if stop:
        LogLine.objects.create(campaign=campaign, text=f"{STOPS[stop]}: {precise}")
        return False
    add_block(campaign, missing)
    return True


def _searches_on(campaign: Campaign) -> bool:
    """Plan the next run of a search; False: it has ended. A target that has not recovered pauses it."""
    if campaign.state == Campaign.State.PAUSED:
        return True
    if campaign.state_reason:
        return False
    state = state_of(campaign)
    if state is None:
        return False
    step, most = state.step, state.search.most_failed
    if most is not None and state.failed > most and step.phase is not None:
        campaign.state_reason = (
            f"{state.failed} {state.search.load} failed, and {most} may fail in the whole search"
        )
        campaign.save(update_fields=["state_reason"])
        return False
    if step.phase is not None:
        add_run(campaign, step, state.search.load, state.settings[step.setting], state.text)
        return True
    if step.why == Why.NOT_RECOVERED:
        pause_itself(campaign, state.text)
        return True
    LogLine.objects.create(campaign=campaign, text=f"search: {state.text}")
    return False


def _end(campaign: Campaign, state: Campaign.State) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state=state, closed_at=Now())
    text = f"campaign {state}"
    if state == Campaign.State.FINISHED and campaign.state_reason:
        text += f": {campaign.state_reason}"
    LogLine.objects.create(campaign=campaign, text=text)
    record(Action.CAMPAIGN_ENDED, user=None, campaign=campaign, state=state)
    if state == Campaign.State.FINISHED:
        _announce(campaign)
    _withdraw_permissions(campaign)
    # Findings from between two runs cover a part of them: they are not the answer of a campaign that has ended.
    campaign.findings.filter(name__in=Finding.JUDGING).delete()
    request_analysis(campaign)


def _withdraw_permissions(campaign: Campaign) -> None:
    """Take back the permissions to overload production servers that the campaign needed: owners give them for one campaign."""
    # Another campaign may have carried as much since: it is what was needed at the launch that was given.
    needed = why_permission(campaign, before=campaign.launched_at)
    for target in campaign.targets:
        for marked in same_server(target) if target.pk in needed else ():
            if marked.is_production and marked.overload_until is not None:
                overload.withdraw(marked)
                name = target_name(marked, campaign.team_id)
                text = f"{name} may not be overloaded any more"
                LogLine.objects.create(campaign=campaign, text=text)


def _announce(campaign: Campaign) -> None:
    """Announce that it has finished; or that it failed, where it ended early or nothing succeeded."""
    runs = campaign.runs.filter(purpose=Run.Purpose.MEASURED)
    all_runs, done = runs.count(), runs.filter(state=Run.State.DONE).count()
    came = f"{done} of {all_runs} measured runs succeeded"
    if campaign.state_reason or not done:
        why = campaign.state_reason.rstrip(".")
        announce(
            Announcement.Kind.CAMPAIGN_FAILED,
            campaign.team,
            campaign=campaign,
            what=f"The campaign has ended before its time: {why}; {came}."
            if why
            else f"The campaign has finished, but {came}.",
            to_do="Look at what there is, and at its log; extend it where it should go on.",
        )
    else:
        announce(
            Announcement.Kind.CAMPAIGN_FINISHED,
            campaign.team,
            campaign=campaign,
            what=f"The campaign has finished: {came}.",
        )
