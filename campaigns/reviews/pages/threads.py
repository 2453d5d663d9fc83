"""Threads as pages show them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from campaigns.kit.markup import to_html
from campaigns.kit.rights import Right
from campaigns.kit.rights import may as may_in
from campaigns.models import Campaign, Comment, Conclusion, Thread
from campaigns.reviews.comments import page_of, place_text
from campaigns.reviews.comments.queries import names_to_mention, threads_on
from campaigns.reviews.comments.threads import LONGEST

MOST_SHOWN = 30
"""Threads that a page of something else shows; all of them are on a page of their own."""


@dataclass(frozen=True, slots=True)
class CommentView:
    """A comment. own: the user wrote it, and may change it."""

    comment: Comment
    html: SafeString
    own: bool


@dataclass(frozen=True, slots=True)
class ThreadView:
    """A thread. words: its subject as text, empty for the whole campaign or conclusion; page: its address."""

    thread: Thread
    words: str
    page: str
    comments: Sequence[CommentView]


@dataclass(frozen=True, slots=True)
class Writing:
    """A form for a comment. names: of users who can be mentioned; seen: revision of the changed comment."""

    id: str
    action: str
    button: str
    names: Sequence[str]
    label: str = "Comment"
    on: str = ""
    key: str = ""
    text: str = ""
    errors: Sequence[str] = ()
    preview: SafeString | None = None
    longest: int = LONGEST
    seen: str = ""

    @property
    def shown_errors(self) -> Sequence[str]:
        """Return the errors of the form; none beside a preview."""
        return () if self.preview else self.errors


@dataclass(frozen=True, slots=True)
class Discussion:
    """Threads on a subject, and the form to begin one; None for a user who may not comment."""

    open: Sequence[ThreadView]
    resolved: Sequence[ThreadView]
    more: int
    address: str
    writing: Writing | None


def html_of(text: str, people: Iterable[str]) -> SafeString:
    """Return Markdown as HTML in which nothing runs."""
    return mark_safe(to_html(text, frozenset(people)))  # noqa: S308 - campaigns.kit.markup makes it so


def thread_view(thread: Thread, user: User | AnonymousUser) -> ThreadView:
    """Return a thread for pages. It must have its comments, as `threads` returns them."""
    return ThreadView(
        thread,
        place_text(thread),
        page_of(thread),
        [_comment(comment, user) for comment in thread.comments.all()],
    )


def discussion(what: Campaign | Conclusion, user: User | AnonymousUser) -> Discussion:
    """Return the threads on a campaign or a conclusion, for its page."""
    rows = threads_on(what)
    results = [thread_view(thread, user) for thread in rows[: MOST_SHOWN + 1]]
    shown = results[:MOST_SHOWN]
    more = rows.count() - MOST_SHOWN if len(results) > MOST_SHOWN else 0
    return Discussion(
        open=[view for view in shown if view.thread.resolved_at is None],
        resolved=[view for view in shown if view.thread.resolved_at is not None],
        more=more,
        address=threads_address(what),
        writing=writing_on(what, user),
    )


def writing_on(
    what: Campaign | Conclusion, user: User | AnonymousUser, on: str = "", key: str = ""
) -> Writing | None:
    """Return the form that begins a thread; None for a user who may not comment."""
    if not may_in(user, what.team, Right.COMMENT):
        return None
    return Writing(
        "begin",
        threads_address(what),
        "Comment",
        names_to_mention(what.team, what if isinstance(what, Conclusion) else None),
        label="Add a comment",
        on=on,
        key=key,
    )


def threads_address(what: Campaign | Conclusion) -> str:
    """Return the address of the page of all threads of a campaign or a conclusion."""
    kind = "campaign" if isinstance(what, Campaign) else "conclusion"
    return reverse(f"{kind}-threads", args=[what.pk])


def _comment(comment: Comment, user: User | AnonymousUser) -> CommentView:
    if comment.deleted_at is not None:
        return CommentView(comment, SafeString(""), own=False)
    people = [mention.user.get_username() for mention in comment.mentions.all()]
    return CommentView(comment, html_of(comment.text, people), comment.author_id == user.pk)
