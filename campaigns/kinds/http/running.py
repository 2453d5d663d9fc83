"""The request to the program that plays a scenario, and the steps that are done once: before, after, counters, and a try."""

import json
import os
import ssl
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.base import Context, DriverError, Parameters, Target, TargetUnavailable
from campaigns.kinds.base.servers import translated_errors, while_leased
from campaigns.kinds.http.program.reading import BadScenario, Loaded, read_scenario
from campaigns.kinds.http.program.walking import Walk, Walked, counter, walk
from campaigns.kinds.http.schedules import schedule_values
from campaigns.kinds.load import tls
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.programs.pinned import pin
from campaigns.kit.mappings import JsonObject, ProgramRequest
from campaigns.kit.network import Rules

PLAYS = "campaigns.kinds.http.program"
SECONDS_TO_START_AND_END = 60.0
"""What a program may take besides the time limit of the run."""
HOSTS_A_PROCESS = 50
LONGEST_CONNECT_SECONDS = 10.0
BEFORE_SECONDS = 60.0
AFTER_SECONDS = 60.0
COUNTER_SECONDS = 10.0
TRY_SECONDS = 20.0
TAKEN = "taken.json"


def loaded_of(parameters: Parameters) -> Loaded:
    """Return the scenario of a run. Raise DriverError where it is wrong, as one of an older version may be."""
    try:
        return read_scenario(
            parameters["scenario"], parameters["data"] or "", parameters["fixed"] or ""
        )
    except BadScenario as error:
        raise DriverError(f"The scenario: {error}") from None


def signed_in(target: Target, parameters: Parameters) -> Target:
    """Return the target with the login of the credential that is named, as far as it has one, in place of its own. Raise CredentialRefused."""
    name = parameters.get("credential")
    if not name:
        return target
    login = target.credential_of(str(name), [target.base_url])
    target = replace(target, tls=login.in_place_of(target.tls))
    if not (login.username or login.token):
        return target
    return replace(
        target, username=login.username, password=login.password, token=login.token, signs_in=True
    )


NO_USER = (
    "The scenario signs in as the target's user (login: target), and the target has none: give it a user name and a "
    "password, or take the line out."
)


def lacks_user(target: Target, loaded: Loaded) -> str:
    """Return that the target has no user and the scenario signs in as one; empty where that is not so."""
    return (
        NO_USER
        if loaded.scenario.login == "target" and not (target.username or target.token)
        else ""
    )


def require_login(target: Target, loaded: Loaded) -> None:
    """Raise DriverError where the scenario signs in and the target has no user."""
    if why := lacks_user(target, loaded):
        raise DriverError(why)


def playing(
    target: Target, parameters: Parameters, context: Context, taken: JsonObject
) -> ProgramRequest:
    """Return the request of the load. taken: values of the steps before it."""
    return {
        "url": root_of(target.base_url),
        "rules": context.rules.to_json(),
        "ca": target.tls.ca_bundle,
        "insecure": not target.tls.verify,
        "certificate": target.tls.certificate,
        "key": target.tls.key,
        "schedule": schedule_values(parameters),
        "processes": processes_for(parameters),
        "connect_timeout_seconds": min(LONGEST_CONNECT_SECONDS, parameters["timeout_seconds"]),
        "timeout_seconds": parameters["timeout_seconds"],
        "time_limit_seconds": float(context.deadline_seconds),
        "most_concurrent": context.most_concurrent,
        "most_per_second": context.most_per_second,
        # With a limit for goodput an open loop may offer more than the target answers: no fault of a generator.
        "may_be_overloaded": bool(parameters["success_limit_ms"]),
        "scenario": parameters["scenario"],
        "table": parameters["data"] or "",
        "fixed": parameters["fixed"] or "",
        "connections": parameters["connections"],
        "sender": context.sender,
        "attempt": attempt_of(context.sender),
        "user": target.username,
        "password": target.password,
        "token": target.token,
        "signs_in": target.signs_in,
        "taken": taken,
    }


def processes_for(parameters: Parameters) -> int:
    """Return how many processes of a generator share the hosts."""
    if parameters.get("processes"):
        return int(parameters["processes"])
    return max(
        1, min(len(os.sched_getaffinity(0)), -(-int(parameters["hosts"]) // HOSTS_A_PROCESS))
    )


def attempt_of(sender: str) -> int:
    """Return the number of the attempt, which ends the sender's name."""
    number = sender.rpartition("/")[2]
    return int(number) if number.isdigit() else 0


def root_of(url: str) -> str:
    """Return the URL of a server without its path: the paths of a scenario begin there."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


# Steps that are done once


def walk_of(
    target: Target,
    loaded: Loaded,
    rules: Rules,
    *,
    check: Callable[[], None] = lambda: None,
    sender: str = "perfdash",
    most_per_second: float | None = None,
    taken: JsonObject | None = None,
) -> Walk:
    """Return how steps are done at a target, whose name is resolved here. Raise DriverError."""
    with translated_errors():
        try:
            pinned = pin(root_of(target.base_url), rules)
        except OSError as error:
            raise TargetUnavailable(
                f"{target.base_url} cannot be resolved ({error}). Check the name in the target's base URL."
            ) from None
    return Walk(
        loaded=loaded,
        pinned=pinned,
        rules=rules,
        tls_context=_tls_context(target) if pinned.scheme == "https" else None,
        check=check,
        sender=sender,
        user=target.username,
        password=target.password,
        token=target.token,
        signs_in=target.signs_in,
        attempt=attempt_of(sender),
        most_per_second=most_per_second,
        taken=taken or {},
    )


def _tls_context(target: Target) -> ssl.SSLContext:
    own, bundle, insecure = target.tls.certificate, target.tls.ca_bundle, not target.tls.verify
    try:
        if own:
            return tls.identity_context(own, target.tls.key, bundle, insecure=insecure)
        return tls.context(bundle, insecure=insecure)
    except (ssl.SSLError, ValueError) as error:
        raise DriverError(
            f"The certificates of the target cannot be used ({error}). Mend them on the target's page."
        ) from None


def walk_before(target: Target, loaded: Loaded, context: Context) -> Walked:
    """Do the steps before the load; what they take is kept in the attempt's directory, for its user alone."""
    store_taken(context.directory, {})  # from here on there may be something to clean up
    if not loaded.scenario.before:
        return Walked([], {})
    walked = walk(
        _walk(target, loaded, context, context.check), loaded.scenario.before, BEFORE_SECONDS
    )
    store_taken(context.directory, walked.taken)
    return walked


def walk_after(target: Target, loaded: Loaded, context: Context) -> Walked | None:
    """Do the steps after the load, each of them, even where the run was cancelled; None where nothing was begun."""
    taken = stored_taken(context.directory)
    if taken is None or not loaded.scenario.after:
        return None
    forget_taken(context.directory)
    how = _walk(target, loaded, context, while_leased(context), taken)
    return walk(how, loaded.scenario.after, AFTER_SECONDS, to_the_end=True)


def counters(target: Target, loaded: Loaded, context: Context) -> list[float]:
    """Return what the target's counters show. Raise DriverError."""
    if not loaded.scenario.counters:
        return []
    how = _walk(target, loaded, context, context.check, stored_taken(context.directory))
    try:
        return [counter(how, proof, COUNTER_SECONDS) for proof in loaded.scenario.counters]
    except LoadFailed as failure:
        raise DriverError(f"A counter of the target cannot be read: {failure}") from None


def try_one_host(
    target: Target, loaded: Loaded, rules: Rules, most_per_second: float | None
) -> Walked:
    """Let one host do one round, with the steps before and after it; return each request and answer.

    Every step has weight 1, and nobody thinks. Of an answer to the target's password, or to what came from such an answer, only
    the status is shown, and no text in it is checked or taken in pieces. Raise DriverError where the target cannot be asked.
    """
    require_login(target, loaded)
    how = walk_of(target, loaded, rules, sender="perfdash try", most_per_second=most_per_second)
    how.trying = True
    scenario, until = loaded.scenario, time.monotonic() + TRY_SECONDS

    def left() -> float:
        return max(0.1, until - time.monotonic())

    exchanges = []
    before = walk(how, scenario.before, left())
    exchanges += before.exchanges
    how.taken = before.taken
    taken = dict(before.taken)
    if before.failed is None:
        played = walk(how, scenario.steps, left(), to_the_end=True)
        exchanges += played.exchanges
        taken |= played.taken
    if scenario.after:
        exchanges += walk(how, scenario.after, max(left(), 5.0), to_the_end=True).exchanges
    return Walked(exchanges, taken)


def _walk(
    target: Target,
    loaded: Loaded,
    context: Context,
    check: Callable[[], None],
    taken: JsonObject | None = None,
) -> Walk:
    return walk_of(
        target,
        loaded,
        context.rules,
        check=check,
        sender=context.sender,
        most_per_second=context.most_per_second,
        taken=taken,
    )


# What the steps before the load took: it may be a token, so no other user may read it


def store_taken(directory: Path, taken: JsonObject) -> None:
    """Store the values."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / TAKEN
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(taken, file)


def stored_taken(directory: Path) -> dict[str, Any] | None:
    """Return the stored values; None where nothing was begun, or it was cleaned up."""
    try:
        return dict(json.loads((directory / TAKEN).read_text()))
    except FileNotFoundError:
        return None


def forget_taken(directory: Path) -> None:
    """Remove the stored values."""
    (directory / TAKEN).unlink(missing_ok=True)
