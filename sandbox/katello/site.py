"""From a request to its answer: authentication, routing, and the server's errors."""

import asyncio
import json
import re
import ssl
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from typing import Any

from aiohttp import web

from sandbox.commits import RolledBack
from sandbox.exporter import CONTENT_TYPE, METRICS, exposition
from sandbox.katello import inventory
from sandbox.katello.access import SESSION, Access
from sandbox.katello.answers import Problem, bad_search, denied, document, not_found, page
from sandbox.katello.applicability import Applicability
from sandbox.katello.authority import Authority
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.candlepin import PREFIX as CANDLEPIN
from sandbox.katello.candlepin import Candlepin
from sandbox.katello.candlepin import said as refused_by_candlepin
from sandbox.katello.consumer_routes import ConsumerRoutes
from sandbox.katello.consumers import Consumers
from sandbox.katello.content_views import ContentViews
from sandbox.katello.control import PATH, Control
from sandbox.katello.delivery import PREFIX as CONTENT
from sandbox.katello.delivery import Delivery
from sandbox.katello.dynflow import Dynflow
from sandbox.katello.faults import spoiled
from sandbox.katello.foreman import Foreman
from sandbox.katello.global_registration import COMMANDS, GlobalRegistration
from sandbox.katello.jobs import Jobs
from sandbox.katello.lists import listed
from sandbox.katello.load import Busy, GivenUp, Load
from sandbox.katello.machine import Machine
from sandbox.katello.pull import Pull
from sandbox.katello.reclaiming import Reclaiming
from sandbox.katello.rhsm import PREFIX as RHSM
from sandbox.katello.rhsm import Rhsm
from sandbox.katello.rhsm import said as refused_by_katello
from sandbox.katello.ssh import PATH as PUBLIC_KEY
from sandbox.katello.ssh import Runner
from sandbox.katello.syncs import Syncs
from sandbox.katello.tasks import PROXY_SYNC, Task, Tasks
from sandbox.katello.tokens import Tokens

PROXY_METRICS = "/proxy/metrics"
"""Where a watch reads what the smart proxy does."""
STATISTICS = "/stats"
"""Where a watch reads Puma's statistics, as on its control server."""
KEEP_ALIVE_SECONDS = 50
SERVER = "perfdash-simulated-katello"
PROXY_NAME = "runner.example"
"""How the smart proxy that runs jobs is called in its certificate."""
_OBSERVED = (METRICS, PROXY_METRICS, STATISTICS)
_TERM = re.compile(r'\s*(\w+)\s*(!?=|>=)\s*(?:"([^"]*)"|([\w:-]+))\s*\Z')
_SEARCHED = (
    *("state", "result", "label", "resource_type", "resource_id", "parent_task_id"),
    "started_at",
)


class Site:
    """A Katello and the ways to it."""

    def __init__(self, behaviour: KatelloBehaviour, machine: Machine, authority: Authority) -> None:
        def behaves() -> KatelloBehaviour:
            return self.control.behaviour

        def now() -> datetime:
            return datetime.now(UTC) + timedelta(seconds=behaves().clock_offset_seconds)

        self._now: Callable[[], datetime] = now
        self._access = Access(behaves, now)
        self._tasks = Tasks(now)
        self._syncs = Syncs(behaves, now, self._tasks)
        consumers = Consumers(authority, now, inventory.ORGANIZATIONS, inventory.ACTIVATION_KEYS)
        self.tls_url = ""  # where hosts reach it, once that is known
        self.tls: ssl.SSLContext | None = None  # of that port
        katello = ConsumerRoutes(behaves, now, consumers, refused_by_katello, katello=True)
        alone = ConsumerRoutes(behaves, now, consumers, refused_by_candlepin, katello=False)
        self._rhsm = Rhsm(katello, self._access)
        self._candlepin = Candlepin(alone, self._access)
        self._foreman = Foreman(behaves, now, consumers, self._tasks)
        self._registration = GlobalRegistration(consumers, Tokens(now), lambda: self.tls_url)
        self._load = Load(machine, time.monotonic, lambda: behaves().ignored_setting)
        flow = Dynflow(now, lambda: self._load.machine)
        self._views = ContentViews(behaves, now, self._tasks, self._syncs, flow)
        self._pull = Pull(
            lambda: behaves().mqtt_broker,
            lambda: self.tls_url,
            lambda: self._load.machine,
            cache(lambda: authority.client_context(PROXY_NAME)),
        )
        self._runner = Runner()
        self._jobs = Jobs(
            *(behaves, now, lambda: self._load.machine, consumers, self._tasks),
            *(self._pull, self._runner),
        )
        self._delivery = Delivery(
            *(behaves, self._load, lambda: self._syncs.held),
            *(consumers.has, time.monotonic),
        )
        self._reclaiming = Reclaiming(behaves, now, self._syncs, self._delivery)
        self._applicability = Applicability(behaves, now, consumers, self._tasks, flow)
        self.control = Control(
            *(behaviour, self._syncs, self._access, Counter(), consumers, self._load),
            *(self._views, self._jobs, self._delivery),
            tls=lambda: self.tls,
        )
        self.control.provide()

    def close(self) -> None:
        """Abandon what is being made."""
        self._delivery.close()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        answer = await self._answered(request)
        if answer.prepared:  # a part of it was sent
            return answer
        if request.keep_alive:
            answer.headers["Connection"] = "Keep-Alive"
            answer.headers["Keep-Alive"] = f"timeout={KEEP_ALIVE_SECONDS}"
        answer.headers["Server"] = SERVER
        answer.headers["Date"] = format_datetime(self._now(), usegmt=True)
        return answer

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        if request.path.startswith(PATH):
            try:
                return self.control.answer(request, _decoded(raw))
            except Problem as problem:
                return problem.answer()
        if request.path in _OBSERVED and self._is_modelled:
            return self._observed(request)
        behaviour = self.control.behaviour
        if behaviour.answer_seconds:
            await asyncio.sleep(behaviour.answer_seconds)
        self.control.counts[f"{request.method} {request.path.strip('/').split('/')[0]}"] += 1
        if behaviour.unavailable:
            return page(503, "503 Service Unavailable")
        if behaviour.broken:
            return page(500, "Oops, we're sorry but something went wrong")
        if fault := self.control.faults.of(behaviour, request.method, request.path):
            return await spoiled(request, fault)
        if request.path.startswith(CONTENT):
            return await self._delivered(request)
        if pulled := self._pull.answer(request, _identity(request), raw):
            return pulled  # the smart proxy's, and no request of the model
        if request.path == PUBLIC_KEY:
            return web.Response(text=self._runner.public_key)
        try:
            await self._load.go_through(request.method, request.path)
            if behaviour.commit_seconds and request.method == "POST":
                await self.control.commits.wait(behaviour.commit_seconds)
            return self._routed(request, raw)
        except (Busy, RolledBack):
            return page(503, "503 Service Unavailable")
        except GivenUp:
            return page(504, "504 Gateway Timeout")
        except Problem as problem:
            return problem.answer()

    async def _delivered(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as Pulp's content app."""
        headers = {"Server": SERVER, "Date": format_datetime(self._now(), usegmt=True)}
        try:
            return await self._delivery.answer(request, _identity(request), headers)
        except Busy:
            return page(503, "503 Service Unavailable")

    @property
    def _is_modelled(self) -> bool:
        machine = self._load.machine
        return bool(machine.time_scale or machine.content_scale)

    def _observed(self, request: web.BaseRequest) -> web.Response:
        """Answer as node_exporter and Puma's control server beside it would: nobody logs in, and it is no load."""
        if request.method != "GET":
            return document({"message": "There is only GET."}, 405)
        if request.path in (METRICS, PROXY_METRICS):
            of_proxy = request.path == PROXY_METRICS
            read = self._load.reading_of_proxy if of_proxy else self._load.reading
            reading = read(self._now().timestamp())
            if reading is None:
                return document({"message": "There is no smart proxy that serves content."}, 404)
            text = exposition(reading)
            return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})
        statistics = self._load.control_statistics()
        if statistics is None:
            return document({"message": "Puma restarts."}, 503)
        return document(statistics)

    def _routed(self, request: web.BaseRequest, raw: bytes) -> web.Response:
        """Find the part of the server that the request is for. Raise Problem."""
        answer = self._registration.answer(request, raw)
        if answer is not None:
            return answer
        body = _decoded(raw)
        for prefix, part in ((RHSM, self._rhsm), (CANDLEPIN, self._candlepin)):
            if request.path.startswith(prefix) and request.path[len(prefix) :][:1] in ("", "/"):
                return part.answer(request, _identity(request), body)
        return self._for_users(request, body if isinstance(body, dict) else {})

    def _for_users(self, request: web.BaseRequest, body: dict[str, Any]) -> web.Response:
        output = self._foreman.open(request.path) if request.method == "GET" else None
        if output is not None:
            return output
        session = self._access.check(request)
        self._jobs.note(request)
        if request.method == "POST" and request.path in COMMANDS:
            answer = self._registration.command(request, body)
        elif (
            (output := self._foreman.answer(request, body)) is not None
            or (output := self._applicability.answer(request)) is not None
            or (output := self._views.answer(request, body, _request_id(request))) is not None
            or (output := self._jobs.answer(request, body, _request_id(request))) is not None
            or (output := self._reclaiming.answer(request, _request_id(request))) is not None
        ):
            answer = output
        elif request.method == "GET":
            answer = self._read(request)
        elif request.method == "POST":
            answer = self._done(request, body)
        else:
            raise not_found("route", request.path)
        if session:
            answer.set_cookie(SESSION, session, httponly=True, samesite="Lax")
        return answer

    def _read(self, request: web.BaseRequest) -> web.Response:
        now = self._now()
        match request.path.strip("/").split("/"):
            case ["api", "v2", "status"]:
                messages = {
                    "result": "ok",
                    "status": 200,
                    "version": inventory.FOREMAN,
                    "api_version": 2,
                }
                return document(messages)
            case ["katello", "api", "v2", "ping"]:
                return document(self._foreman.ping())
            case ["api", "v2", "smart_proxies"]:
                if not self.control.behaviour.may_list_proxies:
                    raise denied("view_smart_proxies")
                return listed(request, map(inventory.proxy, inventory.PROXIES))
            case ["api", "v2", "smart_proxies", pk]:
                if not pk.isdigit() or int(pk) not in inventory.PROXIES:
                    raise not_found("smart_proxy", pk)
                return document(inventory.proxy(int(pk)))
            case ["katello", "api", "v2", "repositories", pk]:
                repository = self._syncs.repository(pk)
                place = f"{self.tls_url}{self._delivery.address(repository)}"
                return document(repository.document() | {"full_path": place})
            case ["katello", "api", "v2", "capsules", pk, "content", "sync"]:
                return document(self._proxy_content(self._syncs.proxy(pk)))
            case ["foreman_tasks", "api", "tasks"]:
                result = self._tasks.found(_terms(request.query.get("search", "")))
                if request.query.get("order") == "started_at ASC":
                    result.sort(key=lambda task: task.created)
                return listed(request, (task.document(now) for task in result))
            case ["foreman_tasks", "api", "tasks", pk]:
                return document(self._task(pk).document(now))
            case ["foreman_tasks", "api", "tasks", pk, "details"]:
                return document(self._task(pk).details(now))
        raise not_found("route", request.path)

    def _done(self, request: web.BaseRequest, body: dict[str, Any]) -> web.Response:
        request_id = _request_id(request)
        user = self.control.behaviour.user
        match request.path.strip("/").split("/"):
            case ["katello", "api", "v2", "repositories", pk, "sync"]:
                task = self._syncs.of_repository(pk, body, request_id, user)
                return document(task.document(self._now()), 202)
            case ["katello", "api", "v2", "capsules", pk, "content", "sync"]:
                task = self._syncs.of_proxy(pk, body, request_id, user)
                return document(task.document(self._now()), 202)
            case ["foreman_tasks", "api", "tasks", "bulk_cancel"]:
                return self._bulk(body, "cancelled", self._tasks.cancel)
            case ["foreman_tasks", "api", "tasks", "bulk_stop"] if self.control.behaviour.can_stop:
                return self._bulk(body, "stopped", _stop)
        raise not_found("route", request.path)

    def _bulk(self, body: dict[str, Any], what: str, do: Callable[[Task], bool]) -> web.Response:
        ids = body.get("task_ids")
        if not isinstance(ids, list):
            text = "Please provide at least one of search or task_ids parameters in the request"
            raise Problem(400, {"error": {"message": text}})
        tasks = [task for task in map(self._tasks.all.get, ids) if task]
        done = [task for task in tasks if do(task)]
        return document({"total": len(tasks), f"{what}_length": len(done)})

    def _task(self, pk: str) -> Task:
        if pk not in self._tasks.all:
            raise not_found("task", pk)
        return self._tasks.all[pk]

    def _proxy_content(self, pk: int) -> dict[str, Any]:
        now = self._now()
        of_it = {
            "label": ("=", PROXY_SYNC),
            "resource_id": ("=", str(pk)),
            "result": ("=", "pending"),
        }
        active = [task.document(now) for task in self._tasks.found(of_it)]
        return {
            "active_sync_tasks": active,
            "last_failed_sync_tasks": [],
            "content_counts": inventory.counted(self._syncs.held),
        }


def _decoded(raw: bytes) -> Any:
    """Read JSON; nothing is an empty object. Raise Problem."""
    try:
        return json.loads(raw) if raw else {}
    except ValueError as error:
        text = f"There was a problem in the JSON you submitted: {error}"
        raise Problem(400, {"status": 400, "error": text}) from None


def _identity(request: web.BaseRequest) -> str:
    """Give the CN of the certificate that the client showed; empty without one."""
    shown = request.get_extra_info("peercert") or {}
    names = dict(pair for group in shown.get("subject", ()) for pair in group)
    return str(names.get("commonName", ""))


def _request_id(request: web.BaseRequest) -> str:
    """Return the header X-Request-Id as Rails keeps it."""
    return re.sub(r"[^\w\-@]", "", request.headers.get("X-Request-Id", ""))[:255]


def _stop(task: Task) -> bool:
    task.stopped = True
    return True


def _terms(search: str) -> dict[str, tuple[str, str]]:
    """Read a search of terms with “and” between. Raise Problem."""
    terms: dict[str, tuple[str, str]] = {}
    for part in re.split(r"\s+and\s+", search) if search.strip() else ():
        match = _TERM.match(part)
        if match is None or match[1] not in _SEARCHED:
            raise bad_search(match[1] if match else part)
        terms[match[1]] = (match[2], match[3] if match[3] is not None else match[4])
    return terms
