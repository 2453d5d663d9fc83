"""Query the activity log, limited to what a user may see."""

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet

from campaigns.kit.activity import BROWSER, COMMAND, SYSTEM
from campaigns.kit.rights import teams_with
from campaigns.models import AuditEvent

TOKEN = "token"  # noqa: S105 - a word
NOBODY = "perfdash"
"""The name shown for events without a user."""
MEANS = (BROWSER, TOKEN, COMMAND, SYSTEM)


def events_for(user: User | AnonymousUser) -> QuerySet[AuditEvent]:
    """Return the events that a user may see, the newest first: those of the user's teams, and the user's own outside of teams."""
    rows = AuditEvent.objects.order_by("-pk")
    if user.is_active and user.is_superuser:
        return rows
    own = Q(user=user.pk) | Q(subject_kind="user", subject_key=user.pk)
    teams = teams_with(user).order_by().values("pk")
    return rows.filter(Q(team__in=teams) | Q(team=None) & own)


def people_seen_by(user: User) -> QuerySet[User]:
    """Return the users whom the visible events may name: the members of the user's teams, and the user."""
    people = User.objects.order_by("username")
    if user.is_superuser:
        return people
    teams = teams_with(user).order_by().values("pk")
    return people.filter(Q(memberships__team__in=teams) | Q(pk=user.pk)).distinct()
