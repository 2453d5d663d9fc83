"""The kind `sql`: transactions of a PostgreSQL database, driven by pgbench.

docs/reference/kinds/sql.md describes scripts and commands, and defines what is measured.
"""

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from campaigns.kinds.base import (
    Cancelled,
    ClosedLoop,
    Context,
    CutShort,
    Driver,
    DriverError,
    EffectiveSetting,
    GeneratorFailed,
    LevelNotInForce,
    Measured,
    Metric,
    NotOurs,
    Parameters,
    Preset,
    Proof,
    Series,
    Served,
    Subject,
    Target,
    TargetUnavailable,
    cut_short,
)
from campaigns.kinds.base.load_fields import EACH, KEPT
from campaigns.kinds.base.naming import names_shown
from campaigns.kinds.load.schedule import OPEN
from campaigns.kinds.programs.health import is_local
from campaigns.kinds.programs.program import Outcome, ProgramFailed, run_program
from campaigns.kinds.sql import scripts
from campaigns.kinds.sql.engine import pgbench
from campaigns.kinds.sql.form import APART, SqlForm
from campaigns.kinds.sql.presets import PRESETS
from campaigns.kinds.sql.proofs import balance_proofs, committed_proof, logged_proof, seen_proof
from campaigns.kinds.sql.server import (
    CONNECT_SECONDS,
    OTHER_TABLES,
    OTHERS_ACTIVE,
    STARTUP,
    Observer,
    Session,
    application_of,
    balances,
    bytes_of,
    clients_allowed,
    committed,
    counted,
    database_of,
    drop,
    end_stale,
    every_application_of,
    facts_of,
    fill,
    is_direct,
    is_schema_there,
    may_make_schema,
    place_of,
    refuse_another_run,
    require_schema,
    rights_of,
    session,
    settle,
    tables_of,
    takes_search_path,
    wait_until_quiet,
)
from campaigns.kinds.sql.summary import CONNECT, Transactions
from campaigns.kit.mappings import ProgramProgress, ProgramRequest
from campaigns.kit.network import SQL_SCHEMES, Rules
from campaigns.kit.sql_tls import AUTOMATIC, tls_options
from campaigns.kit.versions import PYPI

ENGINE = "campaigns.kinds.sql.engine"
SECONDS_TO_START_AND_END = 20.0
TRY_SECONDS = 60.0
PGBENCH_CONNECT_SECONDS = 10.0
QUIET_SECONDS = 5.0
LINES_A_SECOND = 10_000
"""Transactions a second up to which each of them is in the log."""
MAKES_SCHEMA = "making a schema"
"""The proof of a probe that the user has the right that each run needs."""
STARTUP_FILE = "startup"
"""Holds the options of connections for one's own script."""
TPS_FILE = "tps"
"""Holds the rate of a second's trial in the attempt's directory, where it may be too high for the whole log."""
LINES_UNWRITTEN = 256
"""Lines of the log, at most, that a pgbench has not written when it is killed: 4 KiB of them."""
TOGETHER_HINT = " pgbench begins only when all clients are connected: where a proxy lets in fewer of them, choose client_processes apart."
MEMORY_FACTOR = 1.5
GIB = 2**30
POSTGRESQL = re.compile(r"PostgreSQL ([0-9][^\s,]*)")
SIZE_IN_WORDS = re.compile(r"\bGiB\s*=\s*([\d.]+)", re.IGNORECASE)


class Sql(Driver):
    """Runs transactions at a database, and times each of them."""

    label = "SQL"
    summary = (
        "Runs transactions at a PostgreSQL database with pgbench, in a closed or an open loop."
    )
    question = "How many clients does our database carry?"
    families = ("postgresql",)
    schemes = SQL_SCHEMES
    parameters = SqlForm
    first_factors = (
        "clients", "rate", "script", "protocol", "connections", "client_processes", "threads",
    )  # fmt: skip
    sample = "transaction"
    work_units = ("transaction",)
    rate = ("transactions per second", "1/s")
    closed_loop = ClosedLoop(
        "clients", "tps", "response", "transactions",
        Served("clients_served", "response_mean", "end_to_end_time"),
    )  # fmt: skip
    metrics = (
        Metric("tps", "Transactions per second", "1/s", lower_is_better=False, primary=True),
        Metric("response_mean", "Response time, mean", "ms", lower_is_better=True, of_survivors=True),
        Metric("response_p50", "Response time, median", "ms", lower_is_better=True, percentile=0.5,
               of_survivors=True),
        Metric("response_p95", "Response time, p95", "ms", lower_is_better=True,
               percentile=0.95, of_survivors=True),
        Metric("response_p99", "Response time, p99", "ms", lower_is_better=True,
               percentile=0.99, of_survivors=True),
        Metric("response_max", "Response time, longest", "ms", lower_is_better=True, of_survivors=True),
        Metric("end_to_end_time", "Time of a client's transaction, its wait included", "ms",
               lower_is_better=True),
        Metric("clients_served", "Clients served", "count", lower_is_better=False),
        Metric("served", "Share of clients served", "%", lower_is_better=False),
        Metric("fairness", "Fairness between clients (Jain)", "share", lower_is_better=False),
        Metric("goodput", "Transactions in time per second", "1/s", lower_is_better=False),
        Metric("in_time", "Share of transactions in time", "%", lower_is_better=False),
        Metric("achieved", "Share of the offered rate", "%", lower_is_better=False),
        Metric("lag_p99", "Lag behind the schedule, p99", "ms", lower_is_better=True,
               percentile=0.99),
        Metric("skipped", "Transactions skipped as late", "count", lower_is_better=True),
        Metric("failed", "Transactions and clients that failed", "count", lower_is_better=True),
        Metric("retried", "Transactions retried", "count", lower_is_better=True),
        Metric("connect_time", "Time to connect", "ms", lower_is_better=True),
    )  # fmt: skip

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that the database answers, and accepts the login."""
        began_at = time.perf_counter()
        with session(target, rules) as here:
            version = str(here.value("SELECT version()")).split(",")[0]
            may = may_make_schema(here)
        seconds = round(time.perf_counter() - began_at, 4)
        return [
            Proof("database", "any", f"{database_of(target.base_url)}, {version}", "", ok=True),
            Proof("login", "accepted", "accepted", "", ok=True),
            Proof(MAKES_SCHEMA, "allowed", "allowed" if may else "refused", "", may),
            Proof("answers", f"within {CONNECT_SECONDS:g} s", seconds, "s", ok=True),
            names_shown(target),
        ]

    def executes(self, parameters: Parameters) -> str:
        """Return SQL where the script is one's own; those of perfdash and pgbench do nothing else."""
        return "SQL" if parameters.get("script") == scripts.OWN else ""

    def rights(
        self, target: Target, access: Context | Rules, parameters: Parameters | None = None
    ) -> tuple[str, ...]:
        """Return by which rights of the login a script reaches programs and files of the machine, or other servers."""
        with session(target, access, (parameters or {}).get("sslmode") or AUTOMATIC) as here:
            return rights_of(here)

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return whether somebody works in the database."""
        with session(target, rules) as here:
            active, why = here.tried(OTHERS_ACTIVE)
        if active is None:
            return f"not proved: {why}"
        return f"not quiet: {active} sessions are at work" if active else ""

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Make our schema anew with its rows, and prove that nobody else is at work in the database."""
        context.directory.mkdir(parents=True, exist_ok=True)
        with session(target, context, parameters["sslmode"]) as here:
            proofs = _whose(here, target)
            refuse_another_run(here, context)
            ours = every_application_of(target)
            ended = end_stale(here, ours, idle=is_direct(here, target, context.rules))
            if ended:
                context.say(f"{ended} connections of an earlier attempt were ended")
            drop(here, target)
            fill(here, target, parameters, context)
            done = settle(here, parameters)
            rows = counted(here)
            active, why = wait_until_quiet(here, context, QUIET_SECONDS)
            size = _size(here, target)
        if size:
            context.say(f"size: {size}")
        proofs += [
            Proof(f"rows of {table.name}", table.rows, rows.get(table.name, 0), "count",
                  rows.get(table.name, 0) == table.rows)
            for table in tables_of(parameters)
        ]  # fmt: skip
        return [
            *proofs,
            Proof("others at work in the database", 0, f"cannot be seen: {why}" if active is None else active,
                  "" if active is None else "count", not active),
            *(Proof(name, "done", text, "", ok=True) for name, text in done.items()),
            Proof("autovacuum of the tables", "off", "off during the run", "", ok=True),
            *([Proof("size of the database", "any", size, "", ok=True)] if size else []),
        ]  # fmt: skip

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Find pgbench and its levels, and try the scripts once before the load."""
        with session(target, context, parameters["sslmode"]) as here:
            tls, _ = here.tried("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            allowed = clients_allowed(here)
            direct = is_direct(here, target, context.rules)
        if parameters["script"] == scripts.OWN:
            startup = STARTUP if takes_search_path(target, context, parameters["sslmode"]) else ""
            (context.directory / STARTUP_FILE).write_text(startup)
        request = request_of(target, parameters, context, "try")
        if not direct:  # connections that a proxy keeps count a trial's transactions late
            request["most_lines"] = None
        outcome = run_engine(request, context, TRY_SECONDS)
        _refuse_script(outcome)
        _refuse_rate(parameters, context)
        (context.directory / TPS_FILE).write_text(str(outcome.result.get("tps", "")))
        for name in ("initialise", "own_script"):
            for warning in scripts.warnings_of(parameters.get(name) or ""):
                context.say(f"{name}: {warning}")
        hello = outcome.hello
        if direct and allowed is not None and int(parameters["clients"]) > allowed:
            context.say(
                f"may fail: {parameters['clients']} clients, and the database allows {allowed} connections"
            )
        wanted = parameters["threads"]
        threads = hello.get("threads")
        return [
            EffectiveSetting("pgbench", f"{pgbench.OLDEST} or newer", hello.get("version"), ok=True),
            EffectiveSetting("clients", parameters["clients"], hello.get("clients"),
                             hello.get("clients") == parameters["clients"], _owners(parameters, context)),
            EffectiveSetting("threads", wanted or AUTOMATIC, threads, wanted in (None, threads) or
                             parameters["connections"] == EACH or parameters["client_processes"] == APART,
                             "There is no thread without a client."),
            EffectiveSetting("processes", parameters["client_processes"], hello.get("processes"), ok=True),
            EffectiveSetting("TLS", parameters["sslmode"], _tls(tls, parameters["sslmode"]),
                             parameters["sslmode"] not in ("require", "verify-full") or tls in ("true", None)),
            EffectiveSetting("way", "any", "direct" if direct else "through a proxy", ok=True),
        ]  # fmt: skip

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Run pgbench, and fold its log. The driver's own connection is closed meanwhile where there is a proxy."""
        sslmode = parameters["sslmode"]
        with session(target, context, sslmode) as here:
            before = committed(here)
            sums = balances(here) if _has_history(parameters) else {}
            direct = is_direct(here, target, context.rules)
        limit = context.deadline_seconds
        request = request_of(target, parameters, context, "measure")
        seconds = _seconds(parameters)
        if seconds is not None and seconds > limit:
            raise DriverError(
                f"A run takes {seconds:g} s (warm-up included), and the longest one that the campaign allows is {limit:g} s."
            )
        kept = parameters["connections"] == KEPT
        observer = Observer(target, context, sslmode) if direct and kept else None
        reporting = replace(context, progress=partial(_report, context))
        try:
            with cut_short(reporting, _planned(parameters), _counts) as watched:
                if observer is None:
                    outcome = run_engine(request, watched, limit)
                else:
                    with observer:
                        outcome = run_engine(request, watched, limit)
        except CutShort as cut:
            require_schema(target, context, sslmode)
            return cut.measured("transactions")
        result = {**outcome.result, "sampling_rate": request["sampling_rate"], "threads": outcome.hello.get("threads")}  # fmt: skip
        done = Transactions(parameters, result)
        _refuse_own(done)
        failure = _failure(done, outcome, limit)
        if failure:
            require_schema(target, context, sslmode)
        return replace(
            _measured(done, target, failure),
            work={
                "committed": before,
                "sums": sums,
                "result": result,
                "seen": observer.most if observer else None,
                "unseen": _unseen(observer, direct=direct),
            },
        )

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that log, summary and database count the same transactions."""
        result = measured.work["result"]
        processed = int(result["processed"])
        lines = Transactions(parameters, result).logged
        proofs = [logged_proof(processed, lines, result)]
        cut_off = int(result["cut_off"])
        unwritten = LINES_UNWRITTEN * int(result["killed"]) + cut_off
        with session(target, context, parameters["sslmode"]) as here:
            if cut_off:  # the server counts what they did before when they end
                ours = application_of(target, context)
                end_stale(here, ours, idle=is_direct(here, target, context.rules))
            proofs.append(
                committed_proof(here, measured.work["committed"], max(processed, lines), unwritten, parameters, context)
            )  # fmt: skip
            if _has_history(parameters):
                proofs += balance_proofs(here, measured.work["sums"], processed, whole=not cut_off)
            elif parameters["script"] in scripts.OF_KV:
                rows = counted(here).get("kv", 0)
                proofs.append(
                    Proof("rows of kv", parameters["rows"], rows, "count", rows == parameters["rows"])
                )  # fmt: skip
        return [*proofs, seen_proof(measured.work, Transactions(parameters, result))]

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that the database is there, that it is ours to use, and that the user may."""
        with session(target, rules, parameters.get("sslmode") or AUTOMATIC) as here:
            _whose(here, target)
            if not may_make_schema(here):
                raise DriverError(_no_right(target))

    def lacks(self, target: Target, parameters: Parameters) -> str:
        """Return that the user may not make a schema, as the last probe found."""
        if MAKES_SCHEMA not in target.unproved:
            return ""
        return f"{_no_right(target)} Then probe the target again."

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return a message where a rate varies in a closed loop."""
        if "rate" in factors and parameters.get("loop") != OPEN:
            return {"rate": "A closed loop has no rate: choose the loop open, then vary the rate."}
        return {}

    def lacking(self) -> Mapping[str, Mapping[str, str]]:
        """Return all scripts where pgbench is missing."""
        if pgbench.candidates():
            return {}
        why = "Install pgbench on a worker: apt-get install postgresql-contrib."
        return {"script": dict.fromkeys((*scripts.TEXTS, scripts.KV_MIXED, scripts.OWN), why)}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return presets that need nothing but a database."""
        return PRESETS

    def concurrency(self, parameters: Parameters) -> int:
        """Return the number of clients: each has one transaction at a time."""
        return int(parameters["clients"])

    def units(self, parameters: Parameters) -> int | None:
        """Return the number of transactions where it is given."""
        return _planned(parameters)

    def work_done(self, measured: Measured, seconds: float) -> Mapping[str, float]:
        """Return the transactions of the whole load: its rate was counted without the warm-up."""
        rate = measured.values.get("tps", 0.0)
        return {"transaction": rate * seconds} if rate else {}

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return the version of the database and its settings."""
        with session(target, context) as here:
            return facts_of(here)

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the version of PostgreSQL; what else speaks its protocol tells its own, which has no known order."""
        found = POSTGRESQL.match(facts.get("database", ""))
        return [Subject("postgresql", found[1], PYPI, "database")] if found else []

    def offers_rate(self, parameters: Parameters) -> bool:
        """Return whether the loop is open."""
        return parameters.get("loop") == OPEN

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """End what is left of this attempt at the database, and drop our schema."""
        with session(target, context, parameters["sslmode"], to_the_end=True) as here:
            ours = application_of(target, context)
            end_stale(here, ours, idle=is_direct(here, target, context.rules))
            with suppress(NotOurs):  # `reset` has told it
                drop(here, target)

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return the seconds of the load, and some for the rows."""
        rows = sum(table.rows for table in tables_of(parameters))
        return (_seconds(parameters) or 60.0) + 3.0 + rows / 200_000


def request_of(
    target: Target, parameters: Parameters, context: Context, task: str
) -> ProgramRequest:
    """Return the request of the engine program. task: describe, try or measure."""
    if re.search(r"[\r\n\0]", target.password):
        raise DriverError(
            "The target's password has a line break, which pgbench cannot take; change it."
        )
    context.directory.mkdir(parents=True, exist_ok=True)
    own: dict[str, str] = {}
    script = parameters.get("own_script") or ""
    try:
        if parameters["script"] == scripts.OWN:
            own = scripts.variables_of(parameters.get("variables") or "")
        percent = int(parameters["read_percent"])
        chosen = scripts.scripts_of(parameters["script"], percent, script, own)
    except scripts.BadScript as error:  # of a campaign that was stored when less was refused
        raise DriverError(f"The script is refused. {error}") from None
    variables = {
        "rows": str(parameters["rows"]),
        "value_bytes": str(parameters["value_bytes"]),
        "scale": str(parameters["scale"]),
    }
    variables |= own
    rate = parameters["rate"] if parameters["loop"] == OPEN else None
    return {
        "task": task,
        "directory": str(context.directory),
        "sender": application_of(target, context),
        "connection": place_of(target, context.rules)
        | tls_options(target.tls, parameters["sslmode"], context.directory)
        | {"gssencmode": "disable", "options": _stored(context, STARTUP_FILE)},
        "password": target.password,
        "connect_timeout_seconds": PGBENCH_CONNECT_SECONDS,
        "scripts": [[each.name, each.text, each.weight] for each in chosen],
        "variables": variables,
        "clients": min(parameters["clients"], context.most_concurrent or parameters["clients"]),
        "threads": parameters["threads"],
        "apart": parameters["client_processes"] == APART,
        "each": parameters["connections"] == EACH,
        "protocol": parameters["protocol"],
        "rate": rate,
        "late_after_ms": parameters["late_after_ms"],
        "tries": parameters["tries"],
        "seconds": parameters["duration_seconds"],
        "warm_up_seconds": parameters["warm_up_seconds"],
        "transactions": parameters["transactions"],
        "most_lines": LINES_A_SECOND,
        "sampling_rate": _sampling(rate, context) if task == "measure" else None,
        "time_limit_seconds": TRY_SECONDS if task == "try" else context.deadline_seconds,
    }


def _sampling(rate: float | None, context: Context) -> float | None:
    """Return the share of transactions that the log is to have; None: all of them."""
    return sampling_of(rate or float(_stored(context, TPS_FILE) or 0.0))


def _stored(context: Context, name: str) -> str:
    """Return what `apply` has written for `measure`; empty without it."""
    path = context.directory / name
    return path.read_text() if path.exists() else ""


def sampling_of(expected: float) -> float | None:
    """Return the share of so many transactions a second that the log is to have; None: all of them."""
    return LINES_A_SECOND / expected if expected > LINES_A_SECOND else None


def run_engine(request: ProgramRequest, context: Context, limit_seconds: float) -> Outcome:
    """Run the engine program. Raise Cancelled, LevelNotInForce without pgbench, GeneratorFailed."""
    try:
        outcome = run_program(
            ENGINE,
            request,
            cancelled=context.cancelled,
            lease_seconds=context.lease_seconds,
            deadline_seconds=limit_seconds + SECONDS_TO_START_AND_END,
            progress=context.progress,
        )
    except ProgramFailed as error:
        raise GeneratorFailed(str(error)) from error
    if outcome.cancelled:
        raise Cancelled
    if why := outcome.result.get("no_pgbench"):
        raise LevelNotInForce(why)
    return outcome


def _no_right(target: Target) -> str:
    database, user = database_of(target.base_url), target.username
    return (
        f"The user “{user}” may not make a schema in the database {database}, as each run does: "
        f"GRANT CREATE ON DATABASE {database} TO {user}."
    )


def _whose(here: Session, target: Target) -> list[Proof]:
    """Prove that the database holds nobody else's tables. Raise NotOurs where it does and is not ours alone."""
    is_schema_there(here, target)
    others = here.rows(OTHER_TABLES)
    tables = sum(int(count) for _, count in others)
    names = ", ".join(f"{schema} ({count})" for schema, count in others[:5])
    if tables and not target.dedicated:
        raise NotOurs(
            f"The database {database_of(target.base_url)} holds {tables} tables of others, in the schemas {names}. Take a "
            "database of its own, such as CREATE DATABASE perfdash_bench; or mark the target as belonging to perfdash alone."
        )
    text = f"{tables}, in {names}: the target belongs to perfdash alone" if tables else 0
    return [Proof("tables of others", 0, text, "" if tables else "count", ok=True)]


def _size(here: Session, target: Target) -> str:
    """Return how large the database is, and whether it fits into the server's memory; empty where that is unknown."""
    size, _ = here.tried("SELECT pg_database_size(current_database())")
    if size in (None, True):
        return ""
    buffers, _ = here.tried("SHOW shared_buffers")
    cache, _ = here.tried("SHOW effective_cache_size")
    memory, of = max(bytes_of(buffers), bytes_of(cache)), "effective_cache_size"
    if found := SIZE_IN_WORDS.search(target.hardware):
        memory, of = max(memory, int(float(found[1]) * GIB)), "the target's hardware"
    elif is_local(target.base_url):
        here_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory, of = max(memory, here_bytes), "this machine"
    if int(size) > MEMORY_FACTOR * memory:
        return f"{int(size) / GIB:.2f} GiB, larger than memory ({memory / GIB:.1f} GiB by {of})"
    return (
        f"{int(size) / GIB:.2f} GiB, fits into memory ({memory / GIB:.1f} GiB by {of}): it is read from there, so it says "
        "nothing of many clients at a larger one"
    )


def _refuse_script(outcome: Outcome) -> None:
    """Raise what the trial of the scripts has shown."""
    failure = outcome.result.get("failure")
    if outcome.timed_out:
        raise TargetUnavailable(
            f"The scripts were tried once, and did not end within {TRY_SECONDS:g} s."
        )
    if not failure:
        return
    name, message = outcome.result["script"], outcome.result["message"]
    state = f" (SQLSTATE {outcome.result['state']})" if outcome.result["state"] else ""
    if failure == CONNECT:
        raise TargetUnavailable(f"pgbench got no connection: {message}{state}")
    if failure == "auth":
        raise DriverError(f"The database refused the login of pgbench: {message}{state}")
    raise DriverError(f"The script {name} was refused before the load: {message}{state}")


def _refuse_rate(parameters: Parameters, context: Context) -> None:
    """Raise LevelNotInForce where the target's owner allows fewer transactions a second."""
    most = context.most_per_second
    if most is None:
        return
    if parameters["loop"] != OPEN:
        raise LevelNotInForce(
            f"The target's owner allows {most:g} requests per second, and a closed loop cannot be held to a rate: choose "
            "the loop open with that rate, or ask the owner."
        )
    if parameters["rate"] > most:
        raise LevelNotInForce(
            f"A rate of {parameters['rate']:g} was to be in force, and the target's owner allows {most:g} requests per second."
        )


def _refuse_own(done: Transactions) -> None:
    """Raise what is no result of the database: a broken generator, or no connection at all."""
    for failure, _, message in done.ended:
        if failure == "generator":
            raise GeneratorFailed(f"{message}.")
    if done.ended and not done.log.get("lines"):
        failures = {failure for failure, _, _ in done.ended}
        message = done.ended[0][2]
        if failures == {CONNECT}:
            hint = "" if done.parameters["client_processes"] == APART else TOGETHER_HINT
            raise TargetUnavailable(
                f"Not all clients got a connection: {message.rstrip('.')}.{hint}"
            )
        if failures == {"auth"}:
            raise DriverError(f"The database refused the login: {message}")


def _failure(done: Transactions, outcome: Outcome, limit: float) -> str:
    """Return why the run as a whole failed; empty where it did not. Clients that were not let in are a result."""
    if outcome.timed_out or not done.result.get("complete", False):
        return f"The run took longer than the {limit:g} s that the campaign allows."
    apart = done.parameters["client_processes"] == APART
    for failure, state, message in done.ended:
        if apart and failure == CONNECT:
            continue
        of = f"{failure}, SQLSTATE {state}" if state else failure
        return f"pgbench ended early ({of}): {message}"
    if not done.done and done.result.get("processed") and not done.logged:
        return f"None of the {done.result['processed']} transactions is in the sample of the log."
    if not done.done:
        seconds = None if _planned(done.parameters) else done.parameters["duration_seconds"]
        return f"No transaction was done{f' in the {seconds:g} s that count' if seconds else ''}."
    return ""


def _measured(done: Transactions, target: Target, failure: str) -> Measured:
    """Return the result of a run as every driver returns it."""
    rates = done.rates()
    return Measured(
        values=done.values(),
        health=done.health(target_is_here=is_local(target.base_url)),
        series=[Series("transactions", "1/s", 1.0, rates)] if rates else [],
        distributions=done.distributions(),
        units_done=done.done,
        units_failed=done.failed,
        failures=done.failures,
        examples={failure: message for failure, _, message in reversed(done.ended)},
        censored=done.censored(),
        failure=failure,
    )


def _unseen(observer: Observer | None, *, direct: bool) -> str:
    """Return why nobody counted the clients at the database."""
    if observer is not None:
        return observer.problem or "the run was too short"
    return (
        "a connection lasts one transaction" if direct else "there is a proxy before the database"
    )


def _has_history(parameters: Parameters) -> bool:
    return parameters["script"] in (scripts.TPCB, scripts.SIMPLE_UPDATE)


def _seconds(parameters: Parameters) -> float | None:
    """Return the seconds of the load; None where the number of transactions is given."""
    if parameters.get("transactions"):
        return None
    return float(parameters["duration_seconds"] or 0) + float(parameters["warm_up_seconds"] or 0)


def _planned(parameters: Parameters) -> int | None:
    each = parameters.get("transactions")
    return int(each) * int(parameters["clients"]) if each else None


def _counts(values: ProgramProgress) -> tuple[int, int]:
    return int(values.get("transactions_done") or 0), int(values.get("failed") or 0)


def _report(context: Context, values: ProgramProgress) -> None:
    context.progress(values)


def _owners(parameters: Parameters, context: Context) -> str:
    most = context.most_concurrent
    if most is not None and most < int(parameters["clients"]):
        return f"The target's owner allows {most} requests at a time: lower the level, or ask for more."
    return ""


def _tls(found: Any, sslmode: str) -> str:
    if found is None:
        return f"{sslmode}, not shown by this server"
    return "encrypted" if found == "true" else "not encrypted"


driver = Sql()
