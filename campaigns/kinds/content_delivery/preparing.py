"""Bring the content of a server to a state, and prove it: cold, so that no package is stored, or warm, so that each is."""

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

from campaigns.kinds.base import (
    Context,
    DriverError,
    NotClean,
    NotOurs,
    Parameters,
    ParametersRefused,
    Proof,
    Target,
)
from campaigns.kinds.base.foreman import CLEAR_SECONDS, mark_of, wait_for
from campaigns.kinds.content_delivery.form import COLD, WARM
from campaigns.kinds.servers import pulp_content
from campaigns.kinds.servers.katello import Katello
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_content import Held
from campaigns.kinds.servers.pulp_tasks import StillAtIt, TaskFailed

RECLAIM_SECONDS = 900.0
STORED_SECONDS = 20.0
"""How long a Pulp may take to store the last package that it has sent."""
MOST_COMPARED = 50
"""Repositories of others whose packages are compared with those that are given up."""
NOT_TOLD = "Katello does not tell"


def held_at(pulp: Pulp, url: str) -> Held:
    """Return the repository that a Pulp distributes at a URL. Raise DriverError."""
    found = pulp_content.distributed_at(pulp, urlsplit(url).path)
    if found is None:
        raise DriverError(
            f"Pulp distributes no repository at {url}. Give the address that one of its distributions has (base_url)."
        )
    return found


def cold_at_pulp(pulp: Pulp, target: Target, url: str) -> list[Proof]:
    """Let a Pulp give up the packages of a repository, and prove that it stores none. Raise DriverError, NotClean."""
    held = held_at(pulp, url)
    _require_on_demand(held)
    if not target.dedicated:
        _require_unshared(pulp, held)
    try:
        pulp_content.reclaim(pulp, held.repository, RECLAIM_SECONDS)
    except (StillAtIt, TaskFailed) as error:
        raise NotClean(f"{error} The packages were not given up.") from None
    left = pulp_content.artifacts_of(pulp, held)
    return [
        Proof("packages stored by the server", 0, left, "count", left == 0),
        _cache_proof(pulp),
    ]


def warm_at_pulp(pulp: Pulp, url: str, files: int) -> list[Proof]:
    """Prove that a Pulp stores all packages of a repository. files: that the pilot host has fetched, at least."""
    held = held_at(pulp, url)
    stored = pulp_content.artifacts_of(pulp, held)
    return [
        Proof(
            "packages stored by the server", f"at least {files}", stored, "count", stored >= files
        )
    ]


def stored_after(pulp: Pulp, url: str, files: int) -> Proof:
    """Prove that a Pulp that had none has stored each package that was asked for."""
    held, until = held_at(pulp, url), time.monotonic() + STORED_SECONDS
    while (stored := pulp_content.artifacts_of(pulp, held)) < files and time.monotonic() < until:
        pulp.rest(0.0)
    return Proof("packages stored after the run", files, stored, "count", stored == files)


def cold_at_katello(
    katello: Katello, target: Target, parameters: Parameters, context: Context
) -> list[Proof]:
    """Let a Katello, or a smart proxy of it, give up packages. Katello does not tell how many are left."""
    repository, proxy = parameters["repository_id"], parameters["proxy_id"]
    if not (repository or proxy):
        message = (
            "Cold content of a Katello needs the id of its repository, or that of a smart proxy."
        )
        raise ParametersRefused(message, {"repository_id": message})
    if not target.dedicated:
        raise NotOurs(
            f"“{target.name}” is not marked as belonging to perfdash alone: giving up packages takes those of other repositories, too. "
            "Mark it on its page if nobody else needs them, or measure the content as it is."
        )
    mark = mark_of(target, context)
    task = (
        katello.reclaim_proxy(int(proxy), mark)
        if proxy
        else katello.reclaim_repository(int(repository), mark)
    )
    advice = "Foreman was asked to give up packages; look at the task there."
    task = wait_for(katello, task, time.monotonic() + CLEAR_SECONDS, advice)
    return [
        Proof("task that gives up packages", "success", task.result, "", task.succeeded),
        Proof("packages stored by the server", "any", NOT_TOLD, "", ok=True),
    ]


def tells_state(state: str, cold: int, fetched: int) -> list[Proof]:
    """Prove by the answers of the run what the server had stored: of a cold file it tells no size before it has it all."""
    if state == WARM:
        return [Proof("packages that the server had to fetch", 0, cold, "count", cold == 0)]
    if state == COLD:
        return [
            Proof("packages that the server had to fetch", "1 or more", cold, "count", cold > 0 or not fetched)
        ]  # fmt: skip
    return []


def _require_on_demand(held: Held) -> None:
    if held.policy not in ("on_demand", "streamed"):
        raise ParametersRefused(
            f"The repository {held.name} has the policy {held.policy or 'of no remote'}: what it gave up, it could not fetch again when "
            "it is asked for. Sync it with the policy on_demand, or measure the content as it is.",
            {"content_state": f"The repository's policy is {held.policy or 'that of no remote'}: cold needs on_demand."},
        )  # fmt: skip


def _require_unshared(pulp: Pulp, held: Held) -> None:
    """Raise NotOurs where another repository may hold a package of this one: giving it up takes it from that one, too."""
    others = list(_others(pulp, held))
    if len(others) > MOST_COMPARED:
        raise NotOurs(
            f"This Pulp has {len(others)} other repositories with content, too many to compare. Mark the target as belonging to perfdash "
            "alone if nobody else needs them, or measure the content as it is."
        )
    own = pulp_content.package_ids(pulp, held.version)
    for name, version in others:
        if own & pulp_content.package_ids(pulp, version):
            raise NotOurs(
                f"The repository “{name}” holds packages of “{held.name}”, and giving them up takes them from both. Mark the target as "
                "belonging to perfdash alone if nobody else needs them, or measure the content as it is."
            )


def _others(pulp: Pulp, held: Held) -> Iterator[tuple[str, str]]:
    """Yield name and newest version of each other repository that has one."""
    for each in pulp.list("repositories/"):
        version = str(each["latest_version_href"])
        if each["pulp_href"] != held.repository and not version.endswith("/versions/0/"):
            yield str(each["name"]), version


def _cache_proof(pulp: Pulp) -> Proof:
    """Tell whether the content app may answer from a cache, which giving up packages does not empty."""
    connected = (pulp.status().get("redis_connection") or {}).get("connected")
    return Proof(
        "cache of the content app", "any", "may be warm" if connected else "off", "", ok=True
    )
