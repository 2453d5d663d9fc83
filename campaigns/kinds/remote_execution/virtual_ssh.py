"""Virtual hosts of a job to which a smart proxy logs in by SSH: where Foreman reaches them, who may log in, what they have seen."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from campaigns.kinds.base import (
    AddressRefused,
    Context,
    DriverError,
    EffectiveSetting,
    NotClean,
    Parameters,
    Proof,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.servers import katello_of
from campaigns.kinds.hosts.answering import Answered, Hosts, PretendedScript
from campaigns.kinds.hosts.answering_ssh import answering_ssh, host_key_of, ssh_request
from campaigns.kinds.remote_execution.summary import UNFINISHED
from campaigns.kinds.servers.job_invocations import Template
from campaigns.kinds.servers.katello import Katello
from campaigns.kinds.servers.smart_proxy import public_keys
from campaigns.kinds.servers.ssh_hosts import (
    Place,
    ReachedHost,
    may_not_place,
    place_host,
    reached_hosts,
)
from campaigns.kit.http.connection import Connection
from campaigns.kit.http.credentials import BadCertificate, Tls
from campaigns.kit.http.errors import ClientError, NoAnswer
from campaigns.kit.mappings import ProgramRequest
from campaigns.kit.network import Refused, Rules

AT_ONCE = 4
"""Hosts that are changed in Foreman at a time, unless the target's owner allows fewer."""
SAY_EACH = 200
UNREACHED = frozenset({"connect", "timeout", UNFINISHED})
"""Classes of failures of hosts to which a smart proxy did not get."""
SCRIPT = "script"
"""The provider of job templates that works by SSH alone. Ansible runs programs on a host, and virtual hosts have none."""


class NobodyLoggedIn(DriverError):
    """The smart proxy could log in to none of the virtual hosts: that is no outcome of a level."""

    void: ClassVar[bool] = True
    lasting: ClassVar[bool] = True


def place_of(parameters: Parameters, number: int) -> Place:
    """Return where a host of a job is reached, by its number in the population."""
    return Place(parameters["address"], parameters["first_port"] + number)


def require_script(template: Template) -> None:
    """Raise DriverError where a template is none that virtual hosts answer."""
    if template.provider != SCRIPT:
        raise DriverError(
            f"The template “{template.name}” is one of {template.provider or 'another provider'}, and virtual hosts answer those of "
            "Script only. Choose another template, or hosts that are registered."
        )


def require_rights(katello: Katello, query: str) -> None:
    """Raise DriverError where the user may not set where Foreman reaches the hosts that a query finds, of which there are some."""
    [host] = katello.get("/api/v2/hosts", search=query, per_page=1, thin="true")["results"][:1]
    if lacking := may_not_place(katello, int(host["id"])):
        raise DriverError(
            f"The target's user may not change hosts, so Foreman cannot be told where it reaches them: give the user {lacking}."
        )


def prepared(
    target: Target, parameters: Parameters, context: Context, query: str, names: Sequence[str]
) -> EffectiveSetting:
    """Tell Foreman where it reaches the hosts, where it does not know that yet, and read back whether it does.

    names: of the hosts, by their numbers. The parameters stay at the hosts, and go with them. Raise NotClean where Foreman shows none.
    """
    wanted = {name.lower(): place_of(parameters, number) for number, name in enumerate(names)}
    others = _others(target, context, query, wanted)
    if others:
        context.say(f"Foreman is told where it reaches {len(others)} hosts: {_places(parameters)}")
        _place(target, context, wanted, others)
        others = _others(target, context, query, wanted)
    if others and not any(each.parameters for each in others):
        raise NotClean(
            "Foreman does not show the parameters of hosts that were just set. Give the target's user view_params."
        )
    there = len(names) - len(others)
    return EffectiveSetting(
        f"hosts that Foreman reaches at {parameters['address']}, ports from {parameters['first_port']} on",
        len(names), there, there == len(names),
    )  # fmt: skip


def _others(
    target: Target, context: Context, query: str, wanted: dict[str, Place]
) -> list[ReachedHost]:
    """Return the hosts that Foreman reaches somewhere else."""
    with katello_of(target, context) as katello:
        return [
            host
            for host in reached_hosts(katello, query)
            if (place := wanted.get(host.name.lower())) and not host.is_at(place)
        ]


def _place(
    target: Target, context: Context, wanted: dict[str, Place], hosts: Sequence[ReachedHost]
) -> None:
    """Change hosts in Foreman, some at a time, as the target's owner allows."""
    at_once = min(AT_ONCE, context.most_concurrent or AT_ONCE, len(hosts))
    rate = context.most_per_second
    each = replace(context, most_per_second=rate / at_once if rate else None)

    def change(share: Sequence[ReachedHost]) -> None:
        with katello_of(target, each) as katello:
            for done, host in enumerate(share, 1):
                context.check()
                place_host(katello, host, wanted[host.name.lower()])
                if share is shares[0] and done % SAY_EACH == 0:
                    context.say(f"some {done * at_once} of {len(hosts)} hosts are changed")

    shares = [hosts[first::at_once] for first in range(at_once)]
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(change, shares))


def keys_of(target: Target, parameters: Parameters, access: Context | Rules) -> list[str]:
    """Return the public keys with which the smart proxy logs in. Raise DriverError."""
    url, rules = parameters["proxy_url"], access if isinstance(access, Rules) else access.rules
    tls = Tls(verify=target.tls.verify, ca_bundle=target.tls.ca_bundle)
    check: Callable[[], None] = access.check if isinstance(access, Context) else lambda: None
    try:
        connection = Connection(url, rules, tls=tls, check=check)
    except BadCertificate as error:
        raise DriverError(f"{error} Mend it on the target's page.") from None
    try:
        return public_keys(connection)
    except Refused as error:
        raise AddressRefused(str(error)) from None
    except NoAnswer as error:
        raise TargetUnavailable(
            f"{error} The smart proxy has to tell its public key there: check its address, and that the CA bundle of the target has its CA."
        ) from None
    except ClientError as error:
        raise DriverError(str(error)) from None
    finally:
        connection.close()


def request_of(
    target: Target, parameters: Parameters, context: Context, seconds: float
) -> ProgramRequest:
    """Return the request for the hosts of a job. seconds: how long they may be held."""
    took = float(parameters["script_seconds"])
    return ssh_request(
        context,
        parameters["hosts"],
        parameters["address"],
        parameters["first_port"],
        keys_of(target, parameters, context),
        host_key=host_key_of(target.installation),
        script=PretendedScript(took, took),
        time_limit_seconds=seconds,
    )


@contextmanager
def held(
    target: Target, parameters: Parameters, context: Context, seconds: float
) -> Iterator[Hosts]:
    """Hold the hosts of a job until the block is left. Raise GeneratorFailed where this machine cannot listen so."""
    with answering_ssh(context, request_of(target, parameters, context, seconds)) as hosts:
        context.say(f"{hosts.asked} virtual hosts listen at {_places(parameters)}")
        yield hosts


def require_logins(
    parameters: Parameters, seen: Mapping[str, Any], failures: Collection[str]
) -> None:
    """Raise NobodyLoggedIn where the smart proxy tried the hosts of a job, and logged in to none.

    seen: counts of the virtual hosts; failures: classes of those of the job.
    """
    tried = seen.get("connections") or UNREACHED.intersection(failures)
    if tried and not seen.get("hosts_connected"):
        raise NobodyLoggedIn(_why_nobody(parameters, seen))


def _why_nobody(parameters: Parameters, seen: Mapping[str, Any]) -> str:
    place = place_of(parameters, 0)
    begin = f"The smart proxy logged in to none of the {parameters['hosts']} virtual hosts"
    if seen.get("refused"):
        return (
            f"{begin}: it showed another key than {parameters['proxy_url']} tells at /ssh/pubkey. Give the address of the smart proxy "
            "that Foreman chooses for these hosts; the result of the job names it."
        )
    if seen.get("connections"):
        return (
            f"{begin}: it connected, and left before it showed a key. It knows another host key of {place.address}: remove the lines "
            f"of this address from known_hosts of the user foreman-proxy on it (ssh-keygen -R '[{place.address}]:{place.port}' for each "
            "port, or the whole file known_hosts if it is there for tests only)."
        )
    return (
        f"{begin}: nobody connected to {_places(parameters)}. Check that the smart proxy reaches this address of the worker, and "
        "that no firewall closes these ports."
    )


def _places(parameters: Parameters) -> str:
    """Return the address and the ports of all hosts, in words."""
    first, last = place_of(parameters, 0), place_of(parameters, parameters["hosts"] - 1)
    return f"{first.address}, ports {first.port} to {last.port}"


def proofs_of(answered: Answered, succeeded: int) -> list[Proof]:
    """Prove that somebody logged in to each host that succeeded, and sent nothing but what a smart proxy sends."""
    by_host = dict(
        zip(
            answered.rows["host"],
            zip(answered.rows["logins"], answered.rows["faults"], strict=True),
            strict=True,
        )
    )
    logged_in = sum(logins > 0 for logins, _ in by_host.values())
    faults = sum(faults for _, faults in by_host.values())
    return [
        Proof("virtual hosts to which the smart proxy logged in", f"at least {succeeded}", logged_in, "hosts", logged_in >= succeeded),
        Proof("commands that no smart proxy sends", 0, faults, "count", faults == 0),
    ]  # fmt: skip
