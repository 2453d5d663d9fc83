"""How long raw samples are kept, and which were deleted."""

from django.db import models
from django.db.models.functions import Now

from campaigns.models.runs import Attempt
from campaigns.models.teams import Team


class Retention(models.Model):
    """A team's rule: raw samples that are older are deleted. Without a row they are kept for ever."""

    team = models.OneToOneField(Team, on_delete=models.CASCADE, related_name="retention")
    keep_samples_days = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(keep_samples_days__gte=1), name="samples_are_kept_a_day"
            )
        ]

    def __str__(self) -> str:
        return f"{self.team} keeps raw samples for {self.keep_samples_days} days"


class DeletedSamples(models.Model):
    """Raw samples that an attempt once had: how many, and by which rule they were deleted."""

    attempt = models.OneToOneField(
        Attempt, on_delete=models.CASCADE, related_name="deleted_samples"
    )
    count = models.PositiveBigIntegerField()
    kept_days = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "deleted samples"

    def __str__(self) -> str:
        return f"{self.count} samples, deleted"
