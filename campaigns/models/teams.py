"""Who: teams, API tokens and sign-in links. Roles come with team review."""

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class Team(models.Model):
    """Owns targets and campaigns. There is one default team until roles exist."""

    name = models.CharField(max_length=100, unique=True)
    is_default = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=models.Q(is_default=True), name="one_default_team"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Scope(models.TextChoices):
    """What a token is good for. `operate` takes the other two in; these know nothing of each other."""

    READ = "read", "read"
    SUBMIT = "submit", "submit results"
    OPERATE = "operate", "everything"


def all_scopes() -> list[str]:
    """What a token may that nobody has limited."""
    return [Scope.OPERATE]


class ApiToken(models.Model):
    """A key of one person to the REST API; only its hash is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    hash = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope.choices), default=all_scopes)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scopes__contained_by=list(Scope.values), scopes__len__gt=0),
                name="token_scopes_known",
            )
        ]

    def __str__(self) -> str:
        return self.name


class SignInLink(models.Model):
    """A link that signs its user in, once and for a short time; only its hash is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_links"
    )
    hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"link of {self.user}"


def default_team() -> Any:
    """Primary key of the default team, made where it is missing."""
    team, _ = Team.objects.get_or_create(is_default=True, defaults={"name": "Default"})
    return team.pk
