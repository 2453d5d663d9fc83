"""What the kind asks of a Foreman with Katello. Not yet seen with a real server."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.base import (
    STAND_IN,
    Context,
    DriverError,
    EffectiveSetting,
    NotClean,
    NotOurs,
    Parameters,
    ParametersRefused,
    Proof,
    Target,
)
from campaigns.kinds.base.katello import refuse_services_that_are_away, who_answers
from campaigns.kinds.base.servers import katello_of, while_leased
from campaigns.kinds.registration.advice import warnings_of
from campaigns.kinds.registration.names import attempt_prefix, installation_prefix
from campaigns.kinds.registration.operator_settings import told_by_operator, typed_in
from campaigns.kinds.registration.requests import is_global
from campaigns.kinds.servers import foreman_hosts
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.katello import Katello, StillGoesOn
from campaigns.kit.http.errors import Answered, NotPermitted, Strange
from campaigns.kit.network import Rules, normalised_address

ALWAYS_RUN = (
    "Actions::Katello::EventQueue::Monitor",
    "Actions::Candlepin::ListenOnCandlepinEvents",
)
"""Labels of tasks that a Katello in order always has."""
IDLE_SECONDS = 120.0
CLEAR_SECONDS = 480.0
TOKEN_HOURS = 4

NOT_TOLD = "not told"


class KatelloServer:
    """A Foreman with Katello at which hosts register."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Return what Katello this is, whether the login is right, and how its services are."""
        with katello_of(target, rules, lambda: None) as katello:
            told = who_answers(katello)
            candlepin = katello.get("/rhsm/status")
            ours = foreman_hosts.count_hosts(katello, installation_prefix())
            return [
                *told,
                _mode_proof(candlepin),
                Proof("hosts of perfdash", "0 before a run", ours, "count", ok=True),
                *advice_of(target),
            ]

    def clear(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove the hosts of this installation, and wait until no task runs."""
        with _opened(target, context) as katello:
            refuse_services_that_are_away(katello)
            found = _remove(katello, installation_prefix(), context)
            running = _wait_until_idle(katello)
            left = foreman_hosts.count_hosts(katello, installation_prefix())
        names = ", ".join(f"{task.action} ({task.username})" for task in running[:3])
        return [
            Proof("hosts of earlier runs removed", "any", found, "count", ok=True),
            Proof("hosts of perfdash", 0, left, "count", left == 0),
            Proof(
                "tasks running in Foreman",
                0,
                f"{len(running)}: {names}" if running else 0,
                "count",
                not running,
            ),
        ]

    def known(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Look organization and activation keys up. Raise ParametersRefused."""
        label, hosts = parameters["organization"], parameters["hosts"]
        with _opened(target, context) as katello:
            organization = _organization(katello, parameters)
            keys = foreman_hosts.activation_keys_of(katello, organization)
        names = parameters["activation_keys"].split(",")
        if missing := [name for name in names if name not in keys]:
            known = ", ".join(sorted(keys)) or "none"
            words = f"The organization {label} has no activation key {', '.join(missing)}; it has {known}."
            raise ParametersRefused(words, {"activation_keys": words})
        for name in names:
            most = keys[name].most
            if most is not None and most < hosts:
                context.say(
                    f"may be disturbed: the activation key {name} lets {most} hosts in, and {hosts} "
                    "are to register"
                )
        return [
            EffectiveSetting("organization", label, organization.label, ok=True),
            EffectiveSetting(
                "activation_keys", parameters["activation_keys"], ",".join(names), ok=True
            ),
        ]

    def command(self, target: Target, parameters: Parameters, context: Context) -> dict[str, Any]:
        """Ask for the registration command, which serves any number of hosts."""
        if not is_global(parameters):
            return {}
        with _opened(target, context) as katello:
            organization = _organization(katello, parameters)
            asked = {
                "organization_id": organization.id,
                "activation_keys": parameters["activation_keys"].split(","),
                "insecure": not target.tls.verify,
                "force": True,
                "ignore_subman_errors": False,
                "jwt_expiration": TOKEN_HOURS,
                "setup_insights": False,
                "setup_remote_execution": True,
                "setup_remote_execution_pull": False,
                "packages": "",
                "update_packages": False,
                "download_utility": "curl",
            }
            command = foreman_hosts.command_for(katello, asked)
        _refuse_another_server(command.origin, target)
        return {
            "script": command.path,
            "token": command.token,
            "organization_id": organization.id,
        }

    def registered(
        self, target: Target, parameters: Parameters, context: Context, uuids: Sequence[str]
    ) -> list[Proof]:
        """Compare the hosts that Foreman has with those that registered."""
        prefix = attempt_prefix(context.sender)
        with _opened(target, context) as katello:
            hosts = foreman_hosts.hosts_named(katello, prefix)
        there = {host.uuid for host in hosts if host.uuid}
        missing = set(uuids) - there
        return [
            Proof(
                "hosts registered",
                f"at least {len(uuids)}",
                len(there),
                "count",
                len(there) >= len(uuids),
            ),
            Proof("registered uuids that are missing", 0, len(missing), "count", not missing),
            Proof(
                "hosts that are there without an answer",
                "any",
                len(there - set(uuids)),
                "count",
                ok=True,
            ),
        ]

    def remove(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Remove what this attempt registered, unless another run may hold the target already."""
        check = while_leased(context)
        check()
        with _opened(target, context, check) as katello:
            _remove(katello, attempt_prefix(context.sender), context)

    def facts(self, target: Target, context: Context) -> Mapping[str, str]:
        """Versions, services, settings that change what a registration costs, and what is typed in."""
        with _opened(target, context) as katello:
            return facts_of(katello, target)


def advice_of(target: Target) -> list[Proof]:
    """Say on the target's page what does not fit together in what its operator typed in."""
    warnings = warnings_of(typed_in(target.settings, target.hardware))
    return [Proof("advice", "any", words, "", ok=True) for words in warnings]


def _opened(
    target: Target, context: Context, check: Callable[[], None] | None = None
) -> AbstractContextManager[Katello]:
    return katello_of(
        target, context.rules, check or context.check, context.sender, context.most_per_second
    )


def _organization(katello: Katello, parameters: Parameters) -> foreman_hosts.Organization:
    """Find it by its label. Raise ParametersRefused."""
    label = parameters["organization"]
    found = foreman_hosts.organization_of(katello, label)
    if found is None:
        words = f"There is no organization with the label {label}, or the user may not see it."
        raise ParametersRefused(words, {"organization": words})
    return found


def _remove(katello: Katello, prefix: str, context: Context) -> int:
    """Delete the hosts whose names begin so, and no others; say how many. Raise NotClean."""
    found = foreman_hosts.hosts_named(katello, prefix)
    if strangers := [host.name for host in found if not host.name.startswith(prefix)]:
        raise NotOurs(
            f"The search for hosts of perfdash finds {strangers[0]} too, which is none of them; rename "
            "that host in Foreman."
        )
    if not found:
        return 0
    context.say(f"{len(found)} hosts named {prefix}… are deleted")
    until = time.monotonic() + CLEAR_SECONDS
    for organization in sorted({host.organization_id for host in found}):
        _destroy(katello, organization, prefix, context)
    began_at = time.monotonic()
    while (left := foreman_hosts.count_hosts(katello, prefix)) > 0:
        if time.monotonic() > until:
            raise NotClean(f"{left} hosts named {prefix}… are still there after their deletion.")
        katello.rest(time.monotonic() - began_at)
    return len(found)


def _destroy(katello: Katello, organization: int, prefix: str, context: Context) -> None:
    """Let Foreman delete hosts of one organization, and wait for its task. Raise NotClean."""
    mark = f"perfdash-attempt-{context.sender.rpartition('/')[2]}-destroy"
    try:
        task = foreman_hosts.destroy_hosts(katello, organization, prefix, mark)
    except Answered as error:
        raise NotClean(f"Foreman does not delete the hosts of an earlier run: {error}") from None
    if task is None:
        return
    try:
        katello.wait_until_stopped(task.id, CLEAR_SECONDS)
    except StillGoesOn as error:
        raise NotClean(f"{error} It deletes hosts of an earlier run.") from None


def _wait_until_idle(katello: Katello) -> list[ForemanTask]:
    """Wait until no task runs; give those that still do when patience ends."""
    began_at = time.monotonic()
    while running := [
        task for task in katello.tasks("state = running") if task.label not in ALWAYS_RUN
    ]:
        gone = time.monotonic() - began_at
        if gone > IDLE_SECONDS:
            break
        katello.rest(gone)
    return running


def _refuse_another_server(origin: str, target: Target) -> None:
    """Raise DriverError where hosts would be sent to a server that this run does not hold."""
    parts = urlsplit(target.base_url)
    ours = normalised_address(f"{parts.scheme}://{parts.netloc}")
    if normalised_address(origin) != ours:
        raise DriverError(
            f"The registration command sends hosts to {origin}, another server than the target "
            f"({ours}). Give that one as the target, or mend registration_url in Foreman."
        )


def _mode_proof(candlepin: Mapping[str, Any]) -> Proof:
    mode = str(candlepin.get("mode", NOT_TOLD))
    return Proof("Candlepin's mode", "NORMAL", mode, "", mode == "NORMAL")


def facts_of(katello: Katello, target: Target) -> dict[str, str]:
    """Versions, services, settings that change what a registration costs, and what is typed in."""
    versions = katello.foreman_version(), katello.katello_version()
    services = katello.ping()
    candlepin = katello.get("/rhsm/status")
    statuses = _unless_refused(lambda: _plugins(katello))
    settings = _unless_refused(lambda: foreman_hosts.told_settings(katello))
    proxies = _unless_refused(lambda: {"smart proxies": _proxies(katello)})
    pulp = _unless_refused(lambda: _pulp_workers(katello))
    facts = {
        "Foreman": versions[0],
        "Katello": versions[1],
        "Candlepin": str(candlepin.get("version", NOT_TOLD)),
        "services": ", ".join(f"{name} {said}" for name, said in sorted(services.items())),
        **statuses,
        **proxies,
        **pulp,
        **{f"setting {name}": value for name, value in settings.items()},
        **told_by_operator(typed_in(target.settings, target.hardware), target.wanted),
        "hardware and network": target.hardware or NOT_TOLD,
        "certificate": "verified" if target.tls.verify else "not verified",
    }
    if versions[1].endswith(STAND_IN):
        facts[STAND_IN] = f"simulated Katello {versions[1].removesuffix(STAND_IN).strip()}"
    return facts


def _unless_refused(ask: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Return what is told; nothing where the user may not see it, or the version does not have it."""
    try:
        return ask()
    except NotPermitted:
        return {}
    except Answered as error:
        if error.status != 404:
            raise
        return {}
    except Strange:
        return {}


def _plugins(katello: Katello) -> dict[str, str]:
    foreman = (katello.get("/api/v2/statuses").get("results") or {}).get("foreman") or {}
    plugins = foreman.get("plugins") or ()
    return {
        "plugins": ", ".join(
            sorted(f"{each.get('name')} {each.get('version')}" for each in plugins)
        )
        or NOT_TOLD
    }


def _proxies(katello: Katello) -> str:
    proxies = katello.results("/api/v2/smart_proxies")
    return ", ".join(sorted(str(each.get("name")) for each in proxies)) or "none"


def _pulp_workers(katello: Katello) -> dict[str, str]:
    said = katello.get("/pulp/api/v3/status/")
    return {
        name.replace("_", " "): str(len(said.get(name) or ()))
        for name in ("online_workers", "online_api_apps", "online_content_apps")
    }
