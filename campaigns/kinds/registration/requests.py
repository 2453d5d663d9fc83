"""The requests to the programs that register hosts and delete them, and the names of the hosts."""

import os
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from campaigns.kinds.base import Context, DriverError, NotOurs, Parameters, Target
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.base.under_way import Removed
from campaigns.kinds.load.schedule import OPEN
from campaigns.kinds.registration.form import ARRIVALS, hosts_of
from campaigns.kinds.registration.program.profiles import FOREMAN_GLOBAL
from campaigns.kinds.servers.candlepin import place_of
from campaigns.kinds.servers.katello import ENDINGS
from campaigns.kit.mappings import JsonObject, ProgramRequest

REGISTERS = "campaigns.kinds.registration.program"
REMOVES = "campaigns.kinds.registration.program.removing"
HOSTS_A_PROCESS = 50
"""How many hosts one process takes, as long as there are cores for more processes."""
LONGEST_CONNECT_SECONDS = 10.0
LONGEST_TLS_SECONDS = 60.0
REMOVED_AT_ONCE = 16
KATELLO, CANDLEPIN = "katello", "candlepin"
DOMAIN = "perfdash.example"
OTHERS = "hosts of other perfdash"


def attempts_prefix(target: Target) -> str:
    """Return how the names of the hosts of all attempts begin. Those of populations begin otherwise, and outlive any run."""
    return f"{own_prefix(target)}a"


def attempt_prefix(target: Target, sender: str) -> str:
    """Return the prefix of the names of one attempt's hosts; `sender` ends with the attempt's number."""
    number = re.sub(r"[^0-9a-z]", "", sender.rpartition("/")[2].lower()) or "0"
    return f"{attempts_prefix(target)}{number}-"


def refuse_others(target: Target, hosts: int) -> None:
    """Raise NotOurs where the server has hosts that another perfdash registered."""
    if hosts:
        raise NotOurs(
            f"{target.name} has {hosts} hosts that another perfdash registered: the names of those of this one begin with "
            f"{own_prefix(target)}. They are left alone. Let the campaigns of the other one end; where that one is gone, "
            "delete them yourself."
        )


def say_removed(context: Context, removed: Removed, most: int) -> None:
    """Log what a clean-up removed by search, and what may be left. most: how many hosts there could be."""
    if not removed.count and not removed.looked_again:
        return
    left = ""
    if removed.looked_again and removed.count < most:
        left = f". There is no record of whether {most - removed.count} others were registered; the next run on this target removes them"
    context.say(f"clean-up: {removed.text('hosts')}{left}")


def root_of(base_url: str) -> str:
    """Return the path of a Foreman: that of its URL, without the path of an API."""
    path = urlsplit(base_url).path.rstrip("/")
    return next((path.removesuffix(end) for end in ENDINGS if path.endswith(end)), path)


def rhsm_place(target: Target) -> str:
    """Return the path of the subscription API."""
    if target.family == CANDLEPIN:
        return place_of(target.base_url)
    return f"{root_of(target.base_url)}/rhsm"


def require_tls(target: Target) -> None:
    """Raise DriverError where hosts could not show a certificate."""
    if not target.base_url.startswith("https:"):
        raise DriverError(
            "Hosts are known by their certificates, so the target's base URL has to begin with https:. "
            "Give that one on the target's page, with its CA bundle."
        )


def common(target: Target, context: Context, seconds: float) -> ProgramRequest:
    """Return what the requests have in common. seconds: the time limit of the load."""
    parts = urlsplit(target.base_url)
    return {
        "url": f"{parts.scheme}://{parts.netloc}/",
        "rules": context.rules.to_json(),
        "ca": target.tls.ca_bundle,
        "insecure": not target.tls.verify,
        "place": rhsm_place(target),
        "directory": str(context.directory),
        "connect_timeout_seconds": LONGEST_CONNECT_SECONDS,
        "tls_timeout_seconds": LONGEST_TLS_SECONDS,
        "time_limit_seconds": seconds,
        "most_concurrent": context.most_concurrent,
        "most_per_second": context.most_per_second,
    }


def registering(
    target: Target,
    parameters: Parameters,
    context: Context,
    seconds: float,
    command: ProgramRequest | None = None,
) -> ProgramRequest:
    """Return the request to register a run's hosts. command: what Foreman's global registration needs."""
    timeout = parameters["timeout_seconds"]
    longest = {
        "timeout_seconds": timeout,
        "connect_timeout_seconds": timeout,
        "tls_timeout_seconds": timeout,
    }
    return {
        **common(target, context, seconds),
        **longest,
        "schedule": schedule_of(parameters),
        "refuses_when_full": True,
        "processes": processes_for(parameters["hosts"]),
        "profile": parameters["profile"],
        "organization": parameters["organization"],
        "activation_keys": parameters["activation_keys"],
        "packages": parameters["packages"],
        "prefix": attempt_prefix(target, context.sender),
        "domain": DOMAIN,
        **(command or {}),
    }


def schedule_of(parameters: Parameters) -> JsonObject:
    """Return the schedule of a run: each host registers once. In an open loop each arrival is another host."""
    if parameters["start"] == ARRIVALS:
        return {
            "hosts": parameters["hosts"],
            "loop": OPEN,
            "rate_per_second": parameters["rate"],
            "arrivals": parameters["arrivals"],
            "iterations": hosts_of(parameters),
        }
    ramp = parameters["ramp_seconds"] if parameters["start"] == "ramp" else 0.0
    return {"hosts": parameters["hosts"], "iterations": 1, "ramp_seconds": ramp}


def again(
    request: ProgramRequest, numbers: Sequence[int], at_once: int, attempt: int, seconds: float
) -> JsonObject:
    """Return the request of a retry: the hosts with these numbers, `at_once` at a time."""
    return {
        **request,
        "schedule": {"hosts": len(numbers), "iterations": 1},
        "processes": 1,
        "numbers": list(numbers),
        "at_once": at_once,
        "attempt": attempt,
        "time_limit_seconds": seconds,
    }


def removing(target: Target, context: Context, hosts: int, seconds: float) -> ProgramRequest:
    """Return the request to delete the hosts whose identities are stored."""
    at_once = min(REMOVED_AT_ONCE, context.most_concurrent or REMOVED_AT_ONCE)
    return {
        **common(target, context, seconds),
        "timeout_seconds": 60.0,
        "schedule": {"hosts": hosts, "iterations": 1},
        "processes": 1,
        "at_once": at_once,
    }


def processes_for(hosts: int) -> int:
    """Return how many processes share the hosts on this machine."""
    return max(1, min(len(os.sched_getaffinity(0)), -(-hosts // HOSTS_A_PROCESS)))


def is_global(parameters: Parameters) -> bool:
    """Return whether hosts register with Foreman's script."""
    return bool(parameters["profile"] == FOREMAN_GLOBAL.name)
