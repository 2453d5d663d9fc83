"""Foreman's API of hosts, organizations, activation keys, settings and status."""

import asyncio
import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aiohttp import web

from sandbox.katello import inventory
from sandbox.katello.answers import Problem, denied, document
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.consumers import ActivationKey, Consumers, Host
from sandbox.katello.lists import listed
from sandbox.katello.searching import fits
from sandbox.katello.tasks import Task, Tasks

BULK_DESTROY = "Actions::BulkAction"
_DELETE_SECONDS = 0.002  # of one host


@dataclass(slots=True, eq=False)
class Foreman:
    """Routes of Foreman that are not about syncs."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    consumers: Consumers
    tasks: Tasks

    def open(self, path: str) -> web.Response | None:
        """Answer what everybody may ask; None where that is something else."""
        match path.strip("/").split("/"):
            case ["katello", "api", "v2", "status"]:
                messages = {"version": inventory.KATELLO, "timeUTC": self.now().isoformat()}
                return document(messages)
            case ["api", "v2", "ping"] | ["api", "ping"]:
                katello = self.ping()
                foreman = {"database": _database(), "cache": _cache()}
                return document({"results": {"foreman": foreman, "katello": katello}})
            case ["pulp", "api", "v3", "status"]:
                return document(inventory.pulp())
        return None

    def ping(self) -> dict[str, Any]:
        """Tell how the services are."""
        failing = self.behaviour().failing_service
        services: dict[str, Any] = {
            name: {"status": "ok", "duration_ms": "5"} for name in inventory.SERVICES
        }
        if failing:
            services[failing] = {"status": "FAIL", "message": f"{failing} does not answer"}
        return {"status": "FAIL" if failing else "ok", "services": services}

    def answer(self, request: web.BaseRequest, body: dict[str, Any]) -> web.Response | None:
        """Answer who may ask; None where there is no such route here. Raise Problem."""
        match request.method, request.path.strip("/").split("/"):
            case "GET", ["api", "v2", "hosts", *rest]:
                return self._hosts(request, rest)
            case "PUT", ["api", "v2", "hosts", pk]:
                return self._change(self._host(pk), body)
            case "DELETE", ["api", "v2", "hosts", pk]:
                host = self._host(pk)
                self.consumers.delete(host)
                return document(self._told(host))
            case "PUT", ["api", "v2", "hosts", "bulk", "destroy"]:
                return self._destroy(body)
            case "GET", ["api", "v2", "statuses"]:
                return document(self._statuses())
            case "GET", ["api", "v2", "settings"]:
                return listed(request, inventory.settings(self.behaviour()))
            case "GET", ["api", "v2", "organizations"] | ["katello", "api", "v2", "organizations"]:
                return listed(request, self._organizations(), inventory.organization)
            case "GET", ["api", "v2", "locations"]:
                named = [{"id": pk, "name": name} for pk, name in inventory.LOCATIONS.items()]
                return listed(request, named)
            case "GET", ["katello", "api", "v2", "activation_keys"]:
                return self._keys(request, request.query.get("organization_id", ""))
            case "GET", ["katello", "api", "v2", "organizations", pk, "activation_keys"]:
                return self._keys(request, pk)
            case "GET", ["foreman_tasks", "api", "tasks", "summary"]:
                return document(self._summary())
        return None

    def _organizations(self) -> Iterable[Any]:
        return self.consumers.organizations.values()

    def _hosts(self, request: web.BaseRequest, rest: list[str]) -> web.Response:
        if rest[1:] == ["parameters"]:
            return listed(request, self._parameters(self._host(rest[0])))
        if rest:
            return document(self._whole(self._host(rest[0])))
        fit = fits(request.query.get("search", ""))
        everybody = list(self.consumers.listed())
        results = [host for host in everybody if fit(host)]
        tell = self._with_parameters if "include" in request.query else self._told
        return listed(request, results, tell, total=len(everybody))

    def _parameters(self, host: Host) -> list[dict[str, Any]]:
        if not self.behaviour().may_view_parameters:
            raise denied("view_params")
        return list(host.parameters.values())

    def _with_parameters(self, host: Host) -> dict[str, Any]:
        seen = self.behaviour().may_view_parameters
        return self._told(host) | {"parameters": list(host.parameters.values()) if seen else []}

    def _whole(self, host: Host) -> dict[str, Any]:
        permissions = {"view_hosts": True, "edit_hosts": self.behaviour().may_edit_hosts}
        return self._with_parameters(host) | {"permissions": permissions}

    def _change(self, host: Host, body: dict[str, Any]) -> web.Response:
        """Change a host; parameters that are not named are deleted, where any are."""
        if not self.behaviour().may_edit_hosts:
            raise denied("edit_hosts")
        changed = body.get("host")
        changed = changed if isinstance(changed, dict) else {}
        for name in ("ip", "ip6"):
            if name in changed:
                setattr(host, name, _address(changed[name]))
        if "host_parameters_attributes" in changed:
            rows = [_parameter(each) for each in changed["host_parameters_attributes"] or ()]
            host.parameters = {row["name"]: row for row in rows}
        return document(self._whole(host))

    def _host(self, pk: str) -> Host:
        result = self.consumers.hosts.get(int(pk)) if pk.isdecimal() else self.consumers.named(pk)
        if result is None:
            text = f"Resource host not found by id '{pk}'"
            raise Problem(404, {"error": {"message": text}})
        return result

    def _told(self, host: Host) -> dict[str, Any]:
        organization = self.consumers.organizations[host.organization]
        registered = self.consumers.held.get(host.consumer)
        facet = {
            "id": host.pk,
            "uuid": host.consumer,
            "registered_at": str(registered.created),
            "last_checkin": str(registered.check_in) if registered.check_in else None,
            "activation_keys": [{"name": name} for name in registered.activation_keys],
        } if registered else None  # fmt: skip
        return {
            "id": host.pk,
            "name": host.name,
            "organization_id": organization.pk,
            "organization_name": organization.label,
            "ip": host.ip or None,
            "ip6": host.ip6 or None,
            "location_id": 2,
            "location_name": inventory.LOCATIONS[2],
            "build": False,
            "created_at": str(host.created),
            "global_status_label": "OK",
            "subscription_facet_attributes": facet,
            "content_facet_attributes": {
                "id": host.pk,
                "uuid": host.consumer or None,
                "installed_package_count": registered.packages if registered else 0,
            },
        }

    def _destroy(self, body: dict[str, Any]) -> web.Response:
        included = body.get("included")
        included = included if isinstance(included, dict) else {}
        search, ids = included.get("search"), included.get("ids")
        search = search if isinstance(search, str) else ""
        ids = ids if isinstance(ids, list) else []
        if not search and not ids:
            raise Problem(400, {"error": {"message": "No hosts have been specified."}})
        fit = fits(search)
        hosts = [
            host for host in self.consumers.listed() if (fit(host) if search else host.pk in ids)
        ]
        behaviour = KatelloBehaviour(start_seconds=0)
        seconds = 0.02 + _DELETE_SECONDS * len(hosts)
        task = Task(
            BULK_DESTROY, ("Host", 0), f"hosts: {len(hosts)}", self.behaviour().user, self.now(),
            seconds, skipped=False, forced=False, behaviour=behaviour, request_id="", verb="Bulk delete",
        )  # fmt: skip
        self.tasks.add(task)
        asyncio.get_running_loop().call_later(seconds * 0.9, self._delete, hosts)
        return document(task.document(self.now()), 202)

    def _delete(self, hosts: list[Host]) -> None:
        for host in hosts:
            self.consumers.delete(host)

    def _keys(self, request: web.BaseRequest, organization: str) -> web.Response:
        label = next(
            (each.label for each in self._organizations() if str(each.pk) == organization), ""
        )
        if not label:
            text = f"Couldn't find Organization with 'id'={organization}"
            raise Problem(404, {"displayMessage": text, "errors": [text]})
        name = request.query.get("name")
        keys = [
            key
            for key in self.consumers.keys.values()
            if key.organization == label and name in (None, key.name)
        ]
        return listed(request, keys, self._key)

    def _key(self, key: ActivationKey) -> dict[str, Any]:
        return {
            "id": key.pk,
            "name": key.name,
            "unlimited_hosts": not key.limited,
            "max_hosts": self.behaviour().host_limit if key.limited else None,
            "usage_count": self.consumers.used(key),
            "organization": inventory.organization(self.consumers.organizations[key.organization]),
        }

    def _statuses(self) -> dict[str, Any]:
        foreman = {
            "version": inventory.FOREMAN,
            "api": {"version": "v2"},
            "plugins": [{"name": name, "version": version} for name, version in inventory.PLUGINS],
            "smart_proxies": [
                {
                    "name": name, "version": "3.14.0", "status": "ok", "duration_ms": "12",
                    "features": dict.fromkeys(map(str.lower, features), "3.14.0"),
                }
                for name, features in inventory.PROXIES.values()
            ],
            "compute_resources": [],
            "database": _database(),
            "cache": _cache(),
        }  # fmt: skip
        katello = {"version": inventory.KATELLO, "timeUTC": self.now().isoformat()}
        return {"results": {"foreman": foreman, "katello": katello | self.ping()}}

    def _summary(self) -> dict[str, Any]:
        now = self.now()
        states = [task.state(now) for task in self.tasks.all.values()]
        messages: dict[str, Any] = {
            state: {"recent": states.count(state), "total": states.count(state)}
            for state in ("running", "paused", "stopped", "scheduled", "planned")
        }
        results = [
            task.result(now) for task in self.tasks.all.values() if task.state(now) == "stopped"
        ]
        messages["stopped"]["by_result"] = {
            result: {"recent": results.count(result), "total": results.count(result)}
            for result in ("success", "warning", "error", "cancelled")
        }
        return messages


def _database() -> dict[str, Any]:
    return {"active": True, "duration_ms": "0"}


def _cache() -> dict[str, Any]:
    return {"servers": [{"status": "ok", "duration_ms": "1"}]}


def _address(value: object) -> str:
    """Read an IP address. Raise Problem."""
    try:
        return str(ipaddress.ip_address(str(value))) if value else ""
    except ValueError:
        raise _invalid("Ip is invalid") from None


def _parameter(each: object) -> dict[str, Any]:
    """Read a parameter of a host, with its value in its type. Raise Problem."""
    given = each if isinstance(each, dict) else {}
    name, kind = str(given.get("name") or ""), given.get("parameter_type") or "string"
    value: Any = given.get("value")
    if not name or " " in name:
        raise _invalid("Name can't be blank")
    if kind == "integer":
        if not str(value).lstrip("-").isdecimal():
            raise _invalid("Value is invalid integer")
        value = int(str(value))
    elif kind == "boolean":
        if str(value).lower() not in ("true", "false"):
            raise _invalid("Value is invalid boolean")
        value = str(value).lower() == "true"
    return {"name": name, "value": value, "parameter_type": kind}


def _invalid(text: str) -> Problem:
    return Problem(
        422, {"error": {"message": f"Validation failed: {text}", "full_messages": [text]}}
    )
