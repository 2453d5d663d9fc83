"""Send a conclusion to review, or withdraw it."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.outbox import announce
from campaigns.kit.rights import Right
from campaigns.models import Announcement, Campaign, Conclusion, Reviewer
from campaigns.reviews.drafting import require_supersedable
from campaigns.reviews.errors import Moved, Outdated, ReviewRefused
from campaigns.reviews.freezing import data_hash_of, freeze
from campaigns.reviews.rows import lock_campaigns, locked, may_review, people_of, require
from campaigns.reviews.validation import wrong_letters

MOST_REVIEWERS = 20
WITHDRAWABLE = frozenset(set(Conclusion.State) - {"draft", "superseded"})


def send(key: int, user: User, reviewers: Sequence[User]) -> Conclusion:
    """Freeze findings, checklist and data hash, and ask the reviewers to decide.

    Raise ReviewRefused (NotReady where data or findings are not final), Invalid where somebody may not
    review, NotVisible, NotAllowed.
    """
    try:
        return _send(key, user, reviewers)
    except Outdated as outdated:
        rows = Campaign.objects.filter(pk=outdated.campaign.pk, analysis_requested_at=None)
        rows.update(analysis_requested_at=Now(), analysis_sent_at=None)
        raise


@transaction.atomic
def _send(key: int, user: User, reviewers: Sequence[User]) -> Conclusion:
    campaigns = _campaigns(key)
    lock_campaigns(campaigns)
    conclusion = locked(key)
    if set(campaigns) != set(_campaigns(key)):
        raise Moved("Somebody changes the conclusion right now; read it again before you send it.")
    require(user, conclusion, Right.WRITE)
    if conclusion.state not in Conclusion.EDITABLE:
        raise ReviewRefused(
            f"The conclusion is {conclusion.get_state_display()}; only a draft, or what came back to "
            "its author, is sent to review."
        )
    if conclusion.supersedes is not None:
        require_supersedable(conclusion.supersedes)
    conclusion.writers.add(user)
    _require_reviewers(conclusion, reviewers)
    freeze(conclusion)
    conclusion.state = Conclusion.State.IN_REVIEW
    conclusion.revision += 1
    conclusion.reason, conclusion.reopened_by = "", []
    conclusion.sent_at, conclusion.decided_at, conclusion.changed_at = Now(), None, Now()
    conclusion.save(
        update_fields=[
            *("state", "revision", "reason", "reopened_by"),
            *("sent_at", "decided_at", "changed_at"),
        ]
    )
    _ask(conclusion, user, reviewers)
    campaign = conclusion.evidence.select_related("campaign")[0].campaign
    record(
        Action.CONCLUSION_SENT,
        user=user,
        subject=conclusion,
        campaign=campaign,
        revision=conclusion.revision,
        data_hash=data_hash_of(conclusion),
        reviewers=[each.get_username() for each in reviewers],
    )
    announce(
        Announcement.Kind.REVIEW_ASKED,
        conclusion.team,
        campaign=campaign,
        conclusion=conclusion,
        to=reviewers,
        by=user,
        what=f"{user.get_username()} asks you to review the conclusion “{conclusion.claim}”.",
        to_do="Read claim, evidence and checklist, then approve, ask for changes, or reject.",
    )
    return Conclusion.objects.get(pk=key)


@transaction.atomic
def withdraw(key: int, user: User, reason: str = "", revision: int | None = None) -> Conclusion:
    """Withdraw a conclusion to draft; decisions on it stay on record and no longer count.

    Withdrawing an accepted one requires a reason. Raise ReviewRefused, Moved, NotVisible, NotAllowed.
    """
    conclusion = locked(key)
    require(user, conclusion, Right.WRITE)
    was = conclusion.state
    if was not in WITHDRAWABLE:
        raise ReviewRefused(
            f"The conclusion is {conclusion.get_state_display()}; there is nothing to take back."
        )
    if revision is not None and revision != conclusion.revision:
        raise Moved(
            f"You looked at revision {revision}, and it is revision {conclusion.revision} now. Read it "
            "again before you take it back."
        )
    if was == Conclusion.State.ACCEPTED and not reason.strip():
        raise ReviewRefused(
            "It is accepted, and others rely on it: give a reason for withdrawing it."
        )
    if wrong := wrong_letters(reason):
        raise ReviewRefused(f"The reason was not accepted. {wrong}")
    conclusion.state, conclusion.reason = Conclusion.State.DRAFT, reason.strip()[:2000]
    conclusion.decided_at, conclusion.changed_at = None, Now()
    conclusion.save(update_fields=["state", "reason", "decided_at", "changed_at"])
    record(
        Action.CONCLUSION_WITHDRAWN,
        user=user,
        subject=conclusion,
        was=was,
        revision=conclusion.revision,
        reason=conclusion.reason,
    )
    if was == Conclusion.State.ACCEPTED:
        _notify_withdrawn(conclusion, user)
    return Conclusion.objects.get(pk=key)


def _notify_withdrawn(conclusion: Conclusion, user: User) -> None:
    """Notify its writers, reviewers and those who decided on it."""
    announce(
        Announcement.Kind.REVIEW_REOPENED,
        conclusion.team,
        campaign=conclusion.evidence.select_related("campaign")[0].campaign,
        conclusion=conclusion,
        to=people_of(conclusion),
        by=user,
        what=f"{user.get_username()} took the accepted conclusion “{conclusion.claim}” back to draft.",
        words=conclusion.reason,
        to_do="It is no longer valid. Read why, and review what you based on it.",
    )


def _campaigns(key: int) -> list[int]:
    rows = Conclusion.objects.filter(pk=key, evidence__isnull=False)
    return list(rows.values_list("evidence__campaign", flat=True))


def _require_reviewers(conclusion: Conclusion, reviewers: Sequence[User]) -> None:
    if not reviewers:
        raise Invalid(
            {"reviewers": ["Choose a reviewer: a conclusion needs approval by another person."]}
        )
    if len(reviewers) > MOST_REVIEWERS:
        raise Invalid({"reviewers": [f"Ask {MOST_REVIEWERS} people at the most."]})
    wrong = [each.get_username() for each in reviewers if not may_review(each, conclusion)]
    if wrong:
        raise Invalid(
            {
                "reviewers": [
                    f"{', '.join(wrong)} cannot review it: that needs the role reviewer or "
                    "admin in "
                    f"the team “{conclusion.team}”, access to all its evidence, and no edit of "
                    "its text."
                ]
            }
        )


def _ask(conclusion: Conclusion, user: User, reviewers: Sequence[User]) -> None:
    """Store the requested reviewers with the present time, and remove those who are no longer named."""
    gone = conclusion.reviewers.exclude(user__in=reviewers).select_related("user")
    for lost in gone:
        record(
            Action.REVIEWER_REMOVED,
            user=user,
            subject=conclusion,
            reviewer=lost.user.get_username(),
        )
    gone.delete()
    for each in reviewers:
        record(Action.REVIEW_REQUESTED, user=user, subject=conclusion, reviewer=each.get_username())
        Reviewer.objects.update_or_create(
            conclusion=conclusion, user=each, defaults={"asked_by": user, "asked_at": Now()}
        )
