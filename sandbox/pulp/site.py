"""From a request to its answer: authentication, routing, and Pulp's errors."""

import asyncio
import json
from email.utils import format_datetime

from aiohttp import web

from sandbox.commits import RolledBack
from sandbox.exporter import CONTENT_TYPE, METRICS, exposition
from sandbox.pulp import answers
from sandbox.pulp.access import Access, Refused
from sandbox.pulp.answers import NoRoute, NotAllowed, NotFound
from sandbox.pulp.behaviour import Behaviour
from sandbox.pulp.control import PATH, Control
from sandbox.pulp.delivery import PREFIX as CONTENT
from sandbox.pulp.delivery import Delivery
from sandbox.pulp.fields import Broken, Invalid
from sandbox.pulp.jobs import Jobs
from sandbox.pulp.machine import Machine
from sandbox.pulp.names import PREFIX, clock
from sandbox.pulp.status import SERVER, status
from sandbox.pulp.store import KINDS, Store, units_path
from sandbox.pulp.views import Views
from sandbox.pulp.workers import Tasks

_WRITES = ("POST", "PATCH", "PUT")


class Site:
    """A Pulp and the ways to it."""

    def __init__(self, behaviour: Behaviour, base_url: str) -> None:
        now = clock(lambda: self.control.behaviour.clock_offset_seconds)
        self._base_url = base_url
        self._store = Store(now)
        self.tasks = Tasks(lambda: self.control.behaviour, now)
        self._access = Access(lambda: self.control.behaviour, now)
        self.control = Control(behaviour, self._store, self.tasks, self._access)
        self._machine = Machine(lambda: self.control.behaviour)
        jobs = Jobs(
            self._store, self.tasks, lambda: self.control.behaviour, base_url, self._machine
        )
        self.delivery = Delivery(self._store, lambda: self.control.behaviour, self._machine)
        self._views = Views(self._store, self.tasks, jobs)
        self.tasks.match_workers()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        answer = await self._answered(request)
        if answer.prepared:  # it was sent
            return answer
        answer.headers["Server"] = SERVER
        answer.headers["Date"] = format_datetime(self._store.now(), usegmt=True)
        return answer

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        body, problem = await _body(request)
        if request.path.startswith(PATH):
            return problem or self.control.answer(request, body)
        behaviour = self.control.behaviour
        if request.path == METRICS and behaviour.cpus:  # as node_exporter would: it is no load
            text = exposition(self._machine.reading(self._store.now().timestamp()))
            return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})
        if behaviour.answer_seconds:
            await asyncio.sleep(behaviour.answer_seconds)
        parts = request.path.removeprefix(PREFIX).strip("/").split("/")
        self.control.counts[f"{request.method} {parts[0]}"] += 1
        if behaviour.unavailable:
            return answers.page(503, "503 Service Temporarily Unavailable")
        if not behaviour.database:
            return answers.server_error()
        if request.path.startswith(CONTENT):
            date = format_datetime(self._store.now(), usegmt=True)
            return await self.delivery.answer(request, {"Server": SERVER, "Date": date})
        if not request.path.startswith(PREFIX):
            return answers.no_route()
        if not request.path.endswith("/"):
            return web.Response(status=301, headers={"Location": f"{request.path}/"})
        try:
            if behaviour.commit_seconds and request.method == "POST" and parts != ["login"]:
                await self.control.commits.wait(behaviour.commit_seconds)
            return self._routed(request, body, problem, parts)
        except RolledBack:
            return answers.page(503, "503 Service Temporarily Unavailable")
        except NoRoute:
            return answers.no_route()
        except NotFound as missing:
            return answers.document({"detail": str(missing)}, 404)
        except Broken:
            return answers.server_error()
        except NotAllowed:
            detail = f'Method "{request.method}" not allowed.'
            return answers.document({"detail": detail}, 405)
        except Invalid as wrong:
            return answers.document(wrong.problems, 400)
        except Refused as refusal:
            realm = {"WWW-Authenticate": 'Basic realm="api"'} if refusal.status == 401 else {}
            return answers.document({"detail": refusal.detail}, refusal.status, **realm)

    def _routed(
        self, request: web.BaseRequest, body: object, problem: web.Response | None,
        parts: list[str],
    ) -> web.Response:  # fmt: skip
        views = self._views
        if parts == ["status"]:
            if request.method != "GET":
                raise NotAllowed
            behaviour = self.control.behaviour
            return answers.document(status(behaviour, self._store, self.tasks, self._base_url))
        self._check_route(parts)
        if parts == ["login"]:
            return self._login(request)
        self._access.check(request)
        if problem is not None:
            return problem
        match parts:
            case ["tasks"]:
                return views.task_list(request)
            case ["tasks", "purge"]:
                return views.purge(request, body)
            case ["tasks", pk]:
                return views.task(request, body, pk)
            case ["workers"]:
                return views.workers(request)
            case ["orphans", "cleanup"]:
                return views.clean_up(request, body)
            case ["repositories", "reclaim_space"]:
                return views.reclaim(request, body)
            case ["artifacts"]:
                return views.artifacts(request)
            case ["content"]:
                return views.units(request, None)
            case ["content", name, _]:
                return views.units(request, self._plugin_of_units(name, parts[2]))
            case [kind]:
                return views.resources(request, body, kind, None)
            case [kind, name, model]:
                return views.resources(request, body, kind, f"{name}/{model}")
            case [kind, name, model, pk]:
                return views.resource(request, body, kind, f"{name}/{model}", pk)
            case [_, name, model, pk, "sync"]:
                return views.sync(request, body, f"{name}/{model}", pk)
            case [_, name, model, pk, "versions"]:
                return views.versions(request, f"{name}/{model}", pk, None)
            case [_, name, model, pk, "versions", number]:
                return views.versions(request, f"{name}/{model}", pk, number)
        raise NoRoute

    def _check_route(self, parts: list[str]) -> None:
        """Raise NoRoute where nothing is, before anybody's password is looked at, as Pulp does."""
        match parts:
            case ["login" | "tasks" | "workers" | "artifacts" | "content"]:
                return
            case ["tasks", _] | ["orphans", "cleanup"] | ["repositories", "reclaim_space"]:
                return
            case ["content", name, _]:
                self._plugin_of_units(name, parts[2])
                return
            case [kind] if kind in KINDS:
                return
            case [kind, name, model, *more] if kind in KINDS:
                self._views.has_plugin(f"{name}/{model}")
                if len(more) < 2 or (kind == "repositories" and more[1] in ("sync", "versions")):
                    return
        raise NoRoute

    def _plugin_of_units(self, name: str, units: str) -> str:
        for plugin in self.control.behaviour.plugins:
            if units_path(plugin) == f"{name}/{units}/":
                return plugin
        raise NoRoute

    def _login(self, request: web.BaseRequest) -> web.Response:
        self._access.check(request)
        user = self.control.behaviour.user
        who = {"pulp_href": f"{PREFIX}users/1/", "prn": "prn:auth.user:1", "username": user}
        if request.method == "GET":
            return answers.document(who)
        if request.method == "POST":
            answer = answers.document(who, 201, Location=f"{PREFIX}users/1/")
            self._access.log_in(answer)
            return answer
        if request.method == "DELETE":
            answer = web.Response(status=204)
            self._access.log_out(request, answer)
            return answer
        raise NotAllowed


async def _body(request: web.BaseRequest) -> tuple[object, web.Response | None]:
    """Give the decoded body, and the answer to one that cannot be decoded."""
    raw = await request.read()
    if request.method not in _WRITES or not raw:
        return {}, None
    if request.content_type != "application/json":
        detail = f'Unsupported media type "{request.content_type}" in request.'
        return {}, answers.document({"detail": detail}, 415)
    try:
        return json.loads(raw), None
    except ValueError as error:
        return {}, answers.document({"detail": f"JSON parse error - {error}"}, 400)
