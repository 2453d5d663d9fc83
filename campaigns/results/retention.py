"""Delete raw samples, outputs of programs, and series of watches, older than a team's retention. Nothing computed from runs needs them.

The page of a run lists and draws samples; measurements, distributions, series and the summaries of watches stay, and
with them every finding.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.models import (
    AttemptOutput,
    Campaign,
    Conclusion,
    DeletedSamples,
    Evidence,
    LogLine,
    RawSamples,
    Retention,
    WatchedSeries,
)

BATCH = 200
"""Attempts per transaction; each may have megabytes."""
MOST = 1000
"""Attempts per call; the next call deletes more."""
LARGE: Sequence[tuple[type[Model], str, str]] = (
    (AttemptOutput, "attempt", "Outputs"),
    (WatchedSeries, "watched__attempt", "Series of watches"),
)
"""What is deleted beside raw samples: its model, the path to its attempt, and its name."""


def delete_old(most: int = MOST) -> int:
    """Delete samples older than the rules of teams, of up to `most` attempts; return the number of attempts.

    Samples stay while their campaign is active, or a conclusion based on it is accepted or in review.
    """
    deleted = 0
    for rule in Retention.objects.order_by("team"):
        while deleted < most:
            result = _delete_batch(rule, min(BATCH, most - deleted))
            if not result:
                break
            deleted += result
        for model, attempt, what in LARGE:
            while deleted < most:
                result = _delete_of(rule, min(BATCH, most - deleted), model, attempt, what)
                if not result:
                    break
                deleted += result
    return deleted


def too_old(rule: Retention) -> QuerySet[RawSamples]:
    """Return the raw samples that are older than the rule of their team."""
    return RawSamples.objects.filter(_older_than(rule))


def _older_than(rule: Retention, attempt: str = "attempt") -> Q:
    return Q(
        (f"{attempt}__run__campaign__team", rule.team_id),
        (f"{attempt}__run__campaign__in", deletable()),
        (f"{attempt}__finished_at__lt", Now() - timedelta(days=rule.keep_samples_days)),
    )


def deletable() -> QuerySet[Campaign]:
    """Return campaigns whose samples may be deleted: they have ended, and no conclusion in force uses them."""
    standing = Evidence.objects.filter(
        campaign=OuterRef("pk"), conclusion__state__in=Conclusion.STANDING
    )
    return Campaign.objects.exclude(state__in=Campaign.ACTIVE).exclude(Exists(standing))


@transaction.atomic
def _delete_batch(rule: Retention, most: int) -> int:
    rows = too_old(rule).order_by("pk").values_list("pk", "attempt__run__campaign")[:most]
    keys = dict(rows)
    # Whoever sends a conclusion to review locks its campaigns, too: it comes before this, or after.
    locked = Campaign.objects.select_for_update(no_key=True, skip_locked=True)
    campaigns = {each.pk: each for each in locked.filter(pk__in=set(keys.values()))}
    free = set(deletable().filter(pk__in=campaigns).values_list("pk", flat=True))
    chosen = RawSamples.objects.filter(pk__in=[pk for pk, of in keys.items() if of in free])
    notes = list(chosen.values_list("attempt", "count", "pk"))
    days = rule.keep_samples_days
    DeletedSamples.objects.bulk_create(
        [
            DeletedSamples(attempt_id=attempt, count=count, kept_days=days)
            for attempt, count, _ in notes
        ],
        ignore_conflicts=True,
    )
    chosen.delete()
    for campaign, runs in Counter(keys[pk] for _, _, pk in notes).items():
        _notify(campaigns[campaign], runs, days)
    return len(notes)


@transaction.atomic
def _delete_of(rule: Retention, most: int, model: type[Model], attempt: str, what: str) -> int:
    """Delete what rows of a model hold of attempts; return the number of attempts. attempt: the path to it."""
    of_campaign = f"{attempt}__run__campaign"
    rows = model._default_manager
    old = rows.filter(_older_than(rule, attempt)).order_by(attempt)
    keys = dict(old.values_list(attempt, of_campaign).distinct()[:most])
    locked = Campaign.objects.select_for_update(no_key=True, skip_locked=True)
    campaigns = {each.pk: each for each in locked.filter(pk__in=set(keys.values()))}
    free = set(deletable().filter(pk__in=campaigns).values_list("pk", flat=True))
    chosen = [pk for pk, of in keys.items() if of in free]
    rows.filter((f"{attempt}__in", chosen)).delete()
    for campaign, runs in Counter(keys[pk] for pk in chosen).items():
        _notify(campaigns[campaign], runs, rule.keep_samples_days, what)
    return len(chosen)


def _notify(campaign: Campaign, attempts: int, days: int, what: str = "Raw samples") -> None:
    """Write the deletion into the log of the campaign and the record of activity."""
    text = (
        f"{what} of {attempts} attempt{'' if attempts == 1 else 's'} were deleted, as the team keeps "
        f"them for {days} day{'' if days == 1 else 's'}."
    )
    LogLine.objects.create(campaign=campaign, text=text)
    record(Action.SAMPLES_DELETED, user=None, campaign=campaign, attempts=attempts, kept_days=days)
