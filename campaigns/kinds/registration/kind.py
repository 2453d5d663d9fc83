"""The kind `registration`: what it asks, varies and measures; its four steps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from campaigns.kinds.base import (
    Context,
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
    Series,
    Snippet,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.snippets import foreman_snippets
from campaigns.kinds.load.failures import FAILURES
from campaigns.kinds.load.judging import judge
from campaigns.kinds.programs.health import is_here
from campaigns.kinds.registration.advice import warnings_of
from campaigns.kinds.registration.candlepin import CandlepinServer
from campaigns.kinds.registration.form import RegistrationForm
from campaigns.kinds.registration.katello import KatelloServer
from campaigns.kinds.registration.operator_settings import typed_in
from campaigns.kinds.registration.presets import presets
from campaigns.kinds.registration.program.profiles import CONSUMER, FOREMAN_GLOBAL, PROFILES
from campaigns.kinds.registration.requests import CANDLEPIN, KATELLO, require_tls
from campaigns.kinds.registration.running import register, remove_by_identity
from campaigns.kinds.registration.summary import PERCENTILES, TIMED_OUT, Registrations
from campaigns.kit import histogram
from campaigns.kit.network import Rules, parse_url


class Server(Protocol):
    """A family of servers at which hosts register."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Return what it is, whether the login is right, and how it is."""

    def clear(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove what earlier runs of this installation left, and prove it."""

    def known(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Look the organization and the activation keys up. Raise ParametersRefused."""

    def command(self, target: Target, parameters: Parameters, context: Context) -> dict[str, Any]:
        """Ask for what Foreman's global registration needs; nothing of other profiles."""

    def registered(
        self, target: Target, parameters: Parameters, context: Context, uuids: Sequence[str]
    ) -> list[Proof]:
        """Prove that the hosts of these uuids are there."""

    def remove(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Remove what this attempt registered and is still there."""

    def facts(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return what must stay the same within a session."""


SERVERS: Mapping[str, Server] = {KATELLO: KatelloServer(), CANDLEPIN: CandlepinServer()}
NO_CONNECTION = frozenset({"connect", "tls"})

WHOLE, START = "total_seconds", "start_seconds"


class Registration(Driver):
    """Lets virtual hosts register as real ones do, and takes the time of each."""

    label = "Registration"
    summary = "Lets virtual hosts register, all at once or one after the other, as real clients do."
    question = "How many Puma workers and threads carry our registrations?"
    families = (KATELLO, CANDLEPIN)
    parameters = RegistrationForm
    generators = True
    factors = (
        "hosts", "profile", "organization", "activation_keys", "packages", "start", "ramp_seconds",
        "timeout_seconds", "retry_rounds", "retry_hosts", "generators",
    )  # fmt: skip
    work = ("profile", "packages")
    sample = "host"
    rate = ("requests per second", "1/s")
    metrics = (
        Metric("registration_time", "Time of a registration, mean", "s",
               lower_is_better=True, primary=True, of_survivors=True),
        Metric("registration_time_p50", "Time of a registration, median", "s", lower_is_better=True,
               percentile=0.5, of_survivors=True),
        Metric("registration_time_p95", "Time of a registration, 95th percentile", "s",
               lower_is_better=True, percentile=0.95, of_survivors=True),
        Metric("registration_time_p99", "Time of a registration, 99th percentile", "s",
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
        """Return what server this is, and whether the login is right."""
        return SERVERS[target.family].probe(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove the hosts that earlier runs left, and prove that nothing goes on."""
        require_tls(target)
        context.directory.mkdir(parents=True, exist_ok=True)
        return SERVERS[target.family].clear(target, parameters, context)

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Look up what hosts register with, and say what does not fit together."""
        typed = typed_in(target.settings, target.hardware)
        for words in warnings_of({**typed, **target.wanted}):
            context.say(f"may be disturbed: {words}")
        profile = PROFILES[parameters["profile"]]
        if parameters["packages"] and not profile.sends_profile:
            context.say(f"{profile.name} sends no packages while it registers")
        made_of = f"{len(profile.steps)} requests on {profile.connections} connections"
        return [
            *SERVERS[target.family].known(target, parameters, context),
            EffectiveSetting("profile", profile.name, profile.name, ok=True),
            EffectiveSetting("requests of a host", "as recorded", made_of, ok=True),
        ]

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Let the hosts register; the engine's clock counts from the instant that all begin at."""
        server = SERVERS[target.family]
        command = server.command(target, parameters, context)
        found = register(target, parameters, context, command)
        _refuse_no_connection(found)
        for kind, words in found.examples().items():
            count = found.failures()[kind]
            context.say(f"{count} hosts failed ({kind}: {FAILURES.get(kind, '')}); first: {words}")
        measured = _measured(found, _is_here(target))
        if found.failed and not measured.failure:
            return _unless_gone(measured, found, lambda: server.facts(target, context))
        return measured

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Look whether the hosts are really there."""
        uuids: Sequence[str] = measured.work["uuids"]
        ended = measured.units_done + measured.units_failed
        return [
            Proof("hosts processed", parameters["hosts"], ended, "count",
                  ended == parameters["hosts"]),
            Proof("different uuids", len(uuids), len(set(uuids)), "count",
                  len(set(uuids)) == len(uuids)),
            *SERVERS[target.family].registered(target, parameters, context, uuids),
        ]  # fmt: skip

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return what only a Foreman has."""
        profiles = factors.get("profile", (parameters.get("profile"),))
        if family == CANDLEPIN and FOREMAN_GLOBAL.name in profiles:
            return {
                "profile": "Foreman's registration is not there without Foreman: choose another."
            }
        return {}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """A curve over eight numbers of hosts, and the tables of Puma's workers and threads."""
        return presets()

    def snippets(
        self, family: str, settings: Mapping[str, Any], parameters: Parameters
    ) -> Sequence[Snippet]:
        """What the installer of a Foreman takes; the hosts and how they register set nothing on it."""
        return foreman_snippets(settings) if family == KATELLO else ()

    def concurrency(self, parameters: Parameters) -> int:
        """Return the number of hosts: each has one request at a time."""
        return int(parameters["hosts"])

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Versions and settings, and what an operator typed in."""
        return SERVERS[target.family].facts(target, context)

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Delete the hosts by their identity, and what is left of this attempt by search."""
        problem: DriverError | None = None
        try:
            remove_by_identity(target, context)
        except DriverError as error:
            problem = error
        SERVERS[target.family].remove(target, parameters, context)
        if problem is not None and target.family == CANDLEPIN and not target.username:
            raise problem

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Compute again what follows from the samples alone."""
        return recompute(samples, values)

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Guess; how long a host takes is what is measured."""
        ramp = parameters["ramp_seconds"] if parameters["start"] == "ramp" else 0.0
        return 10.0 + float(ramp or 0.0) + 0.05 * float(parameters["hosts"] or 1)


def _is_here(target: Target) -> bool:
    """Return whether the target stands on the generator's own machine."""
    endpoint = parse_url(target.base_url)
    if endpoint.address is None:
        return endpoint.host == "localhost"
    return is_here(str(endpoint.address))


def _refuse_no_connection(found: Registrations) -> None:
    """Raise TargetUnavailable where not one host got a connection: nothing was measured."""
    failures = found.failures()
    began = any(found.columns.get("steps", ()))
    if found.result and not found.passed and set(failures) <= NO_CONNECTION and not began:
        raise TargetUnavailable(
            f"None of {found.hosts} hosts got a connection: {found.first_message()} Check that the "
            "server runs, the target's base URL, and its CA bundle."
        )


def _unless_gone(measured: Measured, found: Registrations, ask: Callable[[], object]) -> Measured:
    """Look whether the target still answers; one that has gone under the load has failed the run."""
    try:
        ask()
    except TargetUnavailable as error:
        words = (
            f"The target stopped answering in the middle of the run: {len(found.passed)} of "
            f"{found.hosts} hosts had registered. {error}"
        )
        return replace(measured, failure=words)
    except DriverError:
        pass
    return measured


def _measured(found: Registrations, is_target_here: bool) -> Measured:
    """Bring what the programs have reported into the form of every driver."""
    figures = found.figures() | {"target_is_here": float(is_target_here)}
    verdict = judge(figures)
    coded = {name: histogram.encode(times) for name, times in found.times_us().items()}
    completions = found.completions()
    series = [Series("registrations", "1/s", 1.0, completions)] if completions else []
    if requests := (found.result.get("per_second") or {}).get("done"):
        series.append(Series("requests", "1/s", 1.0, [float(count) for count in requests]))
    values, failure = found.values(), found.failure()
    columns = found.columns
    return Measured(
        values=values,
        health=Health(verdict.word, verdict.reasons, figures),
        samples=found.samples(),
        series=series,
        distributions=[
            Distribution(name, code.encoded, code.count, code.dropped)
            for name, code in coded.items()
        ]
        + [
            Distribution(name, encoded, histogram.counts_of(encoded).total)
            for name, encoded in found.connections().items()
        ],
        phases=[Phase(name, seconds) for name, seconds in found.step_means().items()],
        units_done=len(found.passed),
        units_failed=found.failed,
        failures=found.failures(),
        censored=found.censored(),
        failure=failure,
        work={"uuids": [columns["uuid"][row] for row in found.passed]},
    )


def recompute(samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]) -> Recomputed:
    """Count hosts and take means and percentiles again; the rate is over the stored window."""
    failures = samples["failure"]
    rows = [row for row, failure in enumerate(failures) if not failure]
    hosts = round(values["passed"] + values["failed"])
    found = {
        "passed": float(len(rows)),
        "failed": float(hosts - len(rows)),
        "first_try": 100.0 * len(rows) / hosts,
    }
    if seconds := values.get("window"):
        found["registration_rate"] = len(rows) / seconds
    times = {
        name.removesuffix("_seconds"): [
            round(each * 1e6) for each in (column[row] for row in rows) if each is not None
        ]
        for name, column in samples.items()
        if name.endswith("_seconds") and name != START
    }
    times = {name: each for name, each in times.items() if each}
    if whole := times.pop("total", []):
        found |= {"registration_time": sum(whole) / len(whole) / 1e6}
        found |= {"registration_time_max": max(whole) / 1e6}
        late = sum(failure == TIMED_OUT for failure in failures) + hosts - len(failures)
        found |= _percentiles(sorted(whole), late)
    if consumers := times.get(CONSUMER):
        found["consumer_time"] = sum(consumers) / len(consumers) / 1e6
    if starts := [round(each * 1e6) for each in samples[START]]:
        found["start_spread"] = (max(starts) - min(starts)) / 1e6
    return Recomputed(found, {"registration_time": whole} | times, units_done=len(rows))


def _percentiles(times: Sequence[int], late: int) -> dict[str, float]:
    """Those that hosts came through at; one that is a limit only is not given again."""
    count = len(times) + late
    ranks = {
        name: max(1, int(count * share + 0.5))
        for name, share in PERCENTILES.items()
        if not histogram.needs(count, share)
    }
    return {name: times[rank - 1] / 1e6 for name, rank in ranks.items() if rank <= len(times)}
