"""Threads of a campaign or a conclusion, their comments, and the inbox."""

from typing import Any, ClassVar

from django.db.models import Model
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import Input, NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.markup import to_html
from campaigns.kit.revisions import revision_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Comment, Conclusion, Thread
from campaigns.reviews import comments
from campaigns.reviews.comments import page_of
from campaigns.reviews.comments.inbox import inbox_line
from campaigns.reviews.comments.mentions import sentence_of
from campaigns.reviews.comments.queries import threads, threads_on
from campaigns.reviews.filters import ThreadFilters
from campaigns.reviews.inbox import Waits, waiting

TAG = "comments"


class CommentInput(Input):
    """The text of a comment, in Markdown."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False)


class ThreadInput(CommentInput):
    """A new thread. `on` and `key`: its subject; left out, the campaign as a whole."""

    on = serializers.CharField(required=False, allow_blank=True, default="", max_length=20)
    key = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)


class CommentOutput(Selectable, serializers.ModelSerializer[Comment]):
    """A comment; one that was deleted has no text. `html`: the text as pages show it."""

    author = serializers.CharField(source="author.username")
    html = serializers.SerializerMethodField()
    mentions = serializers.SerializerMethodField()

    class Meta:
        model = Comment
        fields = ["id", "author", "text", "html", "at", "edited_at", "deleted_at", "mentions"]

    def get_html(self, comment: Comment) -> str:
        """Return the text as HTML without scripts."""
        return to_html(comment.text, self.get_mentions(comment))

    def get_mentions(self, comment: Comment) -> list[str]:
        """Return the names of the users who were notified of it."""
        return [mention.user.get_username() for mention in comment.mentions.all()]


class ThreadOutput(Selectable):
    """A thread with its comments. `page`: the path of the page that shows its subject."""

    id = serializers.IntegerField(source="pk")
    url = serializers.HyperlinkedIdentityField("api-thread")
    on = serializers.ChoiceField(choices=Thread.On.choices)
    key = serializers.CharField()
    campaign = serializers.IntegerField(source="campaign_id", allow_null=True)
    conclusion = serializers.IntegerField(source="conclusion_id", allow_null=True)
    team = serializers.IntegerField(source="team_id")
    page = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    resolved_at = serializers.DateTimeField(allow_null=True)
    resolved_by = serializers.CharField(
        source="resolved_by.username", default=None, allow_null=True
    )
    comments = CommentOutput(many=True)

    def get_page(self, thread: Thread) -> str:
        """Return the path of the page that shows the subject."""
        return page_of(thread)


class WrittenOutput(ThreadOutput):
    """The thread after the change. `warnings`: sentences, such as that a mentioned name is unknown in the team."""

    warnings = serializers.SerializerMethodField()

    def get_warnings(self, thread: Thread) -> list[str]:
        """Return the warnings for the author."""
        result: Any = self.context.get("warnings", [])
        return list(result)


class InboxOutput(Selectable):
    """An item of the inbox. `what`: the name of its subject; `words`: what to do; `path`: the path of its page."""

    why = serializers.ChoiceField(choices=[(each.value, each.value) for each in Waits])
    what = serializers.CharField()
    words = serializers.CharField()
    path = serializers.CharField()
    team = serializers.CharField()
    since = serializers.DateTimeField()


class CommentsApi(Api):
    """Base of the views of threads and comments."""

    def written(self, result: comments.Written, code: int = status.HTTP_200_OK) -> Response:
        """Return the thread after a change, with warnings for the author of the comment."""
        thread = threads().get(pk=result.comment.thread_id)
        self.revision = revision_of(comments.revised(result.comment))
        warning = sentence_of(result.left)
        data = self.shown(thread, WrittenOutput, warnings=[warning] if warning else [])
        headers = {"Location": data["url"]} if code == status.HTTP_201_CREATED else {}
        return Response(data, status=code, headers=headers)


class CampaignThreads(CommentsApi):
    """GET: threads of a campaign. POST: a new one."""

    of: ClassVar[type[Model] | None] = Campaign
    takes = {"post": Right.COMMENT}

    @operation("list_campaign_threads", TAG, answer=ThreadOutput, filters=ThreadFilters)
    def get(self, request: Request, pk: int) -> Response:
        """List the threads of a campaign with their comments, the newest first."""
        rows = threads_on(get_object_or_404(Campaign, pk=pk))
        return self.page(rows, ThreadOutput, "-pk", ThreadFilters)

    @operation("create_campaign_thread", TAG, body=ThreadInput, answer=WrittenOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Begin a thread on the campaign, or on a cell, a run or a view of a chart."""
        sent = self.read(ThreadInput)
        place = comments.place_on(get_object_or_404(Campaign, pk=pk), sent["on"], sent["key"])
        return self.written(comments.begin(place, sent["text"], self.user), status.HTTP_201_CREATED)


class ConclusionThreads(CommentsApi):
    """GET: threads of a conclusion. POST: a new one."""

    of: ClassVar[type[Model] | None] = Conclusion
    takes = {"post": Right.COMMENT}

    @operation("list_conclusion_threads", TAG, answer=ThreadOutput)
    def get(self, request: Request, pk: int) -> Response:
        """List the threads of a conclusion with their comments, the newest first."""
        return self.page(threads_on(get_object_or_404(Conclusion, pk=pk)), ThreadOutput, "-pk")

    @operation("create_conclusion_thread", TAG, body=CommentInput, answer=WrittenOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Begin a thread on the conclusion."""
        place = comments.place_on(get_object_or_404(Conclusion, pk=pk))
        comment = comments.begin(place, self.read(CommentInput)["text"], self.user)
        return self.written(comment, status.HTTP_201_CREATED)


class OneThread(CommentsApi):
    """GET: one thread."""

    of: ClassVar[type[Model] | None] = Thread

    @operation("get_thread", TAG, answer=ThreadOutput)
    def get(self, request: Request, pk: int) -> Response:
        """Return a thread with its comments."""
        self.read_query(NoQuery)
        return Response(self.shown(get_object_or_404(threads(), pk=pk), ThreadOutput))


class Answer(CommentsApi):
    """POST: an answer in a thread."""

    of: ClassVar[type[Model] | None] = Thread
    takes = {"post": Right.COMMENT}

    @operation("create_comment", TAG, body=CommentInput, answer=WrittenOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Answer in a thread."""
        thread = get_object_or_404(Thread, pk=pk)
        comment = comments.reply(thread, self.read(CommentInput)["text"], self.user)
        return self.written(comment, status.HTTP_201_CREATED)


class Resolve(CommentsApi):
    """POST: resolve a thread."""

    of: ClassVar[type[Model] | None] = Thread
    takes = {"post": Right.COMMENT}

    @operation("resolve_thread", TAG, answer=ThreadOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Resolve a thread; 409 if it is resolved already."""
        comments.resolve(get_object_or_404(threads(), pk=pk), self.user)
        return Response(self.shown(threads().get(pk=pk), ThreadOutput))


class Reopen(CommentsApi):
    """POST: re-open a thread."""

    of: ClassVar[type[Model] | None] = Thread
    takes = {"post": Right.COMMENT}

    @operation("reopen_thread", TAG, answer=ThreadOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Re-open a resolved thread; 409 if it is open."""
        comments.reopen(get_object_or_404(threads(), pk=pk), self.user)
        return Response(self.shown(threads().get(pk=pk), ThreadOutput))


class OneComment(CommentsApi):
    """PATCH, DELETE: a comment of the user."""

    of: ClassVar[type[Model] | None] = Comment
    takes = {"patch": Right.COMMENT, "delete": Right.COMMENT}

    @operation("edit_comment", TAG, body=CommentInput, answer=WrittenOutput)
    def patch(self, request: Request, pk: int) -> Response:
        """Edit your own comment; it is then marked as edited."""
        comment = get_object_or_404(Comment, pk=pk)
        text = self.read(CommentInput)["text"]
        with self.unchanged(comment, comments.revised):
            result = comments.edit(comment, text, self.user)
        return self.written(result)

    @operation("delete_comment", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the text of your own comment; the comment keeps its place in the thread."""
        comment = get_object_or_404(Comment, pk=pk)
        with self.unchanged(comment, comments.revised):
            comments.delete(comment, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Inbox(Api):
    """GET: the items of the inbox."""

    @operation("list_inbox", "inbox", answer=InboxOutput, whole=True)
    def get(self, request: Request) -> Response:
        """List what waits for you, the longest first; at most 200 items."""
        results = [inbox_line(each) for each in waiting(self.user)]
        return self.whole([dict(InboxOutput(line).data) for line in results], InboxOutput)
