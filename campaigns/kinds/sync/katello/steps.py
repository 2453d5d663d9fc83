"""The steps of the kind `sync` with a Katello. Not yet tried with a real server."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.kinds.base import (
    Context,
    Distribution,
    EffectiveSetting,
    Measured,
    Parameters,
    Phase,
    Proof,
    Target,
)
from campaigns.kinds.base.content import UNITS
from campaigns.kinds.base.foreman import (
    CANCEL_SECONDS,
    CLEAR_SECONDS,
    end_ours,
    health_of_clock,
    is_ours,
    mark_of,
    resolution_of,
)
from campaigns.kinds.base.servers import (
    UNKNOWN,
    failure_to_end,
    katello_facts,
    katello_of,
    katello_proofs,
    katello_quiet,
    require_services,
    while_leased,
)
from campaigns.kinds.base.under_way import patience_of, remove_until_quiet
from campaigns.kinds.servers.katello import Katello
from campaigns.kinds.sync.failures import refuse_server_faults
from campaigns.kinds.sync.katello import clearing
from campaigns.kinds.sync.katello.parts import (
    PROXY_COUNTED,
    Work,
    begun_tasks,
    counts_of,
    features_of,
    parts_of,
    proxies_of,
    read_back,
    work_of,
)
from campaigns.kinds.sync.katello.watching import ARTIFACTS, Watched, failure_of, watch
from campaigns.kit.http.errors import NotPermitted
from campaigns.kit.network import Rules


class KatelloSteps:
    """Syncs the existing repositories of a Katello, or its proxies, and times Foreman's tasks."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that Katello answers, accepts the login, and has its services in order."""
        with katello_of(target, rules) as katello:
            return katello_proofs(katello)

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return how many tasks run; empty without any but those that always do."""
        return katello_quiet(target, rules)

    def look(self, target: Target, rules: Rules) -> None:
        """Check nothing: nothing is made there, and others use the content between their tasks, too."""

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """End the tasks that earlier runs left, and prove that nobody else syncs the same content."""
        context.directory.mkdir(parents=True, exist_ok=True)
        parts = parts_of(parameters)
        with katello_of(target, context) as katello:
            require_services(katello)
            proxies_of(katello, parts)
            ended = clearing.clear(katello, target, parts, begun_tasks(context), CLEAR_SECONDS)
            left = len(clearing.unfinished(katello, parts))
            others = katello.count_tasks("state = running")
        return [
            Proof("tasks of earlier runs ended", "any", ended, "count", ok=True),
            Proof("unfinished tasks on what is synced", 0, left, "count", left == 0),
            Proof("other tasks running in Foreman", "any", others, "count", ok=True),
        ]

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Read the settings of the repositories; nothing is changed, created or deleted."""
        parts = parts_of(parameters)
        with katello_of(target, context) as katello:
            settings = read_back(katello, parts)
            Work(parts, counts_of(katello, parts), []).save(context)
        return settings

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Sync, timed by Foreman's clock and by ours."""
        work, limit, left = work_of(context), context.deadline_seconds, ""
        with katello_of(target, context) as katello:
            watched = watch(katello, target, work, parameters, context, limit)
            if watched.timed_out:
                running = [task for task in watched.tasks.values() if task.state != "stopped"]
                left = failure_to_end(lambda: end_ours(katello, running, CANCEL_SECONDS))
        measured = measured_of(watched, limit)
        return replace(measured, failure=f"{measured.failure}{left}")

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the syncs succeeded, and that the content is the same as before."""
        watched: Watched = measured.work["watched"]
        tasks = list(watched.tasks.values())
        good = sum(task.succeeded for task in tasks)
        skipped = sum(task.was_skipped for task in tasks)
        proofs = [
            Proof("tasks that ended with success", len(tasks), good, "count", good == len(tasks)),
            Proof("resolution of the duration", "any", resolution_of(tasks), "s", ok=True),
        ]
        if parameters["optimize"] == "off":
            unskipped = sum(task.skips_metadata_check for task in tasks)
            proofs += [
                Proof(
                    "skip_metadata_check", len(tasks), unskipped, "count", unskipped == len(tasks)
                ),
                Proof("syncs skipped", 0, skipped, "count", skipped == 0),
            ]
        else:
            proofs.append(Proof("syncs skipped", "any", skipped, "count", ok=True))
        return proofs + self._content_proofs(target, context)

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions, services, and the smart proxies with their features."""
        with katello_of(target, context) as katello:
            return katello_facts(katello, target) | {"smart proxies": _all_proxies(katello)}

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Cancel the tasks of this attempt, unless another run may hold the target already."""
        begun, check = begun_tasks(context), while_leased(context)
        check()
        with katello_of(target, context, check) as katello:

            def end() -> int:
                ours = [
                    task
                    for task in clearing.unfinished(katello, parts_of(parameters))
                    if task.label in clearing.SYNCS
                    and is_ours(task, begun, mark_of(target, context))
                ]
                return end_ours(katello, ours, CANCEL_SECONDS)

            removed = remove_until_quiet(end, patience_of(context), katello.rest)
        if removed.count or removed.looked_again:
            context.say(f"clean-up: {removed.text('tasks')}")

    def _content_proofs(self, target: Target, context: Context) -> list[Proof]:
        work = work_of(context)
        with katello_of(target, context) as katello:
            after = counts_of(katello, work.parts)
        total = sum(sum(counts.values()) for counts in after.values())
        proofs = [Proof(UNITS, "any", total, "units", ok=True)]
        for name, before in work.counts.items():
            units, units_after = sum(before.values()), sum(after[name].values())
            counted = PROXY_COUNTED in before
            same = after[name] == before and (units > 0 or counted)
            what = f"units counted, {name}" if counted else f"units of content, {name}"
            proofs.append(Proof(what, units, units_after, "count", same))
        return proofs


def _all_proxies(katello: Katello) -> str:
    """Return the smart proxies with their features, as a text; the user may lack the right to see them."""
    try:
        proxies = sorted(
            f"{each.get('name')} ({', '.join(features_of(each))})"
            for each in katello.results("/api/v2/smart_proxies")
        )
    except NotPermitted:
        return UNKNOWN
    return "; ".join(proxies) or "none"


def measured_of(watched: Watched, limit: float) -> Measured:
    """Return the result of a run as every driver returns it. Raise TargetUnavailable."""
    failures = watched.failures()
    refuse_server_faults(failures, watched.first_error)
    failed = sum(failures.values())
    values: dict[str, float] = {"failed_syncs": float(failed)}
    failure, censored = _failure(watched, failures, limit), frozenset[str]()
    if watched.timed_out:
        values["task_duration"] = values["wall_duration"] = watched.wall_seconds
        censored = frozenset({"task_duration", "wall_duration"})
    elif not failure:
        values |= _durations(watched)
    tasks = watched.tasks.values()
    times = [round(task.seconds * 1e6) for task in tasks if task.seconds is not None]
    return Measured(
        values=values,
        health=health_of_clock(
            list(watched.tasks.values()),
            {
                "looks": float(watched.looks),
                "longest_between_looks_seconds": watched.spans.longest_between,
            },
        ),
        samples=_samples(watched),
        distributions=[Distribution.of("task_duration", times)],
        phases=_phases(watched),
        units_done=0 if watched.timed_out else len(watched.tasks) - failed,
        units_failed=failed,
        failures=failures,
        failure=failure,
        censored=censored,
        work={"watched": watched},
    )


def _durations(watched: Watched) -> dict[str, float]:
    seconds = watched.seconds or 0.0
    values = {"task_duration": seconds, "wall_duration": watched.wall_seconds}
    queued = [task.queue_seconds for task in watched.tasks.values()]
    known = [each for each in queued if each is not None]
    if known:
        values["queue_duration"] = max(known)
    if watched.artifacts:
        values["file_rate"] = watched.artifacts / seconds
    return values


def _failure(watched: Watched, failures: dict[str, int], limit: float) -> str:
    """Return why the run as a whole failed; empty where it did not."""
    if watched.timed_out:
        return (
            f"The time limit of {limit:g} s ended the run; Foreman was asked to cancel its tasks."
        )
    if failures:
        counts = ", ".join(f"{count} {name}" for name, count in failures.items())
        paused = ""
        if "paused" in failures:
            paused = (
                " A paused task could be resumed in Foreman, but its repository would stay locked; "
                "perfdash stops it."
            )
        return (
            f"{sum(failures.values())} of {len(watched.tasks)} syncs failed ({counts}). "
            f"Foreman says: {watched.first_error}{paused}"
        )
    if watched.seconds is None:
        return "Foreman does not report when its tasks began and ended, so the duration is unknown."
    if watched.seconds <= 0:
        return (
            "The sync took less than a second, and this Foreman reports whole seconds only: its "
            "duration is unknown. Sync more content, or use skip_metadata_check (optimize off)."
        )
    return ""


def _phases(watched: Watched) -> list[Phase]:
    """Return waiting and work by Foreman's clock, and the parts in lines of progress and the rest by ours."""
    seconds = watched.seconds
    if seconds is None:
        return []
    waited = max(task.queue_seconds or 0.0 for task in watched.tasks.values())
    parts = watched.spans.phases()
    phases = [
        Phase("waits to begin", waited, started_seconds=0.0),
        Phase("task", seconds, started_seconds=waited),
        *parts,
    ]
    if parts:
        end = max((part.started_seconds or 0.0) + part.seconds for part in parts)
        left = max(0.0, watched.wall_seconds - end)
        phases.append(Phase("indexes, and the rest", left, started_seconds=end))
    return phases


def _samples(watched: Watched) -> dict[str, list[Any]]:
    """Return the columns of the samples, with a row for each task."""
    tasks = list(watched.tasks.values())
    return {
        "repository": [str(part) for part in watched.parts][: len(tasks)],
        "state": [f"{task.state}, {task.result}" for task in tasks],
        "queue_seconds": [task.queue_seconds for task in tasks],
        "work_seconds": [task.seconds for task in tasks],
        "files": [task.done(ARTIFACTS) for task in tasks],
        "failure": [failure_of(task) for task in tasks],
    }
