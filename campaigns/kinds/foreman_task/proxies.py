"""Content views that are synced to a smart proxy, each by a task of its own.

The paths are those of Katello's API v2 (`capsule_content_controller.rb`).
"""

from collections.abc import Mapping, Sequence

from campaigns.kinds.base import DriverError
from campaigns.kinds.base.foreman import CANCEL_SECONDS, end_ours, is_ours
from campaigns.kinds.foreman_task.views import ROOT, View
from campaigns.kinds.servers.foreman_hosts import settings_of
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Answered

SYNC_TASK = "Actions::Katello::CapsuleContent::Sync"
COUNTS_TASK = "Actions::Katello::CapsuleContent::UpdateContentCounts"
"""What Katello begins after a sync of a proxy, without the id of the request."""
AUTO_SYNC = "foreman_proxy_content_auto_sync"


def require_proxy(katello: Katello, proxy: int, environment: str) -> None:
    """Check that a smart proxy holds the content of a lifecycle environment, and gets it by nobody else. Raise DriverError."""
    try:
        path = f"{ROOT}/capsules/{proxy}/content/lifecycle_environments"
        rows = [each for each in katello.results(path) if isinstance(each, Mapping)]
    except Answered as error:
        if error.status == 404:
            raise DriverError(
                f"This Foreman has no smart proxy {proxy} that the user may see; check the id."
            ) from None
        raise DriverError(f"The smart proxy {proxy} does not take content: {error}") from None
    names = [str(each.get("name")) for each in rows]
    if environment not in names:
        raise DriverError(
            f"The smart proxy {proxy} does not hold the lifecycle environment “{environment}”; it holds "
            f"{', '.join(names) or 'none'}. Add it to the proxy, or give another environment."
        )
    if settings_of(katello, (AUTO_SYNC,)).get(AUTO_SYNC, "").lower() == "true":
        raise DriverError(
            "Foreman syncs smart proxies by itself after each publication, so nothing would be left to measure. Set "
            f"{AUTO_SYNC} to No while the campaign runs."
        )


def sync(katello: Katello, proxy: int, view: View, environment: int, mark: str) -> ForemanTask:
    """Begin to sync a content view to a smart proxy, whatever it has of it. environment: its id; 0: all that the proxy holds."""
    body = {"content_view_id": view.pk, "skip_metadata_check": True}
    only = {"environment_id": environment} if environment else {}
    return katello.sync_proxy(proxy, body | only, mark)


def end_syncs(katello: Katello, begun: Sequence[str], mark: str) -> int:
    """End the syncs of smart proxies that this perfdash began, and no others; return how many. Raise NotClean."""
    tasks = katello.tasks(f"state != stopped and label = {SYNC_TASK}")
    ours = [task for task in tasks if is_ours(task, begun, mark)]
    return end_ours(katello, ours, CANCEL_SECONDS)
