"""What a population waits for, and which campaigns keep it."""

from datetime import datetime, timedelta

from django.db.models import Q

from campaigns.kinds.remote_execution.form import VIRTUALS
from campaigns.models import Campaign, Level, Population, on_target
from campaigns.targets import quiet

KIND = "remote_execution"
"""The kind whose runs use populations."""
WHAT_TO_DO = "Nobody goes on by himself. Mend what it names, and go on; or delete it."


def deleted_at(row: Population) -> datetime:
    """Return when a population is deleted by itself, unless a campaign keeps it."""
    return row.created_at + timedelta(days=row.days)


def note_on(row: Population, now: datetime) -> str:
    """Return what a population waits for, or what a person has to do; empty where there is neither."""
    if row.state == Population.State.FAILED:
        return WHAT_TO_DO
    if row.state in Population.AT_WORK:
        waits = "" if row.claimed_until else quiet.holding_back(row.target, now, 0.0)
        return f"{waits[:1].upper()}{waits[1:]}." if waits else ""
    campaign = kept_for(row) if deleted_at(row) < now else None
    return (
        f"Its days are over; it is kept until {_quoted(campaign, row)} has ended."
        if campaign
        else ""
    )


def kept_for(row: Population) -> Campaign | None:
    """Return a campaign that runs, is paused or waits, and whose jobs run on the hosts of a population."""
    named = Q(parameters__population=row.pk) | _varied("population", row.pk)
    virtual = Q(parameters__hosts_are__in=VIRTUALS)
    for way in VIRTUALS:
        virtual |= _varied("hosts_are", way)
    going_on = Campaign.objects.filter(
        on_target(row.target_id), kind=KIND, state__in=Campaign.ACTIVE
    )
    return going_on.filter(named, virtual).order_by("pk").first()


def _varied(name: str, value: object) -> Q:
    """Return the condition on campaigns that a value is a level of a factor."""
    levels = Level.objects.filter(factor__name=name, value=value).order_by()
    return Q(pk__in=levels.values("factor__campaign"))


def _quoted(campaign: Campaign, row: Population) -> str:
    ours = campaign.team_id == row.target.team_id
    return f"the campaign “{campaign.name}”" if ours else "a campaign of another team"
