"""Virtual hosts of a job: perfdash holds those of a population while the job runs, and answers for them, by MQTT or by SSH."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from campaigns.kinds.base import (
    Context,
    DriverError,
    Health,
    HostIdentity,
    Parameters,
    Proof,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.hosts.answering import (
    Answered,
    Hosts,
    PretendedScript,
    answering,
    answering_request,
    unconnected,
)
from campaigns.kinds.load.judging import judge
from campaigns.kinds.remote_execution import virtual_ssh
from campaigns.kinds.remote_execution.form import VIRTUAL, VIRTUAL_SSH, VIRTUALS, broker_of
from campaigns.kit.mappings import ProgramRequest

OUTLIVES_SECONDS = 60.0
"""How much longer than the run the hosts may be held: the run ends its job first, and says how far it came."""
WORST = ("healthy", "warned", "starved", "saturated")
FIGURES = (
    *("hosts_connected", "duplicates", "disconnects", "bad_messages"),
    *("connections", "sessions", "refused", "faults"),
)


def names_of(parameters: Parameters, context: Context) -> list[str]:
    """Return the names of the virtual hosts of a job; none where it runs on machines. Raise DriverError."""
    if parameters["hosts_are"] not in VIRTUALS:
        return []
    return [identity.name for identity in identities_of(parameters, context)]


def identities_of(parameters: Parameters, context: Context) -> Sequence[HostIdentity]:
    """Return the virtual hosts of a job. Raise DriverError where the population is not there."""
    if context.hosts_of is None:
        raise DriverError("Hosts of a population cannot be asked for from here.")
    return context.hosts_of(parameters["population"], parameters["hosts"])


def request_of(target: Target, parameters: Parameters, context: Context) -> ProgramRequest:
    """Return the request for the hosts of a job by MQTT. Raise DriverError where the population is not there."""
    seconds = float(parameters["script_seconds"])
    return answering_request(
        context,
        identities_of(parameters, context),
        broker_of(parameters),
        parameters["proxy_url"],
        ca=target.tls.ca_bundle,
        insecure=not target.tls.verify,
        script=PretendedScript(seconds, seconds),
        time_limit_seconds=_longest(context),
    )


def _longest(context: Context) -> float:
    return context.deadline_seconds + OUTLIVES_SECONDS


@contextmanager
def held(target: Target, parameters: Parameters, context: Context) -> Iterator[Hosts | None]:
    """Hold the virtual hosts of a job until the block is left; None where it runs on machines."""
    way = parameters["hosts_are"]
    if way == VIRTUAL:
        with _connected(target, parameters, context) as hosts:
            yield hosts
    elif way == VIRTUAL_SSH:
        with virtual_ssh.held(target, parameters, context, _longest(context)) as hosts:
            yield hosts
    else:
        yield None


@contextmanager
def _connected(target: Target, parameters: Parameters, context: Context) -> Iterator[Hosts]:
    """Hold hosts that ask for their jobs by MQTT.

    Raise TargetUnavailable where none of them reaches the broker. That some do not is an outcome of the level.
    """
    with answering(context, request_of(target, parameters, context)) as hosts:
        missing = unconnected(hosts)
        if not hosts.connected:
            raise TargetUnavailable(
                f"{missing} Check the broker's address, its certificate, and that it takes those of hosts."
            )
        context.say(missing or f"{hosts.asked} virtual hosts are connected to the broker")
        yield hosts


def health_with(health: Health, answered: Answered | None) -> Health:
    """Return the health of a run with that of what held its virtual hosts."""
    if answered is None:
        return health
    verdict = judge(answered.figures)
    word = max(health.verdict, verdict.word, key=WORST.index)
    figures = {**answered.figures, **health.figures}
    figures |= {name: float(answered.counts[name]) for name in FIGURES if name in answered.counts}
    figures["connect_seconds"] = answered.connect_seconds
    return Health(word, (*health.reasons, *verdict.reasons), figures)


def require_reached(
    parameters: Parameters, seen: Mapping[str, Any] | None, failures: Collection[str] = ()
) -> None:
    """Raise DriverError where a job ran, and its smart proxy reached none of the virtual hosts, for a reason that lasts.

    seen: their counts; None where the job runs on machines. failures: classes of those of the job.
    """
    if seen is not None and parameters["hosts_are"] == VIRTUAL_SSH:
        virtual_ssh.require_logins(parameters, seen, failures)


def proofs_of(parameters: Parameters, answered: Answered | None, succeeded: int) -> list[Proof]:
    """Prove that each host that succeeded has got a script, and all of them the same."""
    if answered is None:
        return []
    got, kinds = answered.scripts.total(), len(answered.scripts)
    proofs = [
        Proof("scripts that virtual hosts fetched", f"at least {succeeded}", got, "count", got >= succeeded),
        Proof("different scripts (SHA-256)", "at most 1", kinds, "count", kinds <= 1),
    ]  # fmt: skip
    if parameters["hosts_are"] == VIRTUAL_SSH:
        return [*proofs, *virtual_ssh.proofs_of(answered, succeeded)]
    bad = _sum(answered.rows, "bad_messages")
    return [*proofs, Proof("messages for nobody", 0, bad, "count", not bad)]


def _sum(rows: Mapping[str, Any], name: str) -> int:
    return sum(each or 0 for each in rows.get(name, ()))
