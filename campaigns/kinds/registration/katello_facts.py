"""What a Foreman with Katello tells of itself that must stay the same within a session."""

from collections.abc import Callable

from campaigns.kinds.base import STAND_IN, Target
from campaigns.kinds.registration.settings_told import told_by_operator, typed_in
from campaigns.kinds.servers import foreman_hosts
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Answered, NotPermitted, Strange

NOT_TOLD = "not told"


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
    """Give what is told; nothing where the user may not see it, or the version does not have it."""
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
