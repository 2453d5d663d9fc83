"""What kinds ask of the content of a Pulp: publishing it, the files that it stores, and giving up those that it can fetch again."""

from collections.abc import Iterator
from dataclasses import dataclass

from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import Task
from campaigns.kit.http.errors import Answered, ClientError
from campaigns.kit.mappings import Json, JsonObject

PREFIX = "/pulp/content/"
"""Where a Pulp serves content, unless its status says otherwise."""


def publish(pulp: Pulp, content: str, repository: str, seconds: float) -> Task:
    """Publish the newest version of a repository, by its href. content: such as rpm/rpm.

    Raise ClientError, of which StillAtIt and TaskFailed tell of the task.
    """
    return do(pulp, f"publications/{content}/", {"repository": repository}, seconds, "Publishing")


def do(pulp: Pulp, path: str, body: Json, seconds: float, what: str) -> Task:
    """Post a request that a task does, and return it once it was completed. Raise ClientError."""
    href = pulp.start("POST", path, body)
    if not href:
        raise ClientError(f"{what} gave no task.")
    return pulp.wait(href, max(1.0, seconds), what)


@dataclass(frozen=True, slots=True)
class Held:
    """A repository that is distributed: its href and name, that of the newest version, and the policy of its remote, empty without one."""

    repository: str
    name: str
    version: str
    policy: str


def distributed_at(pulp: Pulp, path: str) -> Held | None:
    """Return the repository that is distributed at the path of a URL; None where there is none. Raise ClientError."""
    prefix = str((pulp.status().get("content_settings") or {}).get("content_path_prefix") or PREFIX)
    if not path.startswith(prefix):
        return None
    base_path = path.removeprefix(prefix).strip("/")
    found = next(pulp.list("distributions/", base_path=base_path), None)
    href = found and (found.get("repository") or _published(pulp, found.get("publication")))
    if not href:
        return None
    repository = pulp.get(href)
    remote = repository.get("remote")
    return Held(
        href,
        str(repository["name"]),
        str(repository["latest_version_href"]),
        str(pulp.get(remote).get("policy") or "") if remote else "",
    )


def artifacts_of(pulp: Pulp, held: Held) -> int:
    """Return how many files of the newest version of a repository are stored."""
    return pulp.count("artifacts/", repository_version=held.version)


def reclaim(pulp: Pulp, repository: str, seconds: float) -> Task:
    """Let a Pulp give up the stored files of a repository; it takes those that other repositories hold, too. Raise ClientError."""
    body = {"repo_hrefs": [repository]}
    return do(pulp, "repositories/reclaim_space/", body, seconds, "Giving up packages")


def package_ids(pulp: Pulp, version: str) -> frozenset[str]:
    """Return the packages and files of a version of a repository, by their digests."""
    return frozenset(
        str(each.get(name))
        for kind, name in (("rpm/packages", "pkgId"), ("file/files", "sha256"))
        for each in _content(pulp, kind, version, name)
    )


def _content(pulp: Pulp, kind: str, version: str, name: str) -> Iterator[JsonObject]:
    try:
        yield from pulp.list(f"content/{kind}/", repository_version=version, fields=name)
    except Answered as error:
        if error.status != 404:  # a plug-in that is not installed
            raise


def _published(pulp: Pulp, publication: str | None) -> str:
    return str(pulp.get(publication).get("repository") or "") if publication else ""
