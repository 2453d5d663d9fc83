"""The kind `sync`: what it asks, varies and measures; the family of the target says who takes the steps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from campaigns.kinds.base import (
    Context,
    Driver,
    EffectiveSetting,
    Measured,
    Metric,
    Parameters,
    Preset,
    Proof,
    Recomputed,
    Snippet,
    Target,
)
from campaigns.kinds.base.snippets import command, foreman_snippets
from campaigns.kinds.sync.family_parameters import ALONE, KATELLO, PULP, misfits
from campaigns.kinds.sync.form import SyncForm
from campaigns.kinds.sync.katello.steps import KatelloSteps
from campaigns.kinds.sync.presets import presets_at
from campaigns.kinds.sync.repositories import OF_A_REMOTE
from campaigns.kinds.sync.steps import PulpSteps
from campaigns.kit.network import Rules

OPTIONS = {
    "policy": "--policy",
    "download_concurrency": "--download-concurrency",
    "rate_limit": "--rate-limit",
    "max_retries": "--max-retries",
    "total_timeout": "--total-timeout",
    "connect_timeout": "--connect-timeout",
    "sock_connect_timeout": "--sock-connect-timeout",
    "sock_read_timeout": "--sock-read-timeout",
}
"""Options of `pulp file remote update` and of `pulp rpm remote update`, in pulp-cli 0.21 and later."""
PLUGINS = ("file", "rpm")
"""Whose options were looked up; another plug-in's remote may have others."""


class Steps(Protocol):
    """The part of a driver that depends on the family of the target."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]: ...

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]: ...

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]: ...

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured: ...

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]: ...

    def environment(self, target: Target, context: Context) -> Mapping[str, str]: ...

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None: ...


STEPS: Mapping[str, Steps] = {PULP: PulpSteps(), KATELLO: KatelloSteps()}


class Sync(Driver):
    """Lets a Pulp 3, or the Pulp of a Katello, sync repositories, and takes the time of its tasks."""

    label = "Sync"
    summary = "Lets a Pulp 3 or a Katello sync repositories, from a clean state each time."
    question = "Which download_concurrency should we ship?"
    families = (PULP, KATELLO)
    parameters = SyncForm
    of_one_family = ALONE
    factors = (
        *OF_A_REMOTE,
        "feed",
        "repository_ids",
        "proxy",
        "content",
        "sync_policy",
        "repositories",
        "repeat",
        "optimize",
        "publish",
    )
    sample = "sync"
    rate = ("files per second", "files/s")
    work = ("feed", "repository_ids", "proxy", "content", "repositories", "repeat", "publish")
    amount = ("units of content", "units counted")
    metrics = (
        Metric("task_duration", "Duration of the sync", "s", lower_is_better=True, primary=True),
        Metric("wall_duration", "Duration, as a client sees it", "s", lower_is_better=True),
        Metric("queue_duration", "Time until a worker took it", "s", lower_is_better=True),
        Metric("publish_duration", "Duration of publishing", "s", lower_is_better=True),
        Metric("file_rate", "Files per second", "files/s", lower_is_better=False),
        Metric("throughput", "Throughput", "MB/s", lower_is_better=False),
        Metric("failed_syncs", "Failed syncs", "count", lower_is_better=True),
    )

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Return what server this is, and whether the login is right."""
        return STEPS[target.family].probe(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """End what earlier runs left, and prove that nothing else goes on."""
        return STEPS[target.family].reset(target, parameters, context)

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Set what is to be set, and read back what is in force."""
        return STEPS[target.family].apply(target, parameters, context)

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Let the server sync; its own clock counts, ours beside it."""
        return STEPS[target.family].measure(target, parameters, context)

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that all was synced."""
        return STEPS[target.family].verify(target, parameters, context, measured)

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return what only the other family has, and what is missing."""
        return misfits(family, parameters, factors)

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """Nothing: what loads the feed is the server, not perfdash."""
        return {}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Many small files or packages, and few large ones."""
        return presets_at(sandbox_url)

    def snippets(
        self, family: str, settings: Mapping[str, Any], parameters: Parameters
    ) -> Sequence[Snippet]:
        """What Pulp's command line, hammer, or the installer of a Foreman takes."""
        return snippets(family, settings, parameters)

    def concurrency(self, parameters: Parameters) -> int:
        """One request at a time: perfdash only asks for tasks, and looks at them."""
        return 1

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Versions and what else may not change within a session."""
        return STEPS[target.family].environment(target, context)

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Cancel what still goes on, unless another run may hold the target already."""
        STEPS[target.family].clean_up(target, parameters, context)

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """What a Pulp is to sync once more is synced in `apply` for the first time."""
        return bool(parameters["repeat"] == "unchanged" and parameters["feed"])

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Compute again what follows from the samples alone."""
        return recompute(samples, values)

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Guess; how much a feed has is known only when it was synced once."""
        return 15.0


def recompute(samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]) -> Recomputed:
    """Count tasks and files again; with one task its work is the whole duration."""
    failures = Counter(failure for failure in samples["failure"] if failure)
    work = samples["work_seconds"]
    found = {"failed_syncs": float(failures.total())}
    whole = work[0] if len(work) == 1 else values.get("task_duration")
    if whole:
        found["task_duration"] = whole
        files = sum(samples["files"])
        if files:
            found["file_rate"] = files / whole
    queued = [each for each in samples["queue_seconds"] if each is not None]
    if queued:
        found["queue_duration"] = max(queued)
    times = [round(each * 1e6) for each in work if each is not None]
    return Recomputed(found, {"task_duration": times})


def snippets(
    family: str, settings: Mapping[str, Any], parameters: Mapping[str, Any]
) -> list[Snippet]:
    """Write what sets the parameters of a remote, and what hammer sets of a repository."""
    if family == PULP:
        return _of_pulp(settings, str(parameters.get("content") or "file/file"))
    return [*_of_hammer(settings), *foreman_snippets(settings)] if family == KATELLO else []


def _of_pulp(settings: Mapping[str, Any], content: str) -> list[Snippet]:
    plugin = content.partition("/")[0]
    known = {name: settings[name] for name in OPTIONS if settings.get(name) not in (None, "")}
    if not known or plugin not in PLUGINS or content != f"{plugin}/{plugin}":
        return []
    words = ("pulp", plugin, "remote", "update", "--name", "REMOTE")
    text = command(words, [(OPTIONS[name], value) for name, value in known.items()])
    source = f"pulp-cli, pulp {plugin} remote update --help"
    return [Snippet("Pulp CLI", text, tuple(known), source)]


def _of_hammer(settings: Mapping[str, Any]) -> list[Snippet]:
    name = "download_concurrency"
    if settings.get(name) in (None, ""):
        return []
    words = ("hammer", "repository", "update", "--id", "REPOSITORY_ID")
    text = command(words, [("--download-concurrency", settings[name])])
    source = "hammer, hammer repository update --help; 1 to 20"
    return [Snippet("hammer", text, (name,), source)]
