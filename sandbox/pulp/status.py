"""The status, which names the simulator."""

from typing import Any

from sandbox.pulp.behaviour import Behaviour
from sandbox.pulp.names import VERSION, instant
from sandbox.pulp.store import Store
from sandbox.pulp.workers import Tasks

COMPONENT = "simulated"  # of versions[]; a real Pulp has no such component
SERVER = f"perfdash-simulated-pulp/{VERSION}"  # the header Server
_PLUGIN_VERSION = {"file": VERSION, "rpm": "3.39.4"}


def status(behaviour: Behaviour, store: Store, tasks: Tasks, content_origin: str) -> dict[str, Any]:
    """Write the status as Pulp does."""
    components = [
        _component("core", behaviour.core, "pulpcore", "pulpcore.app"),
        _component(COMPONENT, VERSION, "perfdash", "sandbox.pulp"),
    ]
    for plugin in dict.fromkeys(plugin.split("/")[0] for plugin in behaviour.plugins):
        version = _PLUGIN_VERSION.get(plugin, "0")
        package = "pulpcore" if plugin == "file" else f"pulp-{plugin}"
        components.append(_component(plugin, version, package, f"pulp_{plugin}.app"))
    versions = {each["component"]: each["version"] for each in components}
    now = instant(store.now())

    def app(name: str, heartbeat: str | None) -> dict[str, Any]:
        return {"name": name, "last_heartbeat": heartbeat, "versions": versions}

    used = store.used_bytes()
    return {
        "versions": components,
        "online_workers": [
            app(worker.name, instant(worker.killed) or now) for worker in tasks.online()
        ],
        "online_api_apps": [app("api@simulator", now)],
        "online_content_apps": [app("content@simulator", now)],
        "database_connection": {"connected": True},
        "redis_connection": {"connected": False},
        "storage": {
            "total": behaviour.storage_total,
            "used": used,
            "free": max(0, behaviour.storage_total - used),
        },
        "content_settings": {
            "content_origin": content_origin,
            "content_path_prefix": "/pulp/content/",
        },
        "domain_enabled": False,
    }


def _component(component: str, version: str, package: str, module: str) -> dict[str, Any]:
    return {
        "component": component,
        "version": version,
        "package": package,
        "module": module,
        "domain_compatible": True,
    }
