"""What was changed after launch of what launch locks."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import Campaign


class Amendment(models.Model):
    """A change of a locked field after launch: who, when, why, from what to what."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="amendments")
    field = models.CharField(max_length=50)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    reason = models.TextField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.field} of {self.campaign}"
