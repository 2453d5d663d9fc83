"""The kind `remote_execution`: a Foreman runs a job on many hosts through its smart proxies."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from campaigns.kinds.base import (
    Context,
    CutShort,
    Driver,
    DriverError,
    EffectiveSetting,
    Measured,
    Metric,
    NotClean,
    Parameters,
    Preset,
    Proof,
    Recomputed,
    Subject,
    Target,
    TargetUnavailable,
    cut_short,
)
from campaigns.kinds.base.foreman import (
    CANCEL_SECONDS,
    CLEAR_SECONDS,
    mark_of,
    require_no_others,
)
from campaigns.kinds.base.naming import names_shown, own_prefix
from campaigns.kinds.base.servers import (
    failure_to_end,
    katello_facts,
    katello_of,
    katello_proofs,
    katello_quiet,
    katello_subjects,
    require_services,
    while_leased,
)
from campaigns.kinds.base.under_way import patience_of, remove_until_quiet
from campaigns.kinds.remote_execution import preparing, virtual, virtual_ssh
from campaigns.kinds.remote_execution.ending import end_job, end_jobs, scatter
from campaigns.kinds.remote_execution.form import (
    VIRTUAL,
    VIRTUAL_SSH,
    VIRTUALS,
    RemoteExecutionForm,
    changes_nothing,
    inputs_of,
)
from campaigns.kinds.remote_execution.outcome import measured_of, resolution_of
from campaigns.kinds.remote_execution.preparing import work_of
from campaigns.kinds.remote_execution.presets import presets
from campaigns.kinds.remote_execution.summary import (
    HostRow,
    classes_of,
    of_hosts,
    rows_of,
    times_us,
)
from campaigns.kinds.remote_execution.watching import Watched, watch
from campaigns.kinds.servers import job_invocations as jobs
from campaigns.kinds.servers.foreman_hosts import settings_of
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Answered
from campaigns.kit.mappings import ProgramProgress
from campaigns.kit.network import Rules

KATELLO = "katello"
PAGE_REST_SECONDS = 1.0
"""Between two pages of the tasks of hosts, which are asked for after the job."""
UNKNOWN = "unknown"
RIGHTS = ("commands on the hosts of this Foreman",)


class RemoteExecution(Driver):
    """Measures how long a Foreman takes for a job on many hosts, and on how many it succeeds."""

    label = "Remote execution"
    summary = "Lets a Foreman with Katello run a job on many hosts through its smart proxies."
    question = (
        "How many hosts does this smart proxy carry without error, and how long does a job take?"
    )
    families = (KATELLO,)
    parameters = RemoteExecutionForm
    amount = ("hosts of the job",)
    sample = "host"
    work_units = ("host",)
    rate = ("hosts per second", "1/s")
    why_read = "The virtual hosts of a worker need it."
    metrics = (
        Metric("job_duration", "Duration of the job", "s", lower_is_better=True, primary=True),
        Metric("hosts_rate", "Hosts per second", "1/s", lower_is_better=False),
        Metric("host_time_p50", "Time of a host, median", "s", lower_is_better=True, percentile=0.5, of_survivors=True),
        Metric("host_time_p95", "Time of a host, p95", "s", lower_is_better=True, percentile=0.95, of_survivors=True),
        Metric("host_time_p99", "Time of a host, p99", "s", lower_is_better=True, percentile=0.99, of_survivors=True),
        Metric("host_time_max", "Time of the slowest host", "s", lower_is_better=True, of_survivors=True),
        Metric("host_wait_p50", "Wait of a host until its task begins, median", "s", lower_is_better=True, percentile=0.5, of_survivors=True),
        Metric("host_wait_p95", "Wait of a host until its task begins, p95", "s", lower_is_better=True, percentile=0.95, of_survivors=True),
        Metric("host_end_mean", "End of a host after the start of the job, mean", "s", lower_is_better=True, of_survivors=True),
        Metric("planning_duration", "Time until each host has a task", "s", lower_is_better=True),
        Metric("success", "Hosts that succeeded", "%", lower_is_better=False),
        Metric("succeeded", "Hosts that succeeded, number", "count", lower_is_better=False),
        Metric("failed", "Hosts that failed", "count", lower_is_better=True),
    )  # fmt: skip

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that Katello answers, accepts the login, and has its services in order."""
        with katello_of(target, rules) as katello:
            return [*katello_proofs(katello), names_shown(target)]

    def executes(self, parameters: Parameters) -> str:
        """Return that a job is executed on hosts, unless it is one that changes nothing there."""
        return "" if changes_nothing(parameters) else "The job"

    def rights(
        self, target: Target, access: Context | Rules, parameters: Parameters | None = None
    ) -> tuple[str, ...]:
        """Return that the login reaches the hosts: who may begin jobs executes there what a campaign says."""
        return RIGHTS

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that the template is there with its inputs, and that the query finds enough hosts."""
        with katello_of(target, rules) as katello:
            template = preparing.template_of(katello, parameters)
            preparing.require_hosts(katello, target, parameters)
            if parameters["hosts_are"] != VIRTUAL_SSH:
                return
            virtual_ssh.require_script(template)
            virtual_ssh.require_rights(katello, preparing.query_of(target, parameters))
        virtual_ssh.keys_of(target, parameters, rules)

    def reads(self, parameters: Parameters) -> Mapping[str, Sequence[str]]:
        """Return where virtual hosts connect to: the broker and the smart proxy; by SSH the smart proxy, whose key is read."""
        way = parameters.get("hosts_are")
        if way not in VIRTUALS:
            return {}
        broker, proxy = str(parameters.get("broker") or ""), str(parameters.get("proxy_url") or "")
        named = {
            "broker": f"https://{broker}/" if broker and way == VIRTUAL else "",
            "proxy_url": proxy,
        }
        return {name: [url] for name, url in named.items() if url}

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return how many tasks run; empty without any but those that always do."""
        return katello_quiet(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """End the jobs that earlier runs left, and prove that nothing else is at work and enough hosts are there."""
        context.directory.mkdir(parents=True, exist_ok=True)
        prefix = own_prefix(target)
        with katello_of(target, context) as katello:
            require_services(katello)
            ended = end_jobs(katello, prefix, CLEAR_SECONDS)
            scattered = scatter(katello, prefix)
            with _as_void():
                found = preparing.require_hosts(katello, target, parameters)
                template = preparing.template_of(katello, parameters)
            proxies = _proxies(katello, template.provider)
            no_others = require_no_others(katello, prefix)
        least = f"at least {parameters['hosts']}"
        return [
            Proof("jobs of earlier runs ended", "any", ended, "count", ok=True),
            Proof("host collections of earlier runs removed", "any", scattered, "count", ok=True),
            no_others,
            Proof("hosts that the query finds", least, found, "hosts", found >= parameters["hosts"]),
            Proof(
                f"smart proxies with {' or '.join(preparing.features_of(template.provider))} in order",
                "at least 1", proxies if proxies is not None else UNKNOWN, "count", proxies != 0,
            ),
        ]  # fmt: skip

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Choose the hosts; of more than 500 that are not all that the query finds a host collection is made."""
        work = work_of(context)
        mark = mark_of(target, context)
        with katello_of(target, context) as katello, _as_void():
            found = preparing.template_of(katello, parameters)
            work.template = found.id
            names = virtual.names_of(parameters, context)
            count = preparing.choose(katello, target, parameters, mark, work, names)
            work.save(context)
        asked = parameters["template"] or parameters["feature"]
        settings = [
            EffectiveSetting("hosts", parameters["hosts"], count, count == parameters["hosts"]),
            EffectiveSetting("template", asked, found.name, ok=True),
        ]
        if parameters["hosts_are"] == VIRTUAL_SSH:
            query = preparing.query_of(target, parameters)
            settings.append(virtual_ssh.prepared(target, parameters, context, query, names))
        return settings

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """Return whether Foreman is told where it reaches each host, a request each."""
        return parameters.get("hosts_are") == VIRTUAL_SSH

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Begin the job and wait for its end; Foreman's clock times it. The tasks of its hosts are read after it."""
        work, mark, left = work_of(context), mark_of(target, context), ""
        job = job_for(parameters, work, f"{mark}{token_hex(4)}")

        def start() -> jobs.Invocation:
            begun = jobs.start(katello, job, f"{mark}{token_hex(4)}")
            work.job, work.task = begun.id, begun.task
            work.tasks.append(begun.task)
            work.save(context)
            return begun

        with (
            katello_of(target, context) as katello,
            virtual.held(target, parameters, context) as hosts,
        ):
            try:
                with cut_short(context, parameters["hosts"], _counts) as watching:
                    watched = watch(katello, start, parameters["give_up_seconds"], watching, hosts)
            except CutShort as cut:
                virtual.require_reached(parameters, hosts.progress if hosts else None)
                if cancelled := jobs.count_cancelled(katello, work.task):
                    raise TargetUnavailable(
                        f"Somebody cancelled the job on {cancelled} hosts: that is no failure of the level."
                    ) from None
                return cut.measured("hosts")
            if not watched.task.at_rest:
                left = failure_to_end(
                    lambda: end_job(katello, watched.job.id, watched.task, CANCEL_SECONDS)
                )
            answered = hosts.end() if hosts else None
            rows = _rows(katello, watched)
            counts = answered.counts if answered else None
            ours = watched.gave_up or watched.timed_out
            virtual.require_reached(parameters, counts, classes_of(rows, gave_up=ours))
        return measured_of(watched, rows, parameters, left, answered)

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the job ran on as many hosts as asked, with its template and inputs, and that each has a task."""
        watched: Watched = measured.work["watched"]
        rows: Sequence[HostRow] = measured.work["rows"]
        wanted, counts = parameters["hosts"], watched.counts
        with katello_of(target, context) as katello:
            template = preparing.template_of(katello, parameters)
        job = watched.job
        shown = {name: value for name, value in job.inputs.items() if not set(value) <= {"*"}}
        other = [
            name for name, value in shown.items() if inputs_of(parameters).get(name, "") != value
        ]
        exits = [row.exit_status for row in rows if not row.failure]
        tasks = len({row.number for row in rows})
        wrong = sum(status not in ("0", "") for status in exits)
        return [
            Proof("hosts of the job", wanted, counts.total, "hosts", counts.total == wanted),
            Proof("hosts that are gone", 0, job.missing, "hosts", job.missing == 0),
            Proof("hosts with a task", counts.total, tasks, "count", tasks == counts.total == len(rows)),
            Proof("hosts that succeeded with another exit status than 0", 0, wrong, "hosts", wrong == 0),
            Proof("job template", template.name, job.template, "", job.template == template.name),
            Proof("inputs other than asked", "none", ", ".join(other) or "none", "", not other),
            Proof("resolution of the duration", "any", resolution_of(watched, rows), "s", ok=True),
            *virtual.proofs_of(parameters, measured.work["answered"], counts.succeeded),
        ]  # fmt: skip

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions, services, and Foreman's settings that change what a job costs."""
        with katello_of(target, context) as katello:
            facts = katello_facts(katello, target)
            try:
                settings = settings_of(katello)
            except Answered:
                settings = {}  # the login may not see them
        return facts | {f"setting {name}": value for name, value in settings.items()}

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the versions of Katello and Foreman."""
        return katello_subjects(facts)

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """End the job of this attempt if it goes on, and delete its host collection."""
        work, check = work_of(context), while_leased(context)
        check()
        mark = mark_of(target, context)
        with katello_of(target, context, check) as katello:

            def end() -> int:
                ended = end_jobs(katello, mark, CLEAR_SECONDS, work.tasks)
                return ended + scatter(katello, mark)

            removed = remove_until_quiet(end, patience_of(context), katello.rest)
        if removed.count or removed.looked_again:
            context.say(f"clean-up: {removed.text('jobs and host collections')}")

    def units(self, parameters: Parameters) -> int:
        """Return the number of hosts."""
        return int(parameters["hosts"])

    def seconds_beside_load(self, parameters: Parameters) -> float:
        """Return the seconds for the connections of virtual hosts, for cancelling, and for reading the tasks of the hosts after the job."""
        pages = -(-int(parameters["hosts"]) // jobs.PAGE)
        return 120.0 + 3 * PAGE_REST_SECONDS * pages

    def concurrency(self, parameters: Parameters) -> int:
        """Return 1: perfdash begins one job and looks at it, one request at a time."""
        return 1

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: how long a job takes is known only after one."""
        return 15.0 + 0.05 * int(parameters["hosts"])

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return the published question on both backends, and smaller ones."""
        return presets(bool(sandbox_url))

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Compute what follows from the rows of the hosts."""
        found = of_hosts(
            samples["start_seconds"],
            samples["work_seconds"],
            samples["end_seconds"],
            samples["failure"],
        )
        known = {name: value for name, value in found.items() if name in values}
        return Recomputed(
            known, {"host_time": times_us(samples["work_seconds"], samples["failure"])}
        )


def job_for(parameters: Parameters, work: preparing.Work, name: str) -> dict[str, Any]:
    """Return the job as Foreman's API takes it. name: of the attempt, by which its description begins."""
    job: dict[str, Any] = {
        "targeting_type": "static_query",
        "search_query": work.query,
        "inputs": inputs_of(parameters),
        "description_format": f"{name}: %{{template_name}}",
        "execution_timeout_interval": parameters["execution_timeout_seconds"],
        "time_to_pickup": parameters["time_to_pickup_seconds"],
    }
    if parameters["feature"]:
        job["feature"] = parameters["feature"]
    else:
        job["job_template_id"] = work.template
    if parameters["concurrency_level"]:
        job["concurrency_control"] = {"concurrency_level": parameters["concurrency_level"]}
    return job


def _rows(katello: Katello, watched: Watched) -> list[HostRow]:
    """Read the tasks of the hosts, a page a second: the server loads the plan of each."""

    def rest() -> None:
        katello.pause(PAGE_REST_SECONDS)

    tasks = list(jobs.tasks_of_hosts(katello, watched.task.id, rest))
    proxies = jobs.proxies_of_hosts(katello, watched.job.id)
    watched.job = jobs.invocation_of(katello, watched.job.id)  # hosts may have gone meanwhile
    return rows_of(tasks, watched.task.started, proxies)


def _proxies(katello: Katello, provider: str) -> int | None:
    """Return how many smart proxies with a feature for a provider are in order; None where the login may not see that."""
    try:
        known: Any = katello.get("/api/v2/statuses")
    except Answered:
        return None
    for name in ("results", "foreman", "smart_proxies"):
        known = known.get(name) if isinstance(known, dict) else None
    if not isinstance(known, list):
        return None
    wanted = {name.lower() for name in preparing.features_of(provider)}
    return sum(
        bool(
            each.get("status") == "ok"
            and wanted & {str(name).lower() for name in each.get("features") or ()}
        )
        for each in known
        if isinstance(each, dict)
    )


@contextmanager
def _as_void() -> Iterator[None]:
    """Raise what a launch would have refused as NotClean: it was there then, so it is no failure of the level."""
    try:
        yield
    except DriverError as error:
        if type(error) is not DriverError:
            raise
        raise NotClean(f"{error}") from None


def _counts(values: ProgramProgress) -> tuple[int, int]:
    """Return how many hosts have succeeded and failed, from a progress report."""
    return int(values.get("hosts_done") or 0), int(values.get("failed") or 0)


driver = RemoteExecution()
