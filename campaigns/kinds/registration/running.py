"""Run the programs that register hosts, retry those that failed, and delete them."""

import threading
import time
from dataclasses import replace
from functools import partial
from typing import Any

from campaigns.kinds.base import (
    Context,
    DriverError,
    GeneratorFailed,
    Parameters,
    Target,
    cut_short,
    parts_of,
)
from campaigns.kinds.base.under_way import note
from campaigns.kinds.programs.program import ProgramFailed, run_program
from campaigns.kinds.registration.form import hosts_of
from campaigns.kinds.registration.program.identities import forget, stored_identities
from campaigns.kinds.registration.requests import REGISTERS, REMOVES, again, registering, removing
from campaigns.kinds.registration.summary import Registrations, registrations
from campaigns.kit.mappings import ProgramProgress, ProgramRequest

SECONDS_TO_START_AND_END = 60.0
"""What programs may take besides the time limit of the run, to start processes and to write bodies."""
LEAST_RETRY_SECONDS = 1.0
REMOVE_SECONDS = 400.0


def register(
    target: Target, parameters: Parameters, context: Context, command: ProgramRequest
) -> Registrations:
    """Register all hosts, and retry those that failed. Raise CutShort, Cancelled or GeneratorFailed."""
    limit, began_at = context.deadline_seconds, time.monotonic()
    last: dict[str, Any] = {}
    reporting = replace(context, progress=partial(_report, context, last))
    request = registering(target, parameters, context, limit, command)
    generators = int(parameters.get("generators") or 1)
    if generators > 1:
        # No other machine stores the hosts' keys; the hosts are deleted by their names.
        request["directory"] = ""
    try:
        with cut_short(reporting, hosts_of(parameters), _counts) as watched:
            outcome = watched.generate(
                REGISTERS, parts_of(request, generators), limit + SECONDS_TO_START_AND_END
            )
    except BaseException:
        note(context, _longest(last, context, time.monotonic() - began_at))
        raise
    hosts = registrations(parameters, outcome.samples, outcome.result, limit)
    waited = hosts.unanswered_seconds()
    if waited or not hosts.result.get(
        "complete"
    ):  # the server may register these hosts all the same
        note(context, max(waited, float(last.get("longest_seconds") or 0.0)) or None)
    retried: set[int] = set()
    for round_ in range(1, parameters["retry_rounds"] + 1):
        numbers = [number for number in hosts.failed_numbers if number not in retried]
        left = limit - (time.monotonic() - began_at)
        if not numbers or left < LEAST_RETRY_SECONDS:
            break
        context.say(f"retry {round_}: {len(numbers)} hosts try again")
        retry = again(request, numbers, parameters["retry_hosts"], round_, left)
        rows = reporting.generate(REGISTERS, [retry], left + SECONDS_TO_START_AND_END).samples
        retried |= {
            number
            for number, failure in zip(rows.get("number", ()), rows.get("failure", ()), strict=True)
            if not failure
        }
    return replace(hosts, retried=frozenset(retried))


def remove_by_identity(target: Target, context: Context) -> int:
    """Delete each host of this attempt whose certificate is stored, even where the run was cancelled; return how many."""
    hosts = sum(1 for _ in stored_identities(context.directory))
    if not hosts:
        return 0
    try:
        outcome = run_program(
            REMOVES,
            removing(target, context, hosts, REMOVE_SECONDS),
            cancelled=threading.Event(),
            lease_seconds=context.lease_seconds,
            deadline_seconds=REMOVE_SECONDS + SECONDS_TO_START_AND_END,
        )
    except ProgramFailed as error:
        raise GeneratorFailed(str(error)) from error
    failed = int(outcome.result.get("hosts_failed", hosts))
    if failed:
        reason = next(iter((outcome.result.get("examples") or {}).values()), "no reason is known")
        raise DriverError(f"{failed} of {hosts} hosts were not deleted by their identity: {reason}")
    forget(context.directory)
    return hosts


def _counts(values: ProgramProgress) -> tuple[int, int]:
    """Return how many hosts have registered, and how many failed."""
    return int(values.get("hosts_done") or 0), int(values.get("hosts_failed") or 0)


def _longest(last: ProgramProgress, context: Context, seconds: float) -> float | None:
    """Return how long the longest answer to a host took, as far as that was reported; None if no host had one.

    Before the first report it was no longer than the load, if a host has its identity already. seconds: of the load so far.
    """
    if longest := float(last.get("longest_seconds") or 0.0):
        return longest
    return seconds if any(stored_identities(context.directory)) else None


def _report(context: Context, last: dict[str, Any], values: ProgramProgress) -> None:
    """Report the engine's progress under the names that all kinds use, and keep it in `last`."""
    last.update(values)
    context.progress(
        {
            "seconds": values.get("seconds", 0.0),
            "hosts": values.get("hosts", 0),
            "hosts_done": values.get("hosts_done", 0),
            "failed": values.get("hosts_failed", 0),
            "doing": "registers",
            "step_seconds": 1.0,
            "rate_series": [float(count) for count in values.get("per_second", ())],
        }
    )
