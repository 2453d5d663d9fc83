"""Invitation links: each makes one account a member of a team, once, until it expires or is revoked."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, QuerySet, Value, When
from django.db.models.functions import Now

from campaigns.kit import activity
from campaigns.kit.activity import Action
from campaigns.kit.encryption import new_token, token_hash
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import Text, messages_of
from campaigns.kit.rights import Right, may, require
from campaigns.models import Invitation, Membership, Role, Team

USUAL_DAYS, MOST_DAYS = 7, 30
WAITING: Final = "waiting"
USED: Final = "used"
REVOKED: Final = "revoked"
EXPIRED: Final = "expired"
STATES = (WAITING, USED, REVOKED, EXPIRED)


class InvitationRefused(ValueError):
    """The invitation is not valid; the message explains why, and what to do."""


class InvitationForm(forms.Form):
    """The input for a new invitation."""

    roles = forms.MultipleChoiceField(
        choices=Role.choices,
        initial=[Role.VIEWER],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one role."},
    )
    note = Text(
        max_length=200,
        required=False,
        label="For whom?",
        help_text="To recognise it. Anybody with the link can use it.",
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=MOST_DAYS,
        initial=USUAL_DAYS,
        label="Valid for",
        help_text="1 to 30 days; the link works once.",
    )

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["days"].unit = "days"  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Made:
    """A new invitation; `text` is the only copy of what its link ends with."""

    invitation: Invitation
    text: str


@transaction.atomic
def make(user: User, team: Team, *, roles: Iterable[str], note: str, days: str | int) -> Made:
    """Create an invitation. Raise Invalid, NotVisible, NotAllowed."""
    require(user, team, Right.MANAGE)
    form = InvitationForm({"roles": list(roles), "note": note, "days": days})
    if not form.is_valid():
        raise Invalid(messages_of(form))
    text, data = new_token(), form.cleaned_data
    invitation = Invitation.objects.create(
        team=team,
        roles=in_order(data["roles"]),
        note=data["note"],
        hash=token_hash(text),
        made_by=user,
        expires_at=Now() + timedelta(days=data["days"]),
    )
    invitation.refresh_from_db()
    activity.record(
        Action.INVITATION_MADE,
        user=user,
        subject=invitation,
        roles=invitation.roles,
        note=data["note"],
    )
    return Made(invitation, text)


def of(team: Team) -> QuerySet[Any]:
    """Return the invitations of a team; `state` of each is one of STATES."""
    state = Case(
        When(used_at__isnull=False, then=Value(USED)),
        When(revoked_at__isnull=False, then=Value(REVOKED)),
        When(expires_at__lte=Now(), then=Value(EXPIRED)),
        default=Value(WAITING),
    )
    rows = Invitation.objects.filter(team=team).select_related("made_by", "used_by")
    return rows.annotate(state=state)


@transaction.atomic
def revoke(user: User, invitation: Invitation) -> None:
    """Revoke an unused invitation. A second call changes nothing. Raise NotVisible, NotAllowed."""
    require(user, invitation.team, Right.MANAGE)
    ended = Invitation.objects.filter(pk=invitation.pk, revoked_at=None, used_at=None)
    if ended.update(revoked_at=Now()):
        activity.record(Action.INVITATION_REVOKED, user=user, subject=invitation)


def find(text: str) -> Invitation:
    """Return the invitation of a valid link. Raise InvitationRefused."""
    return _holding(Invitation.objects.filter(hash=token_hash(text)))


@transaction.atomic
def accept(user: User, pk: int) -> Invitation:
    """Accept an invitation: `user` becomes a member, or gets its roles in addition.

    The row is locked, so that an invitation that is accepted twice at once works once. Raise
    InvitationRefused.
    """
    invitation = _holding(Invitation.objects.select_for_update(of=("self",)).filter(pk=pk))
    give_roles(user, invitation.team, invitation.roles)
    Invitation.objects.filter(pk=pk).update(used_at=Now(), used_by=user)
    activity.record(Action.INVITATION_USED, user=user, subject=invitation, roles=invitation.roles)
    return invitation


def give_roles(user: User, team: Team, roles: Iterable[str]) -> None:
    """Add roles of a user in a team, in the caller's transaction."""
    member, _ = Membership.objects.select_for_update().get_or_create(
        team=team, user=user, defaults={"roles": in_order(roles)}
    )
    together = in_order({*member.roles, *roles})
    if together != member.roles:
        member.roles = together
        member.save(update_fields=["roles"])


def in_order(roles: Iterable[str]) -> list[str]:
    """Return roles in the order of their rights."""
    chosen = set(roles)
    return [role.value for role in Role if role in chosen]


def _holding(rows: QuerySet[Invitation]) -> Invitation:
    result = rows.select_related("team", "made_by").annotate(now=Now()).first()
    if result is None:
        raise InvitationRefused(
            "This invitation is unknown. Copy the whole link, or ask for a new one."
        )
    if result.used_at is not None:
        raise InvitationRefused(
            "This invitation was used already; each works once. Ask for a new one."
        )
    if result.revoked_at is not None:
        raise InvitationRefused("This invitation was revoked. Ask the team's admin for a new one.")
    if result.expires_at <= result.now:
        raise InvitationRefused("This invitation has expired. Ask the team's admin for a new one.")
    if not may(result.made_by, result.team, Right.MANAGE):
        raise InvitationRefused(
            f"{result.made_by} made this invitation and is no admin of the team any more. Ask one for another."
        )
    return result
