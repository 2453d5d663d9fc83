"""Foreman's global registration: the command, the script that it fetches, and what that script fetches."""

import json
import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from sandbox.katello import inventory, scripts
from sandbox.katello.answers import Problem, document
from sandbox.katello.consumers import Consumers, Host
from sandbox.katello.tokens import BadToken, Tokens

COMMANDS = ("/api/v2/registration_commands", "/api/registration_commands")
_HOURS, _MOST_HOURS = 4.0, 999_999
_PASSED_ON = ("location_id", "hostgroup_id", "operatingsystem_id", "force", "ignore_subman_errors",
              "setup_insights", "setup_remote_execution", "setup_remote_execution_pull", "packages",
              "update_packages")  # fmt: skip


@dataclass(slots=True, eq=False)
class GlobalRegistration:
    """The routes. `url` is where hosts reach the server, such as https://127.0.0.1:8399."""

    consumers: Consumers
    tokens: Tokens
    url: Callable[[], str]

    def command(self, request: web.BaseRequest, body: Mapping[str, Any]) -> web.Response:
        """Make the command that hosts run; the user was let in before. Raise Problem."""
        wanted = body.get("registration_command", body)
        wanted = wanted if isinstance(wanted, dict) else {}
        organization = wanted.get("organization_id", 1)
        if self._organization(str(organization)) is None:
            raise _error(404, f"Resource organization not found by id '{organization}'")
        proxy = wanted.get("smart_proxy_id")
        if proxy is not None:
            if not isinstance(proxy, int) or proxy not in inventory.PROXIES:
                raise _error(404, f"Resource smart_proxy not found by id '{proxy}'")
            if not {"Registration", "Templates"} <= set(inventory.PROXIES[proxy][1]):
                needed = "'Registration', 'Templates'"
                raise _error(422, f"Proxy lacks one of the following features: {needed}")
        keys = wanted.get("activation_keys") or wanted.get("activation_key") or []
        names = keys if isinstance(keys, list) else [keys] if isinstance(keys, str) else []
        if not names:
            raise _error(422, "Missing activation key!")
        query = {"activation_keys": ",".join(map(str, names)), "organization_id": organization}
        query |= {name: wanted[name] for name in _PASSED_ON if wanted.get(name) not in (None, "")}
        sent = {name: _text(value) for name, value in sorted(query.items())}
        token = self.tokens.give(_hours(wanted.get("jwt_expiration", _HOURS)))
        insecure = " --insecure" if wanted.get("insecure") else ""
        url = f"{self.url() or f'{request.scheme}://{request.host}'}/register?{urlencode(sent)}"
        line = (
            f"set -o pipefail && curl --silent --show-error {insecure} '{url}' "
            f"--header 'Authorization: Bearer {token}' | bash"
        )
        return document({"registration_command": line})

    def answer(self, request: web.BaseRequest, raw: bytes) -> web.Response | None:
        """Answer what hosts ask for; None where there is no such route here."""
        match request.method, request.path:
            case "GET" | "POST", "/unattended/built":
                return self._built(request)
            case "GET", "/register":
                return self._trusted(request, self._script)
            case "POST", "/register":
                return self._trusted(request, lambda request: self._host_script(request, raw))
        return None

    def _trusted(
        self, request: web.BaseRequest, answer: Callable[[web.BaseRequest], web.Response]
    ) -> web.Response:
        """Answer who has a good token; others get a script that ends their shell."""
        try:
            self.tokens.check(request.headers.get("Authorization", ""))
        except BadToken:
            return _shell(401, "unauthorized", "Unable to authenticate user .")
        return answer(request)

    def _script(self, request: web.BaseRequest) -> web.Response:
        organization = self._organization(request.query.get("organization_id", "1"))
        keys = request.query.get("activation_keys", "")
        if organization is None:
            wanted = request.query.get("organization_id", "")
            return _shell(404, "not_found", f"Couldn't find Organization with 'id'={wanted}")
        if not keys:
            return _shell(422, "unprocessable_entity", "Missing activation key!")
        text = scripts.registration(
            self._reached(request),
            self.consumers.authority.pem,
            self.tokens.give(_HOURS),
            organization.label,
            keys,
            dict(request.query) | {"organization_id": str(organization.pk)},
        )
        return web.Response(text=text, content_type="text/plain")

    def _host_script(self, request: web.BaseRequest, raw: bytes) -> web.Response:
        kind = request.content_type
        if kind == "application/json":
            try:
                data = json.loads(raw or b"{}")
            except ValueError:
                return _shell(400, "bad_request", "There was a problem in the JSON you submitted")
            host = data.get("host") if isinstance(data, dict) else None
            form = {f"host[{name}]": str(value) for name, value in (host or {}).items()}
            form |= {"uuid": str(data["uuid"])} if isinstance(data, dict) and "uuid" in data else {}
        elif kind == "application/x-www-form-urlencoded":
            form = dict(parse_qsl(raw.decode(errors="replace"), keep_blank_values=True))
        else:
            return _shell(415, "unsupported_media_type", f"Media type in 'Content-Type: {kind}' ")
        host = self._known(form)
        if isinstance(host, web.Response):
            return host
        host.token = secrets.token_urlsafe(24)
        text = scripts.host(self._reached(request), host.name, host.token)
        return web.Response(text=text, content_type="text/plain")

    def _known(self, form: Mapping[str, str]) -> Host | web.Response:
        if "uuid" in form:
            pk = form["uuid"]
            consumer = self.consumers.held.get(pk)
            if consumer is None or consumer.host is None:
                text = f"Host was not found by the subscription UUID: '{pk}', this can happen if the host is registered already, but not to this instance"
                return _shell(404, "not_found", text)
            return consumer.host
        name = form.get("host[name]", "").lower()
        organization = self._organization(form.get("host[organization_id]", "1"))
        if not name or organization is None:
            return _shell(422, "unprocessable_entity", "Validation failed: Name can't be blank")
        return self.consumers.named(name) or self.consumers.add(name, organization.label)

    def _built(self, request: web.BaseRequest) -> web.Response:
        token = request.query.get("token", "")
        host = next(
            (each for each in self.consumers.listed() if token and each.token == token), None
        )
        if host is None:
            return web.Response(status=404, text="Unable to find a host that is to be built")
        host.built, host.token = True, ""
        return web.Response(status=201)

    def _organization(self, pk: str) -> Any:
        organizations = self.consumers.organizations.values()
        return next((each for each in organizations if str(each.pk) == pk), None)

    def _reached(self, request: web.BaseRequest) -> str:
        return self.url() or f"{request.scheme}://{request.host}"


def _hours(said: object) -> float | None:
    """Read jwt_expiration; None is for ever. Raise Problem."""
    if said in (0, "0", "unlimited"):
        return None
    try:
        hours = float(str(said))
    except ValueError:
        hours = -1
    if not 0 < hours <= _MOST_HOURS:
        raise _error(
            422,
            f"Invalid value '{said}' for jwt_expiration. The value must be between 0 and {_MOST_HOURS}.",
        )
    return hours


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _error(status: int, words: str) -> Problem:
    return Problem(status, {"error": {"message": words}})


def _shell(status: int, title: str, words: str) -> web.Response:
    """Refuse with text for a shell: curl pipes it into one, whatever the status is."""
    answer = shlex.quote(words)
    text = f'echo "ERROR: {title}";\necho {answer}\nexit 1\n'
    return web.Response(status=status, text=text, content_type="text/plain")
