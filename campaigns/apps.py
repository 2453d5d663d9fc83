"""The one Django app of perfdash."""

from django.apps import AppConfig
from django.conf import settings

from campaigns.kit import redaction


class CampaignsConfig(AppConfig):
    """Campaigns: from the definition to the signed-off answer."""

    name = "campaigns"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register checks and receivers, which need the models; keep what is secret out of the log.

        Tasks are sent by the application of `perfdash.celery`, which is loaded here.
        """
        from campaigns import receivers  # noqa: F401
        from campaigns.accounts import sign_in_record  # noqa: F401
        from campaigns.overview import checks  # noqa: F401
        from perfdash import celery  # noqa: F401

        for secret in settings.SECRETS:
            redaction.remember(secret)
