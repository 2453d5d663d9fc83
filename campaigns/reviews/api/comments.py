"""Threads of a campaign or a conclusion, their comments, and the inbox."""

from typing import ClassVar

from django.db.models import Model
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import CONFLICT, NOT_FOUND, operation
from campaigns.kit.api.views import Api
from campaigns.kit.revisions import revision_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Comment, Conclusion, Thread
from campaigns.reviews import comments
from campaigns.reviews.api.comment_filters import Threads
from campaigns.reviews.api.comment_outputs import (
    CommentInput,
    InboxOutput,
    ThreadInput,
    ThreadOutput,
    WrittenOutput,
)
from campaigns.reviews.comments.inbox import told
from campaigns.reviews.comments.mentions import sentence_of
from campaigns.reviews.inbox import waiting
from campaigns.reviews.threads import threads, threads_on

TAG = "talk"
REFUSALS = [NOT_FOUND, CONFLICT]


class TalkApi(Api):
    """What the views share."""

    def written(self, said: comments.Said, code: int = status.HTTP_200_OK) -> Response:
        """Give the thread as it is now, and what its author should know."""
        thread = threads().get(pk=said.comment.thread_id)
        self.revision = revision_of(comments.revised(said.comment))
        warning = sentence_of(said.left)
        data = self.shown(thread, WrittenOutput, warnings=[warning] if warning else [])
        headers = {"Location": data["url"]} if code == status.HTTP_201_CREATED else {}
        return Response(data, status=code, headers=headers)


class CampaignThreads(TalkApi):
    """GET: threads of a campaign. POST: a new one."""

    of: ClassVar[type[Model] | None] = Campaign
    takes = {"post": Right.COMMENT}

    @operation(
        "list_campaign_threads",
        TAG,
        answer=ThreadOutput,
        paged=True,
        filters=Threads,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> Response:
        """Threads of a campaign with their comments, the newest first."""
        rows = threads_on(get_object_or_404(Campaign, pk=pk))
        return self.page(rows, ThreadOutput, "-pk", Threads)

    @operation(
        "create_campaign_thread",
        TAG,
        body=ThreadInput,
        answer=WrittenOutput,
        code=status.HTTP_201_CREATED,
        refusals=REFUSALS,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Begin one: on the campaign, a cell, a run, or a view of a chart."""
        sent = self.read(ThreadInput)
        place = comments.place_on(get_object_or_404(Campaign, pk=pk), sent["on"], sent["key"])
        return self.written(comments.begin(place, sent["text"], self.user), status.HTTP_201_CREATED)


class ConclusionThreads(TalkApi):
    """GET: threads of a conclusion. POST: a new one."""

    of: ClassVar[type[Model] | None] = Conclusion
    takes = {"post": Right.COMMENT}

    @operation(
        "list_conclusion_threads", TAG, answer=ThreadOutput, paged=True, refusals=[NOT_FOUND]
    )
    def get(self, request: Request, pk: int) -> Response:
        """Threads of a conclusion with their comments, the newest first."""
        return self.page(threads_on(get_object_or_404(Conclusion, pk=pk)), ThreadOutput, "-pk")

    @operation(
        "create_conclusion_thread",
        TAG,
        body=CommentInput,
        answer=WrittenOutput,
        code=status.HTTP_201_CREATED,
        refusals=REFUSALS,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Begin one on the conclusion."""
        place = comments.place_on(get_object_or_404(Conclusion, pk=pk))
        said = comments.begin(place, self.read(CommentInput)["text"], self.user)
        return self.written(said, status.HTTP_201_CREATED)


class OneThread(TalkApi):
    """GET: one thread."""

    of: ClassVar[type[Model] | None] = Thread

    @operation("get_thread", TAG, answer=ThreadOutput, refusals=[NOT_FOUND])
    def get(self, request: Request, pk: int) -> Response:
        """A thread with its comments."""
        self.read_query(NoQuery)
        return Response(self.shown(get_object_or_404(threads(), pk=pk), ThreadOutput))


class Answer(TalkApi):
    """POST: an answer in a thread."""

    of: ClassVar[type[Model] | None] = Thread
    takes = {"post": Right.COMMENT}

    @operation(
        "create_comment",
        TAG,
        body=CommentInput,
        answer=WrittenOutput,
        code=status.HTTP_201_CREATED,
        refusals=REFUSALS,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Answer in a thread."""
        thread = get_object_or_404(Thread, pk=pk)
        said = comments.reply(thread, self.read(CommentInput)["text"], self.user)
        return self.written(said, status.HTTP_201_CREATED)


class Resolve(TalkApi):
    """POST: settle a thread."""

    of: ClassVar[type[Model] | None] = Thread
    takes = {"post": Right.COMMENT}

    @operation("resolve_thread", TAG, answer=ThreadOutput, refusals=REFUSALS)
    def post(self, request: Request, pk: int) -> Response:
        """Settle a thread; 409 where somebody did so before."""
        comments.resolve(get_object_or_404(threads(), pk=pk), self.user)
        return Response(self.shown(threads().get(pk=pk), ThreadOutput))


class Reopen(TalkApi):
    """POST: open a thread again."""

    of: ClassVar[type[Model] | None] = Thread
    takes = {"post": Right.COMMENT}

    @operation("reopen_thread", TAG, answer=ThreadOutput, refusals=REFUSALS)
    def post(self, request: Request, pk: int) -> Response:
        """Open a thread again; 409 where it is open."""
        comments.reopen(get_object_or_404(threads(), pk=pk), self.user)
        return Response(self.shown(threads().get(pk=pk), ThreadOutput))


class OneComment(TalkApi):
    """PATCH, DELETE: one's own comment."""

    of: ClassVar[type[Model] | None] = Comment
    takes = {"patch": Right.COMMENT, "delete": Right.COMMENT}

    @operation("edit_comment", TAG, body=CommentInput, answer=WrittenOutput, refusals=REFUSALS)
    def patch(self, request: Request, pk: int) -> Response:
        """Change one's own comment; it then says so."""
        found = get_object_or_404(Comment, pk=pk)
        text = self.read(CommentInput)["text"]
        with self.unchanged(found, comments.revised):
            said = comments.edit(found, text, self.user)
        return self.written(said)

    @operation(
        "delete_comment", TAG, answer=None, code=status.HTTP_204_NO_CONTENT, refusals=REFUSALS
    )
    def delete(self, request: Request, pk: int) -> Response:
        """Take the text of one's own comment away; its place stays."""
        found = get_object_or_404(Comment, pk=pk)
        with self.unchanged(found, comments.revised):
            comments.delete(found, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Inbox(Api):
    """GET: what waits."""

    @operation("list_inbox", "talk", answer=InboxOutput, whole=True)
    def get(self, request: Request) -> Response:
        """What waits for you, the longest first; at most 200."""
        found = [told(each) for each in waiting(self.user)]
        return self.whole([dict(InboxOutput(line).data) for line in found], InboxOutput)
