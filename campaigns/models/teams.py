"""Teams and their members, invitations, API tokens, sign-in links, and the record of activity."""

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now


class Team(models.Model):
    """The owner of targets, campaigns, templates and conclusions; its rules apply to these.

    approvals_needed: how many users other than the author have to approve a conclusion.
    second_for_production: a launch on a production target needs approval by a second person.
    """

    TEAM = "pk"

    name = models.CharField(max_length=100, unique=True)
    is_default = models.BooleanField(default=False)
    approvals_needed = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(10)],
        help_text="So many people beside the author approve a conclusion before it is accepted.",
    )
    second_for_production = models.BooleanField(
        "two people for a launch on a production server",
        default=False,
        help_text="A launch, an extension or a try-out there waits until another operator approves it.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(approvals_needed__gte=1, approvals_needed__lte=10),
                name="some_approval_is_needed",
            ),
            models.UniqueConstraint(
                fields=["is_default"], condition=models.Q(is_default=True), name="one_default_team"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """A role of a member, who may have several. campaigns.kit.rights defines the rights of each."""

    VIEWER = "viewer", "viewer"
    AUTHOR = "author", "author"
    OPERATOR = "operator", "operator"
    REVIEWER = "reviewer", "reviewer"
    ADMIN = "admin", "admin"


def roles_known(name: str) -> models.CheckConstraint:
    """Raise ValidationError for no role or an unknown one."""
    return models.CheckConstraint(
        condition=models.Q(roles__contained_by=list(Role.values), roles__len__gt=0), name=name
    )


class Membership(models.Model):
    """A user's membership in a team, with roles."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    roles = ArrayField(models.CharField(max_length=10, choices=Role))
    joined_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="member_once_in_a_team"),
            roles_known("roles_of_a_member_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class Invitation(models.Model):
    """A link that makes one user a member; only its hash is stored."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    roles = ArrayField(models.CharField(max_length=10, choices=Role))
    note = models.CharField(max_length=200, blank=True, help_text="For whom it is.")
    hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="invitations_made"
    )
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="invitations_used",
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [roles_known("roles_of_an_invitation_known")]

    def __str__(self) -> str:
        return f"invitation to {self.team}"


class Scope(models.TextChoices):
    """A permission of a token. `operate` includes the others, which do not include each other."""

    READ = "read", "read"
    SUBMIT = "submit", "submit results"
    TRIGGER = "trigger", "ask lines to look"
    OPERATE = "operate", "everything"


def all_scopes() -> list[str]:
    """The scopes of a token by default."""
    return [Scope.OPERATE]


class ApiToken(models.Model):
    """A user's token for the REST API; only its hash is stored."""

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
    """A link that signs a user in once, within a short time; only its hash is stored."""

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
    """Return the primary key of the default team, which is created if it is missing."""
    team, _ = Team.objects.get_or_create(is_default=True, defaults={"name": "Default"})
    return team.pk


class AuditEvent(models.Model):
    """An action of a user, or of perfdash itself (`user` null).

    Only kind, key and name of the subject are stored, so that it may be deleted later. means:
    browser, command, system, or a token by its name.
    """

    at = models.DateTimeField(db_default=Now(), db_index=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    means = models.CharField(max_length=120, blank=True)
    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    action = models.CharField(max_length=40)
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
            models.Index(fields=["action"], name="audit_of_an_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject_name}"
