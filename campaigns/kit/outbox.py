"""Writes what people are to be told into the outbox; notifications read it later."""

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
    """Add a row to the outbox, in the caller's transaction. Call it once for what happened once.

    `to`: whom it concerns; nobody: all of the team who chose this kind. `by`: whose deed it is; that
    person is not told of it. Whoever may not see the team's rows when it is delivered is not told.

    data: JSON values, not secret. The message shows `what` (one sentence: what happened), `words` (what
    somebody wrote, quoted) and `to_do` (one sentence), where they are given, and leads to `path` (an
    absolute path of a page), else to the page of the conclusion or the campaign. `comment` is the primary
    key of the one that `words` are of: they go with it, see `forget_comment`.
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
    """Take out of the outbox what a comment said, in the transaction that deletes it."""
    rows = Announcement.objects.select_for_update(of=("self",), no_key=True)
    for row in rows.filter(kind=Announcement.Kind.MENTIONED, data__comment=comment.pk):
        row.data["words"] = ""
        row.save(update_fields=["data"])
