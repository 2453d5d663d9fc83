"""The kind `remote_execution`: a Foreman runs a job on many hosts through its smart proxies."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from campaigns.kinds.base import (
    Context,
    CutShort,
    Distribution,
    Driver,
    DriverError,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    NotClean,
    Parameters,
    Phase,
    Preset,
    Proof,
    Recomputed,
    Target,
    TargetUnavailable,
    cut_short,
)
from campaigns.kinds.base.foreman import (
    CANCEL_SECONDS,
    CLEAR_SECONDS,
    end_ours,
    health_of_seconds,
    is_ours,
    mark_of,
    require_no_others,
    wait_for,
)
from campaigns.kinds.base.naming import names_shown, own_prefix
from campaigns.kinds.base.quiet import busy_text
from campaigns.kinds.base.servers import (
    failure_to_end,
    katello_facts,
    katello_of,
    katello_proofs,
    require_services,
    while_leased,
)
from campaigns.kinds.base.under_way import patience_of, remove_until_quiet
from campaigns.kinds.hosts.answering import Answered as AnsweredJobs
from campaigns.kinds.remote_execution import preparing, virtual
from campaigns.kinds.remote_execution.form import (
    VIRTUAL,
    RemoteExecutionForm,
    changes_nothing,
    inputs_of,
)
from campaigns.kinds.remote_execution.preparing import work_of
from campaigns.kinds.remote_execution.presets import presets
from campaigns.kinds.remote_execution.summary import (
    CANCELLED,
    UNFINISHED,
    HostRow,
    as_unfinished,
    failures_of,
    of_hosts,
    rows_of,
    samples_of,
    series_of,
)
from campaigns.kinds.remote_execution.watching import Watched, watch
from campaigns.kinds.servers import job_invocations as jobs
from campaigns.kinds.servers.foreman_hosts import settings_of
from campaigns.kinds.servers.foreman_tasks import MILLISECOND, WHOLE_SECOND, ForemanTask
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Answered
from campaigns.kit.mappings import ProgramProgress
from campaigns.kit.network import Rules

KATELLO = "katello"
PAGE_REST_SECONDS = 1.0
"""Between two pages of the tasks of hosts, which are asked for after the job."""
UNKNOWN = "unknown"
FOREMAN_LOOKS_SECONDS = 15.0
"""How often Foreman looks at the hosts of a job, so that its own task may end so much later (dynflow, `with_sub_plans.rb`)."""
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
    why_read = "The virtual hosts of a worker connect to it."
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
            preparing.template_of(katello, parameters)
            preparing.require_hosts(katello, target, parameters)

    def reads(self, parameters: Parameters) -> Mapping[str, Sequence[str]]:
        """Return where virtual hosts connect to: the broker and the smart proxy."""
        if parameters.get("hosts_are") != VIRTUAL:
            return {}
        broker, proxy = str(parameters.get("broker") or ""), str(parameters.get("proxy_url") or "")
        named = {"broker": f"https://{broker}/" if broker else "", "proxy_url": proxy}
        return {name: [url] for name, url in named.items() if url}

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return how many tasks run; empty without any but those that always do."""
        with katello_of(target, rules) as katello:
            return busy_text(len(katello.tasks_at_work()))

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """End the jobs that earlier runs left, and prove that nothing else is at work and enough hosts are there."""
        context.directory.mkdir(parents=True, exist_ok=True)
        prefix = own_prefix(target)
        with katello_of(target, context) as katello:
            require_services(katello)
            ended = end_jobs(katello, prefix, CLEAR_SECONDS)
            scattered = _scatter(katello, prefix)
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
        return [
            EffectiveSetting("hosts", parameters["hosts"], count, count == parameters["hosts"]),
            EffectiveSetting("template", asked, found.name, ok=True),
        ]

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
            Proof("resolution of the duration", "any", _resolution(watched, rows), "s", ok=True),
            *virtual.proofs_of(measured.work["answered"], counts.succeeded),
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

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """End the job of this attempt if it goes on, and delete its host collection."""
        work, check = work_of(context), while_leased(context)
        check()
        mark = mark_of(target, context)
        with katello_of(target, context, check) as katello:

            def end() -> int:
                ended = end_jobs(katello, mark, CLEAR_SECONDS, work.tasks)
                return ended + _scatter(katello, mark)

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
            known, {"host_time": _times_us(samples["work_seconds"], samples["failure"])}
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


def unfinished_jobs(katello: Katello, mark: str, begun: Sequence[str] = ()) -> list[ForemanTask]:
    """Return the tasks of jobs that have not stopped and that `mark` or `begun` says are ours."""
    tasks = katello.tasks(f"state != stopped and label = {jobs.LABEL}")
    return [task for task in tasks if is_ours(task, begun, mark) or mark in task.action]


def end_jobs(katello: Katello, mark: str, seconds: float, begun: Sequence[str] = ()) -> int:
    """End our jobs that go on; return how many. Raise NotClean where one does not end in time."""
    tasks = unfinished_jobs(katello, mark, begun)
    for task in tasks:
        end_job(katello, jobs.job_of(task), task, seconds)
    return len(tasks)


def end_job(katello: Katello, job: int | None, task: ForemanTask, seconds: float) -> None:
    """Cancel a job and wait for its end; one that a smart proxy does not end is ended by force. Raise NotClean."""
    if task.state == "paused":
        end_ours(katello, [task], seconds)
        return
    if job is None:
        katello.cancel([task.id])
    else:
        jobs.cancel(katello, job)
        try:
            wait_for(katello, task, time.monotonic() + min(seconds, CANCEL_SECONDS), "")
        except NotClean:
            jobs.cancel(katello, job, force=True)
    wait_for(
        katello, task, time.monotonic() + seconds,
        "Foreman was asked to cancel the job, also by force; look at it there.",
    )  # fmt: skip


def measured_of(
    watched: Watched,
    rows: Sequence[HostRow],
    parameters: Parameters,
    left: str,
    answered: AnsweredJobs | None,
) -> Measured:
    """Return the result of a run. Raise TargetUnavailable where somebody else cancelled the job or a part of it.

    A job that perfdash gave up is counted by the rows of its hosts, which were read after its end; another one by its task, of which
    the rows are proved to be as many.
    """
    wanted, gave_up = parameters["hosts"], watched.gave_up or watched.timed_out
    if gave_up:
        rows = [as_unfinished(row) for row in rows]
    elif cancelled := sum(row.failure == CANCELLED for row in rows) or watched.counts.cancelled:
        raise TargetUnavailable(
            f"Somebody cancelled the job on {cancelled} of {wanted} hosts: that is no failure of the level."
        )
    succeeded = sum(row.is_good for row in rows) if gave_up else watched.counts.succeeded
    failures = failures_of(rows)
    if gave_up:
        others = sum(count for name, count in failures.items() if name != UNFINISHED)
        failures[UNFINISHED] = wanted - succeeded - others
    duration = duration_of(watched, rows)
    failure = _failure(watched, succeeded, duration, left)
    values: dict[str, float] = {
        "succeeded": float(succeeded),
        "failed": float(wanted - succeeded),
        "success": 100.0 * succeeded / wanted,
    }
    if gave_up:
        values["job_duration"] = watched.wall_seconds
    elif not failure and duration:
        values |= {"job_duration": duration.seconds, "hosts_rate": succeeded / duration.seconds}
        columns = samples_of(rows)
        values |= of_hosts(
            *(columns[name] for name in ("start_seconds", "work_seconds", "end_seconds", "failure"))
        )
    if watched.planning_seconds is not None:
        values["planning_duration"] = watched.planning_seconds
    samples, looks = samples_of(rows), {"looks": float(len(watched.looks))}
    return Measured(
        values=values,
        health=virtual.health_with(_health(duration, looks), answered),
        samples=samples,
        series=series_of(rows),
        distributions=[
            Distribution.of("host_time", _times_us(samples["work_seconds"], samples["failure"]))
        ],
        phases=_phases(watched, rows, duration),
        units_done=succeeded,
        units_failed=wanted - succeeded,
        failures=failures,
        failure=failure,
        censored=frozenset({"job_duration"}) if gave_up else frozenset(),
        work={"watched": watched, "rows": rows, "answered": answered},
    )


@dataclass(frozen=True, slots=True)
class Duration:
    """How long a job took, and the greatest error of that, both in seconds."""

    seconds: float
    resolution: float


def duration_of(watched: Watched, rows: Sequence[HostRow]) -> Duration | None:
    """Return the time from the start of a job to the end of its last host; None where Foreman does not show it.

    Foreman looks at the hosts of a job only now and then, so the job's own task ends later than they. Without their ends that is taken.
    """
    ends = [row.ended for row in rows if row.ended is not None]
    resolution = WHOLE_SECOND if watched.task.whole_seconds else MILLISECOND
    if ends and len(ends) == len(rows) and max(ends) > 0:
        return Duration(max(ends), resolution)
    if watched.task.seconds:
        return Duration(watched.task.seconds, max(watched.task.resolution, FOREMAN_LOOKS_SECONDS))
    return None


def _health(duration: Duration | None, figures: dict[str, float]) -> Health:
    if duration is None:
        return Health("healthy", (), figures)
    return health_of_seconds(duration.seconds, duration.resolution, figures)


def _failure(watched: Watched, succeeded: int, duration: Duration | None, left: str) -> str:
    """Return why the run as a whole failed; empty where the job came to its end, whatever became of its hosts."""
    task, counts = watched.task, watched.counts
    total = counts.total or watched.job.total
    done = f"{succeeded} of {total} hosts had succeeded"
    if watched.gave_up:
        return f"The job did not finish: {done}, and then none ended any more. Foreman was asked to cancel it.{left}"
    if watched.timed_out:
        return f"The job did not finish within the time of the run: {done}. Foreman was asked to cancel it.{left}"
    if task.state == "paused":
        return f"Foreman paused the job after an error: {'; '.join(task.errors) or 'it names none'}. {done.capitalize()}."
    if not total or counts.ended < total:
        said = "; ".join(task.errors) or f"nothing (result {task.result})"
        return f"The job ended with {counts.ended} of {total} hosts. Foreman says: {said}"
    if duration is None:
        return (
            "Foreman does not report how long the job took, or reports whole seconds and it took less than one: the duration is "
            "unknown. Run it on more hosts."
        )
    return ""


def _phases(watched: Watched, rows: Sequence[HostRow], duration: Duration | None) -> list[Phase]:
    """Return the planning, the job, and its last 5 % of hosts, each with its beginning."""
    ends = sorted(row.ended for row in rows if row.ended is not None)
    phases = [
        Phase("job", duration.seconds if duration else watched.wall_seconds, started_seconds=0.0)
    ]
    if watched.planning_seconds is not None:
        phases.append(Phase("planning", watched.planning_seconds, started_seconds=0.0))
    if len(ends) > 1 and ends[-1] > 0:
        last = ends[int(0.95 * (len(ends) - 1))]
        phases.append(
            Phase("last 5 % of hosts", max(0.0, ends[-1] - last), started_seconds=max(0.0, last))
        )
    return phases


def _times_us(seconds: Sequence[float | None], failures: Sequence[str]) -> list[int]:
    """Return the times of the hosts that succeeded, in microseconds."""
    return [
        round(each * 1e6) for each, failure in zip(seconds, failures, strict=True)
        if each is not None and not failure
    ]  # fmt: skip


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


def _resolution(watched: Watched, rows: Sequence[HostRow]) -> float:
    duration = duration_of(watched, rows)
    return duration.resolution if duration else FOREMAN_LOOKS_SECONDS


def _scatter(katello: Katello, mark: str) -> int:
    """Delete the host collections whose names begin with a mark; return how many."""
    found = jobs.own_collections(katello, mark)
    for pk in found:
        jobs.scatter(katello, pk)
    return len(found)


def _counts(values: ProgramProgress) -> tuple[int, int]:
    """Return how many hosts have succeeded and failed, from a progress report."""
    return int(values.get("hosts_done") or 0), int(values.get("failed") or 0)


driver = RemoteExecution()
