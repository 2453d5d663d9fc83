"""Writes what people are to be told into the outbox; notifications read it later."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User

from campaigns.models import Announcement, Campaign, Conclusion, Team


def announce(
    kind: Announcement.Kind,
    team: Team,
    *,
    campaign: Campaign | None = None,
    conclusion: Conclusion | None = None,
    to: Iterable[User] = (),
    by: User | None = None,
    **data: Any,
) -> Announcement:
    """Add a row to the outbox, in the caller's transaction. Call it once for what happened once.

    `to`: whom it concerns; nobody: all of the team who chose this kind. `by`: whose deed it is; that
    person is not told of it. Whoever may not see the team's rows when it is delivered is not told.

    data: JSON values, not secret. The message shows `what` (one sentence: what happened), `words` (what
    somebody wrote, quoted) and `to_do` (one sentence), where they are given, and leads to `path` (an
    absolute path of a page), else to the page of the conclusion or the campaign.
    """
    return Announcement.objects.create(
        kind=kind,
        team=team,
        campaign=campaign,
        conclusion=conclusion,
        by=by,
        to=sorted({user.pk for user in to}),
        data=data,
    )
