"""Add the database behind HAProxy that script/throttle starts as a target, with its setting `maxconn`."""

import shlex
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.kit import encryption
from campaigns.kit.mappings import Json
from campaigns.models import Target
from campaigns.results.importing.simulated_katello import paused_where_it_was
from campaigns.targets import saving
from campaigns.targets.actions import PLACE, fingerprint_of
from campaigns.targets.forms import as_data
from campaigns.targets.settings import save_setting
from campaigns.targets.ssh_logins import accept_host_key, save_ssh

THROTTLED = "Throttled database"
SERVER = "psql/pg1"
_NOTES = (
    "A PostgreSQL behind an HAProxy, which script/throttle starts on this machine. Its setting maxconn is set and read by "
    "HAProxy's runtime socket."
)


@transaction.atomic
def throttled_target(found: Json, owner: User) -> str:
    """Create the target with its SSH login and its setting, or update its address. Return a report as text.

    found: what script/throttle has written down of itself. The target stays while a campaign is measuring it.
    Raise Invalid; KeyError where something is missing.
    """
    row = Target.objects.filter(name=THROTTLED, retired_at=None).first()
    url = str(found["base_url"])
    moved = row is not None and row.base_url != url
    if row is not None and moved and (value := paused_where_it_was(row, url)):
        return value
    server = _server(found)
    if row is None:
        target = saving.save_target(server)
    elif moved or encryption.decrypt(row.password) != found["password"]:
        target = saving.save_target(as_data(row) | server, row)
    else:
        target = row
    _let_in(found["ssh"], target, owner)
    setting = maxconn(str(found["socket"]))
    known = target.setting_rows.filter(name=setting["name"]).first()
    if known is None or known.apply.get("arguments") != setting["apply"]["arguments"]:
        save_setting(setting, target, owner, known)
    if row is None:
        return (
            f"Made the target {THROTTLED} at {url}, with the setting maxconn; /campaigns/new/?kind=sql&target={target.pk} "
            "has its presets."
        )
    return f"The target {THROTTLED} is at {url} now." if moved else ""


def maxconn(socket: str) -> dict[str, Any]:
    """Return the setting. HAProxy answers errors with no status, so only reading back tells."""
    ask = f"socat - {shlex.quote(f'UNIX-CONNECT:{socket}')}"
    proxy, name = SERVER.split("/")
    write = f'echo "set maxconn server {SERVER} $1" | {ask}'
    read = f'echo "show stat {proxy} 4 -1" | {ask} | awk -F, \'$2 == "{name}" {{print ($7 == "" ? 0 : $7)}}\''
    return {
        "name": "maxconn",
        "label": "HAProxy maxconn",
        "type": "integer",
        "minimum": 0,
        "unlimited": 0,
        "maximum": 10_000,
        "hard_to_change": False,
        "apply": {"way": "command", "arguments": ["sh", "-c", write, "sh", PLACE]},
        "read_back": {"way": "command", "arguments": ["sh", "-c", read]},
    }


def _let_in(ssh: Json, target: Target, owner: User) -> None:
    """Store the SSH login, whose host key is known: who started the server has made it."""
    login = save_ssh({**ssh, "confirm_address": True}, target, owner)
    if login.host_key.split() != str(ssh["host_key"]).split():
        login.offered_key = str(ssh["host_key"])
        accept_host_key(login, fingerprint_of(login.offered_key), owner)


def _server(found: Json) -> dict[str, object]:
    return {
        "name": THROTTLED,
        "family": "postgresql",
        "base_url": found["base_url"],
        "username": found["username"],
        "password": found["password"],
        "notes": _NOTES,
        "confirm_address": True,
    }
