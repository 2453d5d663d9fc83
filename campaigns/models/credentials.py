"""Logins of a team for feeds and servers that are no targets."""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Now

from campaigns.models.teams import Team

MOST_PLACES = 20
MOST_PEM = 50_000
NAME = r"\A[A-Za-z0-9][A-Za-z0-9_.-]*\Z"


class Credential(models.Model):
    """A login of a team, which campaigns name. `password`, `token`, `certificate` and `key` are encrypted, and never shown.

    places: scheme, host and port of the servers that may get it. version: counts the changes of its values.
    subject, fingerprint, begins_at, ends_at: of the certificate; empty and null without one. told: at how many days before the
    end its team was told last; null: not yet.
    """

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="credentials")
    name = models.CharField(
        max_length=60,
        validators=[
            RegexValidator(
                NAME, "Give letters, digits, dots, - and _, and begin with a letter or digit."
            )
        ],
        help_text="Campaigns name it so. It stays.",
    )
    places = models.JSONField(default=list)
    username = models.CharField("user name", max_length=200, blank=True)
    password = models.TextField(blank=True, editable=False)
    token = models.TextField(blank=True, editable=False)
    certificate = models.TextField(blank=True, editable=False)
    key = models.TextField(blank=True, editable=False)
    ca = models.TextField("CA", max_length=200_000, blank=True)
    version = models.PositiveIntegerField(default=1)
    subject = models.CharField(max_length=300, blank=True)
    fingerprint = models.CharField(max_length=64, blank=True)
    begins_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    told = models.SmallIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="credential_name_once_in_a_team")
        ]

    def __str__(self) -> str:
        return self.name
