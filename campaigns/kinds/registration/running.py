"""Let hosts register, try again where they failed, and delete them: the engine's programs."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.kinds.base import Context, DriverError, GeneratorFailed, Parameters, Target, parts_of
from campaigns.kinds.programs.program import ProgramFailed, run_program
from campaigns.kinds.registration.program.identities import forget, kept_in
from campaigns.kinds.registration.requests import REGISTERS, REMOVES, again, registering, removing
from campaigns.kinds.registration.summary import Registrations, registrations

SECONDS_TO_START_AND_END = 60.0
"""What programs may take beside the time limit of the run: processes to start, bodies to write."""
LEAST_RETRY_SECONDS = 1.0
REMOVE_SECONDS = 400.0


def register(
    target: Target, parameters: Parameters, context: Context, command: Mapping[str, Any]
) -> Registrations:
    """Let all hosts register, and those that failed try again. Raise Cancelled or GeneratorFailed."""
    limit, began_at = context.deadline_seconds, time.monotonic()
    telling = replace(context, progress=_told_as(context, "registers"))
    request = registering(target, parameters, context, limit, command)
    generators = int(parameters.get("generators") or 1)
    if generators > 1:
        request["directory"] = (
            ""  # keys stay on no other machine; the hosts are found by their names
        )
    outcome = telling.generate(
        REGISTERS,
        parts_of(request, generators),
        limit + SECONDS_TO_START_AND_END,
    )
    found = registrations(parameters, outcome.samples, outcome.result, limit)
    retried: set[int] = set()
    failures: Counter[str] = Counter()
    for round_ in range(1, parameters["retry_rounds"] + 1):
        numbers = [number for number in found.failed_numbers if number not in retried]
        left = limit - (time.monotonic() - began_at)
        if not numbers or left < LEAST_RETRY_SECONDS:
            break
        context.say(f"retry {round_}: {len(numbers)} hosts try again")
        asked = again(request, numbers, parameters["retry_hosts"], round_, left)
        rows = telling.generate(REGISTERS, [asked], left + SECONDS_TO_START_AND_END).samples
        for number, failure in zip(rows.get("number", ()), rows.get("failure", ()), strict=True):
            if failure:
                failures[failure] += 1
            else:
                retried.add(number)
    return registrations(
        parameters, outcome.samples, outcome.result, limit, frozenset(retried), dict(failures)
    )


def remove_by_identity(target: Target, context: Context) -> None:
    """Delete each host of this attempt whose certificate was kept; cancelling does not keep it from that."""
    hosts = sum(1 for _ in kept_in(context.directory))
    if not hosts:
        return
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
        words = next(iter((outcome.result.get("examples") or {}).values()), "nothing was said")
        raise DriverError(f"{failed} of {hosts} hosts were not deleted by their identity: {words}")
    forget(context.directory)


def _told_as(context: Context, what: str) -> Any:
    """Pass the engine's progress on in the words of every kind."""

    def tell(said: Mapping[str, Any]) -> None:
        rates = [float(count) for count in said.get("per_second", ())]
        context.progress(
            {
                "seconds": said.get("seconds", 0.0),
                "hosts": said.get("hosts", 0),
                "hosts_done": said.get("hosts_done", 0),
                "failed": said.get("hosts_failed", 0),
                "doing": what,
                "step_seconds": 1.0,
                "rate_series": rates,
            }
        )

    return tell
