"""Writes announcements into the outbox; notifications deliver them later."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User

from campaigns.models import Announcement, Campaign, Comment, Conclusion, Team


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
    """Add a row to the outbox, in the caller's transaction. Call it once per event.

    to: whom it concerns; by default all of the team who chose this kind. by: who caused the event; that
    person gets no message. Nobody gets one who may not see the team's rows when it is delivered.

    data: JSON values without secrets. The message shows `what` (one sentence: what happened), `words` (a
    quotation) and `to_do` (one sentence), and leads to `path` (the absolute path of a page), else to the page
    of the conclusion or the campaign. `comment`: the primary key of the comment that `words` quotes; see
    `forget_comment`.
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


def forget_comment(comment: Comment) -> None:
    """Remove the text of a comment from the outbox, in the transaction that deletes the comment."""
    rows = Announcement.objects.select_for_update(of=("self",), no_key=True)
    for row in rows.filter(kind=Announcement.Kind.MENTIONED, data__comment=comment.pk):
        row.data["words"] = ""
        row.save(update_fields=["data"])
