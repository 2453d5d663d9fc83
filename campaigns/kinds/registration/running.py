"""Run the programs that register hosts, retry those that failed, and delete them."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace

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
from campaigns.kinds.programs.program import Outcome, ProgramFailed, run_program
from campaigns.kinds.programs.starving import waited_in
from campaigns.kinds.registration.form import hosts_of
from campaigns.kinds.registration.program.identities import forget, stored_identities
from campaigns.kinds.registration.requests import REGISTERS, REMOVES, again, registering, removing
from campaigns.kinds.registration.summary import Registrations, registrations, unanswered_seconds
from campaigns.kit.mappings import ProgramProgress, ProgramRequest

SECONDS_TO_START_AND_END = 60.0
"""What programs may take besides the time limit of the run, to start processes and to write bodies."""
LEAST_RETRY_SECONDS = 1.0
REMOVE_SECONDS = 400.0


def register(
    target: Target, parameters: Parameters, context: Context, command: ProgramRequest
) -> Registrations:
    """Register all hosts, and retry those that failed. Raise CutShort, Cancelled or GeneratorFailed."""
    loads = _Loads(context)
    limit = context.deadline_seconds
    request = registering(target, parameters, context, limit, command)
    generators = int(parameters.get("generators") or 1)
    if generators > 1:
        # No other machine stores the hosts' keys; the hosts are deleted by their names.
        request["directory"] = ""
    with cut_short(loads.context, hosts_of(parameters), _counts) as watched:
        outcome = loads.generate(watched, parts_of(request, generators), limit)
    hosts = registrations(parameters, outcome.samples, outcome.result, limit)
    retried: set[int] = set()
    for round_ in range(1, parameters["retry_rounds"] + 1):
        numbers = [number for number in hosts.failed_numbers if number not in retried]
        left = limit - loads.seconds
        if not numbers or left < LEAST_RETRY_SECONDS:
            break
        context.say(f"retry {round_}: {len(numbers)} hosts try again")
        retry = again(request, numbers, parameters["retry_hosts"], round_, left)
        rows = loads.generate(loads.context, [retry], left).samples
        retried |= {
            number
            for number, failure in zip(rows.get("number", ()), rows.get("failure", ()), strict=True)
            if not failure
        }
    return replace(hosts, retried=frozenset(retried))


class _Loads:
    """The loads of an attempt: the first one, and the retries. Notes what is under way when one ends."""

    def __init__(self, context: Context) -> None:
        self.context = replace(context, progress=self._report)
        self._own = context
        self._began_at = time.monotonic()
        self._longest_seconds = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the first load began."""
        return time.monotonic() - self._began_at

    def generate(
        self, context: Context, requests: Sequence[ProgramRequest], limit: float
    ) -> Outcome:
        """Run a load as `Context.generate` does."""
        try:
            outcome = context.generate(REGISTERS, requests, limit + SECONDS_TO_START_AND_END)
        except BaseException:
            self._note_under_way()
            raise
        waited = unanswered_seconds(outcome.samples)
        if waited or not outcome.result.get(
            "complete"
        ):  # the server may register them all the same
            note(self._own, max(waited, self._longest_seconds) or None)
        return outcome

    def _note_under_way(self) -> None:
        """Note the longest answer; before the first report it was no longer than the load, if a host has its identity."""
        longest = self._longest_seconds
        if not longest and any(stored_identities(self._own.directory)):
            longest = self.seconds
        note(self._own, longest or None)

    def _report(self, values: ProgramProgress) -> None:
        """Report the engine's progress under the names that all kinds use."""
        longest = float(values.get("longest_seconds") or 0.0)
        self._longest_seconds = max(self._longest_seconds, longest)
        self._own.progress(
            {
                "seconds": values.get("seconds", 0.0),
                "hosts": values.get("hosts", 0),
                "hosts_done": values.get("hosts_done", 0),
                "failed": values.get("hosts_failed", 0),
                "doing": "registers",
                "step_seconds": 1.0,
                "rate_series": [float(count) for count in values.get("per_second", ())],
                **waited_in(values),
            }
        )


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
