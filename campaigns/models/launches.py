"""A second person's yes before a production server is loaded."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import Campaign


class LaunchRequest(models.Model):
    """Somebody asked to load a production server, and another operator of the team decides.

    `options`: what else the step takes: `blocks` of an extension; `cell` of a try-out and `run`
    that is made again, by their positions.
    `definition_hash`: of what was asked for; once the definition is another one, the request is void.
    """

    class Step(models.TextChoices):
        LAUNCH = "launch", "launch"
        TRY = "try", "try-out"
        EXTEND = "extend", "extension"
        AGAIN = "again", "repetition of a run"

    class State(models.TextChoices):
        WAITING = "waiting", "waits for a second yes"
        APPROVED = "approved", "approved"
        REFUSED = "refused", "refused"
        WITHDRAWN = "withdrawn", "withdrawn"
        OUTDATED = "outdated", "void: the definition was changed"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="launch_requests")
    step = models.CharField(max_length=10, choices=Step)
    options = models.JSONField(default=dict)
    definition_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="launches_asked"
    )
    asked_at = models.DateTimeField(db_default=Now())
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="launches_decided",
    )
    decided_at = models.DateTimeField(null=True)
    words = models.TextField(blank=True, help_text="Why it was refused or approved.")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign"],
                condition=models.Q(state="waiting"),
                name="one_launch_request_waits",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="approved")
                | (models.Q(decided_by__isnull=False) & ~models.Q(decided_by=models.F("asked_by"))),
                name="second_yes_is_another_persons",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_step_display()} of {self.campaign}"
