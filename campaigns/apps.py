"""The one Django app of perfdash."""

from django.apps import AppConfig


class CampaignsConfig(AppConfig):
    """Campaigns: from the definition to the signed-off answer."""

    name = "campaigns"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the checks; they need the models."""
        from campaigns import checks  # noqa: F401
