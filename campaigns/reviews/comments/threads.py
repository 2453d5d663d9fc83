"""Begin, answer, edit, delete, resolve. A deleted comment loses its text and keeps its place."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models.functions import Now
from django.urls import reverse

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import Text
from campaigns.kit.mappings import Columns
from campaigns.kit.outbox import announce, forget_comment
from campaigns.models import Announcement, Comment, Mention, Thread
from campaigns.reviews.comments.mentions import mentioned
from campaigns.reviews.comments.places import Place, place_text

MOST_COMMENTS = 500
QUOTED = 500
LONGEST = 5000
"""Letters: some texts of Markdown take time that grows with the square of their length."""


@dataclass(frozen=True, slots=True)
class Written:
    """A comment as it is stored. left: mentioned names that no member of the team has."""

    comment: Comment
    left: tuple[str, ...] = ()


@transaction.atomic
def begin(place: Place, text: str, user: User) -> Written:
    """Begin a thread. Raise Invalid."""
    text = checked(text)
    thread = Thread.objects.create(
        team=place.team,
        on=place.on,
        campaign=place.campaign,
        conclusion=place.conclusion,
        key=place.key,
    )
    written = _write(thread, text, user)
    _record(Action.THREAD_OPENED, thread, user)
    return written


@transaction.atomic
def reply(thread: Thread, text: str, user: User) -> Written:
    """Answer in a thread. Raise Invalid; NotPossible where it is full."""
    text = checked(text)
    locked = Thread.objects.select_for_update(of=("self",), no_key=True).get(pk=thread.pk)
    if locked.comments.count() >= MOST_COMMENTS:
        raise NotPossible(f"This thread has {MOST_COMMENTS} comments; begin a new one.")
    written = _write(locked, text, user)
    _record(Action.COMMENT_MADE, locked, user)
    see_mentions(locked, user)
    return written


def revised(comment: Comment) -> Columns:
    """Return what the revision of a comment is made of."""
    return {"text": comment.text}


@transaction.atomic
def edit(comment: Comment, text: str, user: User) -> Written:
    """Change one's own comment. Raise Invalid, PermissionDenied; NotPossible where it was deleted."""
    text = checked(text)
    row = _own(comment, user)
    if row.text == text:
        return Written(row, mentioned(text, row.thread.team, row.thread.conclusion).left)
    row.text = text
    Comment.objects.filter(pk=row.pk).update(text=text, edited_at=Now())
    left = _mention(row)
    _record(Action.COMMENT_EDITED, row.thread, user)
    return Written(row, left)


@transaction.atomic
def delete(comment: Comment, user: User) -> None:
    """Delete the text of one's own comment. Raise PermissionDenied, NotPossible."""
    row = _own(comment, user)
    Comment.objects.filter(pk=row.pk).update(text="", deleted_at=Now())
    row.mentions.all().delete()
    forget_comment(row)
    _record(Action.COMMENT_DELETED, row.thread, user)


@transaction.atomic
def resolve(thread: Thread, user: User) -> None:
    """Resolve a thread. Raise NotPossible where it is resolved, also by a user who did so at the same time."""
    open_ones = Thread.objects.filter(pk=thread.pk, resolved_at=None)
    if not open_ones.update(resolved_at=Now(), resolved_by=user):
        now = Thread.objects.select_related("resolved_by").get(pk=thread.pk)
        raise NotPossible(f"{now.resolved_by} has resolved this thread already.")
    _record(Action.THREAD_RESOLVED, thread, user)


@transaction.atomic
def reopen(thread: Thread, user: User) -> None:
    """Open a resolved thread again. Raise NotPossible where it is open."""
    settled = Thread.objects.filter(pk=thread.pk, resolved_at__isnull=False)
    if not settled.update(resolved_at=None, resolved_by=None):
        raise NotPossible("This thread is open already.")
    _record(Action.THREAD_REOPENED, thread, user)


def see_mentions(thread: Thread, user: User) -> None:
    """Mark the mentions of a user in a thread as seen."""
    rows = Mention.objects.filter(comment__thread=thread, user=user, seen_at=None)
    rows.update(seen_at=Now())


def see_all_mentions(user: User) -> int:
    """Mark all mentions of a user as seen, and return how many were new."""
    return Mention.objects.filter(user=user, seen_at=None).update(seen_at=Now())


def _write(thread: Thread, text: str, user: User) -> Written:
    comment = Comment.objects.create(thread=thread, author=user, text=text)
    return Written(comment, _mention(comment))


def _own(comment: Comment, user: User) -> Comment:
    rows = Comment.objects.select_for_update(of=("self",), no_key=True)
    row = rows.select_related("thread__team", "thread__campaign", "thread__conclusion").get(
        pk=comment.pk
    )
    if row.author_id != user.pk:
        raise PermissionDenied("Only its author can change or delete a comment.")
    if row.deleted_at is not None:
        raise NotPossible("This comment was deleted.")
    return row


def _mention(comment: Comment) -> tuple[str, ...]:
    """Store the mentions, notify the newly mentioned users, and return the names that stay text."""
    thread = comment.thread
    result = mentioned(comment.text, thread.team, thread.conclusion)
    comment.mentions.exclude(user__in=result.people).delete()
    before = set(comment.mentions.values_list("user", flat=True))
    new = [user for user in result.people if user.pk not in before]
    Mention.objects.bulk_create(Mention(comment=comment, user=user) for user in new)
    others = [user for user in new if user.pk != comment.author_id]
    Mention.objects.filter(comment=comment, user=comment.author_id).update(seen_at=Now())
    if others:
        about = thread.campaign or thread.conclusion
        where = place_text(thread)
        announce(
            Announcement.Kind.MENTIONED,
            thread.team,
            campaign=thread.campaign,
            conclusion=thread.conclusion,
            to=others,
            by=comment.author,
            what=f"{comment.author} mentioned you on {where or 'it'}"
            f"{' of' if where else ':'} “{about}”.",
            words=comment.text[:QUOTED],
            comment=comment.pk,
            path=reverse("thread", args=[thread.pk]),
        )
    return result.left


def _record(action: Action, thread: Thread, user: User) -> None:
    record(
        action,
        user=user,
        subject=thread,
        campaign=thread.campaign,
        on=place_text(thread),
    )


def checked(text: str) -> str:
    """Return the text as it is stored. Raise Invalid, of the field `text`."""
    try:
        return str(Text(max_length=LONGEST).clean(text.replace("\r\n", "\n").replace("\r", "\n")))
    except ValidationError as error:
        messages = [
            "Write something." if each.code == "required" else " ".join(each.messages)
            for each in error.error_list
        ]
        raise Invalid({"text": messages}) from None
