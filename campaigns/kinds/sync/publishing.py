"""Publish what was synced, and distribute it; the time of it is a metric of its own."""

from collections.abc import Sequence

from campaigns.kinds.base import DriverError, Parameters
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import StillAtIt, Task, TaskFailed
from campaigns.kinds.sync.cleaning import PREFIX
from campaigns.kinds.sync.making import Pair
from campaigns.kit.http.errors import ClientError


def publish_all(pulp: Pulp, pairs: Sequence[Pair], parameters: Parameters, limit: float) -> float:
    """Publish and distribute every repository; give the seconds by Pulp's clock. Raise DriverError."""
    content = parameters["content"]
    tasks: list[Task] = []
    try:
        for pair in pairs:
            made = _do(
                pulp,
                f"publications/{content}/",
                {"repository": pair.repository},
                limit,
                "Publishing",
            )
            name = f"{PREFIX}{pair.repository.rstrip('/').rpartition('/')[2]}"
            publication = {"publication": made.created_resources[0]}
            body = {"name": name, "base_path": name} | publication
            distributed = _do(pulp, f"distributions/{content}/", body, limit, "Distributing")
            tasks += [made, distributed]
    except (StillAtIt, TaskFailed, IndexError) as error:
        raise DriverError(f"What was synced could not be published: {error}") from None
    return sum(task.seconds or 0.0 for task in tasks)


def _do(pulp: Pulp, path: str, body: dict[str, str], limit: float, what: str) -> Task:
    href = pulp.start("POST", path, body)
    if not href:
        raise ClientError(f"{what} gave no task.")
    return pulp.wait(href, max(1.0, limit), what)
