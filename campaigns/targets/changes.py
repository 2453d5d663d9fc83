"""What of a target is recorded when somebody saves it: every change, and of secrets that they changed."""

from collections.abc import Mapping
from typing import Any

from campaigns.kit.activity import Action, record
from campaigns.models import Target

SHOWN = (
    "name",
    "family",
    "base_url",
    "verify_tls",
    "username",
    "notes",
    "is_dedicated",
    "hardware",
    "max_concurrency",
    "max_requests_per_second",
    "quiet_hours",
    "quiet_zone",
    "is_production",
)
NAMED = ("password", "client_key", "client_certificate", "ca_bundle")
"""Of these only the name is told."""


def stored(target: Target) -> Mapping[str, Any]:
    """What there is before it is changed; nothing of a new one."""
    if target._state.adding:
        return {}
    found = Target.objects.get(pk=target.pk)
    return {name: getattr(found, name) for name in (*SHOWN, *NAMED)}


def record_saved(target: Target, before: Mapping[str, Any]) -> None:
    """Record that a target was made or changed; `before`: what `stored` gave."""
    if not before:
        record(Action.TARGET_CREATED, subject=target)
        return
    changed = [name for name, value in before.items() if getattr(target, name) != value]
    changes = {
        name: {"before": before[name], "after": getattr(target, name)}
        for name in changed
        if name in SHOWN
    }
    secrets = [name for name in changed if name in NAMED]
    record(Action.TARGET_EDITED, subject=target, changes=changes, credentials_changed=secrets)
