"""Definitions that a team keeps to begin campaigns from."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.teams import Team


class Template(models.Model):
    """A definition of a campaign without its results. `definition` is what a draft is made from."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="templates")
    name = models.CharField(max_length=120)
    notes = models.TextField(blank=True)
    definition = models.JSONField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(retired_at=None),
                name="template_name_once_in_a_team",
            )
        ]

    def __str__(self) -> str:
        return self.name
