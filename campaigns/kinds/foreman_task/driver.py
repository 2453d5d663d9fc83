"""The kind `foreman_task`: a Foreman with Katello publishes or promotes content views, several at once."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
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
    NotClean,
    Parameters,
    Phase,
    Preset,
    Proof,
    Recomputed,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.foreman import (
    CANCEL_SECONDS,
    CLEAR_SECONDS,
    end_ours,
    health_of_clock,
    is_ours,
    mark_of,
    resolution_of,
    seconds_of,
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
from campaigns.kinds.foreman_task import views
from campaigns.kinds.foreman_task.form import LIBRARY, PROMOTE, ForemanTaskForm
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
        "Lets a Foreman with Katello publish or promote content views, one or several at once."
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
        """Check that the repositories hold content, and that the environment is there."""
        with katello_of(target, rules) as katello:
            source = views.source_of(katello, ids_of(parameters))
            if parameters["task"] == PROMOTE:
                views.environment_of(katello, source.organization, parameters["environment"])

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return how many tasks run; empty without any but those that always do."""
        with katello_of(target, rules) as katello:
            return busy_text(len(katello.tasks_at_work()))

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove the content views that earlier runs left, and prove that nothing else is at work."""
        context.directory.mkdir(parents=True, exist_ok=True)
        prefix = own_prefix(target)
        with katello_of(target, context) as katello:
            require_services(katello)
            found = views.own_views(katello, prefix)
            removed = views.remove(katello, target, found, work_of(context).tasks, CLEAR_SECONDS)
            left = len(views.own_views(katello, prefix))
            others = self._others(katello, prefix)
        if others:
            raise NotClean(
                f"Foreman is at work on {len(others)} other task{'' if len(others) == 1 else 's'}, such as "
                f"“{others[0].action}” of {others[0].username or 'an unknown user'}: they would share its workers. "
                "Wait for their end."
            )
        return [
            Proof("content views of earlier runs removed", "any", removed, "count", ok=True),
            Proof("content views of earlier runs left", 0, left, "count", left == 0),
            Proof("other tasks at work", 0, 0, "count", ok=True),
        ]

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """Return whether content views are published before their promotion is measured."""
        return bool(parameters["task"] == PROMOTE)

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Make the content views; those that are to be promoted are published."""
        mark, count, repositories = (
            mark_of(target, context),
            parameters["content_views"],
            ids_of(parameters),
        )
        with katello_of(target, context) as katello:
            source = views.source_of(katello, repositories)
            environment = 0
            if parameters["task"] == PROMOTE:
                environment = views.environment_of(
                    katello, source.organization, parameters["environment"]
                )
            made = [
                views.make(katello, source.organization, f"{mark}{number}", repositories)
                for number in range(1, count + 1)
            ]
            work = Work([view.pk for view in made], environment)
            work.save(context)
            if parameters["task"] == PROMOTE:
                self._publish(katello, target, made, work, context)
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
            made = [views.view_of(katello, pk) for pk in work.views]
            begin = [
                partial(views.promote, katello, view, work.environment)
                if parameters["task"] == PROMOTE
                else partial(views.publish, katello, view)
                for view in made
            ]
            watched = watch(katello, begin, mark_of(target, context), work, context)
            if watched.timed_out:
                running = [task for task in watched.all if task.state != "stopped"]
                left = failure_to_end(lambda: end_ours(katello, running, CANCEL_SECONDS))
        measured = measured_of(watched, context.deadline_seconds)
        return replace(measured, failure=f"{measured.failure}{left}")

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that every content view has its new version where it was asked for."""
        watched: Watched = measured.work["watched"]
        work, count = work_of(context), parameters["content_views"]
        good = sum(task.succeeded for task in watched.all)
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

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Remove the content views of this attempt, unless another run may hold the target already."""
        begun, check = work_of(context).tasks, while_leased(context)
        check()
        with katello_of(target, context, check) as katello:

            def end() -> int:
                found = views.own_views(katello, mark_of(target, context))
                return views.remove(katello, target, found, begun, CLEAR_SECONDS)

            removed = remove_until_quiet(end, patience_of(context), katello.rest)
        if removed.count or removed.looked_again:
            context.say(f"clean-up: {removed.text('content views')}")

    def units(self, parameters: Parameters) -> int:
        """Return the number of tasks."""
        return int(parameters["content_views"])

    def concurrency(self, parameters: Parameters) -> int:
        """Return 1: perfdash begins tasks and watches them, one request at a time."""
        return 1

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: how long a publication takes is known only after one."""
        return 10.0 + 5.0 * int(parameters["content_views"])

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
    def _others(katello: Katello, prefix: str) -> list[Task]:
        """Return the tasks at work, once those have ended that Katello began after tasks of earlier runs."""
        until = time.monotonic() + CLEAR_SECONDS
        tasks = katello.tasks_at_work()
        for task in tasks:
            if is_ours(task, (), prefix):
                wait_for(katello, task, until, "Katello began it after a task of an earlier run.")
        return [task for task in tasks if not is_ours(task, (), prefix)]

    @staticmethod
    def _publish(
        katello: Katello, target: Target, made: Sequence[views.View], work: Work, context: Context
    ) -> None:
        """Publish content views, so that they can be promoted. Raise TargetUnavailable where that fails."""
        begin = [partial(views.publish, katello, view) for view in made]
        watched = watch(katello, begin, mark_of(target, context), work, context)
        if bad := [task for task in watched.all if not task.succeeded]:
            raise TargetUnavailable(
                f"{len(bad)} of {len(made)} content views were not published"
                f"{f' within {context.deadline_seconds:g} s' if watched.timed_out else ''}, so none can be promoted. "
                f"Foreman says: {watched.first_error or 'nothing'}"
            )


def ids_of(parameters: Parameters) -> list[int]:
    """Return the ids of the repositories."""
    return [int(each) for each in str(parameters["repository_ids"] or "").split(",") if each]


def measured_of(watched: Watched, limit: float) -> Measured:
    """Return the result of a run. Raise TargetUnavailable where somebody else cancelled a task."""
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
        failure = (
            f"The time limit of {limit:g} s ended the run with {watched.at_rest} of {len(watched.all)} tasks at rest; "
            "Foreman was asked to cancel the others."
        )
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
