"""The kind `http`: virtual hosts do the steps of a scenario, in a closed or an open loop."""

import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt

from campaigns.kinds.base import (
    SIMULATOR,
    ClosedLoop,
    Context,
    CutShort,
    Distribution,
    Driver,
    DriverError,
    EffectiveSetting,
    Health,
    LevelNotInForce,
    Measured,
    Metric,
    Parameters,
    Phase,
    Preset,
    Proof,
    Series,
    Subject,
    Target,
    TargetUnavailable,
    cut_short,
    parts_of,
)
from campaigns.kinds.base.servers import target_facts
from campaigns.kinds.http.form import HttpForm
from campaigns.kinds.http.presets import presets
from campaigns.kinds.http.program.reading import read_scenario
from campaigns.kinds.http.program.scenario import Step
from campaigns.kinds.http.program.walking import Exchange, Walked, walk
from campaigns.kinds.http.running import (
    PLAYS,
    SECONDS_TO_START_AND_END,
    counters,
    lacks_user,
    loaded_of,
    playing,
    require_login,
    signed_in,
    stored_taken,
    walk_after,
    walk_before,
    walk_of,
)
from campaigns.kinds.http.summary import Played
from campaigns.kinds.load.failures import FAILURES
from campaigns.kinds.load.judging import judge
from campaigns.kinds.load.schedule import OPEN
from campaigns.kinds.programs.health import is_local
from campaigns.kinds.programs.starving import waited_in
from campaigns.kit import histogram
from campaigns.kit.mappings import ProgramProgress
from campaigns.kit.network import Rules
from campaigns.kit.versions import SEMVER

SANDBOX = "perfdash-sandbox"
"""The header Server of the sandbox, which simulates a server."""
NO_CONNECTION = frozenset({"connect", "tls"})
PROBE = "steps: [{name: probe, get: /}]"
PROBE_SECONDS = 10.0
SIGMAS = 4.0
WEB_SERVER = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)/([0-9]\S*)")
"""How far the share of a weighted step may be from its weight: 3 would void one run in 370 for nothing."""
HEALTH_SECONDS = 15.0


class Http(Driver):
    """Lets virtual hosts do the steps of a scenario, and times every request."""

    label = "HTTP"
    summary = "Sends the requests of a small file, step by step, by many virtual hosts, at a rate or as fast as it goes."
    question = "How many users does our API carry?"
    families = ("http", "pulp", "katello", "candlepin")
    parameters = HttpForm
    generators = True
    sample = "host"
    work_units = ("request",)
    rate = ("requests per second", "1/s")
    closed_loop = ClosedLoop("hosts", "request_rate", "response", "requests")
    metrics = (
        Metric("response_p95", "Response time, p95", "ms", lower_is_better=True,
               primary=True, percentile=0.95, of_survivors=True),
        Metric("response_mean", "Response time, mean", "ms", lower_is_better=True, of_survivors=True),
        Metric("response_p50", "Response time, median", "ms", lower_is_better=True, percentile=0.5,
               of_survivors=True),
        Metric("response_p99", "Response time, p99", "ms", lower_is_better=True,
               percentile=0.99, of_survivors=True),
        Metric("response_max", "Response time, longest", "ms", lower_is_better=True, of_survivors=True),
        Metric("service_p95", "Service time, p95", "ms", lower_is_better=True,
               percentile=0.95, of_survivors=True),
        Metric("first_byte_p95", "Time to the first byte, p95", "ms", lower_is_better=True,
               percentile=0.95, of_survivors=True),
        Metric("scenario_time_p50", "Time of a round, median", "ms", lower_is_better=True,
               percentile=0.5, of_survivors=True),
        Metric("scenario_time_p95", "Time of a round, p95", "ms", lower_is_better=True,
               percentile=0.95, of_survivors=True),
        Metric("request_rate", "Requests per second", "1/s", lower_is_better=False),
        Metric("goodput", "Answers within the limit per second", "1/s", lower_is_better=False),
        Metric("offered_rate", "Rounds offered per second", "1/s", lower_is_better=False, directed=False),
        Metric("achieved", "Rounds that began in time", "%", lower_is_better=False),
        Metric("failed", "Requests that failed", "%", lower_is_better=True),
    )  # fmt: skip

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that the server answers, whatever it says."""
        answer = _start_page(target, rules).exchanges[0]
        seconds = round((answer.milliseconds or 0.0) / 1000, 4)
        return [_status_of(target, answer), Proof("answer", "any", seconds, "s", ok=True)]

    def lacks(self, target: Target, parameters: Parameters) -> str:
        """Return that the target has not the user that the scenario signs in as."""
        named = target.username or parameters.get(
            "credential"
        )  # whether that has a user, the run tells
        return "" if named else lacks_user(target, loaded_of(parameters))

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Do the steps before the load, and prove each."""
        loaded, target = loaded_of(parameters), signed_in(target, parameters)
        require_login(target, loaded)
        if (parameters["duration_seconds"] or 0.0) >= context.deadline_seconds:
            raise DriverError(
                f"The load takes {parameters['duration_seconds']:g} s, and a run of this campaign may take "
                f"{context.deadline_seconds:g} s. Raise the limit, or make the load shorter."
            )
        context.directory.mkdir(parents=True, exist_ok=True)
        walked = walk_before(target, loaded, context)
        if not walked.exchanges:  # without steps before the load nothing is made anew; what is proved is that the server answers
            return [_status_of(target, _start_page(target, context.rules).exchanges[0])]
        return [
            Proof(
                f"before: {exchange.step}",
                "as expected",
                exchange.message or "as expected",
                "",
                not exchange.failure,
            )
            for exchange in walked.exchanges
        ]

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Return what the scenario makes of the parameters; the server is not changed."""
        loaded = loaded_of(parameters)
        steps = len(loaded.scenario.steps)
        name = loaded.scenario.name or "scenario"
        return [
            EffectiveSetting(name, "as saved", f"{steps} steps, {loaded.digest[:16]}", ok=True),
        ]

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Play the scenario, timed by the engine from the common start."""
        loaded, target = loaded_of(parameters), signed_in(target, parameters)
        taken = stored_taken(context.directory) or {}
        request = playing(target, parameters, context, taken)
        limit = context.deadline_seconds
        before = counters(target, loaded, context)
        reporting = replace(context, progress=partial(_report, context))
        began = time.monotonic()
        try:
            with cut_short(reporting, self.units(parameters), _counts) as watched:
                outcome = watched.generate(
                    PLAYS,
                    parts_of(request, int(parameters.get("generators") or 1)),
                    limit + SECONDS_TO_START_AND_END,
                )
        except CutShort as cut:
            return cut.measured("requests")
        played = Played(loaded, parameters, outcome.samples, outcome.result, limit)
        _refuse_no_connection(played)
        hosts = outcome.result.get("hosts", parameters["hosts"])
        if outcome.result and hosts != parameters["hosts"]:
            raise LevelNotInForce(
                f"hosts was to be {parameters['hosts']}, but {hosts} was in force."
            )
        for kind, message in played.examples().items():
            count = played.failures[kind]
            context.say(
                f"{count} requests failed ({kind}: {FAILURES.get(kind, '')}); first: {message}"
            )
        if resends := outcome.result.get("resends"):
            context.say(
                f"{resends} requests were sent once more: the server had closed the connection"
            )
        measured = _measured(played, is_local(target.base_url))
        if measured.failure:
            return measured
        checks = int((time.monotonic() - began) / HEALTH_SECONDS) + 1 if context.ask_health else 0
        after = counters(target, loaded, context)
        work = {
            "played": played,
            "counted": list(zip(before, after, strict=True)),
            "checks": checks,
        }
        return replace(measured, work=work)

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that each step was done as often as the rounds ask for, and what the target has counted."""
        played: Played = measured.work["played"]
        loaded, rounds = played.loaded, int(played.result.get("rounds", 0))
        planned = rounds
        if (
            parameters["loop"] != OPEN
            and parameters["iterations"]
            and not parameters["duration_seconds"]
        ):
            planned = parameters["iterations"] * parameters["hosts"]
        return [
            Proof("rounds", planned, rounds, "count", rounds == planned),
            *_steps_proved(played, rounds),
            *_shares_proved(played, rounds),
            *_counters_proved(played, measured.work["counted"], measured.work["checks"]),
            Proof("scenario, digest", "any", loaded.digest, "", ok=True),
        ]

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return presets for the sandbox: a plain request, a curve of hosts, and rates in an open loop."""
        return presets(sandbox_url)

    def offers_rate(self, parameters: Parameters) -> bool:
        """Return True in an open loop."""
        return parameters.get("loop") == OPEN

    def concurrency(self, parameters: Parameters) -> int:
        """Return the number of hosts: each has one request at a time."""
        return int(parameters["hosts"])

    def units(self, parameters: Parameters) -> int | None:
        """Return the number of requests, where the iterations alone say it and each round has the same steps."""
        if not parameters.get("iterations") or parameters.get("duration_seconds"):
            return None
        scenario = loaded_of(parameters).scenario
        if any(step.weight < 1 or step.take for step in scenario.steps):
            return None
        hosts = 1 if parameters["loop"] == OPEN else int(parameters["hosts"])
        return int(parameters["iterations"]) * hosts * len(scenario.steps)

    def work_done(self, measured: Measured, seconds: float) -> Mapping[str, float]:
        """Return the requests of the whole load: its rate was counted without the warm-up."""
        rate = measured.values.get("request_rate", 0.0)
        return {"request": rate * seconds} if rate else {}

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return the header Server, and what the target's own settings state."""
        answer = _start_page(target, context.rules).exchanges[0].answer
        if answer is None:
            raise TargetUnavailable(f"{target.base_url} gave no answer when its facts were read.")
        headers = {name.lower(): text for name, text in answer.headers}
        server = headers.get("server", "not told")
        facts = {"server": server, **target_facts(target)}
        if server.startswith(SANDBOX):
            facts[SIMULATOR] = "sandbox of perfdash"
        return facts

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the web server, where the header Server tells its version."""
        found = WEB_SERVER.match(facts.get("server", ""))
        return [Subject(found[1].lower(), found[2], SEMVER, "server")] if found else []

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Do the steps after the load, also where the run was cancelled, and forget what was taken."""
        try:
            signed = signed_in(target, parameters)
            walked = walk_after(signed, loaded_of(parameters), context)
        finally:
            shutil.rmtree(context.directory, ignore_errors=True)
        if walked is not None:
            _tell(walked, context)

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return the duration; how long iterations take is what is measured."""
        return 3.0 + float(parameters.get("duration_seconds") or 30.0)


def _start_page(target: Target, rules: Rules) -> Walked:
    """Ask for the path of the base URL, once."""
    loaded = read_scenario(PROBE)
    path = target.base_url.partition("://")[2].partition("/")[2]
    path = path.replace("{", "%7B").replace("}", "%7D")  # they hold no names
    step = Step(name="probe", get=f"/{path}", answer="keep")
    return walk(walk_of(target, loaded, rules), [step], PROBE_SECONDS)


def _status_of(target: Target, exchange: Exchange) -> Proof:
    """Prove by an answer that the server works. Raise TargetUnavailable where there is none."""
    if exchange.answer is None:
        raise TargetUnavailable(
            f"{target.base_url} gave no answer: {exchange.message}. Check that the server runs, the target's base URL, "
            "and its CA bundle."
        )
    status = int(exchange.answer.line)
    return Proof("HTTP status", "below 500", status, "", status < 500)


def _refuse_no_connection(played: Played) -> None:
    """Raise TargetUnavailable where no host got an answer, for lack of a connection: nothing was measured."""
    if any(played.of_steps("answered").values()):
        return
    if played.failures and set(played.failures) <= NO_CONNECTION:
        what = "a connection" if "connect" not in played.distributions() else "an answer"
        raise TargetUnavailable(
            f"No host got {what}: {played.first_message()} Check that the server runs, the target's base URL, and its "
            "CA bundle."
        )


def _measured(played: Played, is_target_here: bool) -> Measured:
    """Return the result of a run as every driver returns it."""
    figures = played.figures() | {"target_is_here": float(is_target_here)}
    verdict = judge(figures)
    per_second = played.result.get("per_second") or {}
    series = [
        Series(name, "1/s", 1.0, [float(count) for count in per_second[source]])
        for name, source in (("requests", "done"), ("failures", "failed"))
        if per_second.get(source)
    ]
    return Measured(
        values=played.values(),
        health=Health(verdict.word, verdict.reasons, figures),
        samples=played.samples(),
        series=series,
        distributions=[
            Distribution(name, encoded, histogram.counts_of(encoded).total)
            for name, encoded in played.distributions().items()
        ],
        phases=[Phase(name, seconds) for name, seconds in played.step_means().items()],
        units_done=played.done,
        units_failed=played.failed,
        failures=played.failures,
        examples=played.examples(),
        censored=played.censored(),
        failure=played.failure(),
    )


def _steps_proved(played: Played, rounds: int) -> list[Proof]:
    """Prove that each step of each round was answered, failed, or left out."""
    left_out = played.of_steps("left_out")
    answered, unanswered = played.of_steps("answered"), played.of_steps("unanswered")
    proofs = []
    for name, left in left_out.items():
        ended = answered[name] + unanswered[name]
        proofs.append(
            Proof(f"requests: {name}", rounds - left, ended, "count", ended == rounds - left)
        )
    return proofs


def _shares_proved(played: Played, rounds: int) -> list[Proof]:
    """Prove that the weights of steps chose their share of the rounds, with those rounds that lacked a value for the step."""
    proofs = []
    left_out, lacking = played.of_steps("left_out"), played.of_steps("lacking")
    for step in played.loaded.scenario.steps:
        if step.weight == 1 or not rounds:
            continue
        share = 1 - (left_out[step.name] - lacking[step.name]) / rounds
        most = SIGMAS * sqrt(step.weight * (1 - step.weight) / rounds) + 1 / rounds
        near = abs(share - step.weight) <= most
        proofs.append(
            Proof(f"share: {step.name}", f"{step.weight:g} ± {most:.3g}", round(share, 4), "", near)
        )
    return proofs


def _counters_proved(
    played: Played, counted: Sequence[tuple[float, float]], checks: int
) -> list[Proof]:
    """Prove that the target's counters grew by the requests that were made.

    A request that got no answer may have been counted, or not. checks: questions for the target's health meanwhile, which a counter of
    all requests counts, too.
    """
    proofs = []
    sent, answered = played.of_steps("sent"), played.of_steps("answered")
    rules = played.loaded.scenario.counters
    for rule, (before, after) in zip(rules, counted, strict=True):
        of_all = rule.delta == "requests"
        own = len(rules) if rule.itself else 0
        low = (sum(answered.values()) if of_all else answered[rule.delta]) + own
        high = (sum(sent.values()) + checks if of_all else sent[rule.delta]) + own
        grown = round(after - before, 6)
        expected = str(low) if low == high else f"{low} to {high}"
        proofs.append(
            Proof(f"counted: {rule.json}", expected, grown, "count", low <= grown <= high)
        )
    return proofs


def _tell(walked: Walked, context: Context) -> None:
    """Log the steps after the load that failed. Raise DriverError where one did."""
    failed = [exchange for exchange in walked.exchanges if exchange.failure]
    if failed:
        shown = "; ".join(f"{exchange.step}: {exchange.message}" for exchange in failed[:5])
        raise DriverError(f"after: {len(failed)} of {len(walked.exchanges)} steps failed: {shown}")


def _counts(values: ProgramProgress) -> tuple[int, int]:
    """Return how many requests were answered, and how many failed."""
    return int(values.get("requests_done") or 0), int(values.get("requests_failed") or 0)


def _report(context: Context, values: ProgramProgress) -> None:
    """Report the engine's progress under the names that all kinds use."""
    context.progress(
        {
            "seconds": values.get("seconds", 0.0),
            "hosts": values.get("hosts", 0),
            "requests_done": values.get("requests_done", 0),
            "failed": values.get("requests_failed", 0),
            "doing": "requests",
            "step_seconds": 1.0,
            "rate_series": [float(count) for count in values.get("per_second", ())],
            **waited_in(values),
        }
    )


driver = Http()
