"""Add the sandbox's simulated Katello as a target, over TLS, so that hosts can register."""

import re

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.kinds.registration.advice import TUNINGS
from campaigns.models import Campaign, Target, on_target
from campaigns.planning import lifecycle
from campaigns.targets import saving
from campaigns.targets.actions import PLACE
from campaigns.targets.forms import as_data
from campaigns.targets.settings import save_setting
from campaigns.targets.watches.forms import as_data as watch_data
from campaigns.targets.watches.registry import source_of
from campaigns.targets.watches.saving import save_watch

KATELLO = "Sandbox Katello (TLS)"
_LOGIN = {"username": "admin", "password": "password"}  # what every simulator starts with
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
SETTINGS = {
    "puma_workers": ("Puma workers", 1, 100),
    "puma_threads": ("Puma threads", 1, 128),
    "puma_threads_min": ("Least Puma threads", 0, 128),
    "db_pool": ("DB pool", 0, 1000),
    "httpd_limit": ("Requests in httpd", 1, 100_000),
    "dynflow_workers": ("Dynflow workers", 1, 64),
    "dynflow_threads": ("Dynflow threads", 1, 64),
    "cpus": ("CPUs", 1, 256),
    "memory_gib": ("Memory in GiB", 1, 4096),
    "proxy_cpus": ("Proxy CPUs", 0, 256),
    "proxy_memory_gib": ("Proxy memory in GiB", 1, 4096),
    "proxy_timeout": ("Proxy timeout", 1, 3600),
    "proxy_httpd_limit": ("Requests in the proxy's httpd", 1, 100_000),
    "content_workers": ("Content processes", 0, 256),
    "mqtt_rate_limit": ("MQTT rate limit", 0, 20_000),
    "mqtt_resend_interval": ("MQTT resend interval", 1, 86_400),
    "mqtt_ttl": ("MQTT time to live", 1, 3600),
}
PROFILE = "installer_profile"
_CHOICES = {PROFILE: ("Installer profile", ("none", *(each.name for each in TUNINGS)))}
_NUMBERS = {"memory_gib": "GiB", "proxy_memory_gib": "GiB", "proxy_timeout": "s"}
"""The units of the settings that may be broken numbers."""
_WATCHES = {"node_exporter": "/metrics", "process_exporter": "/metrics", "puma": "/stats"}
"""What the simulator tells of its modelled machine, its programs and Puma, by the source that reads it."""
_NOTES = (
    "A simulated Foreman with Katello that comes with perfdash: its numbers say nothing about "
    "a real one. Hosts register with the activation key bench-ak of the organization ACME."
)

WHAT_TO_DO = "End what has the port, start perfdash again, and resume the campaign; or cancel it."


def certificates_in(text: str) -> str:
    """Return the certificates of a PEM that may contain a key, too."""
    return "\n".join(_CERTIFICATE.findall(text))


@transaction.atomic
def katello_target(base_url: str, ca_bundle: str, owner: User) -> str:
    """Create the target with its settings, or update its address and CA. Return a report as text.

    Like the target of the sandbox it is created once, stays while a campaign is measuring it, and is left
    alone where somebody gave its name to a server of their own. Raise Invalid.
    """
    row = Target.objects.filter(name=KATELLO, retired_at=None).first()
    if row is None:
        if Target.objects.filter(name__startswith=f"{KATELLO} (retired ").exists():
            return ""
        target = saving.save_target(_server(base_url, ca_bundle))
        for name in (*SETTINGS, *_CHOICES):
            save_setting(_setting(name), target, owner)
        for name, path in _WATCHES.items():
            source = source_of(name)
            # Its runs are short: with a step of a second a queue would be seen too seldom to be judged.
            step = {"step_seconds": source.steps[1], "is_on": True}
            save_watch(_watch(base_url, path) | step, target, source, owner)
        return f"Made the target {KATELLO} at {base_url}."
    taken_over = row.family != "katello" or row.username != _LOGIN["username"]
    same = row.base_url == base_url and row.ca_bundle.split() == ca_bundle.split()
    if taken_over or same:
        return ""
    if value := paused_where_it_was(row, base_url):
        return value
    before = row.base_url
    target = saving.save_target(as_data(row) | _server(base_url, ca_bundle, row.notes), row)
    for watch in target.watches.filter(address__startswith=f"{before}/"):
        data = watch_data(watch) | _watch(base_url, watch.address.removeprefix(before))
        save_watch(data, target, source_of(watch.source), owner, watch)
    return f"The target {KATELLO} is at {base_url} now."


def paused_where_it_was(target: Target, base_url: str) -> str:
    """Pause campaigns that measure a simulator that has moved to another address; return a report as text.

    The address cannot change during a campaign, and every run would be void. Empty where nothing is
    measured.
    """
    active = Campaign.objects.filter(on_target(target), state__in=Campaign.ACTIVE)
    if not active.exists():
        return ""
    why = (
        f"The target {target.name} stays at {target.base_url}, where a campaign is measuring it; "
        f"it listens at {base_url} now, since something else has the port"
    )
    for campaign in active.filter(state=Campaign.State.RUNNING):
        lifecycle.pause(campaign, reason=f"stopped automatically: {why}. {WHAT_TO_DO}")
    return f"{why}. {WHAT_TO_DO}"


def _setting(name: str) -> dict[str, object]:
    url = f"/simulator/settings/{name}"
    return {
        "name": name,
        **_values(name),
        "hard_to_change": False,
        "apply": {"way": "http", "method": "PUT", "url": url, "body": {"value": PLACE}},
        "read_back": {"way": "http", "method": "GET", "url": url, "at": "value"},
    }


def _values(name: str) -> dict[str, object]:
    """Return the label of a setting, and what its values may be."""
    if name in _CHOICES:
        label, choices = _CHOICES[name]
        return {"label": label, "type": "choice", "choices": list(choices)}
    label, least, most = SETTINGS[name]
    unit = _NUMBERS.get(name, "")
    return {
        "label": label,
        "unit": unit,
        "type": "number" if unit else "integer",
        "minimum": least,
        "maximum": most,
    }


def _watch(base_url: str, path: str) -> dict[str, object]:
    return {"address": f"{base_url}{path}", "confirm_address": True}


def _server(base_url: str, ca_bundle: str, notes: str = "") -> dict[str, object]:
    return {
        "name": KATELLO,
        "family": "katello",
        "base_url": base_url,
        "ca_bundle": ca_bundle,
        "notes": notes or _NOTES,
        "confirm_address": True,
        **_LOGIN,
    }
