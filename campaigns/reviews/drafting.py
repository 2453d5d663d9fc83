"""Create, edit and delete drafts of conclusions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Contrast
from campaigns.kit.revisions import Seen, require_seen
from campaigns.kit.rights import Right
from campaigns.kit.rights import require as require_right
from campaigns.models import CheckWord, Conclusion, Evidence
from campaigns.reviews.checklist import checklist
from campaigns.reviews.content import Cited, Content, revised
from campaigns.reviews.errors import Moved, ReviewRefused
from campaigns.reviews.rows import locked, require
from campaigns.reviews.validation import checked

SUPERSEDABLE = (Conclusion.State.ACCEPTED, Conclusion.State.REOPENED)


@transaction.atomic
def create(user: User, content: Content) -> Conclusion:
    """Create a draft; it belongs to the team of its first campaign.

    Raise Invalid with every error by field, NotVisible, NotAllowed.
    """
    campaigns = checked(user, content)
    team = campaigns[0].team
    require_right(user, team, Right.WRITE)
    older = _older(content.supersedes, team.pk, None)
    conclusion = Conclusion.objects.create(
        team=team,
        author=user,
        claim=content.claim.strip(),
        recommendation=content.recommendation.strip(),
        limits=content.limits.strip(),
        supersedes=older,
    )
    conclusion.writers.add(user)
    _cite(conclusion, content.evidence)
    _write_justifications(conclusion, user, content.words)
    record(Action.CONCLUSION_CREATED, user=user, subject=conclusion, campaign=campaigns[0])
    return Conclusion.objects.get(pk=conclusion.pk)


@transaction.atomic
def edit(
    key: int,
    user: User,
    content: Content,
    seen: datetime | None = None,
    revision: Seen = None,
) -> Conclusion:
    """Edit a conclusion; the user becomes one of its writers.

    seen: the time of its last change as the user knows it, None to skip that check. revision: of its text then.
    Raise Moved or Changed where somebody else changed it since, ReviewRefused while others decide on
    it, Invalid, NotVisible, NotAllowed.
    """
    conclusion = locked(key)
    require(user, conclusion, Right.WRITE)
    if conclusion.state not in Conclusion.EDITABLE:
        raise ReviewRefused(
            f"The conclusion is {conclusion.get_state_display()}: nobody edits what others decide on, "
            "or have decided on. Take it back to draft first, or write one that supersedes it."
        )
    if seen is not None and seen != conclusion.changed_at:
        raise Moved(
            "Somebody changed the conclusion since you opened it; nothing of yours was stored. Open it "
            "again, and carry over what you wrote."
        )
    require_seen(conclusion, revised(conclusion), revision)
    campaigns = checked(user, content)
    if campaigns[0].team_id != conclusion.team_id:
        raise Invalid(
            {
                "evidence.0.campaign": [
                    f"The first campaign has to be one of the team “{conclusion.team}”, which the "
                    "conclusion belongs to."
                ]
            }
        )
    before = {name: getattr(conclusion, name) for name in ("claim", "recommendation", "limits")}
    conclusion.supersedes = _older(content.supersedes, conclusion.team_id, conclusion)
    for name in before:
        setattr(conclusion, name, getattr(content, name).strip())
    conclusion.changed_at = Now()
    conclusion.save(update_fields=[*before, "supersedes", "changed_at"])
    conclusion.writers.add(user)
    if _cited(conclusion) != [_text(each) for each in content.evidence]:
        conclusion.evidence.all().delete()
        _cite(conclusion, content.evidence)
    _write_justifications(conclusion, user, content.words)
    changed = [name for name, text in before.items() if text != getattr(conclusion, name)]
    record(
        Action.CONCLUSION_EDITED,
        user=user,
        subject=conclusion,
        campaign=campaigns[0],
        changed=changed,
    )
    return Conclusion.objects.get(pk=key)


@transaction.atomic
def delete(key: int, user: User, revision: Seen = None) -> None:
    """Delete a draft that was never sent to review. Raise ReviewRefused, Changed, NotVisible, NotAllowed."""
    conclusion = locked(key)
    require(user, conclusion, Right.WRITE)
    require_seen(conclusion, revised(conclusion), revision)
    if conclusion.state != Conclusion.State.DRAFT or conclusion.revision:
        raise ReviewRefused(
            "Only a draft that was never sent to review is deleted; of this one there is a record. "
            "Take it back to draft and leave it there."
        )
    record(Action.CONCLUSION_DELETED, user=user, subject=conclusion)
    conclusion.delete()


def require_supersedable(older: Conclusion) -> None:
    """Raise ReviewRefused unless a new conclusion may take the place of this one."""
    if older.state not in SUPERSEDABLE:
        raise ReviewRefused(
            f"Conclusion {older.pk}, which this one supersedes, is {older.get_state_display()}: only an "
            "accepted or re-opened one is superseded. Take the reference to it away."
        )


def _older(key: int | None, team: int, own: Conclusion | None) -> Conclusion | None:
    """Return the superseded conclusion, of the same team. Raise Invalid."""
    if key is None:
        return None
    older = Conclusion.objects.filter(pk=key, team=team).first()
    if older is None or (own is not None and older.pk >= own.pk):
        raise Invalid({"supersedes": [f"There is no older conclusion {key} in this team."]})
    if own is None or own.supersedes_id != key:
        try:
            require_supersedable(older)
        except ReviewRefused as refusal:
            raise Invalid({"supersedes": [str(refusal)]}) from None
    return older


def _cite(conclusion: Conclusion, evidence: Sequence[Cited]) -> None:
    Evidence.objects.bulk_create(
        Evidence(
            conclusion=conclusion,
            position=position,
            campaign_id=each.campaign,
            contrast=_contrast(each),
            finding=each.finding,
            view=each.view,
        )
        for position, each in enumerate(evidence, 1)
    )


def _cited(conclusion: Conclusion) -> list[tuple[Any, ...]]:
    rows = conclusion.evidence.order_by("position")
    return list(rows.values_list("campaign", "contrast", "finding", "view"))


def _text(each: Cited) -> tuple[Any, ...]:
    return each.campaign, _contrast(each), each.finding, each.view


def _contrast(each: Cited) -> Contrast | None:
    """Return the contrast with `at`, the levels of other factors, which may be empty."""
    return {"at": {}, **each.contrast} if each.contrast else None


def _write_justifications(conclusion: Conclusion, user: User, texts: Mapping[str, str]) -> None:
    """Store the author's justifications of checks that did not pass; an empty text deletes one.

    A justification refers to the present result of the check. Others are left unchanged. Raise Invalid
    for a check that does not exist.
    """
    if not texts:
        return
    checks = {check.key: check for check in checklist(conclusion)}
    if unknown := [key for key, text in texts.items() if key not in checks and text.strip()]:
        known = ", ".join(checks)
        raise Invalid(
            {f"words.{unknown[0][:50]}": [f"There is no check of that name; there are {known}."]}
        )
    for key, text in texts.items():
        rows = CheckWord.objects.filter(conclusion=conclusion, check_name=key)
        if not text.strip():
            rows.delete()
        elif not rows.filter(text=text.strip(), about=checks[key].about).exists():
            CheckWord.objects.update_or_create(
                conclusion=conclusion,
                check_name=key,
                defaults={
                    "text": text.strip(),
                    "about": checks[key].about,
                    "user": user,
                    "at": Now(),
                },
            )
            record(
                Action.WARNING_JUSTIFIED,
                user=user,
                subject=conclusion,
                check=key,
                text=text.strip()[:500],
            )
