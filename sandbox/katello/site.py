"""From a request to its answer: who asks, which route, and what the server says where something is wrong."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from sandbox.katello import inventory
from sandbox.katello.access import SESSION, Access
from sandbox.katello.answers import Problem, bad_search, denied, document, not_found, page
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.control import PATH, Control
from sandbox.katello.syncs import Syncs
from sandbox.katello.tasks import PROXY_SYNC, Task, Tasks

SERVER = "perfdash-stand-in-katello"
_TERM = re.compile(r'\s*(\w+)\s*(!?=)\s*"?([\w:-]+)"?\s*\Z')
_SEARCHED = ("state", "result", "label", "resource_type", "resource_id", "parent_task_id")


class Site:
    """A Katello and the ways to it."""

    def __init__(self, behaviour: KatelloBehaviour) -> None:
        def behaves() -> KatelloBehaviour:
            return self.control.behaviour

        def now() -> datetime:
            return datetime.now(UTC) + timedelta(seconds=behaves().clock_offset_seconds)

        self._now: Callable[[], datetime] = now
        self._access = Access(behaves, now)
        self._tasks = Tasks(now)
        self._syncs = Syncs(behaves, now, self._tasks)
        self.control = Control(behaviour, self._syncs, self._access, Counter())

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        answer = await self._answered(request)
        answer.headers["Server"] = SERVER
        answer.headers["Date"] = format_datetime(self._now(), usegmt=True)
        return answer

    async def _answered(self, request: web.BaseRequest) -> web.Response:
        raw = await request.read()
        try:
            body = json.loads(raw) if raw else {}
        except ValueError as error:
            said = {
                "status": 400,
                "error": f"There was a problem in the JSON you submitted: {error}",
            }
            return document(said, 400)
        if request.path.startswith(PATH):
            return self.control.answer(request, body)
        behaviour = self.control.behaviour
        if behaviour.answer_seconds:
            await asyncio.sleep(behaviour.answer_seconds)
        self.control.counts[f"{request.method} {request.path.strip('/').split('/')[0]}"] += 1
        if behaviour.unavailable:
            return page(503, "503 Service Unavailable")
        if behaviour.broken:
            return page(500, "Oops, we're sorry but something went wrong")
        try:
            return self._routed(request, body if isinstance(body, dict) else {})
        except Problem as problem:
            return problem.answer()

    def _routed(self, request: web.BaseRequest, body: dict[str, Any]) -> web.Response:
        if (request.method, request.path) == ("GET", "/katello/api/v2/status"):
            return document({"version": inventory.KATELLO, "timeUTC": self._now().isoformat()})
        session = self._access.check(request)
        if request.method == "GET":
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
                said = {
                    "result": "ok",
                    "status": 200,
                    "version": inventory.FOREMAN,
                    "api_version": 2,
                }
                return document(said)
            case ["katello", "api", "v2", "ping"]:
                return document(self._ping())
            case ["api", "v2", "smart_proxies"]:
                if not self.control.behaviour.may_list_proxies:
                    raise denied("view_smart_proxies")
                return _listed(request, map(inventory.proxy, inventory.PROXIES))
            case ["api", "v2", "smart_proxies", pk]:
                if not pk.isdigit() or int(pk) not in inventory.PROXIES:
                    raise not_found("smart_proxy", pk)
                return document(inventory.proxy(int(pk)))
            case ["katello", "api", "v2", "repositories", pk]:
                return document(self._syncs.repository(pk).document())
            case ["katello", "api", "v2", "capsules", pk, "content", "sync"]:
                return document(self._proxy_content(self._syncs.proxy(pk)))
            case ["foreman_tasks", "api", "tasks"]:
                found = self._tasks.found(_terms(request.query.get("search", "")))
                return _listed(request, (task.document(now) for task in found))
            case ["foreman_tasks", "api", "tasks", pk]:
                return document(self._task(pk).document(now))
            case ["foreman_tasks", "api", "tasks", pk, "details"]:
                return document(self._task(pk).details(now))
        raise not_found("route", request.path)

    def _done(self, request: web.BaseRequest, body: dict[str, Any]) -> web.Response:
        request_id = re.sub(r"[^\w\-@]", "", request.headers.get("X-Request-Id", ""))[:255]
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
            words = "Please provide at least one of search or task_ids parameters in the request"
            raise Problem(400, {"error": {"message": words}})
        tasks = [task for task in map(self._tasks.all.get, ids) if task]
        done = [task for task in tasks if do(task)]
        return document({"total": len(tasks), f"{what}_length": len(done)})

    def _task(self, pk: str) -> Task:
        if pk not in self._tasks.all:
            raise not_found("task", pk)
        return self._tasks.all[pk]

    def _ping(self) -> dict[str, Any]:
        failing = self.control.behaviour.failing_service
        services: dict[str, Any] = {
            name: {"status": "ok", "duration_ms": "5"} for name in inventory.SERVICES
        }
        if failing:
            services[failing] = {"status": "FAIL", "message": f"{failing} does not answer"}
        return {"status": "FAIL" if failing else "ok", "services": services}

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
        terms[match[1]] = (match[2], match[3])
    return terms


def _listed(request: web.BaseRequest, things: Iterable[dict[str, Any]]) -> web.Response:
    """Give a page of a list, as Foreman does."""
    every = list(things)
    wanted = [
        request.query.get(name, default) for name, default in (("page", "1"), ("per_page", "20"))
    ]
    if not all(each.isdigit() and int(each) > 0 for each in wanted):
        raise Problem(400, {"error": {"message": "page and per_page are numbers from 1"}})
    number, size = map(int, wanted)
    return document(
        {
            "total": len(every),
            "subtotal": len(every),
            "page": number,
            "per_page": size,
            "search": request.query.get("search"),
            "sort": {"by": None, "order": None},
            "results": every[(number - 1) * size : number * size],
        }
    )
