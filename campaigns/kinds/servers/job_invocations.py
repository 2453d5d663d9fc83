"""Jobs on hosts of a Foreman: templates, invocations, and the tasks of their hosts. No Django.

Paths and fields are those of foreman_remote_execution 16 (`job_invocations_controller.rb`, `job_templates_controller.rb`). A job is
looked at by its task, whose output counts hosts: the invocation itself shows each host, unless it is asked not to.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from campaigns.kinds.servers.foreman_tasks import ForemanTask, read_task
from campaigns.kinds.servers.katello import TASKS, Katello
from campaigns.kit.http.errors import Answered, Strange
from campaigns.kit.mappings import Json

JOBS = "/api/v2/job_invocations"
COLLECTIONS = "/katello/api/v2/host_collections"
LABEL = "Actions::RemoteExecution::RunHostsJob"
"""The label of the task of a job. Those of its hosts are below it."""
PAGE = 200
EXIT = re.compile(r"Exit status: (\S+)\s*\Z")


@dataclass(frozen=True, slots=True)
class Template:
    """A job template. provider: script, Ansible. required: names of inputs that need a value."""

    id: int
    name: str
    provider: str
    inputs: tuple[str, ...]
    required: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many hosts of a job there are, have a task, and have ended so. `failed` includes warnings."""

    total: int
    planned: int
    succeeded: int
    failed: int
    cancelled: int

    @property
    def ended(self) -> int:
        """How many have ended."""
        return self.succeeded + self.failed + self.cancelled


@dataclass(frozen=True, slots=True)
class Invocation:
    """A job. inputs: values by name; of those that Foreman hides there are stars only."""

    id: int
    task: str
    template: str
    total: int
    missing: int
    inputs: Mapping[str, str]


def template_named(katello: Katello, name: str) -> Template | None:
    """Return the job template of a name; None where the user sees none."""
    rows = katello.results("/api/v2/job_templates", search=f'name = "{name}"')
    for each in rows:
        if isinstance(each, Mapping) and each.get("name") == name and "id" in each:
            return template_of(katello, int(each["id"]))
    return None


def template_of_feature(katello: Katello, label: str) -> Template | None:
    """Return the job template that a feature of remote execution uses; None where there is no such feature, or none is assigned."""
    for each in katello.results("/api/v2/remote_execution_features"):
        if isinstance(each, Mapping) and each.get("label") == label and each.get("job_template_id"):
            return template_of(katello, int(each["job_template_id"]))
    return None


def template_of(katello: Katello, pk: int) -> Template:
    """Return a job template. Raise Strange."""
    data = katello.get(f"/api/v2/job_templates/{pk}")
    try:
        inputs = [
            each
            for each in data.get("template_inputs") or ()
            if each.get("input_type", "user") == "user"
        ]
        return Template(
            int(data["id"]),
            str(data["name"]),
            str(data.get("provider_type") or ""),
            tuple(str(each["name"]) for each in inputs),
            tuple(str(each["name"]) for each in inputs if each.get("required")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Strange(f"Job template {pk} cannot be read ({error!r}).") from None


def may_have_foreign_inputs(katello: Katello, template: int) -> bool:
    """Return whether a template may take inputs of other templates, which only Foreman knows."""
    try:
        sets = katello.get(f"/api/v2/templates/{template}/foreign_input_sets").get("results")
    except Answered:
        return True
    return bool(sets)


def count_cancelled(katello: Katello, parent: str) -> int:
    """Return how many hosts of a job were cancelled so far."""
    return max(0, katello.count_tasks(f"parent_task_id = {parent} and result = cancelled"))


def start(katello: Katello, job: Json, mark: str) -> Invocation:
    """Begin a job; `mark` is the request's id. job: as Foreman's API documents it."""
    return read_invocation(
        katello.send("POST", f"{JOBS}?include_hosts=false", {"job_invocation": dict(job)}, mark)
    )


def invocation_of(katello: Katello, pk: int) -> Invocation:
    """Return a job, without its hosts."""
    return read_invocation(katello.get(f"{JOBS}/{pk}", include_hosts="false"))


def read_invocation(data: Any) -> Invocation:
    """Return the job in an answer of Foreman. Raise Strange. Numbers of hosts are 0 as long as Foreman does not know them."""
    try:
        task = data.get("dynflow_task") or data.get("task") or {}
        patterns: Any = data.get("pattern_template_invocations") or ({},)
        values = patterns[0].get("input_values") or ()
        return Invocation(
            int(data["id"]),
            str(task["id"]),
            str(data.get("template_name") or patterns[0].get("template_name") or ""),
            _number(data.get("total_hosts", data.get("total"))),
            _number(data.get("missing")),
            {str(each["template_input_name"]): str(each.get("value") or "") for each in values},
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Strange(f"Foreman's answer is no job ({error!r}): {str(data)[:200]}") from None


def counts_of(task: ForemanTask) -> Counts:
    """Return what the task of a job counts; zeros before it has planned any host."""
    names = ("total", "planned", "success", "failed", "cancelled")
    return Counts(*(_number(task.output.get(f"{name}_count")) for name in names))


def tasks_of_hosts(
    katello: Katello, parent: str, rest: Callable[[], None]
) -> Iterator[ForemanTask]:
    """Yield the tasks of the hosts of a job, the first to start first; call `rest` between two pages.

    Foreman loads the plan of each task that it shows: ask for them after the job only.
    """
    search = f"parent_task_id = {parent}"
    return map(
        read_task,
        katello.results(TASKS, size=PAGE, between=rest, search=search, order="started_at ASC"),
    )


def proxies_of_hosts(katello: Katello, pk: int) -> dict[int, str]:
    """Return the name of the smart proxy that worked on each host of a job, by the host's id; empty where none did."""
    rows = katello.results(f"{JOBS}/{pk}/hosts", size=PAGE)
    return {
        int(each["id"]): str(each.get("smart_proxy_name") or "") for each in rows if "id" in each
    }


def cancel(katello: Katello, pk: int, *, force: bool = False) -> None:
    """Cancel a job; one that has ended is left as it is. force: do not wait for the smart proxy."""
    try:
        katello.send("POST", f"{JOBS}/{pk}/cancel", {"force": True} if force else {})
    except Answered as error:
        if error.status != 422:
            raise


def job_of(task: ForemanTask) -> int | None:
    """Return the id of the job that a task is of; None where it does not say so."""
    job = task.input.get("job_invocation")
    pk = job.get("id") if isinstance(job, Mapping) else task.input.get("job_invocation_id")
    return pk if isinstance(pk, int) else None


def host_of(task: ForemanTask) -> tuple[int, str]:
    """Return the id and the name of the host that a task is of; 0 and an empty text where it does not say so."""
    host = task.input.get("host")
    host = host if isinstance(host, Mapping) else {}
    return _number(host.get("id")), str(host.get("name") or "")


def exit_status_of(task: ForemanTask) -> str:
    """Return the exit status at the end of a host's output, such as 0 or EXCEPTION; empty without one."""
    match = EXIT.search(task.text.rstrip()[-100:])
    return match[1] if match else ""


def hosts_found(katello: Katello, search: str) -> list[tuple[int, str]]:
    """Return the ids and the names of the hosts that a query finds."""
    rows = katello.results("/api/v2/hosts", size=PAGE, search=search, thin="true")
    return [
        (int(each["id"]), str(each.get("name") or ""))
        for each in rows
        if isinstance(each, Mapping) and "id" in each
    ]


def count_hosts(katello: Katello, search: str) -> int:
    """Return how many hosts a query finds."""
    return _number(
        katello.get("/api/v2/hosts", search=search, per_page=1, thin="true").get("subtotal")
    )


def collect(katello: Katello, organization: int, name: str, ids: Sequence[int]) -> int:
    """Make a host collection, and return its id."""
    body = {
        "organization_id": organization,
        "name": name,
        "host_ids": list(ids),
        "unlimited_hosts": True,
    }
    data = katello.send("POST", COLLECTIONS, body)
    if not isinstance(data, Mapping) or not isinstance(data.get("id"), int):
        raise Strange(f"Katello's answer is no host collection: {str(data)[:200]}")
    return int(data["id"])


def own_collections(katello: Katello, prefix: str) -> list[int]:
    """Return the ids of the host collections whose names begin so; none for a login that sees none, which has made none."""
    try:
        rows = list(katello.results(COLLECTIONS, search=f"name ~ {prefix}"))
    except Answered as error:
        if error.status not in (403, 404):
            raise
        return []
    return [
        int(each["id"]) for each in rows
        if isinstance(each, Mapping) and str(each.get("name") or "").startswith(prefix)
    ]  # fmt: skip


def scatter(katello: Katello, pk: int) -> None:
    """Delete a host collection; its hosts stay. One that is gone is no error."""
    try:
        katello.send("DELETE", f"{COLLECTIONS}/{quote(str(pk))}")
    except Answered as error:
        if error.status != 404:
            raise


def _number(data: Any) -> int:
    return data if isinstance(data, int) and not isinstance(data, bool) else 0
