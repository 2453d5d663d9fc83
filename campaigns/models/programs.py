"""Programs that operators have defined, and what they printed in runs."""

from collections.abc import Sequence

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.runs import Attempt
from campaigns.models.teams import Team


class Program(models.Model):
    """One version of a program, which is a kind of test. What was published is never changed: a change is a new version.

    kind: the name by which campaigns keep it, from the hash of the definition; null for a draft. `secrets` are encrypted,
    and never shown. trial: what the last trial of a draft found; trial_began_at: null: none is on. forgotten, forgotten_for: the
    secrets that saving this draft dropped, and the changed fields because of which; not stored.
    """

    forgotten: Sequence[str] = ()
    forgotten_for: Sequence[str] = ()

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        PUBLISHED = "published", "in use"
        SUPERSEDED = "superseded", "superseded"
        RETIRED = "retired", "retired"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="programs")
    name = models.CharField(max_length=40)
    version = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=50, unique=True, null=True, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    definition = models.JSONField()
    secrets = models.JSONField(default=dict, blank=True, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())
    published_at = models.DateTimeField(null=True, blank=True)
    trial = models.JSONField(null=True, blank=True)
    trial_began_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="version_of_a_program_once"),
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(state="published"), name="one_version_in_use"
            ),
            models.CheckConstraint(
                condition=models.Q(state="draft", kind__isnull=True)
                | (~models.Q(state="draft") & models.Q(kind__isnull=False)),
                name="a_draft_of_a_program_is_no_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"


class AttemptOutput(models.Model):
    """What a program printed, or a file that it wrote, compressed with zlib. cut: its end is missing."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="outputs")
    name = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    content = models.BinaryField()
    cut = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["attempt", "name"], name="output_of_an_attempt_once")
        ]

    def __str__(self) -> str:
        return self.name


class Parcel(models.Model):
    """The secrets that one attempt, or one trial of a program, may use, sealed for its worker. The key is in its message alone."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, null=True, related_name="+")
    program = models.OneToOneField(Program, on_delete=models.CASCADE, null=True, related_name="+")
    sealed = models.TextField(editable=False)
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(attempt__isnull=True) ^ models.Q(program__isnull=True),
                name="a_parcel_is_for_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"secrets for {self.attempt or self.program}"
