"""Conclusions with their evidence, reviews and decisions; comments."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import Campaign
from campaigns.models.teams import Team


class Conclusion(models.Model):
    """A claim, with its evidence and the state of its review.

    `revision` grows each time it is sent to review; a decision is about one revision. writers: the author
    and all who edited the text; none of them may decide on it.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        IN_REVIEW = "in_review", "in review"
        CHANGES_REQUESTED = "changes_requested", "changes requested"
        ACCEPTED = "accepted", "accepted"
        REJECTED = "rejected", "rejected"
        SUPERSEDED = "superseded", "superseded"
        REOPENED = "reopened", "re-opened"

    EDITABLE = frozenset({State.DRAFT, State.CHANGES_REQUESTED, State.REOPENED})
    STANDING = frozenset({State.IN_REVIEW, State.ACCEPTED})
    """States that are void once the data differ from those that were sent to review."""
    RESTS_ON = "evidence__campaign__team"
    """The path to teams: who may not see all of them does not see the row; see `kit.rights`."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="conclusions")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="conclusions"
    )
    writers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="conclusions_written")
    claim = models.CharField(max_length=500)
    recommendation = models.TextField(blank=True)
    limits = models.TextField(blank=True, help_text="Where it does not hold.")
    state = models.CharField(max_length=20, choices=State, default=State.DRAFT, db_index=True)
    revision = models.PositiveIntegerField(default=0)
    reason = models.TextField(blank=True, help_text="Why it stands as it does, such as re-opened.")
    reopened_by = models.JSONField(default=list, help_text="What changed: both values of each.")
    supersedes = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=[
                        "draft",
                        "in_review",
                        "changes_requested",
                        "accepted",
                        "rejected",
                        "superseded",
                        "reopened",
                    ]
                ),
                name="conclusion_state_known",
            )
        ]

    def __str__(self) -> str:
        return self.claim


class EvidenceManager(models.Manager["Evidence"]):
    """Defers the snapshot, which may be large; `defer(None)` loads it."""

    def get_queryset(self) -> models.QuerySet["Evidence"]:
        """Return rows without the snapshot."""
        return super().get_queryset().defer("snapshot")


class Evidence(models.Model):
    """The evidence of a conclusion: a campaign, and a contrast, finding and chart of it.

    snapshot: findings with their versions and the checklist, as they were when it was sent to review;
    `data_hash` and `stamp` (results.data_stamp) are of the same moment.
    findings_at: when the findings were computed with which it was last compared.
    """

    conclusion = models.ForeignKey(Conclusion, on_delete=models.CASCADE, related_name="evidence")
    position = models.PositiveIntegerField()
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="evidence_for")
    contrast = models.JSONField(null=True, blank=True)
    finding = models.CharField(max_length=120, blank=True)
    view = models.CharField(max_length=500, blank=True, help_text="Address of a chart's view.")
    data_hash = models.CharField(max_length=80, blank=True)
    snapshot = models.JSONField(default=dict)
    stamp = models.JSONField(default=dict)
    findings_at = models.DateTimeField(null=True, blank=True)

    objects = EvidenceManager()

    class Meta:
        verbose_name_plural = "evidence"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["conclusion", "position"], name="evidence_position_once"
            )
        ]

    def __str__(self) -> str:
        return f"evidence {self.position} of {self.conclusion}"


class Reviewer(models.Model):
    """A request to review a conclusion."""

    conclusion = models.ForeignKey(Conclusion, on_delete=models.CASCADE, related_name="reviewers")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reviews_asked"
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    asked_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["conclusion", "user"], name="reviewer_asked_once")
        ]

    def __str__(self) -> str:
        return f"{self.user} on {self.conclusion}"


class Decision(models.Model):
    """The decision of a reviewer on one revision, with the hash of its data. Never changed."""

    class Word(models.TextChoices):
        APPROVE = "approve", "approved"
        REQUEST_CHANGES = "request_changes", "asked for changes"
        REJECT = "reject", "rejected"

    conclusion = models.ForeignKey(Conclusion, on_delete=models.CASCADE, related_name="decisions")
    revision = models.PositiveIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions"
    )
    word = models.CharField(max_length=20, choices=Word)
    reason = models.TextField(blank=True)
    data_hash = models.CharField(max_length=80)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["conclusion", "revision", "user"], name="one_decision_a_revision"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.get_word_display()}"


class CheckWord(models.Model):
    """The author's justification of a warning of the checklist.

    about: the text of the check at that time, with its number; once the text differs,
    the justification is void.
    """

    conclusion = models.ForeignKey(Conclusion, on_delete=models.CASCADE, related_name="words")
    check_name = models.CharField(max_length=50)
    about = models.TextField(blank=True)
    text = models.TextField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["conclusion", "check_name"], name="one_word_a_check")
        ]

    def __str__(self) -> str:
        return f"{self.check_name} of {self.conclusion}"


class PublicLink(models.Model):
    """A public link to one accepted report; only its hash is stored."""

    conclusion = models.ForeignKey(
        Conclusion, on_delete=models.CASCADE, related_name="public_links"
    )
    hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"public link to {self.conclusion}"


class Thread(models.Model):
    """A thread of comments, which can be resolved.

    `on` and `key` name its subject: the position of a cell or run, the address of a chart; a campaign
    or a conclusion has no key.
    """

    class On(models.TextChoices):
        CAMPAIGN = "campaign", "campaign"
        CELL = "cell", "cell"
        RUN = "run", "run"
        CHART = "chart", "chart"
        CONCLUSION = "conclusion", "conclusion"

    RESTS_ON = "conclusion__evidence__campaign__team"

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
    """A comment in Markdown. A deleted one stays in its place without its text."""

    TEAM = "thread__team"
    RESTS_ON = "thread__conclusion__evidence__campaign__team"

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
    """A member of the team whom a comment mentions, and when that member saw it."""

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
