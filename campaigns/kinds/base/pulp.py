"""Reach the Pulp of a target, and read the facts that must stay the same within a session from its status."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from campaigns.kinds.base.servers import MARKS_OF_SIMULATORS, UNKNOWN, connected, target_facts
from campaigns.kinds.base.values import SIMULATOR, Context, Subject, Target
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kit.http.credentials import Login
from campaigns.kit.mappings import Json
from campaigns.kit.network import Rules
from campaigns.kit.versions import PYPI

COMPONENTS, WORKERS, HOSTS = "Pulp", "versions of workers", "hosts of workers"
ALIKE = "those of the API"
CORE = "core"


@contextmanager
def pulp_of(
    target: Target,
    access: Context | Rules,
    check: Callable[[], None] | None = None,
    *,
    log_in: bool = True,
) -> Iterator[Pulp]:
    """Connect to a target's Pulp (see `connected`), and log in."""
    with connected(target, access, check) as connection:
        pulp = Pulp(connection, target.base_url, Login(target.username, target.password))
        if log_in:
            pulp.log_in()
        yield pulp


def facts_of(status: Json, target: Target) -> dict[str, str]:
    """Return versions, workers, storage and settings; not what varies by itself, such as free storage."""
    workers = status.get("online_workers") or ()
    content = status.get("content_settings") or {}
    total = (status.get("storage") or {}).get("total")
    hosts = {str(worker.get("name", "")).partition("@")[2] for worker in workers} - {""}
    facts = {
        COMPONENTS: versions_of(status),
        "workers": str(len(workers)),
        WORKERS: _versions_of_workers(status),
        "storage": f"{total} B" if total else UNKNOWN,
        "content origin": str(content.get("content_origin") or UNKNOWN),
        "content path": str(content.get("content_path_prefix") or UNKNOWN),
        "domains": _on(status.get("domain_enabled")),
        "cache": _on((status.get("redis_connection") or {}).get("connected")),
        **target_facts(target),
    }
    if hosts:
        facts[HOSTS] = ", ".join(sorted(hosts))
    if simulator := simulator_of(status):
        facts[SIMULATOR] = simulator
    return facts


def versions_of(status: Json) -> str:
    """Return every component with its version, as a text."""
    return ", ".join(f"{each['component']} {each['version']}" for each in status["versions"])


def pulp_subjects(facts: Mapping[str, str]) -> list[Subject]:
    """Return the components of Pulp with their versions, `core` first; read from what `versions_of` wrote."""
    parts = [part.rpartition(" ") for part in facts.get(COMPONENTS, "").split(", ")]
    found = [
        Subject(name, version, PYPI, COMPONENTS)
        for name, _, version in parts
        if name and name not in MARKS_OF_SIMULATORS
    ]
    return sorted(found, key=lambda each: each.name != CORE)


def is_torn(facts: Mapping[str, str]) -> bool:
    """Return whether workers of Pulp have other versions than its API."""
    return facts.get(WORKERS, ALIKE) not in (ALIKE, UNKNOWN)


def simulator_of(status: Json) -> str:
    """Return the name and version of a simulated Pulp; empty for a real one."""
    versions = {each["component"]: each["version"] for each in status["versions"]}
    mark = next((mark for mark in MARKS_OF_SIMULATORS if mark in versions), None)
    return f"simulated Pulp {versions[mark]}" if mark else ""


def _versions_of_workers(status: Json) -> str:
    """Return the versions of workers that differ from those of the API, as a text."""
    versions = {each["component"]: each["version"] for each in status["versions"]}
    others = {
        f"{component} {version}"
        for worker in status.get("online_workers") or ()
        for component, version in (worker.get("versions") or {}).items()
        if version != versions.get(component)
    }
    return ", ".join(sorted(others)) or ALIKE


def _on(value: object) -> str:
    return "on" if value else "off"
