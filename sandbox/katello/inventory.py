"""The fixed repositories and smart proxies of the simulator, as its API shows them."""

from dataclasses import dataclass
from typing import Any

from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.consumers import ActivationKey, Organization

FOREMAN, KATELLO = "3.14.0 simulated", "4.16.0 simulated"
SERVICES = (
    "candlepin",
    "candlepin_auth",
    "foreman_tasks",
    "katello_events",
    "pulp3",
    "pulp3_content",
)


@dataclass(slots=True, eq=False)
class Repository:
    """A repository; only its units change, where a test lets syncs add some."""

    pk: int
    name: str
    content_type: str = "yum"
    url: str = "http://feed.example/bench/"
    download_policy: str = "on_demand"
    units: int = 120
    library: bool = True
    size: int = 20_480  # bytes of a unit
    seed: int = 0

    @property
    def unit_type(self) -> str:
        """What its units are called."""
        return {"yum": "rpm", "deb": "deb"}.get(self.content_type, self.content_type)

    def document(self) -> dict[str, Any]:
        """Tell of it as `GET /katello/api/v2/repositories/:id` does."""
        return {
            "id": self.pk,
            "name": self.name,
            "label": self.name,
            "content_type": self.content_type,
            "url": self.url or None,
            "download_policy": self.download_policy,
            "mirroring_policy": "mirror_content_only",
            "content_counts": {self.unit_type: self.units, "srpm": 0},
            "product": {"id": 1, "name": "Bench"},
            "organization": {"id": 1, "name": "ACME"},
        }


def repositories() -> dict[int, Repository]:
    """Give what a fresh simulator has."""
    made = (
        Repository(3, "bench"),
        Repository(
            5,
            "more",
            units=80,
            url="http://jane:word@feed.example/more/",
            download_policy="immediate",
        ),
        Repository(6, "files", content_type="file", units=40, download_policy="immediate"),
        Repository(7, "no feed", url=""),
        Repository(8, "never synced", units=0),
        Repository(9, "promoted", library=False),
        Repository(10, "files20k", units=2000, size=20_000, seed=10, download_policy="immediate"),
        Repository(11, "files20k on demand", units=2000, size=20_000, seed=11),
    )
    return {repository.pk: repository for repository in made}


ORGANIZATIONS = {each.label: each for each in (Organization(1, "ACME"), Organization(3, "Other"))}
LOCATIONS = {2: "Default Location"}
ACTIVATION_KEYS = {
    each.name: each
    for each in (
        ActivationKey(1, "bench-ak", "ACME"),
        ActivationKey(2, "more-ak", "ACME"),
        ActivationKey(3, "few-ak", "ACME", limited=True),
        ActivationKey(4, "other-ak", "Other"),
    )
}

_COMMAND = {
    "id": 1,
    "name": "command",
    "required": True,
    "input_type": "user",
    "hidden_value": False,
}
JOB_TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "id": 101, "name": "Run Command - Script Default", "job_category": "Commands", "provider_type": "script",
        "snippet": False, "template_inputs": [_COMMAND],
    },
    {
        "id": 102, "name": "Run Command - Ansible Default", "job_category": "Ansible Commands", "provider_type": "Ansible",
        "snippet": False, "template_inputs": [_COMMAND],
    },
    {
        "id": 103, "name": "Service Action - Script Default", "job_category": "Services", "provider_type": "script",
        "snippet": False, "template_inputs": [
            {"id": number, "name": name, "required": True, "input_type": "user", "hidden_value": False}
            for number, name in ((2, "action"), (3, "service"))
        ],
    },
)  # fmt: skip
FEATURES: tuple[dict[str, Any], ...] = (
    {"id": 1, "label": "run_script", "name": "Run Script", "job_template_id": 101, "job_template_name": "Run Command - Script Default"},
    {"id": 2, "label": "ansible_run_host", "name": "Ansible: Run host roles", "job_template_id": 102, "job_template_name": "Run Command - Ansible Default"},
)  # fmt: skip

PLUGINS = (
    ("foreman-tasks", "11.0.0"),
    ("foreman_remote_execution", "16.0.0"),
    ("katello", "4.16.0"),
)
APPLICABILITY_BATCH = 50
_SETTINGS: dict[str, tuple[str, Any]] = {
    "host_re_register_build_only": ("content", False),
    "register_hostname_fact": ("content", ""),
    "check_services_before_actions": ("content", True),
    "default_download_policy": ("content", "on_demand"),
    "default_proxy_download_policy": ("content", "on_demand"),
    "download_rate_limit": ("content", 0),
    "foreman_proxy_content_batch_size": ("content", 100),
    "applicability_batch_size": ("content", APPLICABILITY_BATCH),
    "bulk_load_size": ("content", 2000),
    "sync_total_timeout": ("content", 3600),
    "foreman_tasks_proxy_batch_trigger": ("tasks", True),
    "foreman_tasks_proxy_batch_size": ("tasks", 100),
    "foreman_tasks_polling_multiplier": ("tasks", 1),
    "remote_execution_time_to_pickup": ("remote_execution", 86400),
    "remote_execution_connect_by_ip": ("remote_execution", False),
    "remote_execution_ssh_user": ("remote_execution", "root"),
}
_BEHAVED = (
    *("host_profile_assume", "host_dmi_uuid_duplicates", "unregister_delete_host"),
    "foreman_proxy_content_auto_sync",
)

PROXIES = {
    1: ("katello.example", ("Dynflow", "Pulpcore")),
    2: ("capsule.example", ("Dynflow", "Pulpcore")),
    3: ("runner.example", ("Dynflow", "Script", "Ansible")),
    4: ("dns.example", ("DNS",)),
}
PROXY_ENVIRONMENTS = {1: (), 2: (1, 2)}
"""Lifecycle environments whose content a smart proxy holds."""


def proxy(pk: int) -> dict[str, Any]:
    """Tell of a smart proxy as `GET /api/v2/smart_proxies/:id` does."""
    name, features = PROXIES[pk]
    return {
        "id": pk,
        "name": name,
        "url": f"https://{name}:9090",
        "features": [
            {"id": number, "name": feature, "capabilities": []}
            for number, feature in enumerate(features, 1)
        ],
    }


def counted(held: dict[int, Repository]) -> dict[str, Any]:
    """Tell what was counted on a proxy."""
    messages = {
        str(each.pk): {"counts": {each.unit_type: each.units}, "metadata": {}}
        for each in held.values()
        if each.library
    }
    return {"content_view_versions": {"1": {"repositories": messages}}}


def settings(behaviour: KatelloBehaviour) -> list[dict[str, Any]]:
    """Tell of the settings as `GET /api/v2/settings` does."""
    first = KatelloBehaviour()
    known = _SETTINGS | {name: ("content", getattr(first, name)) for name in _BEHAVED}
    return [
        {
            "id": name,
            "name": name,
            "full_name": name.replace("_", " ").capitalize(),
            "value": getattr(behaviour, name) if name in _BEHAVED else default,
            "default": default,
            "settings_type": {bool: "boolean", int: "integer"}.get(type(default), "string"),
            "category": category,
            "category_name": category.replace("_", " ").capitalize(),
            "description": "",
            "readonly": False,
            "config_file": "",
            "encrypted": False,
        }
        for name, (category, default) in sorted(known.items())
    ]


def organization(organization: Organization) -> dict[str, Any]:
    """Tell of an organization."""
    label = organization.label
    return {"id": organization.pk, "label": label, "name": label, "title": label}


def pulp() -> dict[str, Any]:
    """Tell of Pulp as `GET /pulp/api/v3/status/` does."""
    return {
        "versions": [{"component": "core", "version": "3.63.0 simulated", "package": "pulpcore"}],
        "online_workers": [{"name": f"{number}@katello.example"} for number in range(4)],
        "online_api_apps": [{"name": f"api-{number}"} for number in range(5)],
        "online_content_apps": [{"name": f"content-{number}"} for number in range(9)],
        "database_connection": {"connected": True},
        "redis_connection": {"connected": True},
        "storage": {"total": 1_000_000_000_000, "used": 0, "free": 1_000_000_000_000},
    }
