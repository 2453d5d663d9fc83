"""How long what was told is kept."""

from datetime import timedelta

from django.db.models.functions import Now

from campaigns.models import Announcement, Delivery

KEPT_DAYS = 30


def forget_old() -> None:
    """Delete announcements that are long read, with their deliveries, unless one still waits."""
    old = Announcement.objects.filter(read_at__lt=Now() - timedelta(days=KEPT_DAYS))
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING)
    old.exclude(pk__in=waiting.values("announcement")).delete()
