"""The kind `sync`: a Pulp 3 or a Katello syncs repositories. Each family of servers has its own steps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kinds.base import (
    Context,
    Credential,
    CredentialRefused,
    Driver,
    DriverError,
    EffectiveSetting,
    Measured,
    Metric,
    Parameters,
    Preset,
    Proof,
    Recomputed,
    Snippet,
    Subject,
    Target,
)
from campaigns.kinds.base.feed import ask_feed, require_allowed
from campaigns.kinds.base.pulp import HOSTS, is_torn, pulp_subjects
from campaigns.kinds.base.servers import katello_subjects
from campaigns.kinds.base.snippets import command, foreman_snippets
from campaigns.kinds.sync.form import (
    KATELLO,
    OF_A_REMOTE,
    PULP,
    SyncForm,
    feeds_of,
    feeds_read,
    missing,
)
from campaigns.kinds.sync.katello.steps import KatelloSteps
from campaigns.kinds.sync.login import credential_in
from campaigns.kinds.sync.presets import presets
from campaigns.kinds.sync.steps import PulpSteps
from campaigns.kit.mappings import Settings
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
"""Options of `pulp file remote update` and `pulp rpm remote update`, in pulp-cli 0.21 and later."""
PLUGINS = ("file", "rpm")
"""Plug-ins with these options; the remotes of other plug-ins may have others."""
STEPS: Mapping[str, PulpSteps | KatelloSteps] = {PULP: PulpSteps(), KATELLO: KatelloSteps()}


class Sync(Driver):
    """Measures how long a Pulp 3, or the Pulp of a Katello, takes to sync repositories."""

    label = "Sync"
    summary = "Lets a Pulp 3 or a Katello sync repositories, from a clean state each time."
    question = "Which download_concurrency should we ship?"
    families = (PULP, KATELLO)
    one_upstream = True
    parameters = SyncForm
    first_factors = OF_A_REMOTE
    sample = "sync"
    work_units = ("file", "GB")
    rate = ("files per second", "files/s")
    passing = frozenset({HOSTS})
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
        """Prove that the server answers and accepts the login."""
        return STEPS[target.family].probe(target, rules)

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that a worker may read the feeds and the feeds take the credential, and that nobody else has content on the server."""
        for url in feeds_read(parameters):
            require_allowed(url, rules)
        STEPS[target.family].look(target, rules)
        credential = credential_in(target, parameters)
        for url in feeds_read(parameters):
            _ask(url, parameters, rules, credential)

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return whether tasks are at work, by the list of tasks."""
        return STEPS[target.family].quiet(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove what earlier runs left, and prove that nothing else runs."""
        return STEPS[target.family].reset(target, parameters, context)

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Put the levels in force, and read them back."""
        return STEPS[target.family].apply(target, parameters, context)

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Sync, timed by the server's clock and by ours."""
        return STEPS[target.family].measure(target, parameters, context)

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that all content was synced."""
        return STEPS[target.family].verify(target, parameters, context, measured)

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return messages for parameters that only the other family has, and for missing ones."""
        return {
            **super().misfits(family, parameters, factors),
            **missing(family, parameters, factors),
        }

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """Return none: the server loads the feed, not perfdash."""
        return {}

    def reads(self, parameters: Parameters) -> Mapping[str, Sequence[str]]:
        """Return the feeds whose metadata a worker reads, to prove that all was synced."""
        return {"feed": feeds} if (feeds := feeds_read(parameters)) else {}

    def sends(self, base_url: str, parameters: Parameters) -> Mapping[str, Sequence[str]]:
        """Return the feeds and the Pulp itself, which signs in to them."""
        named = bool(parameters.get("credential"))
        return {"credential": [*feeds_of(parameters), base_url]} if named else {}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return the published studies, and shapes of feeds of the sandbox."""
        return presets(sandbox_url)

    def snippets(
        self, family: str, settings: Settings, parameters: Parameters
    ) -> Sequence[Snippet]:
        """Return commands of Pulp's command line, of hammer, and of foreman-installer."""
        if family == PULP:
            return _of_pulp(settings, str(parameters.get("content") or "file/file"))
        return [*_of_hammer(settings), *foreman_snippets(settings)] if family == KATELLO else []

    def concurrency(self, parameters: Parameters) -> int:
        """Return 1: perfdash starts tasks and watches them, one request at a time."""
        return 1

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions and other facts that must stay the same within a session."""
        return STEPS[target.family].environment(target, context)

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the components of Pulp, or Katello and Foreman, with their versions."""
        return [*pulp_subjects(facts), *katello_subjects(facts)]

    def is_torn(self, facts: Mapping[str, str]) -> bool:
        """Return whether workers of Pulp have other versions than its API."""
        return is_torn(facts)

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Cancel what still runs, unless another run may hold the target already."""
        STEPS[target.family].clean_up(target, parameters, context)

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """Return whether `apply` does a first sync, because the second one is measured."""
        return bool(parameters["repeat"] == "unchanged" and parameters["feed"])

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Count tasks and files again; a single task's work is the whole duration."""
        failures = Counter(failure for failure in samples["failure"] if failure)
        work = samples["work_seconds"]
        recomputed = {"failed_syncs": float(failures.total())}
        whole = work[0] if len(work) == 1 else values.get("task_duration")
        if whole:
            recomputed["task_duration"] = whole
            if files := sum(samples["files"]):
                recomputed["file_rate"] = files / whole
        queued = [each for each in samples["queue_seconds"] if each is not None]
        if queued:
            recomputed["queue_duration"] = max(queued)
        times = [round(each * 1e6) for each in work if each is not None]
        return Recomputed(recomputed, {"task_duration": times})

    def work_done(self, measured: Measured, seconds: float) -> Mapping[str, float]:
        """Return the files and gigabytes that were synced; none that the server had already."""
        values = measured.values
        whole = values.get("task_duration", 0.0)
        rates = {"file": values.get("file_rate"), "GB": values.get("throughput", 0.0) / 1000}
        return {unit: rate * whole for unit, rate in rates.items() if rate}

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: the size of a feed is known only after a sync."""
        return 15.0


def _ask(url: str, parameters: Parameters, rules: Rules, credential: Credential | None) -> None:
    """Ask for a feed. Raise CredentialRefused; what else is wrong with one, the server tells that syncs it."""
    try:
        ask_feed(url, str(parameters["content"]), rules, credential)
    except CredentialRefused:
        raise
    except DriverError:
        return


def _of_pulp(settings: Settings, content: str) -> list[Snippet]:
    plugin = content.partition("/")[0]
    known = {name: settings[name] for name in OPTIONS if settings.get(name) not in (None, "")}
    if not known or plugin not in PLUGINS or content != f"{plugin}/{plugin}":
        return []
    start = f"pulp {plugin} remote update --name REMOTE"
    text = command(start, [(OPTIONS[name], value) for name, value in known.items()])
    source = f"pulp-cli, pulp {plugin} remote update --help"
    return [Snippet("Pulp CLI", text, tuple(known), source)]


def _of_hammer(settings: Settings) -> list[Snippet]:
    name = "download_concurrency"
    if settings.get(name) in (None, ""):
        return []
    start = "hammer repository update --id REPOSITORY_ID"
    text = command(start, [("--download-concurrency", settings[name])])
    source = "hammer, hammer repository update --help; 1 to 20"
    return [Snippet("hammer", text, (name,), source)]


driver = Sync()
