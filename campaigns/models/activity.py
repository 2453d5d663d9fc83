"""Who did what: written once, never changed. The database refuses to change or delete a row."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.teams import Team


class AuditEvent(models.Model):
    """Something that somebody did, or that perfdash did by itself (`user` null).

    Of what it was done to only kind, key and name are kept, so that it may be deleted later. `means`:
    browser, command, system, or a token by its name.
    """

    at = models.DateTimeField(db_default=Now(), db_index=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    means = models.CharField(max_length=120, blank=True)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=40, db_index=True)
    subject_kind = models.CharField(max_length=30, blank=True)
    subject_key = models.BigIntegerField(null=True)
    subject_name = models.CharField(max_length=200, blank=True)
    campaign_key = models.BigIntegerField(null=True, db_index=True)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["subject_kind", "subject_key"], name="audit_of_a_subject"),
            models.Index(fields=["team", "-id"], name="audit_of_a_team"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject_name}"
