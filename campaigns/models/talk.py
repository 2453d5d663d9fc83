"""What people say to one another: threads of comments, and who was mentioned."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import Campaign
from campaigns.models.reviews import Conclusion
from campaigns.models.teams import Team


class Thread(models.Model):
    """Comments on one thing; it can be resolved.

    `on` with `key` says on what: a cell's or run's position, a chart's view (its address); a campaign
    or a conclusion needs no key.
    """

    class On(models.TextChoices):
        CAMPAIGN = "campaign", "campaign"
        CELL = "cell", "cell"
        RUN = "run", "run"
        CHART = "chart", "chart"
        CONCLUSION = "conclusion", "conclusion"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="threads")
    on = models.CharField(max_length=10, choices=On)
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, null=True, related_name="threads"
    )
    conclusion = models.ForeignKey(
        Conclusion, on_delete=models.CASCADE, null=True, related_name="threads"
    )
    key = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(campaign=None) ^ models.Q(conclusion=None),
                name="thread_is_on_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"thread on {self.campaign or self.conclusion}"


class Comment(models.Model):
    """Something said, in Markdown. A deleted one keeps its place and loses its text."""

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="comments"
    )
    text = models.TextField(blank=True)
    at = models.DateTimeField(db_default=Now())
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.text[:80]


class Mention(models.Model):
    """A member of the team whom a comment names; seen when he opened it."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="mentions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mentions"
    )
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comment", "user"], name="mentioned_once_a_comment")
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.comment}"
