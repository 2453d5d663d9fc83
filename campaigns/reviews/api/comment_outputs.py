"""Threads and comments, and what waits, as JSON."""

from typing import Any

from rest_framework import serializers

from campaigns.kit.api.inputs import Input
from campaigns.kit.api.selection import Selectable
from campaigns.kit.markup import to_html
from campaigns.models import Comment, Thread
from campaigns.reviews.comments import page_of
from campaigns.reviews.inbox import Waits


class CommentInput(Input):
    """What is to be said, in Markdown."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False)


class ThreadInput(CommentInput):
    """`on` and `key`: what it is on, where it is not the campaign as a whole."""

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
        """Nothing in it runs."""
        return to_html(comment.text, self.get_mentions(comment))

    def get_mentions(self, comment: Comment) -> list[str]:
        """Who was told of it."""
        return [mention.user.get_username() for mention in comment.mentions.all()]


class ThreadOutput(Selectable):
    """A thread with its comments. `page`: path of the page that shows what it is on."""

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
        """Where it is."""
        return page_of(thread)


class WrittenOutput(ThreadOutput):
    """The thread as it is then. `warnings`: sentences, such as of names that nobody in the team has."""

    warnings = serializers.SerializerMethodField()

    def get_warnings(self, thread: Thread) -> list[str]:
        """What whoever wrote should know."""
        found: Any = self.context.get("warnings", [])
        return list(found)


class InboxOutput(Selectable):
    """Something that waits. `what`: of which thing; `words`: what is to be done; `path`: of its page."""

    why = serializers.ChoiceField(choices=[(each.value, each.value) for each in Waits])
    what = serializers.CharField()
    words = serializers.CharField()
    path = serializers.CharField()
    team = serializers.CharField()
    since = serializers.DateTimeField()
