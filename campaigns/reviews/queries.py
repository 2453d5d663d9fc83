"""Conclusions that a user may see. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Exists, OuterRef, Q, QuerySet

from campaigns.kit.rights import visible, without_hidden
from campaigns.models import AuditEvent, Campaign, Conclusion, Decision, Evidence, Reviewer

MOST_EVENTS = 200


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """A reviewer of the current revision, requested or not."""

    name: str
    asked_at: datetime | None
    asked_by: str
    decision: Decision | None


def conclusions_seen_by(user: User | AnonymousUser) -> QuerySet[Conclusion]:
    """Return the conclusions of the user's teams, without those on a campaign that the user may not see."""
    return without_hidden(visible(Conclusion.objects.all(), user), user)


def conclusions_on(campaign: Campaign, user: User | AnonymousUser) -> QuerySet[Conclusion]:
    """Return the conclusions that rest on a campaign, the newest first."""
    rows = conclusions_seen_by(user).filter(
        pk__in=Evidence.objects.filter(campaign=campaign).values("conclusion")
    )
    return rows.select_related("author", "team").order_by("-pk")


def waiting_for(user: User) -> QuerySet[Conclusion]:
    """Return the conclusions in review on which the user is requested to decide and has not."""
    decided = Decision.objects.filter(
        conclusion=OuterRef("pk"), revision=OuterRef("revision"), user=user.pk
    )
    requested = Reviewer.objects.filter(user=user.pk).values("conclusion")
    rows = conclusions_seen_by(user).filter(state=Conclusion.State.IN_REVIEW, pk__in=requested)
    return rows.exclude(Exists(decided))


def mine(user: User) -> QuerySet[Conclusion]:
    """Return the conclusions that the user wrote, alone or with others."""
    writes = Q(author=user.pk) | Q(pk__in=user.conclusions_written.values("pk"))
    return conclusions_seen_by(user).filter(writes)


def review_requests(conclusion: Conclusion) -> list[ReviewRequest]:
    """Return the requested reviewers of the current revision, and everybody who decided on it."""
    rows = conclusion.decisions.filter(revision=conclusion.revision).select_related("user")
    decided = {row.user_id: row for row in rows}
    requested = conclusion.reviewers.select_related("user", "asked_by").order_by("asked_at", "pk")
    results = [
        ReviewRequest(
            each.user.get_username(),
            each.asked_at,
            each.asked_by.get_username() if each.asked_by else "",
            decided.pop(each.user_id, None),
        )
        for each in requested
    ]
    return results + [
        ReviewRequest(row.user.get_username(), None, "", row) for row in decided.values()
    ]


def former_decisions(conclusion: Conclusion) -> Sequence[Decision]:
    """Return the decisions on former revisions, which no longer count."""
    rows = conclusion.decisions.exclude(revision=conclusion.revision).select_related("user")
    return list(rows.order_by("-revision", "pk"))


def events_of(conclusion: Conclusion) -> Sequence[AuditEvent]:
    """Return the history of a conclusion, the newest event first."""
    rows = AuditEvent.objects.filter(subject_kind="conclusion", subject_key=conclusion.pk)
    return list(rows.select_related("user")[:MOST_EVENTS])
