"""Writes rows of the record."""

from enum import Enum
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model

from campaigns.kit.activity import acting
from campaigns.kit.activity.actions import Action
from campaigns.models import AuditEvent, Campaign, Team

NAME_LETTERS = 200
MEANS_LETTERS = 120


class _Unsaid(Enum):
    WHO = "whoever sends the request"


def record(
    action: Action,
    *,
    user: User | _Unsaid | None = _Unsaid.WHO,
    team: Team | None = None,
    subject: Model | None = None,
    campaign: Campaign | None = None,
    **details: Any,
) -> AuditEvent:
    """Write down an action, in the transaction of the deed.

    user: who did it; not said: whoever sends the request; None: perfdash by itself. `team` is that of
    the campaign or the subject, where it is not said. details: JSON values, and nothing secret.
    """
    if campaign is None:
        campaign = _campaign_of(subject)
    what = subject if subject is not None else campaign
    asking = acting.who()
    by_itself = user is None and asking is not None
    return AuditEvent.objects.create(
        user=asking if isinstance(user, _Unsaid) else user,
        means=(acting.SYSTEM if by_itself else acting.means())[:MEANS_LETTERS],
        team_id=team.pk if team is not None else _team_of(campaign) or _team_of(subject),
        action=Action(action),
        subject_kind="" if what is None else str(what._meta.model_name),
        subject_key=None if what is None else what.pk,
        subject_name="" if what is None else str(what)[:NAME_LETTERS],
        campaign_key=None if campaign is None else campaign.pk,
        details=details,
    )


def _campaign_of(subject: Model | None) -> Campaign | None:
    found = subject if isinstance(subject, Campaign) else getattr(subject, "campaign", None)
    return found if isinstance(found, Campaign) else None


def _team_of(what: Model | None) -> int | None:
    """Key of the team that owns it, by itself or as a part of a target."""
    if isinstance(what, Team):
        return what.pk
    owner = what if hasattr(what, "team_id") else getattr(what, "target", None)
    return getattr(owner, "team_id", None)
