"""What a POST with an Idempotency-Key was answered, so that its repetition is answered alike."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class KeptAnswer(models.Model):
    """The answer to one request of one person; stored together with what the request has made."""

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
