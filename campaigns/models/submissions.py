"""Submissions of external results, their metrics, and stored answers of the REST API."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import METRIC_LETTERS, Campaign
from campaigns.models.teams import Team, default_team


class DeclaredMetric(models.Model):
    """A metric that a submission declares; metrics of a kind are declared by its driver.

    lower_is_better: None where neither way is better.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="metrics", db_index=False
    )
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=METRIC_LETTERS)
    label = models.CharField(max_length=100)
    unit = models.CharField(max_length=20)
    lower_is_better = models.BooleanField(null=True)
    fidelity = models.CharField(
        max_length=20, choices=Campaign.Fidelity, default=Campaign.Fidelity.RAW
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="declared_metric_once")
        ]

    def __str__(self) -> str:
        return self.name


class Submission(models.Model):
    """One request or file with external runs.

    A large file waits, in parts, until a worker reads it with `options`.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waits to be read"
        STORED = "stored", "stored"
        REFUSED = "refused", "refused"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, null=True, blank=True, related_name="submissions"
    )
    team = models.ForeignKey(Team, on_delete=models.PROTECT, default=default_team)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    state = models.CharField(max_length=20, choices=State, default=State.STORED)
    problem = models.TextField(blank=True, help_text="Why it was refused.")
    format = models.CharField(max_length=50, blank=True, help_text="Of a file; empty: by REST.")
    filename = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64, help_text="SHA-256 of what was sent.")
    options = models.JSONField(default=dict)
    runs = models.PositiveIntegerField(default=0)
    values = models.PositiveIntegerField(default=0)
    dropped = ArrayField(models.TextField(), default=list)
    info = models.JSONField(default=dict)
    received_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True, blank=True, help_text="To the worker that reads it.")
    tries = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="How often a worker began to read it."
    )
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["id"], condition=models.Q(state="waiting"), name="submissions_that_wait"
            ),
            models.Index(
                fields=["digest"], condition=~models.Q(digest=""), name="submissions_by_digest"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["waiting", "stored", "refused"]),
                name="submission_state_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="stored") | models.Q(campaign__isnull=False),
                name="stored_submission_has_a_campaign",
            ),
        ]

    def __str__(self) -> str:
        return f"submission {self.pk}"


class SubmissionPart(models.Model):
    """A part of a file that waits; deleted when the file was read."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "number"], name="submission_part_once")
        ]

    def __str__(self) -> str:
        return f"part {self.number} of {self.submission}"


class KeptAnswer(models.Model):
    """The stored answer to a request with an idempotency key, committed together with its effect."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="one_answer_a_key"),
            models.CheckConstraint(
                condition=models.Q(status__gte=200, status__lt=300), name="only_success_is_kept"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} to {self.key}"
