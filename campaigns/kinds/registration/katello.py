"""The steps of the kind `registration` at a Foreman with Katello. Not yet tried with a real server."""

import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from urllib.parse import urlsplit

from campaigns.kinds.base import (
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
from campaigns.kinds.base.foreman import mark_of
from campaigns.kinds.base.naming import OWN, names_shown, own_prefix
from campaigns.kinds.base.servers import (
    UNKNOWN,
    katello_facts,
    katello_of,
    katello_proofs,
    katello_quiet,
    require_services,
    while_leased,
)
from campaigns.kinds.base.under_way import patience_of, remove_until_quiet
from campaigns.kinds.registration.advice import operator_facts, typed_in, warnings_of
from campaigns.kinds.registration.form import hosts_of
from campaigns.kinds.registration.requests import (
    OTHERS,
    attempt_prefix,
    attempts_prefix,
    is_global,
    refuse_others,
    say_removed,
)
from campaigns.kinds.servers import foreman_hosts
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.katello import Katello, StillGoesOn
from campaigns.kit.http.errors import Answered, NotPermitted, Strange
from campaigns.kit.mappings import ProgramRequest
from campaigns.kit.network import Rules, normalised_address

IDLE_SECONDS = 120.0
CLEAR_SECONDS = 480.0
TOKEN_HOURS = 4


class KatelloServer:
    """A Foreman with Katello at which hosts register."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that Katello answers, accepts the login, and has its services in order; add advice."""
        with katello_of(target, rules) as katello:
            proofs = katello_proofs(katello)
            mode = str(katello.get("/rhsm/status").get("mode", UNKNOWN))
            ours = foreman_hosts.count_hosts(katello, attempts_prefix(target))
        warnings = warnings_of(typed_in(target.settings, target.hardware))
        return [
            *proofs,
            Proof("Candlepin's mode", "NORMAL", mode, "", mode == "NORMAL"),
            Proof("hosts of this perfdash", "0 before a run", ours, "count", ok=True),
            names_shown(target),
            *(Proof("advice", "any", warning, "", ok=True) for warning in warnings),
        ]

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that no other perfdash has hosts there. Raise NotOurs."""
        with katello_of(target, rules) as katello:
            refuse_others(target, _of_others(katello, target))

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return how many tasks run; empty without any but those that always do."""
        return katello_quiet(target, rules)

    def clear(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove the hosts of all attempts of this installation, and wait until no task runs. Populations stay."""
        with katello_of(target, context) as katello:
            require_services(katello)
            removed = _remove(katello, target, attempts_prefix(target), context)
            running = _wait_until_idle(katello)
            left = foreman_hosts.count_hosts(katello, attempts_prefix(target))
            others = _of_others(katello, target)
        names = ", ".join(f"{task.action} ({task.username})" for task in running[:3])
        shown = f"{len(running)}: {names}" if running else 0
        return [
            Proof("hosts of earlier runs removed", "any", removed, "count", ok=True),
            Proof("hosts of this perfdash", 0, left, "count", left == 0),
            Proof(OTHERS, "any", others, "count", ok=True),
            Proof("tasks running in Foreman", 0, shown, "count", not running),
        ]

    def known(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Look up organization and activation keys. Raise ParametersRefused."""
        label, hosts = parameters["organization"], hosts_of(parameters)
        with katello_of(target, context) as katello:
            organization = _organization(katello, parameters)
            keys = foreman_hosts.activation_keys_of(katello, organization)
        names = parameters["activation_keys"].split(",")
        if missing := [name for name in names if name not in keys]:
            known = ", ".join(sorted(keys)) or "none"
            message = f"The organization {label} has no activation key {', '.join(missing)}; it has {known}."
            raise ParametersRefused(message, {"activation_keys": message})
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

    def command(self, target: Target, parameters: Parameters, context: Context) -> ProgramRequest:
        """Request the registration command, which serves any number of hosts; only one profile needs it."""
        if not is_global(parameters):
            return {}
        with katello_of(target, context) as katello:
            organization = _organization(katello, parameters)
            registration = {
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
            command = foreman_hosts.command_for(katello, registration)
        _refuse_another_server(command.origin, target)
        return {"script": command.path, "token": command.token, "organization_id": organization.id}

    def registered(
        self, target: Target, parameters: Parameters, context: Context, uuids: Sequence[str]
    ) -> list[Proof]:
        """Compare the hosts that Foreman has with those that registered."""
        there = self.uuids(target, parameters, context)
        missing, unanswered = set(uuids) - there, there - set(uuids)
        enough = len(there) >= len(uuids)
        return [
            Proof("hosts registered", f"at least {len(uuids)}", len(there), "count", enough),
            Proof("registered uuids that are missing", 0, len(missing), "count", not missing),
            Proof(
                "hosts that are there without an answer", "any", len(unanswered), "count", ok=True
            ),
        ]

    def uuids(self, target: Target, parameters: Parameters, context: Context) -> set[str]:
        """Return the uuids of this attempt's hosts that Foreman has."""
        prefix = attempt_prefix(target, context.sender)
        with katello_of(target, context) as katello:
            hosts = foreman_hosts.hosts_named(katello, prefix)
        return {host.uuid for host in hosts if host.uuid}

    def remove(self, target: Target, parameters: Parameters, context: Context, most: int) -> None:
        """Remove what this attempt registered, unless another run may hold the target already. most: how many hosts there can be."""
        check = while_leased(context)
        check()
        prefix = attempt_prefix(target, context.sender)
        with katello_of(target, context, check) as katello:
            removed = remove_until_quiet(
                lambda: _remove(katello, target, prefix, context),
                replace(patience_of(context), most_later=None),
                katello.rest,
                expected=most,
            )
        say_removed(context, removed, most)

    def remove_named(self, target: Target, prefix: str, context: Context) -> int:
        """Delete the hosts whose names begin with a prefix of `own_prefix`; return how many. Raise NotClean, NotOurs."""
        with katello_of(target, context) as katello:
            return _remove(katello, target, prefix, context)

    def facts(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions, services, settings that change the cost of a registration, and operator settings."""
        with katello_of(target, context) as katello:
            facts = katello_facts(katello, target)
            candlepin = katello.get("/rhsm/status")
            facts["Candlepin"] = str(candlepin.get("version", UNKNOWN))
            facts |= _unless_refused(lambda: _plugins(katello))
            settings = _unless_refused(lambda: foreman_hosts.settings_of(katello))
            facts |= _unless_refused(lambda: {"smart proxies": _proxies(katello)})
            facts |= _unless_refused(lambda: _pulp_workers(katello))
        facts |= {f"setting {name}": value for name, value in settings.items()}
        return facts | operator_facts(typed_in(target.settings, target.hardware), target.wanted)


def _organization(katello: Katello, parameters: Parameters) -> foreman_hosts.Organization:
    """Return the organization of the parameters. Raise ParametersRefused."""
    label = parameters["organization"]
    organization = foreman_hosts.organization_of(katello, label)
    if organization is None:
        message = f"There is no organization with the label {label}, or the user may not see it."
        raise ParametersRefused(message, {"organization": message})
    return organization


def _of_others(katello: Katello, target: Target) -> int:
    """Return how many hosts another perfdash has made, or others with such a name."""
    every, ours = (foreman_hosts.count_hosts(katello, text) for text in (OWN, own_prefix(target)))
    return max(0, every - ours)


def _remove(katello: Katello, target: Target, prefix: str, context: Context) -> int:
    """Delete the hosts whose names begin with `prefix`, and no others; return how many. Raise NotClean.

    Those that appear meanwhile are not waited for: the next look finds them.
    """
    hosts = foreman_hosts.hosts_named(katello, prefix)
    if strangers := [host.name for host in hosts if not host.name.startswith(prefix)]:
        raise NotOurs(
            f"The search for hosts of perfdash finds {strangers[0]} too, which is none of them; rename "
            "that host in Foreman."
        )
    if not hosts:
        return 0
    context.say(f"{len(hosts)} hosts named {prefix}… are deleted")
    until = time.monotonic() + CLEAR_SECONDS
    for organization in sorted({host.organization_id for host in hosts}):
        mark = f"{mark_of(target, context)}destroy"
        _destroy(katello, organization, prefix, mark)
    began_at = time.monotonic()
    while left := _still_there(katello, prefix, {host.id for host in hosts}):
        if time.monotonic() > until:
            raise NotClean(f"{left} hosts named {prefix}… are still there after their deletion.")
        katello.rest(time.monotonic() - began_at)
    return len(hosts)


def _still_there(katello: Katello, prefix: str, deleted: Set[int]) -> int:
    """Return how many of the deleted hosts Foreman still has; a list is asked for only where it has any of the name."""
    if foreman_hosts.count_hosts(katello, prefix) <= 0:
        return 0
    return len(deleted & {host.id for host in foreman_hosts.hosts_named(katello, prefix)})


def _destroy(katello: Katello, organization: int, prefix: str, mark: str) -> None:
    """Delete the hosts of one organization, and wait for Foreman's task. Raise NotClean."""
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
    """Wait up to IDLE_SECONDS until no task runs; return those that still do."""
    began_at = time.monotonic()
    while running := katello.tasks_at_work():
        gone = time.monotonic() - began_at
        if gone > IDLE_SECONDS:
            break
        katello.rest(gone)
    return running


def _refuse_another_server(origin: str, target: Target) -> None:
    """Raise DriverError where hosts would register at a server that this run does not lease."""
    parts = urlsplit(target.base_url)
    ours = normalised_address(f"{parts.scheme}://{parts.netloc}")
    if normalised_address(origin) != ours:
        raise DriverError(
            f"The registration command sends hosts to {origin}, another server than the target "
            f"({ours}). Give that one as the target, or mend registration_url in Foreman."
        )


def _unless_refused(ask: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Return what `ask` returns; nothing where the user may not see it, or the version does not have it."""
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
    names = sorted(f"{each.get('name')} {each.get('version')}" for each in plugins)
    return {"plugins": ", ".join(names) or UNKNOWN}


def _proxies(katello: Katello) -> str:
    proxies = katello.results("/api/v2/smart_proxies")
    return ", ".join(sorted(str(each.get("name")) for each in proxies)) or "none"


def _pulp_workers(katello: Katello) -> dict[str, str]:
    status = katello.get("/pulp/api/v3/status/")
    return {
        name.replace("_", " "): str(len(status.get(name) or ()))
        for name in ("online_workers", "online_api_apps", "online_content_apps")
    }
