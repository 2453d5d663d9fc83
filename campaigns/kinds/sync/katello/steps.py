"""The four steps of the kind `sync` with a Katello. Not yet seen with a real server."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from campaigns.kinds.base import (
    STAND_IN,
    Context,
    EffectiveSetting,
    Measured,
    Parameters,
    Proof,
    Target,
)
from campaigns.kinds.base.katello import refuse_services_that_are_away, who_answers
from campaigns.kinds.base.servers import katello_of, what_does_not_end, while_leased
from campaigns.kinds.servers.katello import Katello
from campaigns.kinds.sync.facts import NOT_TOLD
from campaigns.kinds.sync.katello import clearing
from campaigns.kinds.sync.katello.measuring import measured_of
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
from campaigns.kinds.sync.katello.watching import Watched, watch
from campaigns.kit.http.errors import NotPermitted
from campaigns.kit.network import Rules


class KatelloSteps:
    """Syncs repositories that a Katello has, or a proxy of it, and takes the time of Foreman's tasks."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Return what Katello this is, whether the login is right, and how its services are."""
        with katello_of(target, rules, lambda: None) as katello:
            return who_answers(katello)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """End what earlier runs left, and prove that nobody else syncs the same."""
        context.directory.mkdir(parents=True, exist_ok=True)
        parts = parts_of(parameters)
        with _opened(target, context) as katello:
            refuse_services_that_are_away(katello)
            proxies_of(katello, parts)
            ended = clearing.clear(katello, parts, begun_tasks(context), clearing.CLEAR_SECONDS)
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
        """Read back what the repositories are set to; nothing is changed, made or deleted."""
        parts = parts_of(parameters)
        with _opened(target, context) as katello:
            settings = read_back(katello, parts)
            Work(parts, counts_of(katello, parts), []).save(context)
        return settings

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Let Katello sync; Foreman's clock counts, ours beside it."""
        work, limit, left = work_of(context), context.deadline_seconds, ""
        with _opened(target, context) as katello:
            watched = watch(katello, work, parameters, context, limit)
            if watched.timed_out:
                goes_on = [task for task in watched.tasks.values() if task.state != "stopped"]
                left = what_does_not_end(
                    lambda: clearing.end_ours(katello, goes_on, clearing.CANCEL_SECONDS)
                )
        measured = measured_of(watched, limit)
        return replace(measured, failure=f"{measured.failure}{left}")

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the syncs came through, and that what is there is what was there."""
        watched: Watched = measured.work["watched"]
        tasks = list(watched.tasks.values())
        good = sum(task.succeeded for task in tasks)
        skipped = sum(task.was_skipped for task in tasks)
        proofs = [
            Proof("tasks that ended with success", len(tasks), good, "count", good == len(tasks)),
            Proof("resolution of the duration", "any", watched.resolution, "s", ok=True),
        ]
        if parameters["optimize"] == "off":
            asked = sum(task.skips_metadata_check for task in tasks)
            proofs += [
                Proof("skip_metadata_check", len(tasks), asked, "count", asked == len(tasks)),
                Proof("syncs skipped", 0, skipped, "count", skipped == 0),
            ]
        else:
            proofs.append(Proof("syncs skipped", "any", skipped, "count", ok=True))
        return proofs + self._content_proofs(target, context)

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Versions, services, and the smart proxies with what they can do."""
        with _opened(target, context) as katello:
            versions = katello.foreman_version(), katello.katello_version()
            services = katello.ping()
            proxies = _all_proxies(katello)
        facts = {
            "Foreman": versions[0],
            "Katello": versions[1],
            "services": ", ".join(f"{name} {said}" for name, said in sorted(services.items())),
            "smart proxies": proxies,
            "hardware and network": target.hardware or NOT_TOLD,
            "certificate": "verified" if target.tls.verify else "not verified",
        }
        if versions[1].endswith(STAND_IN):
            facts[STAND_IN] = f"simulated Katello {versions[1].removesuffix(STAND_IN).strip()}"
        return facts

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Cancel what this run began, unless another run may hold the target already."""
        begun, check = begun_tasks(context), while_leased(context)
        check()
        with _opened(target, context, check) as katello:
            ours = [
                task
                for task in clearing.unfinished(katello, parts_of(parameters))
                if task.label in clearing.SYNCS
                and clearing.is_ours(task, begun, clearing.mark_of(context))
            ]
            clearing.end_ours(katello, ours, clearing.CANCEL_SECONDS)

    def _content_proofs(self, target: Target, context: Context) -> list[Proof]:
        work = work_of(context)
        with _opened(target, context) as katello:
            after = counts_of(katello, work.parts)
        proofs = []
        for name, before in work.counts.items():
            units, found = sum(before.values()), sum(after[name].values())
            counted = PROXY_COUNTED in before
            same = after[name] == before and (units > 0 or counted)
            what = f"units counted, {name}" if counted else f"units of content, {name}"
            proofs.append(Proof(what, units, found, "count", same))
        return proofs


def _opened(
    target: Target, context: Context, check: Callable[[], None] | None = None
) -> AbstractContextManager[Katello]:
    """Connect; stops where the context, or `check`, says so."""
    return katello_of(
        target, context.rules, check or context.check, context.sender, context.most_per_second
    )


def _all_proxies(katello: Katello) -> str:
    """Name the smart proxies with what they can do; a user may lack the right to see them."""
    try:
        proxies = sorted(
            f"{each.get('name')} ({', '.join(features_of(each))})"
            for each in katello.results("/api/v2/smart_proxies")
        )
    except NotPermitted:
        return NOT_TOLD
    return "; ".join(proxies) or "none"
