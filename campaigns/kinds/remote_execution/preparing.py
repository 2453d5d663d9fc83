"""What a job needs: its template, its hosts, and a query that finds just those."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from campaigns.kinds.base import Context, DriverError, NotClean, Parameters, Target
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.remote_execution.form import VIRTUALS, inputs_of
from campaigns.kinds.servers import job_invocations as jobs
from campaigns.kinds.servers.job_invocations import Template
from campaigns.kinds.servers.katello import Katello

WORK = "job.json"
MOST_IN_QUERY = 500
"""Hosts that a query names by their ids; of more a host collection is made."""
FEATURES = {"script": ("Script", "SSH"), "Ansible": ("Ansible",)}
"""Features of a smart proxy that works for a provider of job templates; for others it is called as the provider."""


@dataclass(slots=True)
class Work:
    """What an attempt passes from one step to the next: the template and the query of its job, and the ids of job and tasks."""

    template: int = 0
    query: str = ""
    job: int = 0
    task: str = ""
    tasks: list[str] = field(default_factory=list)

    def save(self, context: Context) -> None:
        """Write it to the attempt's directory: the next step may run in another process."""
        context.directory.mkdir(parents=True, exist_ok=True)
        _file(context).write_text(json.dumps(asdict(self)))


def work_of(context: Context) -> Work:
    """Return what the earlier steps have written; nothing before them."""
    file = _file(context)
    return Work(**json.loads(file.read_text())) if file.is_file() else Work()


def _file(context: Context) -> Path:
    return context.directory / WORK


def template_of(katello: Katello, parameters: Parameters) -> Template:
    """Return the template of a job, with its inputs checked. Raise DriverError."""
    name, feature = parameters["template"], parameters["feature"]
    found = (
        jobs.template_of_feature(katello, feature)
        if feature
        else jobs.template_named(katello, name)
    )
    if found is None and feature:
        raise DriverError(
            f"This Foreman has no feature “{feature}” of remote execution with a template."
        )
    if found is None:
        raise DriverError(
            f"This Foreman has no job template “{name}” that the user may see; check its name, and that its organization and location "
            "are those of the user."
        )
    given = inputs_of(parameters)
    unknown = [each for each in given if each not in found.inputs]
    if unknown and not jobs.may_have_foreign_inputs(katello, found.id):
        raise DriverError(
            f"The template “{found.name}” has no input “{unknown[0]}”; it has {', '.join(found.inputs) or 'none'}."
        )
    if missing := [each for each in found.required if not given.get(each)]:
        raise DriverError(
            f"The template “{found.name}” needs the input “{missing[0]}”: give {missing[0]}=…."
        )
    return found


def query_of(target: Target, parameters: Parameters) -> str:
    """Return the query that finds the hosts of which some are chosen: those of a population have its number in their names."""
    if parameters["hosts_are"] in VIRTUALS:
        return f"name ~ {own_prefix(target)}p{parameters['population']}-"
    return str(parameters["search_query"])


def require_hosts(katello: Katello, target: Target, parameters: Parameters) -> int:
    """Return how many hosts the query finds. Raise DriverError where they are too few."""
    query, wanted = query_of(target, parameters), parameters["hosts"]
    count = jobs.count_hosts(katello, query)
    if count < wanted:
        raise DriverError(
            f"The query “{query}” finds {count} hosts, and the job is to run on {wanted}. Register more, ask for fewer, or "
            "change the query."
        )
    return count


def choose(
    katello: Katello,
    target: Target,
    parameters: Parameters,
    mark: str,
    work: Work,
    names: Sequence[str] = (),
) -> int:
    """Store a query that finds just the hosts of the job, and return how many; of many a host collection is made.

    Those with the lowest ids are taken; of a population those with the lowest numbers, which are at the end of their names.
    names: of the virtual hosts. Raise NotClean where the server lacks one of them.
    """
    query, wanted = query_of(target, parameters), parameters["hosts"]
    by_name = parameters["hosts_are"] in VIRTUALS
    found = sorted(
        jobs.hosts_found(katello, query), key=lambda host: host[1] if by_name else host[0]
    )
    chosen = [pk for pk, _ in found[:wanted]]
    _require_names([name for _, name in found[:wanted]], parameters, names)
    if len(found) == wanted:
        work.query = query
    elif len(chosen) <= MOST_IN_QUERY:
        work.query = f"id ^ ({', '.join(map(str, chosen))})"
        return len(chosen)  # the query is too long for the URL of a request that counts them
    else:
        organization = organization_of(katello, chosen)
        made = jobs.collect(katello, organization, f"{mark}hosts", chosen)
        work.query = f"host_collection_id = {made}"
    return jobs.count_hosts(katello, work.query)


def _require_names(found: Sequence[str], parameters: Parameters, names: Sequence[str]) -> None:
    """Raise NotClean where the server has not just the virtual hosts for which perfdash answers."""
    there = {name.lower() for name in found}
    if gone := [name for name in names if name.lower() not in there]:
        raise NotClean(
            f"Population {parameters['population']} lacks {len(gone)} of its hosts at the server, such as {gone[0]}: somebody "
            "removed them. Delete the population, and register another."
        )


def organization_of(katello: Katello, hosts: Sequence[int]) -> int:
    """Return the organization of the first of the hosts, whose host collection holds all of them. Raise DriverError without one."""
    organization = katello.get(f"/api/v2/hosts/{hosts[0]}").get("organization_id")
    if not isinstance(organization, int):
        raise DriverError(
            f"Host {hosts[0]} belongs to no organization, so no host collection can hold the {len(hosts)} hosts of the job. "
            "Write a query that finds just as many hosts as the job runs on."
        )
    return organization


def features_of(provider: str) -> tuple[str, ...]:
    """Return the features of a smart proxy of which one is enough to work for a provider."""
    return FEATURES.get(provider, (provider,))
