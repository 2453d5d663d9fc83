"""Hosts, organizations, activation keys and settings of a Foreman with Katello. No Django.

A search `name ~ text` matches names that contain the text; hosts that Katello registered have their uuid
in `subscription_facet_attributes`; a bulk deletion is a task, and answers 202.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from campaigns.kinds.servers.foreman_tasks import ForemanTask, read_task
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Strange
from campaigns.kit.mappings import Json

HOSTS = "/api/v2/hosts"
COSTLY_SETTINGS = (
    "host_profile_assume", "host_dmi_uuid_duplicates", "host_re_register_build_only",
    "unregister_delete_host", "register_hostname_fact", "check_services_before_actions",
    "default_download_policy", "default_proxy_download_policy", "download_rate_limit",
    "foreman_proxy_content_batch_size", "applicability_batch_size", "bulk_load_size",
    "sync_total_timeout", "foreman_tasks_proxy_batch_trigger", "foreman_tasks_proxy_batch_size",
    "foreman_tasks_polling_multiplier", "remote_execution_time_to_pickup",
    "remote_execution_connect_by_ip", "remote_execution_ssh_user",
)  # fmt: skip
"""Settings that change the cost of a registration or a sync."""
URL_IN_QUOTES = re.compile(r"'(https?://[^']+)'")
BEARER = re.compile(r"Authorization: Bearer ([\w.~+/=-]+)")


@dataclass(frozen=True, slots=True)
class Host:
    """A host of Foreman; `uuid` is empty where it is not registered."""

    id: int
    name: str
    uuid: str
    organization_id: int


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization; hosts register by its label."""

    id: int
    label: str


@dataclass(frozen=True, slots=True)
class ActivationKey:
    """A key that hosts register with. most: the number of hosts it allows; None: any."""

    id: int
    name: str
    most: int | None


@dataclass(frozen=True, slots=True)
class Command:
    """A registration command: the script's path with its query, its origin, and the token for it."""

    path: str
    origin: str
    token: str

    def __repr__(self) -> str:
        return f"Command({self.path!r}, {self.origin!r})"


def organization_of(katello: Katello, label: str) -> Organization | None:
    """Return the organization with a label; None where there is none."""
    return next(
        (
            Organization(int(each["id"]), str(each["label"]))
            for each in katello.results("/katello/api/v2/organizations")
            if isinstance(each, dict) and each.get("label") == label and "id" in each
        ),
        None,
    )


def activation_keys_of(katello: Katello, organization: Organization) -> dict[str, ActivationKey]:
    """Return the activation keys of an organization, by name."""
    keys = katello.results("/katello/api/v2/activation_keys", organization_id=organization.id)
    return {
        str(each["name"]): ActivationKey(int(each["id"]), str(each["name"]), _most_of(each))
        for each in keys
        if isinstance(each, dict) and "id" in each and "name" in each
    }


def _most_of(key: Json) -> int | None:
    most = key.get("max_hosts")
    return None if key.get("unlimited_hosts") or most is None else int(most)


def hosts_named(katello: Katello, text: str) -> list[Host]:
    """Return the hosts whose names contain the text."""
    return [_host(each) for each in katello.results(HOSTS, search=f"name ~ {text}")]


def _host(data: Any) -> Host:
    try:
        facet = data.get("subscription_facet_attributes") or {}
        organization = int(data.get("organization_id") or 0)
        return Host(int(data["id"]), str(data["name"]), str(facet.get("uuid") or ""), organization)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Strange(f"A host cannot be read ({error!r}).") from None


def count_hosts(katello: Katello, prefix: str) -> int:
    """Return how many hosts have names that contain the text; -1 where Foreman does not count."""
    data = katello.get(HOSTS, search=f"name ~ {prefix}", per_page=1).get("subtotal")
    return data if isinstance(data, int) else -1


def destroy_hosts(
    katello: Katello, organization_id: int, text: str, mark: str
) -> ForemanTask | None:
    """Delete an organization's hosts whose names contain a text; return the task, None where there is none."""
    body = {"organization_id": organization_id, "included": {"search": f"name ~ {text}"}}
    data = katello.send("PUT", f"{HOSTS}/bulk/destroy", body, mark)
    return read_task(data) if isinstance(data, dict) and "id" in data else None


def command_for(katello: Katello, registration: Json) -> Command:
    """Request the command that registers any number of hosts. Raise Strange where it cannot be read."""
    data = katello.send(
        "POST", "/api/v2/registration_commands", {"registration_command": dict(registration)}
    )
    text = str(data.get("registration_command") or "") if isinstance(data, dict) else ""
    match = URL_IN_QUOTES.search(text)
    token = match and BEARER.search(text, match.end())
    if match is None or token is None:
        raise Strange("The registration command names no URL with a token for it.")
    url = urlsplit(match[1])
    if not parse_qsl(url.query):
        raise Strange(f"The registration command's URL has no query: {match[1][:200]}")
    return Command(f"{url.path}?{url.query}", f"{url.scheme}://{url.netloc}", token[1])


def settings_of(katello: Katello, names: Sequence[str] = COSTLY_SETTINGS) -> dict[str, str]:
    """Return the values of those settings that the Foreman has."""
    data = katello.get("/api/v2/settings", per_page="all").get("results")
    if not isinstance(data, list):
        raise Strange("Foreman gave no list of settings.")
    values = {each.get("name"): each.get("value") for each in data if isinstance(each, dict)}
    return {name: str(values[name]) for name in names if name in values}
