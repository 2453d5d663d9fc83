"""What Pulp's status tells of itself that must stay the same within a session. Pure."""

from collections.abc import Mapping
from typing import Any

from campaigns.kinds.base import STAND_IN, Target

STAND_IN_COMPONENT = "stand-in"
"""Component of `versions` that no real Pulp has."""
NOT_TOLD = "not told"


def facts_of(status: Mapping[str, Any], target: Target) -> dict[str, str]:
    """Versions, workers, storage and settings; what varies by itself, such as free storage, is none."""
    workers = status.get("online_workers") or ()
    content = status.get("content_settings") or {}
    total = (status.get("storage") or {}).get("total")
    hosts = {str(worker.get("name", "")).partition("@")[2] for worker in workers} - {""}
    facts = {
        "Pulp": versions_of(status),
        "workers": str(len(workers)),
        "versions of workers": _versions_of_workers(status),
        "storage": f"{total} B" if total else NOT_TOLD,
        "content origin": str(content.get("content_origin") or NOT_TOLD),
        "content path": str(content.get("content_path_prefix") or NOT_TOLD),
        "domains": _on(status.get("domain_enabled")),
        "cache": _on((status.get("redis_connection") or {}).get("connected")),
        "hardware and network": target.hardware or NOT_TOLD,
        "certificate": "verified" if target.tls.verify else "not verified",
    }
    if hosts:
        facts["hosts of workers"] = ", ".join(sorted(hosts))
    if stand_in := stand_in_of(status):
        facts[STAND_IN] = stand_in
    return facts


def versions_of(status: Mapping[str, Any]) -> str:
    """Every component with its version."""
    return ", ".join(f"{each['component']} {each['version']}" for each in status["versions"])


def stand_in_of(status: Mapping[str, Any]) -> str:
    """Return what it is that only answers as Pulp does; empty for a Pulp."""
    versions = {each["component"]: each["version"] for each in status["versions"]}
    if STAND_IN_COMPONENT not in versions:
        return ""
    return f"simulated Pulp {versions[STAND_IN_COMPONENT]}"


def _versions_of_workers(status: Mapping[str, Any]) -> str:
    """Return whether all workers run what the API runs; else who does not, and what that one runs."""
    versions = {each["component"]: each["version"] for each in status["versions"]}
    others = {
        f"{component} {version}"
        for worker in status.get("online_workers") or ()
        for component, version in (worker.get("versions") or {}).items()
        if version != versions.get(component)
    }
    return ", ".join(sorted(others)) or "those of the API"


def _on(value: object) -> str:
    return "on" if value else "off"
