"""Hold the runs of a campaign back whose server is away, until a probe finds it again."""

from datetime import datetime, timedelta

from campaigns.kit.messages import CONTROL, send
from campaigns.kit.units import written
from campaigns.models import Campaign, LogLine, Run, Target
from campaigns.planning.lifecycle.stopping import pause_itself
from campaigns.targets.probes import busy

AGAIN_SECONDS = 10.0
"""Seconds between two probes of a server that runs wait for."""


def is_back(run: Run, now: datetime) -> bool:
    """Return whether the server of a run answers again; request its next probe, or pause the campaign, where it does not.

    What `results.closing` has found stays in the row of the target until a probe finds something else.
    """
    campaign, target = run.campaign, run.target
    if campaign.away_since is None or target is None:
        return True
    rows = Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.RUNNING)
    if rows.select_for_update(no_key=True, skip_locked=True).first() is None:
        return False
    if target.health == Target.Health.READY:
        rows.update(away_since=None)
        LogLine.objects.create(
            campaign=campaign,
            text=f"{target.name} answers again after {written(_seconds(campaign, now))}; the campaign goes on",
        )
        return True
    if _seconds(campaign, now) > campaign.server_wait_seconds:
        rows.update(away_since=None)
        what = f"{target.name} did not answer for {written(campaign.server_wait_seconds)}"
        pause_itself(campaign, what, target.health_message)
    elif busy(target, now, AGAIN_SECONDS) is None:
        send("campaigns.probe_target", target.pk, CONTROL)
    return False


def _seconds(campaign: Campaign, now: datetime) -> float:
    assert campaign.away_since is not None  # noqa: S101 - for the type checker
    return max(0.0, (now - campaign.away_since) / timedelta(seconds=1))
