"""Turn each announced event into deliveries, one for each channel that subscribes to it."""

from collections.abc import Iterable
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from campaigns.accounts.notifications.defaults import give_default_channels
from campaigns.kit.rights import Right, may, people_with
from campaigns.models import (
    Announcement,
    Campaign,
    Channel,
    Delivery,
    Finding,
    PublishedAnswer,
    Team,
)

MOST_AT_ONCE = 100
ANSWER_SECONDS = 600
"""The time for which the end of a campaign is not told while its answer is being computed."""
ENDED = (Announcement.Kind.CAMPAIGN_FINISHED, Announcement.Kind.CAMPAIGN_FAILED)
NO_ANSWER = "There is no answer yet: the analysis has not ended."
RIGHTS = {
    Announcement.Kind.LAUNCH_REQUESTED: Right.OPERATE,
    Announcement.Kind.CREDENTIAL_ENDS: Right.OPERATE,
}
"""The right that receivers of a kind need, in addition to seeing the object, where none are named."""
RETENTION_DAYS = 30


@transaction.atomic
def read_outbox() -> int:
    """Create deliveries for unread announcements; return the number of announcements.

    Processes that read at once read different announcements; one that is killed leaves no changes.
    """
    awaited = Q(
        kind__in=ENDED,
        campaign__state__in=Campaign.CLOSED,
        campaign__analysis_requested_at__isnull=False,
        at__gt=Now() - timedelta(seconds=ANSWER_SECONDS),
    )
    unread = Announcement.objects.filter(read_at=None)
    rows = list(
        unread.exclude(awaited)
        .select_for_update(of=("self",), no_key=True, skip_locked=True)
        .select_related("team", "campaign", "conclusion")
        .order_by("pk")[:MOST_AT_ONCE]
    )
    for row in rows:
        _add_answer(row)
        Delivery.objects.bulk_create(
            [Delivery(announcement=row, channel=channel) for channel in channels_for(row)],
            ignore_conflicts=True,
        )
    Announcement.objects.filter(pk__in=[row.pk for row in rows]).update(read_at=Now())
    return len(rows)


def _add_answer(row: Announcement) -> None:
    """Add to the end of a campaign what it answers, as its page says it when the message is made."""
    campaign = row.campaign
    if row.kind not in ENDED or campaign is None or campaign.state not in Campaign.CLOSED:
        return
    if campaign.analysis_requested_at is not None:
        row.data["answer"] = NO_ANSWER
    elif Finding.objects.filter(campaign=campaign, name="answer").exists():
        answer = PublishedAnswer.objects.filter(campaign=campaign).first()
        if answer is not None:
            row.data |= {
                "answer": answer.sentence,
                "certainty": answer.certainty,
                "caveat": answer.caveat,
                "more_caveats": answer.more_caveats,
            }
    row.save(update_fields=["data"])


def channels_for(row: Announcement) -> list[Channel]:
    """Return the channels that subscribe to an announcement, of users who may see it and did not cause it."""
    if row.team is None:
        return []
    people = _people(row, row.team)
    give_default_channels(people)
    return list(
        Channel.objects.filter(
            Q(teams=[]) | Q(teams__contains=[row.team.pk]),
            user__in=[user.pk for user in people],
            kinds__contains=[row.kind],
            is_on=True,
            is_confirmed=True,
        )
    )


def _people(row: Announcement, team: Team) -> list[User]:
    if row.to:
        rows: Iterable[User] = User.objects.filter(pk__in=row.to, is_active=True)
        right = Right.SEE
    else:
        rows = people_with(team, Right.SEE) | _owners()
        right = RIGHTS.get(Announcement.Kind(row.kind), Right.SEE)
    return [user for user in rows if user.pk != row.by_id and may_know(user, row, right)]


def may_know(user: User, row: Announcement, right: Right = Right.SEE) -> bool:
    """Return whether a user may see the object now: it may have moved to another team, or the user left the team."""
    teams = {row.team_id}
    if row.campaign is not None:
        teams.add(row.campaign.team_id)
    if row.conclusion is not None:
        teams.add(row.conclusion.team_id)
    return all(team is not None and may(user, team, right) for team in teams)


def _owners() -> QuerySet[User]:
    return User.objects.filter(is_active=True, is_superuser=True).order_by("username")


def forget_old() -> None:
    """Delete announcements read long ago, with their deliveries, unless one still waits."""
    old = Announcement.objects.filter(read_at__lt=Now() - timedelta(days=RETENTION_DAYS))
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING)
    old.exclude(pk__in=waiting.values("announcement")).delete()
