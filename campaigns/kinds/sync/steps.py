"""The steps of the kind `sync` with a Pulp 3."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from campaigns.kinds.base import (
    Context,
    Distribution,
    DriverError,
    EffectiveSetting,
    Health,
    Measured,
    NotClean,
    Parameters,
    Proof,
    Series,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.content import proofs_in_order
from campaigns.kinds.base.feed import Offer, offer_of, require_allowed
from campaigns.kinds.base.naming import names_shown, own_prefix
from campaigns.kinds.base.pulp import facts_of, pulp_of, versions_of
from campaigns.kinds.base.quiet import busy_text
from campaigns.kinds.base.servers import (
    UNKNOWN,
    clock_proof,
    failure_to_end,
    while_leased,
)
from campaigns.kinds.base.under_way import patience_of, remove_until_quiet
from campaigns.kinds.programs.metadata import TYPES
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_content import do, publish
from campaigns.kinds.servers.pulp_tasks import UNFINISHED, StillAtIt, Task, TaskFailed
from campaigns.kinds.sync.cleaning import (
    CANCEL_SECONDS,
    NO_WORKER,
    cancel_ours,
    clean,
    is_without_workers,
    none_meanwhile,
    refuse_strangers,
)
from campaigns.kinds.sync.failures import refuse_server_faults
from campaigns.kinds.sync.form import feeds_read
from campaigns.kinds.sync.login import credential_in, delete_logins, require_taken
from campaigns.kinds.sync.parts import phases_of
from campaigns.kinds.sync.repositories import (
    Pair,
    in_force,
    make_pairs,
    require_there,
    start_sync,
    stored_pairs,
    unless_removed,
)
from campaigns.kinds.sync.syncing import STEP_SECONDS, Syncs, failure_of, samples_of, sync_all
from campaigns.kit.mappings import Json
from campaigns.kit.network import Rules

TREE = "rpm.distribution_tree"
"""The type of content of a feed that systems can be installed from; its images are files."""
RATE_BINDS = 0.7
"""The share of `rate_limit` from which on it was the limit; a task does more than download."""


class PulpSteps:
    """Syncs repositories into a clean Pulp 3, and times its tasks."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that Pulp answers and accepts the login, and show what it holds."""
        with pulp_of(target, rules, log_in=False) as pulp:
            began_at = time.perf_counter()
            status = pulp.status()
            seconds = time.perf_counter() - began_at
            pulp.log_in()
            artifacts, content = pulp.count("artifacts/"), pulp.count("content/")
            workers = status.get("online_workers") or ()
            free = (status.get("storage") or {}).get("free")
            return [
                Proof("Pulp", "any", versions_of(status), "", ok=True),
                Proof("workers online", "1 or more", len(workers), "count", bool(workers)),
                Proof("login", "accepted", "accepted", "", ok=True),
                Proof("answers", "any", round(seconds, 4), "s", ok=True),
                Proof("artifacts", "0 before a run", artifacts, "count", ok=True),
                Proof("units of content", "0 before a run", content, "count", ok=True),
                Proof("dedicated", "any", "yes" if target.dedicated else "no", "", ok=True),
                Proof(
                    "storage free", "any", UNKNOWN if free is None else float(free), "B", ok=True
                ),
                clock_proof(pulp.date(), datetime.now(UTC)),
                names_shown(target),
            ]

    def look(self, target: Target, rules: Rules) -> None:
        """Check that nobody else has content there. Raise NotOurs."""
        with pulp_of(target, rules) as pulp:
            refuse_strangers(pulp, target)

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return how many tasks run or wait; empty without any."""
        with pulp_of(target, rules) as pulp:
            return busy_text(pulp.count("tasks/", state__in=UNFINISHED))

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Cancel and delete what earlier runs left, and prove that Pulp is empty."""
        context.directory.mkdir(parents=True, exist_ok=True)
        with pulp_of(target, context) as pulp:
            return clean(pulp, target, context)

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Create remotes and repositories, and read their levels back; sync once where a repeat is measured.

        Raise AddressRefused before any sync where its feed could not be read.
        """
        for url in feeds_read(parameters):
            require_allowed(url, context.rules)
        with pulp_of(target, context) as pulp:
            pairs = make_pairs(pulp, target, parameters, context)
            with unless_removed(pulp, pairs):
                settings = list(
                    in_force(pulp, pairs, parameters, credential_in(target, parameters))
                )
                if parameters["repeat"] == "unchanged":
                    try:
                        _first_sync(pulp, pairs, parameters, context.deadline_seconds)
                    except TaskFailed as error:
                        require_taken([failure_of(error.task)], target, parameters, context.rules)
                        raise NotClean(f"{error} A repeated sync needs a first one.") from None
            return settings

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Sync, timed by Pulp's clock and by ours."""
        pairs = stored_pairs(context)
        limit = context.deadline_seconds
        with pulp_of(target, context) as pulp, unless_removed(pulp, pairs):
            if not pulp.has_session:
                context.say("Pulp gave no session: its tasks are polled less often")
            syncs = sync_all(pulp, pairs, parameters, context, limit)
            if syncs.timed_out:
                nobody_worked = is_without_workers(pulp)
                left = failure_to_end(lambda: cancel_ours(pulp, target, CANCEL_SECONDS))
                if nobody_worked:
                    raise TargetUnavailable(f"The sync did not end within {limit:g} s. {NO_WORKER}")
                measured = _measured(syncs, parameters, None, limit, ())
                return replace(measured, failure=f"{measured.failure}{left}")
            if syncs.failures():
                require_there(pulp, pairs)
            refuse_server_faults(syncs.failures(), syncs.first_message())
            require_taken(syncs.failures(), target, parameters, context.rules)
            artifacts = pulp.count("artifacts/")  # before publishing, which makes more of them
            published = None
            if parameters["publish"] == "on" and not syncs.failures():
                published = publish_all(pulp, target, pairs, parameters, limit - syncs.wall_seconds)
        offers: list[Offer | None] = []
        if not syncs.failures():
            login = credential_in(target, parameters)
            offers = [offer_of(pair.feed, parameters["content"], context, login) for pair in pairs]
        measured = _measured(syncs, parameters, published, limit, offers)
        return replace(measured, work={**measured.work, "artifacts": artifacts})

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Compare what Pulp holds with what the feed offers."""
        syncs: Syncs = measured.work["syncs"]
        pairs = stored_pairs(context)
        offers: list[Offer | None] = measured.work["offers"]
        with pulp_of(target, context) as pulp, unless_removed(pulp, pairs):
            contents = [_content_of(pulp, pair) for pair in pairs]
            alone = none_meanwhile(pulp, syncs.tasks.values())
        units = [_units_of(each, parameters["content"]) for each in contents]
        skips = parameters["repeat"] == "unchanged" and parameters["optimize"] == "on"
        expected = len(pairs) if skips else 0
        proofs = [
            Proof("syncs skipped", expected, syncs.skipped, "count", syncs.skipped == expected),
            alone,
            same_clock(syncs.seconds, syncs.bounds()),
        ]
        if not all(offers):
            proofs.append(Proof("units of content", "1 or more", sum(units), "count", all(units)))
            return proofs
        known = [offer for offer in offers if offer]
        return [
            *proofs,
            *same_work(
                known,
                parameters,
                units=sum(units),
                artifacts=measured.work["artifacts"],
                downloaded=syncs.artifacts,
                trees=sum(int(each.get(TREE, {}).get("count", 0)) for each in contents),
            ),
            *same_others(known, contents),
            *_contents(all_files(known)),
        ]

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions, workers, storage and settings of Pulp."""
        with pulp_of(target, context) as pulp:
            return facts_of(pulp.status(), target)

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Cancel what still runs, and what begins yet, unless another run may hold the target already."""
        with pulp_of(target, context, while_leased(context)) as pulp:
            removed = remove_until_quiet(
                lambda: cancel_ours(pulp, target, CANCEL_SECONDS), patience_of(context), pulp.rest
            )
            if parameters.get("credential"):
                delete_logins(pulp, target, context)
        if removed.count or removed.looked_again:
            context.say(f"clean-up: {removed.text('tasks')}")


def _first_sync(pulp: Pulp, pairs: Sequence[Pair], parameters: Parameters, limit: float) -> None:
    """Sync for the first time, which is not measured. Raise NotClean, TaskFailed."""
    end = time.monotonic() + limit
    hrefs = [start_sync(pulp, pair, parameters) for pair in pairs]
    try:
        for href in hrefs:
            pulp.wait(href, max(0.0, end - time.monotonic()), "The first sync")
    except StillAtIt as error:
        raise NotClean(
            f"{error} A repeated sync needs a first one, which may take as long as the campaign's "
            f"limit of a run, {limit:g} s: raise that."
        ) from None


def _measured(
    syncs: Syncs,
    parameters: Parameters,
    published: float | None,
    limit: float,
    offers: Sequence[Offer | None],
) -> Measured:
    """Return the result of a run as every driver returns it."""
    tasks = list(syncs.tasks.values())
    failures = syncs.failures()
    failed = sum(failures.values())
    seconds = syncs.seconds
    values: dict[str, float] = {"failed_syncs": float(failed)}
    failure, censored = "", frozenset[str]()
    if syncs.timed_out:
        values["task_duration"] = values["wall_duration"] = syncs.wall_seconds
        censored = frozenset({"task_duration", "wall_duration"})
        failure = (
            f"The time limit of {limit:g} s ended the run; Pulp was asked to cancel its tasks."
        )
    elif failed:
        counts = ", ".join(f"{count} {name}" for name, count in failures.items())
        failure = (
            f"{failed} of {len(tasks)} syncs failed ({counts}). Pulp says: {syncs.first_message()}"
        )
    elif seconds is not None:
        values["task_duration"] = seconds
        values["wall_duration"] = syncs.wall_seconds
        values["queue_duration"] = max(task.queue_seconds or 0.0 for task in tasks)
        if syncs.artifacts and seconds > 0:
            values["file_rate"] = syncs.artifacts / seconds
            if all(offers):
                files = all_files([offer for offer in offers if offer])
                values["throughput"] = sum(files.values()) / 1e6 / seconds
    if published is not None:
        values["publish_duration"] = published
    rates = syncs.rates()
    times = [round(task.seconds * 1e6) for task in tasks if task.seconds is not None]
    return Measured(
        values=values,
        health=_health(syncs, parameters),
        samples=samples_of(syncs),
        series=[Series("file_rate", "files/s", STEP_SECONDS, rates)] if rates else [],
        distributions=[Distribution.of("task_duration", times)],
        phases=phases_of(syncs.parts, syncs.tasks, published, syncs.wall_seconds),
        units_done=len(tasks) - failed if not syncs.timed_out else 0,
        units_failed=failed,
        failures=failures,
        failure=failure,
        censored=censored,
        work={"syncs": syncs, "offers": list(offers)},
    )


def _health(syncs: Syncs, parameters: Parameters) -> Health:
    """Warn where the remote's own rate was the limit; perfdash itself only watches."""
    rate, seconds = parameters.get("rate_limit"), syncs.seconds
    figures = {
        "looks": float(len(syncs.looks)),
        "longest_between_looks_seconds": syncs.parts.longest_between,
    }
    if rate and seconds:
        share = syncs.artifacts / seconds / (rate * len(syncs.tasks))
        figures["share_of_rate_limit"] = share
        if share >= RATE_BINDS and syncs.artifacts >= rate * len(syncs.tasks):
            reason = f"the rate_limit of {rate} a second binds: {share:.0%} of it was used"
            return Health("warned", (reason,), figures)
    return Health("healthy", (), figures)


def _content_of(pulp: Pulp, pair: Pair) -> Json:
    """Return the content of the repository's newest version, by type."""
    repository = pulp.get(pair.repository)
    version = pulp.get(repository["latest_version_href"])
    present: Json = (version.get("content_summary") or {}).get("present") or {}
    return present


def _units_of(present: Json, content: str) -> int:
    """Return how many units there are of the synced type."""
    plugin = content.partition("/")[0]
    if content == "rpm/rpm":
        return int(present.get("rpm.package", {}).get("count", 0))
    return sum(
        int(each.get("count", 0)) for name, each in present.items() if name.startswith(f"{plugin}.")
    )


def publish_all(
    pulp: Pulp, target: Target, pairs: Sequence[Pair], parameters: Parameters, limit: float
) -> float:
    """Publish and distribute every repository; return the seconds by Pulp's clock. Raise DriverError."""
    content = parameters["content"]
    tasks: list[Task] = []
    try:
        for pair in pairs:
            published = publish(pulp, content, pair.repository, limit)
            name = f"{own_prefix(target)}{pair.repository.rstrip('/').rpartition('/')[2]}"
            publication = published.created_resources[0]
            body = {"name": name, "base_path": name, "publication": publication}
            distributed = do(pulp, f"distributions/{content}/", body, limit, "Distributing")
            tasks += [published, distributed]
    except (StillAtIt, TaskFailed, IndexError) as error:
        raise DriverError(f"The synced content could not be published: {error}") from None
    return sum(task.seconds or 0.0 for task in tasks)


def same_work(
    offers: Sequence[Offer],
    parameters: Parameters,
    *,
    units: int,
    artifacts: int,
    downloaded: int,
    trees: int = 0,
) -> list[Proof]:
    """Compare units of content, artifacts and downloaded files with what the feeds offer.

    trees: how many of the feeds have images besides their packages, which their metadata do not list.
    """
    files = all_files(offers)
    wanted = sum(offer.units for offer in offers)
    stored = len(files) if parameters["policy"] == "immediate" else 0
    return [
        Proof("units of content", wanted, units, "count", wanted == units),
        _artifacts(offers, parameters, stored, artifacts, trees=trees),
        _downloads(offers, parameters, stored, downloaded, trees=trees),
    ]


def _contents(files: Mapping[bytes, int]) -> list[Proof]:
    """Return the proofs of the content of feeds."""
    return proofs_in_order(((digest.hex(), files[digest]) for digest in sorted(files)), "units")


def same_others(offers: Sequence[Offer], contents: Sequence[Json]) -> list[Proof]:
    """Compare modules, comps and advisories of the repositories with what their feeds offer. contents: by type."""
    proofs = []
    for kind, name in TYPES.items():
        synced = sum(int(each.get(kind, {}).get("count", 0)) for each in contents)
        offered = [offer.others[kind] for offer in offers if kind in offer.others]
        known = [each for each in offered if each is not None]
        if len(known) < len(offered):
            proofs.append(Proof(name, "any: not read from the feed", synced, "count", ok=True))
        elif synced or sum(known):
            wanted = sum(known)
            proofs.append(Proof(name, wanted, synced, "count", wanted == synced))
    return proofs


def same_clock(seconds: float | None, bounds: tuple[float, float]) -> Proof:
    """Compare the seconds by Pulp's clock, which may be set meanwhile, with the bounds by ours."""
    least, most = (round(bounds[0], 1), round(bounds[1], 1))
    right = seconds is not None and least <= seconds <= most
    measured = "not known" if seconds is None else round(seconds, 3)
    return Proof("duration, beside our clock", f"{least:g} to {most:g} s", measured, "s", right)


def all_files(offers: Sequence[Offer]) -> Mapping[bytes, int]:
    """Return the files of all feeds, each digest once, as Pulp stores them; sizes in bytes."""
    if len(offers) == 1:  # not copied: there may be many
        return offers[0].files
    files: dict[bytes, int] = {}
    for offer in offers:
        files |= offer.files
    return files


def _artifacts(
    offers: Sequence[Offer], parameters: Parameters, stored: int, artifacts: int, *, trees: int
) -> Proof:
    """Compare the artifacts. Pulp publishes a mirror at once, and stores its metadata as artifacts, too."""
    metadata = len(frozenset[str]().union(*(offer.metadata for offer in offers)))
    content, policy = parameters["content"], parameters["sync_policy"]
    whole_mirror = content == "rpm/rpm" and policy == "mirror_complete"
    published = whole_mirror or (content == "file/file" and policy != "additive")
    least = stored + metadata * published
    if trees or whole_mirror:  # and signatures of the metadata, where there are any
        return Proof("artifacts", f"{least} or more", artifacts, "count", artifacts >= least)
    return Proof("artifacts", least, artifacts, "count", artifacts == least)


def _downloads(
    offers: Sequence[Offer], parameters: Parameters, stored: int, downloaded: int, *, trees: int
) -> Proof:
    """Compare the downloads. Concurrent syncs may each download a file of both feeds; a tree's description is downloaded again."""
    name = "files downloaded by these syncs"
    if parameters["repeat"] != "first" or not stored:
        few = f"0 to {trees}" if trees else 0
        return Proof(name, few, downloaded, "files", downloaded <= trees)
    if trees:
        return Proof(name, f"{stored} or more", downloaded, "files", downloaded >= stored)
    most = sum(len(offer.files) for offer in offers)
    expected = stored if most == stored else f"{stored} to {most}"
    return Proof(name, expected, downloaded, "files", stored <= downloaded <= most)
