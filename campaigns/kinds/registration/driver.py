"""The kind `registration`: virtual hosts register at a Katello or a Candlepin, at once or in a ramp."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
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
    Parameters,
    Phase,
    Preset,
    Proof,
    Recomputed,
    RemovedByOthers,
    Series,
    Snippet,
    Subject,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.servers import katello_subjects, known_subjects
from campaigns.kinds.base.snippets import foreman_snippets
from campaigns.kinds.load.failures import FAILURES
from campaigns.kinds.load.judging import judge
from campaigns.kinds.programs.health import is_local
from campaigns.kinds.registration.advice import typed_in, warnings_of
from campaigns.kinds.registration.candlepin import CandlepinServer
from campaigns.kinds.registration.form import ARRIVALS, RegistrationForm, hosts_of
from campaigns.kinds.registration.katello import KatelloServer
from campaigns.kinds.registration.presets import PRESETS
from campaigns.kinds.registration.program.profiles import CONSUMER, FOREMAN_GLOBAL, PROFILES
from campaigns.kinds.registration.requests import CANDLEPIN, KATELLO, require_tls
from campaigns.kinds.registration.running import register, remove_by_identity
from campaigns.kinds.registration.summary import PERCENTILES, TIMED_OUT, Registrations
from campaigns.kit import histogram
from campaigns.kit.mappings import Settings
from campaigns.kit.network import Rules
from campaigns.kit.versions import RPM

SERVERS: Mapping[str, KatelloServer | CandlepinServer] = {
    KATELLO: KatelloServer(),
    CANDLEPIN: CandlepinServer(),
}
NO_CONNECTION = frozenset({"connect", "tls"})

START = "start_seconds"


class Registration(Driver):
    """Registers virtual hosts as real clients do, and times each registration."""

    label = "Registration"
    summary = "Lets virtual hosts register, all at once or one after the other, as real clients do."
    question = "How many Puma workers and threads carry our registrations?"
    families = (KATELLO, CANDLEPIN)
    parameters = RegistrationForm
    generators = True
    sample = "host"
    work_units = ("host",)
    rate = ("requests per second", "1/s")
    metrics = (
        Metric("registration_time", "Time of a registration, mean", "s",
               lower_is_better=True, primary=True, of_survivors=True),
        Metric("registration_time_p50", "Time of a registration, median", "s", lower_is_better=True,
               percentile=0.5, of_survivors=True),
        Metric("registration_time_p95", "Time of a registration, p95", "s",
               lower_is_better=True, percentile=0.95, of_survivors=True),
        Metric("registration_time_p99", "Time of a registration, p99", "s",
               lower_is_better=True, percentile=0.99, of_survivors=True),
        Metric("registration_time_max", "Time of the slowest registration", "s", lower_is_better=True,
               of_survivors=True),
        Metric("registration_rate", "Registrations per second", "1/s", lower_is_better=False),
        Metric("middle_rate", "Registrations per second, middle 80 %", "1/s", lower_is_better=False),
        Metric("passed", "Hosts registered", "count", lower_is_better=False),
        Metric("failed", "Hosts that failed", "count", lower_is_better=True),
        Metric("first_try", "Success at the first try", "%", lower_is_better=False),
        Metric("eventual", "Success, retries included", "%", lower_is_better=False),
        Metric("window", "Window: first start to last end", "s", lower_is_better=True),
        Metric("start_spread", "First start to last start", "s", lower_is_better=True, directed=False),
        Metric("offered_rate", "Hosts that arrived per second", "1/s", lower_is_better=False, directed=False),
        Metric("not_begun", "Arrivals that were not begun", "count", lower_is_better=True),
        Metric("at_a_time", "Hosts at a time, most", "count", lower_is_better=True, directed=False),
        Metric("consumer_time", "Time of POST consumers, mean", "s", lower_is_better=True,
               of_survivors=True),
        Metric("script_time", "Time of Foreman's script, mean", "s", lower_is_better=True,
               of_survivors=True),
        Metric("subscription_time", "Time of subscription-manager, mean", "s", lower_is_better=True,
               of_survivors=True),
        Metric("configuration_time", "Time of the host's configuration, mean", "s",
               lower_is_better=True, of_survivors=True),
        Metric("built_time", "Time of “built”, mean", "s", lower_is_better=True,
               of_survivors=True),
        Metric("resent", "Requests sent again on a new connection", "count", lower_is_better=True),
        Metric("profiles_refused", "Profile uploads that were refused", "count", lower_is_better=True),
    )  # fmt: skip

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that the server answers and accepts the login."""
        return SERVERS[target.family].probe(target, rules)

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that no other perfdash has hosts on the server."""
        SERVERS[target.family].look(target, parameters, rules)

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return whether tasks are at work, by the list of tasks; Candlepin shows none."""
        server = SERVERS[target.family]
        if isinstance(server, KatelloServer):
            return server.quiet(target, rules)
        return super().quiet(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove the hosts that earlier runs left, and prove that nothing else runs."""
        require_tls(target)
        context.directory.mkdir(parents=True, exist_ok=True)
        return SERVERS[target.family].clear(target, parameters, context)

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Look up what hosts register with, and log warnings about settings that do not fit."""
        typed = typed_in(target.settings, target.hardware)
        for warning in warnings_of({**typed, **target.wanted}):
            context.say(f"may be disturbed: {warning}")
        profile = PROFILES[parameters["profile"]]
        if parameters["packages"] and not profile.sends_profile:
            context.say(f"{profile.name} sends no packages while it registers")
        return SERVERS[target.family].known(target, parameters, context)

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Register the hosts, timed by the engine from their common start."""
        server = SERVERS[target.family]
        command = server.command(target, parameters, context)
        try:
            hosts = register(target, parameters, context, command)
        except CutShort as cut:
            _refuse_missing(cut, lambda: server.uuids(target, parameters, context))
            return cut.measured("hosts")
        _refuse_no_connection(hosts)
        for kind, message in hosts.examples().items():
            count = hosts.failures()[kind]
            context.say(
                f"{count} hosts failed ({kind}: {FAILURES.get(kind, '')}); first: {message}"
            )
        if removed := hosts.refused_as_gone():
            _refuse_removed(removed, lambda: server.uuids(target, parameters, context))
        measured = _measured(hosts, is_local(target.base_url))
        if hosts.failed and not measured.failure:
            return _unless_gone(measured, hosts, lambda: server.facts(target, context))
        return measured

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the server has the hosts."""
        uuids: Sequence[str] = measured.work["uuids"]
        ended = measured.units_done + measured.units_failed
        begun = hosts_of(parameters) - int(measured.values.get("not_begun", 0))
        profile = PROFILES[parameters["profile"]]
        recorded = f"{profile.name}: {len(profile.steps)} on {profile.connections} connections, less what the server does not offer"
        return [
            Proof("requests of a host", recorded, measured.work["sent"], "", ok=True),
            Proof("hosts processed", begun, ended, "count", ended == begun),
            Proof("different uuids", len(uuids), len(set(uuids)), "count",
                  len(set(uuids)) == len(uuids)),
            *SERVERS[target.family].registered(target, parameters, context, uuids),
        ]  # fmt: skip

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return a message where the profile needs a Foreman and the target has none."""
        profiles = factors.get("profile", (parameters.get("profile"),))
        if family == CANDLEPIN and FOREMAN_GLOBAL.name in profiles:
            return {"profile": "Foreman's registration needs a Foreman: choose another profile."}
        return {}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return presets for a curve over eight numbers of hosts, and for the tables of the tuning guide."""
        return PRESETS

    def snippets(
        self, family: str, settings: Settings, parameters: Parameters
    ) -> Sequence[Snippet]:
        """Return commands of foreman-installer; parameters of the hosts set nothing on the server."""
        return foreman_snippets(settings) if family == KATELLO else ()

    def offers_rate(self, parameters: Parameters) -> bool:
        """Return True with a ramp or arrivals: the hosts begin whatever the server does."""
        return parameters.get("start") in ("ramp", ARRIVALS)

    def concurrency(self, parameters: Parameters) -> int:
        """Return the number of hosts: each has one request at a time."""
        return int(parameters["hosts"])

    def units(self, parameters: Parameters) -> int:
        """Return the number of hosts: each of them registers, or fails."""
        return hosts_of(parameters)

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions and settings, those that an operator typed in included."""
        return SERVERS[target.family].facts(target, context)

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the versions of Katello and Foreman, or that of Candlepin."""
        return [
            *katello_subjects(facts),
            *known_subjects(facts, {"Candlepin": ("candlepin", RPM)}),
        ]

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Delete the hosts of this attempt by their identity, and what is left of them by search.

        A server registers hosts also after their connections were closed, so the search is repeated.
        """
        problem: DriverError | None = None
        hosts = hosts_of(parameters)
        try:
            if removed := remove_by_identity(target, context):
                context.say(f"clean-up: {removed} hosts removed by their certificates")
                hosts -= removed
        except DriverError as error:
            problem = error
        SERVERS[target.family].remove(target, parameters, context, hosts)
        if problem is not None and target.family == CANDLEPIN and not target.username:
            raise problem

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Count hosts and take means and percentiles again; the rate is over the stored window."""
        failures = samples["failure"]
        rows = [row for row, failure in enumerate(failures) if not failure]
        hosts = round(values["passed"] + values["failed"])
        recomputed = {
            "passed": float(len(rows)),
            "failed": float(hosts - len(rows)),
            "first_try": 100.0 * len(rows) / hosts,
        }
        if seconds := values.get("window"):
            recomputed["registration_rate"] = len(rows) / seconds
        times = {
            name.removesuffix("_seconds"): [
                round(column[row] * 1e6) for row in rows if column[row] is not None
            ]
            for name, column in samples.items()
            if name.endswith("_seconds") and name != START
        }
        times = {name: each for name, each in times.items() if each}
        if whole := times.pop("total", []):
            recomputed["registration_time"] = sum(whole) / len(whole) / 1e6
            recomputed["registration_time_max"] = max(whole) / 1e6
            late = sum(failure == TIMED_OUT for failure in failures) + hosts - len(failures)
            recomputed |= _percentiles(sorted(whole), late)
        if consumers := times.get(CONSUMER):
            recomputed["consumer_time"] = sum(consumers) / len(consumers) / 1e6
        if starts := [round(each * 1e6) for each in samples[START]]:
            recomputed["start_spread"] = (max(starts) - min(starts)) / 1e6
        return Recomputed(recomputed, {"registration_time": whole} | times, units_done=len(rows))

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: how long a host takes is what is measured."""
        ramp = parameters["ramp_seconds"] if self.offers_rate(parameters) else 0.0
        return 10.0 + float(ramp or 0.0) + 0.05 * float(hosts_of(parameters) or 1)


def _refuse_no_connection(hosts: Registrations) -> None:
    """Raise TargetUnavailable where no host got a connection: nothing was measured."""
    failures = hosts.failures()
    began = any(hosts.columns.get("steps", ()))
    if hosts.result and not hosts.passed and set(failures) <= NO_CONNECTION and not began:
        raise TargetUnavailable(
            f"None of {hosts.hosts} hosts got a connection: {hosts.first_message()} Check that the "
            "server runs, the target's base URL, and its CA bundle."
        )


def _refuse_missing(cut: CutShort, ask: Callable[[], Collection[str] | None]) -> None:
    """Raise RemovedByOthers where the server has fewer hosts than had registered when too much failed."""
    there = None
    with suppress(DriverError):
        there = None if cut.unhealthy else ask()
    if there is not None and len(there) < cut.done:
        raise RemovedByOthers(
            f"{cut.done} hosts had registered, and the server has {len(there)}: somebody else removed the others. What "
            "failed is no failure of the level."
        ) from None


def _refuse_removed(refused: Mapping[str, str], ask: Callable[[], Collection[str] | None]) -> None:
    """Raise RemovedByOthers where the server said that hosts are gone, and they are. Where nobody can ask, its word counts."""
    try:
        there = ask()
    except DriverError:
        return
    gone = [text for uuid, text in refused.items() if there is None or uuid not in there]
    if gone:
        raise RemovedByOthers(
            f"{len(gone)} hosts were removed from the server while they registered, by somebody else: they are no failures of "
            f"the level. The first: {gone[0]}"
        )


def _unless_gone(measured: Measured, hosts: Registrations, ask: Callable[[], object]) -> Measured:
    """Fail the run where `ask` shows that the target stopped answering under the load."""
    try:
        ask()
    except TargetUnavailable as error:
        failure = (
            f"The target stopped answering in the middle of the run: {len(hosts.passed)} of "
            f"{hosts.hosts} hosts had registered. {error}"
        )
        return replace(measured, failure=failure)
    except DriverError:
        pass
    return measured


def _measured(hosts: Registrations, is_target_here: bool) -> Measured:
    """Return the result of a run as every driver returns it."""
    figures = hosts.figures() | {"target_is_here": float(is_target_here)}
    verdict = judge(figures)
    completions = hosts.completions()
    series = [Series("registrations", "1/s", 1.0, completions)] if completions else []
    if hosts.offered_rate is not None:
        series.append(Series("hosts at a time", "count", 1.0, hosts.at_a_time()))
    if requests := (hosts.result.get("per_second") or {}).get("done"):
        series.append(Series("requests", "1/s", 1.0, [float(count) for count in requests]))
    values, failure = hosts.values(), hosts.failure()
    columns = hosts.columns
    return Measured(
        values=values,
        health=Health(verdict.word, verdict.reasons, figures),
        samples=hosts.samples(),
        series=series,
        distributions=[Distribution.of(name, times) for name, times in hosts.times_us().items()]
        + [
            Distribution(name, encoded, histogram.counts_of(encoded).total)
            for name, encoded in hosts.connections().items()
        ],
        phases=[Phase(name, seconds) for name, seconds in hosts.step_means().items()],
        units_done=len(hosts.passed),
        units_failed=hosts.failed,
        failures=hosts.failures(),
        censored=hosts.censored(),
        failure=failure,
        work={
            "uuids": [columns["uuid"][row] for row in hosts.passed],
            "sent": hosts.sent(),
        },
    )


def _percentiles(times: Sequence[int], late: int) -> dict[str, float]:
    """Return the percentiles that successful hosts reached, without those that are only limits."""
    count = len(times) + late
    ranks = {
        name: max(1, int(count * share + 0.5))
        for name, share in PERCENTILES.items()
        if not histogram.needs(count, share)
    }
    return {name: times[rank - 1] / 1e6 for name, rank in ranks.items() if rank <= len(times)}


driver = Registration()
