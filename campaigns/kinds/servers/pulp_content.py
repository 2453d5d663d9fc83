"""What kinds ask of the content of a Pulp: publishing it, the files that it stores, and giving up those that it can fetch again."""

from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import Task
from campaigns.kit.http.errors import ClientError
from campaigns.kit.mappings import Json


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
