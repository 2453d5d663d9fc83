"""The panel of a target's settings, steps and SSH login."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from campaigns.models import Target
from campaigns.targets.actions import fingerprint_of
from campaigns.targets.reaching import ssh_of
from campaigns.targets.settings import as_levels
from campaigns.targets.ssh_logins import is_admin


def settings_context(target: Target, user: User | None) -> dict[str, Any]:
    """What `targets/_settings.html` draws."""
    login = ssh_of(target)
    return {
        "settings": [
            (row, as_levels(row), (in_words(row.apply), in_words(row.read_back)))
            for row in target.setting_rows.all()
        ],
        "steps": [(step, in_words(step.action)) for step in target.steps.all()],
        "ssh": login,
        "accepted": fingerprint_of(login.host_key) if login else "",
        "offered": fingerprint_of(login.offered_key) if login else "",
        "may_command": user is not None and is_admin(user),
    }


def in_words(action: Mapping[str, Any]) -> str:
    """Return how an action is done, in a few words."""
    match action.get("way"):
        case "http":
            return f"by {action.get('method', 'GET')} {action.get('url', '')}"
        case "command":
            return f"by the command {' '.join(action.get('arguments', ()))[:60]}"
    return "by hand"
