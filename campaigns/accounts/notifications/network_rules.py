"""Network rules of webhooks: those of workers, extended by a setting."""

from dataclasses import replace

from django.conf import settings

from campaigns.kit import network
from campaigns.kit.own_services import installation_rules

SETTING = "PERFDASH_NOTIFICATION_ADDRESSES"


def notification_rules() -> network.Rules:
    """Rules for webhooks and chat services; perfdash's own services are excluded as ever."""
    rules = replace(installation_rules(), source=SETTING, of="channel")
    return rules.allowing(settings.NOTIFICATION_ADDRESSES)
