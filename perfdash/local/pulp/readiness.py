"""Asks Pulp how it is, as everybody may. Changes nothing."""

import json
import urllib.request
from collections.abc import Collection, Mapping
from typing import Any

STATUS = "/pulp/api/v3/status/"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def online(base_url: str) -> dict[str, Any] | None:
    """Ask Pulp how it is; None where it does not answer."""
    try:
        with _DIRECT.open(f"{base_url}{STATUS}", timeout=10) as answer:
            results: dict[str, Any] = json.load(answer)
    except (OSError, ValueError):
        return None
    return results


def missing(
    status: Mapping[str, Any] | None, running: Collection[str], wanted: Collection[str]
) -> str:
    """Say what keeps Pulp from being ready; nothing where it is.

    `running` are the names of our processes as Pulp has them (`worker1-4711`): it goes on listing
    killed ones for a while. `wanted` are the names of those that have to be online (`worker1`).
    """
    if status is None:
        return "the API does not answer"
    if not status["database_connection"]["connected"]:
        return "the API has no database"
    listed = [*status["online_workers"], *status["online_content_apps"]]
    names = {app["name"] for app in listed} & set(running)
    online = {name.rpartition("-")[0] for name in names}
    late = sorted(set(wanted) - online)
    return f"{' and '.join(late)} not online" if late else ""
