"""The kind `foreman_task`: tasks of a Foreman with Katello on content views, smart proxies and hosts, several at once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from campaigns.kinds.base import (
    Context,
    Distribution,
    Driver,
    EffectiveSetting,
    Measured,
    Metric,
    Parameters,
    Phase,
    Preset,
    Proof,
    Recomputed,
    Subject,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.foreman import (
    CANCEL_SECONDS,
    CLEAR_SECONDS,
    end_ours,
    health_of_clock,
    mark_of,
    require_no_others,
    resolution_of,
    seconds_of,
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
from campaigns.kinds.foreman_task import applicability, proxies, views
from campaigns.kinds.foreman_task.form import (
    APPLICABILITY,
    LIBRARY,
    PROMOTE,
    PUBLISH,
    SYNC,
    ForemanTaskForm,
)
from campaigns.kinds.foreman_task.running import (
    CANCELLED,
    Watched,
    Work,
    failure_of,
    watch,
    work_of,
)
from campaigns.kinds.programs.health import percentile
from campaigns.kinds.servers.foreman_tasks import ForemanTask as Task
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.network import Rules

KATELLO = "katello"
SHARES = {"p50": 0.5, "p95": 0.95}


class ForemanTask(Driver):
    """Measures how long a Foreman takes for tasks that it is asked for at the same time."""

    label = "Foreman task"
    summary = (
        "Lets a Foreman with Katello publish or promote content views, sync them to a smart proxy, or find the errata that apply "
        "to hosts, one or several at once."
    )
    question = "How many Dynflow workers do we need to publish several content views at once?"
    families = (KATELLO,)
    parameters = ForemanTaskForm
    amount = ("units in each content view",)
    sample = "task"
    work_units = ("task",)
    rate = ("tasks per second", "1/s")
    metrics = (
        Metric("duration", "Duration of all tasks", "s", lower_is_better=True, primary=True),
        Metric("task_rate", "Tasks per second", "1/s", lower_is_better=False),
        Metric("host_rate", "Hosts per second", "1/s", lower_is_better=False),
        Metric("task_time", "Time of a task, mean", "s", lower_is_better=True),
        Metric("task_time_p50", "Time of a task, median", "s", lower_is_better=True, percentile=0.5),
        Metric("task_time_p95", "Time of a task, p95", "s", lower_is_better=True, percentile=0.95),
        Metric("task_time_max", "Time of the slowest task", "s", lower_is_better=True),
        Metric("wait", "Time until a worker took a task, mean", "s", lower_is_better=True),
        Metric("wall_duration", "Duration, as a client sees it", "s", lower_is_better=True),
        Metric("failed_tasks", "Failed tasks", "count", lower_is_better=True),
    )  # fmt: skip

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that Katello answers, accepts the login, and has its services in order."""
        with katello_of(target, rules) as katello:
            return [*katello_proofs(katello), names_shown(target)]

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that there are the hosts; or that the repositories hold content, and that environment and proxy are there."""
        with katello_of(target, rules) as katello:
            if parameters["task"] == APPLICABILITY:
                _hosts_of(katello, parameters)
                return
            source = views.source_of(katello, ids_of(parameters))
            _environment_of(katello, source, parameters)
            if parameters["task"] == SYNC:
                proxies.require_proxy(
                    katello, parameters["proxy"], parameters["environment"] or LIBRARY
                )

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return how many tasks run; empty without any but those that always do."""
        return katello_quiet(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove the content views that earlier runs left, and prove that nothing else is at work."""
        context.directory.mkdir(parents=True, exist_ok=True)
        prefix = own_prefix(target)
        with katello_of(target, context) as katello:
            require_services(katello)
            proxies.end_syncs(katello, work_of(context).tasks, prefix)
            found = views.own_views(katello, prefix)
            removed = views.remove(katello, target, found, work_of(context).tasks, CLEAR_SECONDS)
            left = len(views.own_views(katello, prefix))
            no_others = require_no_others(
                katello, prefix, lambda task: task.label == proxies.COUNTS_TASK
            )
        return [
            Proof("content views of earlier runs removed", "any", removed, "count", ok=True),
            Proof("content views of earlier runs left", 0, left, "count", left == 0),
            no_others,
        ]

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """Return whether content views are published before their promotion or sync is measured."""
        return parameters["task"] in (PROMOTE, SYNC)

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Find the hosts; or make the content views, and publish those that are to be promoted or synced."""
        if parameters["task"] == APPLICABILITY:
            with katello_of(target, context) as katello:
                hosts = _hosts_of(katello, parameters)
            Work([], hosts=hosts).save(context)
            return [EffectiveSetting("hosts", parameters["hosts"], len(hosts), ok=True)]
        mark, count, repositories = (
            mark_of(target, context),
            parameters["content_views"],
            ids_of(parameters),
        )
        with katello_of(target, context) as katello:
            source = views.source_of(katello, repositories)
            environment = _environment_of(katello, source, parameters)
            made = [
                views.make(katello, source.organization, f"{mark}{number}", repositories)
                for number in range(1, count + 1)
            ]
            work = Work([view.pk for view in made], environment)
            work.save(context)
            if parameters["task"] != PUBLISH:
                self._prepare(katello, target, work, context, promoted=False)
            if parameters["task"] == SYNC and environment:
                self._prepare(katello, target, work, context, promoted=True)
            made = [views.view_of(katello, view.pk) for view in made]
        holds = ", ".join(f"{name}: {units}" for name, units in source.units.items())
        return [
            EffectiveSetting("content views", count, len(made), len(made) == count),
            EffectiveSetting("units of each repository", "as it is", holds, ok=True),
        ]

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Begin all tasks, and wait until they are at rest; Foreman's clock times them."""
        work, left = work_of(context), ""
        with katello_of(target, context) as katello:
            if parameters["task"] == APPLICABILITY:
                found = applicability.compute(katello, mark_of(target, context), work, context)
                return _measured_of_hosts(found, work.hosts, context.deadline_seconds)
            made = [views.view_of(katello, pk) for pk in work.views]
            begin = [_beginning(katello, view, parameters, work) for view in made]
            watched = watch(katello, begin, mark_of(target, context), work, context)
            if watched.timed_out:
                running = [task for task in watched.all if task.state != "stopped"]
                left = failure_to_end(lambda: end_ours(katello, running, CANCEL_SECONDS))
        asked = "; Foreman was asked to cancel the others."
        measured = measured_of(watched, context.deadline_seconds, asked)
        return replace(measured, failure=f"{measured.failure}{left}")

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that every content view has its new version where it was asked for; of hosts that each was in a task."""
        watched: Watched = measured.work["watched"]
        work, count = work_of(context), parameters["content_views"]
        good = sum(task.succeeded for task in watched.all)
        if parameters["task"] == APPLICABILITY:
            return _proofs_of_hosts(watched, work.hosts)
        with katello_of(target, context) as katello:
            made = [views.view_of(katello, pk) for pk in work.views]
            units = sum(views.source_of(katello, ids_of(parameters)).units.values())
        there = sum(
            len(view.versions) == 1
            and (not work.environment or work.environment in view.environments[view.versions[0]])
            for view in made
        )
        where = parameters["environment"] if work.environment else LIBRARY
        return [
            Proof("tasks that ended with success", count, good, "count", good == count),
            Proof(f"content views with one version, in {where}", count, there, "count", there == count),
            Proof("units in each content view", "any", units, "units", ok=True),
            Proof("resolution of the duration", "any", resolution_of(watched.all), "s", ok=True),
        ]  # fmt: skip

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions and services."""
        with katello_of(target, context) as katello:
            return katello_facts(katello, target)

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the versions of Katello and Foreman."""
        return katello_subjects(facts)

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Remove the content views of this attempt, unless another run may hold the target already."""
        begun, check = work_of(context).tasks, while_leased(context)
        check()
        with katello_of(target, context, check) as katello:
            if parameters["task"] == SYNC:
                proxies.end_syncs(katello, begun, mark_of(target, context))

            def end() -> int:
                found = views.own_views(katello, mark_of(target, context))
                return views.remove(katello, target, found, begun, CLEAR_SECONDS)

            removed = remove_until_quiet(end, patience_of(context), katello.rest)
        if removed.count or removed.looked_again:
            context.say(f"clean-up: {removed.text('content views')}")

    def units(self, parameters: Parameters) -> int:
        """Return the number of tasks; of applicability that of hosts, several of which are in one task."""
        name = "hosts" if parameters["task"] == APPLICABILITY else "content_views"
        return int(parameters[name])

    def concurrency(self, parameters: Parameters) -> int:
        """Return 1: perfdash begins tasks and watches them, one request at a time."""
        return 1

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: how long a publication takes is known only after one."""
        seconds = 0.2 if parameters["task"] == APPLICABILITY else 5.0
        return 10.0 + seconds * self.units(parameters)

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return the guide's question on Dynflow's workers, and one on how much more several at once take."""
        repositories = {"repository_ids": "3, 5"} if sandbox_url else {}
        return [
            Preset(
                "dynflow-workers",
                "Publish 4 content views at once: 1 Dynflow worker against 3",
                {"task": "publish", "content_views": "4", **repositories},
                {"dynflow_workers": ("1", "3")},
                {
                    "question": "How much sooner are four content views published at once with 3 Dynflow workers than with 1?",
                    "order": "interleaved",
                    "repetitions": 5,
                },
            ),
            Preset(
                "ten-at-once",
                "Publish 1, 2, 5 and 10 content views at once",
                {"task": "publish", **repositories},
                {"content_views": ("1", "2", "5", "10")},
                {
                    "question": "How much longer do several content views take if they are published at once?",
                    "order": "interleaved",
                    "repetitions": 3,
                },
            ),
            Preset(
                "proxy-at-once",
                "Sync 1, 2, 5 and 10 content views to a smart proxy at once",
                {"task": "sync", **repositories, **({"proxy": "2"} if sandbox_url else {})},
                {"content_views": ("1", "2", "5", "10")},
                {
                    "question": "How much longer do several content views take if they are synced to a smart proxy at once?",
                    "order": "interleaved",
                    "repetitions": 3,
                },
            ),
        ]

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Compute what follows from the rows of the tasks."""
        failures = sum(bool(failure) for failure in samples["failure"])
        times = [each for each in samples["work_seconds"] if each is not None]
        found = {"failed_tasks": float(failures)}
        if not failures and "task_time" in values:
            found |= _of_times(times)
        return Recomputed(found, {"task_time": [round(each * 1e6) for each in times]})

    @staticmethod
    def _prepare(
        katello: Katello, target: Target, work: Work, context: Context, *, promoted: bool
    ) -> None:
        """Publish or promote the content views before what is measured. Raise TargetUnavailable where that fails."""
        begin = [
            _beginning(katello, view, {"task": PROMOTE if promoted else PUBLISH}, work)
            for view in (views.view_of(katello, pk) for pk in work.views)
        ]
        watched = watch(katello, begin, mark_of(target, context), work, context)
        if bad := [task for task in watched.all if not task.succeeded]:
            raise TargetUnavailable(
                f"{len(bad)} of {len(begin)} content views were not {'promoted' if promoted else 'published'}"
                f"{f' within {context.deadline_seconds:g} s' if watched.timed_out else ''}, so nothing can be measured. "
                f"Foreman says: {watched.first_error or 'nothing'}"
            )


def ids_of(parameters: Parameters) -> list[int]:
    """Return the ids of the repositories."""
    return [int(each) for each in str(parameters["repository_ids"] or "").split(",") if each]


def _hosts_of(katello: Katello, parameters: Parameters) -> list[int]:
    return applicability.hosts_found(katello, parameters["search_query"], parameters["hosts"])


def _environment_of(katello: Katello, source: views.Source, parameters: Parameters) -> int:
    """Return the id of the environment to promote to, or that a proxy holds; 0 for Library. Raise DriverError."""
    name, task = parameters["environment"], parameters["task"]
    if task == PUBLISH or (task == SYNC and name in ("", LIBRARY)):
        return 0
    return views.environment_of(katello, source.organization, name)


def _beginning(
    katello: Katello, view: views.View, parameters: Parameters, work: Work
) -> Callable[[str], Task]:
    """Return what begins the task of a content view, given the request's id."""
    if parameters["task"] == PROMOTE:
        return partial(views.promote, katello, view, work.environment)
    if parameters["task"] == SYNC:
        return partial(proxies.sync, katello, parameters["proxy"], view, work.environment)
    return partial(views.publish, katello, view)


def _measured_of_hosts(watched: Watched, hosts: Sequence[int], limit: float) -> Measured:
    """Return the result of a run over hosts, several of which are in one task."""
    done = len(applicability.done_of(watched, hosts))
    measured = measured_of(watched, limit, f"; {done} of {len(hosts)} hosts were done.")
    bad = {pk for task in watched.all if failure_of(task) for pk in applicability.hosts_of(task)}
    good = done - len(bad.intersection(hosts))
    values = dict(measured.values)
    if "duration" in values and not measured.failure:
        values["host_rate"] = good / values["duration"]
    return replace(measured, values=values, units_done=good, units_failed=len(hosts) - good)


def _proofs_of_hosts(watched: Watched, hosts: Sequence[int]) -> list[Proof]:
    """Prove that each host was in a task that ended with success, and tell whether hosts of others were, too."""
    ended = [task for task in watched.all if task.succeeded]
    there = {pk for task in ended for pk in applicability.hosts_of(task)}
    done, others = len(there.intersection(hosts)), len(there.difference(hosts))
    count, tasks = len(hosts), len(watched.all)
    return [
        Proof("tasks that ended with success", tasks, len(ended), "count", len(ended) == tasks),
        Proof("hosts in these tasks", count, done, "count", done == count),
        Proof("hosts of others in these tasks", 0, others, "count", others == 0),
        Proof("resolution of the duration", "any", resolution_of(watched.all), "s", ok=True),
    ]


def measured_of(watched: Watched, limit: float, rest: str) -> Measured:
    """Return the result of a run. Raise TargetUnavailable where somebody else cancelled a task.

    rest: what became of what was not at rest at the time limit, after “tasks at rest”.
    """
    failures = dict(Counter(filter(None, map(failure_of, watched.all))))
    if CANCELLED in failures:
        raise TargetUnavailable(
            f"Somebody cancelled {failures[CANCELLED]} of {len(watched.all)} tasks: that is no failure of the level."
        )
    failed = sum(failures.values())
    values = {"failed_tasks": float(failed)}
    failure, censored, seconds = "", frozenset[str](), seconds_of(watched.all)
    if watched.timed_out:
        values |= {"duration": watched.wall_seconds, "wall_duration": watched.wall_seconds}
        censored = frozenset({"duration", "wall_duration"})
        failure = f"The time limit of {limit:g} s ended the run with {watched.at_rest} of {len(watched.all)} tasks at rest{rest}"
    elif failures:
        counts = ", ".join(f"{count} {name}" for name, count in failures.items())
        failure = f"{failed} of {len(watched.all)} tasks failed ({counts}). Foreman says: {watched.first_error}"
    elif seconds is None:
        failure = (
            "Foreman does not report when its tasks began and ended, so the duration is unknown."
        )
    elif not seconds:
        failure = (
            "The tasks took less than a second, and this Foreman reports whole seconds only: the duration is unknown. "
            "Publish more repositories."
        )
    else:
        values |= {
            "duration": seconds,
            "task_rate": len(watched.all) / seconds,
            "wall_duration": watched.wall_seconds,
            **_of_times([task.seconds for task in watched.all if task.seconds is not None]),
        }
        waits = [task.queue_seconds for task in watched.all]
        if known := [each for each in waits if each is not None]:
            values["wait"] = sum(known) / len(known)
    times = [round(task.seconds * 1e6) for task in watched.all if task.seconds is not None]
    return Measured(
        values=values,
        health=health_of_clock(watched.all, {"looks": float(watched.looks)}),
        samples=_samples(watched),
        distributions=[Distribution.of("task_time", times)],
        phases=[Phase("tasks", watched.wall_seconds, started_seconds=0.0)],
        units_done=watched.at_rest - failed,
        units_failed=len(watched.all) - watched.at_rest + failed,
        failures=failures | ({"unfinished": len(watched.all) - watched.at_rest} if watched.timed_out else {}),
        failure=failure,
        censored=censored,
        work={"watched": watched},
    )  # fmt: skip


def _of_times(times: Sequence[float]) -> dict[str, float]:
    """Return the metrics of the times of tasks, in seconds."""
    if not times:
        return {}
    percentiles = {f"task_time_{name}": percentile(times, share) for name, share in SHARES.items()}
    return {"task_time": sum(times) / len(times), "task_time_max": max(times), **percentiles}


def _samples(watched: Watched) -> dict[str, list[Any]]:
    """Return the columns of the samples, with a row for each task."""
    tasks = watched.all
    first = min((task.started for task in tasks if task.started), default=None)
    return {
        "task": [task.action for task in tasks],
        "state": [f"{task.state}, {task.result}" for task in tasks],
        "start_seconds": [
            (task.started - first).total_seconds() if task.started and first else None
            for task in tasks
        ],
        "queue_seconds": [task.queue_seconds for task in tasks],
        "work_seconds": [task.seconds for task in tasks],
        "failure": [failure_of(task) for task in tasks],
    }


driver = ForemanTask()
