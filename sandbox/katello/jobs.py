"""Jobs on hosts: templates, invocations and their tasks, as foreman_remote_execution has them; and collections of hosts.

Whoever asks for lists of hosts or of their tasks while a job runs loads what runs it, so such requests are counted.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web

from sandbox.katello import inventory
from sandbox.katello.answers import Problem, document, not_found
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.consumers import Consumers, Host
from sandbox.katello.lists import listed
from sandbox.katello.machine import Machine
from sandbox.katello.pull import Part, Pull
from sandbox.katello.remote_execution import (
    ANSIBLE,
    SCRIPT,
    Backend,
    Span,
    course,
    handed_over,
)
from sandbox.katello.searching import fits
from sandbox.katello.ssh import BY_IP, PORT, Errand, NotDone, Runner
from sandbox.katello.tasks import JOB, JOB_OF_HOST, NEVER, Task, Tasks

PROXY = 3
DAY = 86_400.0
CANCELLED = "cancelled"
BACKENDS: dict[str, Backend] = {"script": SCRIPT, "Ansible": ANSIBLE}
STATUSES = {"success": (0, "succeeded"), "error": (1, "failed"), "warning": (1, "failed"),
            "pending": (3, "running"), "cancelled": (4, "cancelled")}  # fmt: skip
OUTPUT = "Mon Nov 30 12:00:00 UTC 2026"
FAILURES = {
    "script": ("Job execution failed", f"{OUTPUT}\nExit status: 1"),
    "connect": (
        "Job execution failed",
        "Error initializing command: RuntimeError - Could not establish connection to remote host using any available "
        "authentication method, tried publickey\nExit status: EXCEPTION",
    ),
    "pickup": ("Job execution failed", "The job was not picked up in time\nExit status: EXCEPTION"),
    "timeout": ("Job execution failed", "Execution timeout exceeded\nExit status: EXCEPTION"),
    "proxy": ("Proxy error: 503 Service Unavailable", ""),
    "planning": ("Could not use any proxy for the Script job. Consider configuring remote_execution_global_proxy", ""),
}  # fmt: skip
_NAMED = re.compile(r'\s*(name|label)\s*=\s*"?([^"]*?)"?\s*\Z')
_RESULT = re.compile(r"\s*job_invocation\.result\s*=\s*(\w+)\s*\Z")
_RESULTS = {"success": "success", "failed": "error", "cancelled": "cancelled", "pending": "pending"}


@dataclass(slots=True, eq=False)
class Job:
    """An invocation. hosts and spans are in the same order."""

    pk: int
    template: Mapping[str, Any]
    inputs: Mapping[str, str]
    description: str
    search: str
    began: datetime
    hosts: Sequence[Host]
    spans: Sequence[Span]
    limits: Mapping[str, Any]
    cancelled: datetime | None = None
    cancel_seconds: float = 0.0
    look_seconds: float = 0.0
    ignores: int = 0  # cancellations that do nothing, unless they are forced
    parts: dict[int, Part] = field(
        default_factory=dict
    )  # of hosts that fetch them, by number; not yet done
    errands: dict[int, asyncio.Task[None]] = field(
        default_factory=dict
    )  # on hosts to which the proxy logs in, by number; not yet done
    ends: float | None = field(init=False)
    """When the last of its hosts ends, in seconds since the start; None: never."""

    def __post_init__(self) -> None:
        self.look()

    def since(self, now: datetime) -> float:
        """Return the seconds since it began."""
        return (now - self.began).total_seconds()

    def ended(self, number: int) -> float | None:
        """Return when a host's part ended, in seconds since the start; None where it never does."""
        own, end = self.spans[number].ended, self._end_by_cancel
        if end is None or (own is not None and own <= end):
            return own
        return end

    def result(self, number: int, now: datetime) -> str:
        """Return what became of a host."""
        ended = self.ended(number)
        if ended is None or ended > self.since(now):
            return "pending"
        if self.spans[number].ended != ended:
            return "cancelled"
        failure = self.spans[number].failure
        return "cancelled" if failure == CANCELLED else "error" if failure else "success"

    def look(self) -> None:
        """See again when the last of its hosts ends."""
        if self.parts or self.errands:
            self.ends = None
            return
        ends = [self.ended(number) for number in range(len(self.spans))]
        known = [end for end in ends if end is not None]
        self.ends = max(known, default=0.0) if len(known) == len(ends) else None

    @property
    def _end_by_cancel(self) -> float | None:
        return None if self.cancelled is None else self.since(self.cancelled) + self.cancel_seconds

    def counts(self, now: datetime) -> Counter[str]:
        """Return how many hosts have each result."""
        return Counter(self.result(number, now) for number in range(len(self.spans)))

    def looked_at(self, now: datetime) -> datetime:
        """Return when Foreman looked at the hosts last."""
        if not self.look_seconds:
            return now
        return self.began + timedelta(
            seconds=self.look_seconds * int(self.since(now) / self.look_seconds)
        )

    def was_never_planned(self, number: int) -> bool:
        """Whether the job was cancelled before Foreman came to a host."""
        return self.cancelled is not None and self.spans[number].planned > self.since(
            self.cancelled
        )

    def planned(self, now: datetime) -> int:
        """Return how many hosts have a task."""
        gone = self.since(now)
        return sum(span.planned <= gone for span in self.spans)

    def cancel(self, now: datetime, *, force: bool = False) -> None:
        """End what runs; some cancellations are lost on the way to the proxy."""
        if self.ignores and not force:
            self.ignores -= 1
        elif self.cancelled is None:
            self.cancelled = now
            self.parts.clear()
            self.give_up_errands()
        self.look()

    def give_up_errands(self) -> None:
        """End what the proxy does on hosts."""
        for errand in self.errands.values():
            errand.cancel()
        self.errands.clear()


@dataclass(slots=True, eq=False)
class JobTask(Task):
    """The task of a job, parent of those of its hosts."""

    job: Job | None = None

    @property
    def ends(self) -> datetime:
        """When its last host has ended."""
        end = self.job.ends if self.job else 0.0
        if end is None or self.job is None:
            return NEVER
        if step := self.job.look_seconds:
            end = step * -(-end // step)
        return self.created + timedelta(seconds=end)

    def result(self, now: datetime) -> str:
        """Tell what became of it: one host that failed is a warning."""
        counts = self.job.counts(now) if self.job else Counter[str]()
        if now < self.ends:
            return "pending"
        if self.job and self.job.cancelled:
            return "cancelled"
        return "warning" if counts["error"] or counts["cancelled"] else "success"

    def end_early(self, now: datetime) -> None:
        """Be cancelled."""
        if self.job:
            self.job.cancel(now)

    def document(self, now: datetime) -> dict[str, Any]:
        """Tell of it, with the counts of its hosts."""
        told = Task.document(self, now)
        if self.job is None or now < self.begins:
            return told
        # Dynflow counts a host whose part was cancelled as failed, and as cancelled one that it had not planned.
        counts, planned = self.job.counts(self.job.looked_at(now)), self.job.planned(now)
        unplanned = sum(map(self.job.was_never_planned, range(len(self.job.spans))))
        told["output"] = {
            "host_count": len(self.job.hosts),
            "total_count": len(self.job.hosts),
            "planned_count": planned,
            "success_count": counts["success"],
            "failed_count": counts["error"] + counts["cancelled"] - unplanned,
            "cancelled_count": unplanned,
            "pending_count": counts["pending"],
        }
        return told

    def _share(self, now: datetime) -> float:
        counts = self.job.counts(now) if self.job else Counter[str]()
        return 1 - counts["pending"] / max(1, counts.total())

    def _input(self) -> dict[str, Any]:
        request = {"current_request_id": self.request_id} if self.behaviour.request_ids else {}
        job = self.job
        if job is None:
            return request
        return {
            "job_invocation": {"id": job.pk, "name": "Commands", "description": job.description},
            **request,
        }

    def _errors(self, now: datetime) -> list[str]:
        return ["A sub task failed"] if self.result(now) == "warning" else []


@dataclass(slots=True, eq=False)
class HostTask(Task):
    """The task of one host of a job."""

    job: Job | None = None
    number: int = 0

    @property
    def ends(self) -> datetime:
        """When its host has ended."""
        end = self.job.ended(self.number) if self.job else 0.0
        return NEVER if end is None or self.job is None else self.job.began + timedelta(seconds=end)

    def result(self, now: datetime) -> str:
        """Tell what became of the host."""
        return self.job.result(self.number, now) if self.job else "success"

    def is_there(self, now: datetime) -> bool:
        """Whether Foreman has planned it."""
        return self.created <= now and not (self.job and self.job.was_never_planned(self.number))

    def end_early(self, now: datetime) -> None:
        """Be cancelled alone."""
        if self.job:
            span = self.job.spans[self.number]
            span.ended, span.failure = self.job.since(now), CANCELLED
            self.job.look()

    def document(self, now: datetime) -> dict[str, Any]:
        """Tell of it, with its output once it has ended."""
        told = Task.document(self, now)
        told["humanized"] |= {
            "output": self._output(now),
            "input": f"{self.job.description if self.job else ''} on {self.name}",
        }
        return told

    def _input(self) -> dict[str, Any]:
        request = {"current_request_id": self.request_id} if self.behaviour.request_ids else {}
        if self.job is None:
            return request
        host = self.job.hosts[self.number]
        return {
            "host": {"id": host.pk, "name": host.name},
            "job_invocation_id": self.job.pk,
            **request,
        }

    @property
    def _failure(self) -> str:
        failure = self.job.spans[self.number].failure if self.job else ""
        return failure if failure in FAILURES else self.behaviour.job_failure

    def _output(self, now: datetime) -> str:
        match self.result(now):
            case "success":
                return f"{OUTPUT}\nExit status: 0"
            case "error":
                return FAILURES[self._failure][1]
        return ""

    def _errors(self, now: datetime) -> list[str]:
        match self.result(now):
            case "error":
                return [FAILURES[self._failure][0]]
            case "cancelled":
                return ["Task cancelled"]
        return []


@dataclass(slots=True, eq=False)
class Jobs:
    """All jobs, and what is asked while one runs. tasks: where theirs are, too."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    machine: Callable[[], Machine]
    consumers: Consumers
    tasks: Tasks
    pull: Pull
    runner: Runner
    held: dict[int, Job] = field(default_factory=dict)
    collections: dict[int, str] = field(default_factory=dict)
    requests: int = 0
    listings: int = 0
    _next: int = 1

    def renew(self) -> None:
        """Forget all of them."""
        for job in self.held.values():
            job.give_up_errands()
        self.held.clear()
        self.collections.clear()
        self.requests = self.listings = 0
        self.pull.renew()
        self.runner.renew()

    def told(self) -> dict[str, int]:
        """Tell how many there are, and what was asked while one ran."""
        running = sum(self._runs(job) for job in self.held.values())
        counts = {"requests_while_running": self.requests, "listings_while_running": self.listings}
        return {
            "all": len(self.held),
            "running": running,
            "host_collections": len(self.collections),
            **counts,
        }

    def note(self, request: web.BaseRequest) -> None:
        """Count a request that comes while a job runs."""
        if not any(self._runs(job) for job in self.held.values()):
            return
        path, query = request.path.strip("/"), request.query
        self.requests += 1
        lists_hosts = re.fullmatch(r"api/v2/hosts|api/v2/job_invocations/\d+/(hosts|outputs)", path)
        shows_hosts = (
            re.fullmatch(r"api/v2/job_invocations/\d+", path)
            and query.get("include_hosts") != "false"
        )
        lists_tasks = path == "foreman_tasks/api/tasks" and "parent_task_id" in query.get(
            "search", ""
        )
        self.listings += request.method == "GET" and bool(lists_hosts or shows_hosts or lists_tasks)

    def answer(
        self, request: web.BaseRequest, body: dict[str, Any], request_id: str
    ) -> web.Response | None:
        """Answer a request; None where it is for another part. Raise Problem."""
        match request.method, request.path.strip("/").split("/"):
            case "GET", ["api", "v2", "job_templates"]:
                return listed(request, _named(request, inventory.JOB_TEMPLATES, "name"), _short)
            case "GET", ["api", "v2", "job_templates", pk]:
                return document(self._template(pk))
            case "GET", ["api", "v2", "templates", _, "foreign_input_sets"]:
                sets = [{"id": 1, "include_all": True}] if self.behaviour().foreign_inputs else []
                return listed(request, sets)
            case "GET", ["api", "v2", "remote_execution_features"]:
                return listed(request, _named(request, inventory.FEATURES, "label"))
            case "GET", ["api", "v2", "job_invocations"]:
                return listed(
                    request,
                    [self._document(job, whole=False) for job in reversed(self.held.values())],
                )
            case "POST", ["api", "v2", "job_invocations"]:
                self._require("create_job_invocations")
                return document(
                    self._document(self._start(body, request_id), whole=_whole(request)), 201
                )
            case "GET", ["api", "v2", "job_invocations", pk]:
                return document(self._document(self._job(pk), whole=_whole(request)))
            case "GET", ["api", "v2", "job_invocations", pk, "hosts"]:
                return self._hosts(request, self._job(pk))
            case "POST", ["api", "v2", "job_invocations", pk, "cancel"]:
                return self._cancel(self._job(pk), body)
            case "POST", ["katello", "api", "v2", "host_collections"]:
                return self._collect(body)
            case "GET", ["katello", "api", "v2", "host_collections"]:
                return listed(
                    request, [{"id": pk, "name": name} for pk, name in self.collections.items()]
                )
            case "DELETE", ["katello", "api", "v2", "host_collections", pk]:
                return self._scatter(pk)
        return None

    def _require(self, permission: str) -> None:
        if not self.behaviour().may_run_jobs:
            details = f"Missing one of the required permissions: {permission}"
            error = {
                "message": "Access denied",
                "details": details,
                "missing_permissions": [permission],
            }
            raise Problem(403, {"error": error})

    def _runs(self, job: Job) -> bool:
        return job.ends is None or job.ends > job.since(self.now())

    def _template(self, pk: str) -> Mapping[str, Any]:
        found = next((each for each in inventory.JOB_TEMPLATES if str(each["id"]) == pk), None)
        if found is None:
            raise not_found("job_template", pk)
        return found

    def _job(self, pk: str) -> Job:
        job = self.held.get(int(pk)) if pk.isdecimal() else None
        if job is None:
            raise not_found("job_invocation", pk)
        return job

    def _start(self, body: Mapping[str, Any], request_id: str) -> Job:
        asked = body.get("job_invocation")
        asked = asked if isinstance(asked, dict) else {}
        template, inputs = self._asked_template(asked), asked.get("inputs") or {}
        known = {each["name"]: each for each in template["template_inputs"]}
        unknown = [name for name in inputs if name not in known]
        if unknown and not self.behaviour().foreign_inputs:
            raise _invalid(f"Unknown input {unknown[0]} for template {template['name']}")
        if missing := [
            name for name, each in known.items() if each["required"] and not inputs.get(name)
        ]:
            raise _invalid(f"Validation failed: Input {missing[0]} can't be blank")
        level = (asked.get("concurrency_control") or {}).get("concurrency_level")
        if level is not None and int(level) < 1:
            raise _invalid("Validation failed: Concurrency level must be greater than 0")
        search = str(asked.get("search_query") or "")
        if not search.strip():
            raise _invalid(
                "Validation failed: Search query Must select a bookmark or enter a search query"
            )
        fit, behaviour, now = fits(search), self.behaviour(), self.now()
        hosts = sorted(filter(fit, self.consumers.listed()), key=lambda host: host.name)
        backend = BACKENDS[template["provider_type"]]
        machine = self.machine()
        spans = course(
            machine,
            backend,
            len(hosts),
            level,
            behaviour.job_plan_seconds,
            machine.seed + self._next,
        )
        name = str(asked.get("description_format") or template["name"])
        job = Job(
            self._next, template, inputs, name.replace("%{template_name}", template["name"]), search, now,
            hosts, spans, _limits(asked), cancel_seconds=behaviour.cancel_seconds, look_seconds=behaviour.job_look_seconds, ignores=behaviour.lost_cancels,
        )  # fmt: skip
        self._next += 1
        self.held[job.pk] = job
        self._add_tasks(job, behaviour, request_id)
        if behaviour.mqtt_broker and backend is SCRIPT:
            self._tell_hosts(job, batched=level is None)
        elif backend is SCRIPT:
            self._log_in(job, min(machine.rex_slots, level or len(hosts)), batched=level is None)
        return job

    def _log_in(self, job: Job, slots: int, *, batched: bool) -> None:
        """Let the proxy log in to the hosts that say where they are, some at a time."""
        free, loop = asyncio.Semaphore(max(1, slots)), asyncio.get_running_loop()
        for number, (host, span) in enumerate(zip(job.hosts, job.spans, strict=True)):
            if host.value(PORT) and host.value(BY_IP) and (host.ip or host.ip6):
                span.ended, span.failure = None, ""
                seconds = handed_over(job.spans, number, batched=batched)
                job.errands[number] = loop.create_task(self._on_host(job, number, seconds, free))
        job.look()

    async def _on_host(
        self, job: Job, number: int, seconds: float, free: asyncio.Semaphore
    ) -> None:
        await asyncio.sleep(seconds)
        host, span, failure = job.hosts[number], job.spans[number], ""
        script = "".join(f"{value}\n" for value in job.inputs.values())
        limit = job.limits["execution_timeout_interval"]
        errand = Errand(
            f"{job.pk}-{number}", host.ip or host.ip6, int(host.value(PORT)),
            f"#!/bin/sh\n{script}", float(limit) if limit else None,
        )  # fmt: skip

        def began() -> None:
            span.begun = job.since(self.now())

        try:
            async with free:
                failure = "script" if await self.runner.run(errand, began) else ""
        except NotDone as problem:
            failure = problem.failure
        span.ended, span.failure = job.since(self.now()), failure
        if job.errands.pop(number, None):
            job.look()

    def _tell_hosts(self, job: Job, *, batched: bool) -> None:
        """Let the hosts that are registered fetch their parts, each once the proxy knows of it."""
        loop = asyncio.get_running_loop()
        pickup = float(job.limits["time_to_pickup"] or DAY)
        for number, (host, span) in enumerate(zip(job.hosts, job.spans, strict=True)):
            if host.consumer:
                span.ended, span.failure = None, ""
                part = job.parts[number] = self._part(job, number)
                seconds = handed_over(job.spans, number, batched=batched)
                loop.call_later(seconds, self._hand_over, job, number, part)
                loop.call_later(seconds + pickup, self.pull.give_up, part)
        job.look()

    def _part(self, job: Job, number: int) -> Part:
        script = "".join(f"{value}\n" for value in job.inputs.values())

        def began() -> None:
            job.spans[number].begun = job.since(self.now())

        def done(code: int | None, failure: str) -> None:
            if job.parts.pop(number, None):
                span = job.spans[number]
                span.ended, span.failure = (
                    job.since(self.now()),
                    failure or ("script" if code else ""),
                )
                if not job.parts:
                    job.look()

        return Part(job.hosts[number].consumer, f"#!/bin/sh\n{script}", done, began)

    def _hand_over(self, job: Job, number: int, part: Part) -> None:
        if job.parts.get(number) is part:
            self.pull.add(part)

    def _asked_template(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        template, feature = asked.get("job_template_id"), asked.get("feature")
        if template and feature:
            raise Problem(
                500,
                {"error": {"message": "Only one of feature or job_template_id can be specified"}},
            )
        if feature:
            found = next((each for each in inventory.FEATURES if each["label"] == feature), None)
            if found is None:
                raise Problem(404, {"error": {"message": f"Couldn't find feature {feature}"}})
            template = found["job_template_id"]
        known = [each for each in inventory.JOB_TEMPLATES if str(each["id"]) == str(template)]
        if not known:
            raise Problem(
                404, {"error": {"message": f"Template with id '{template}' was not found"}}
            )
        return known[0]

    def _add_tasks(self, job: Job, behaviour: KatelloBehaviour, request_id: str) -> None:
        parent = self.tasks.add(JobTask(
            JOB, ("JobInvocation", job.pk), job.description, behaviour.user, job.began, 0.0,
            skipped=False, forced=False, behaviour=behaviour, request_id=request_id, verb="Run hosts job:", job=job,
        ))  # fmt: skip
        self.tasks.of_job[job.pk] = parent
        for number, (host, span) in enumerate(zip(job.hosts, job.spans, strict=True)):
            self.tasks.add(HostTask(
                JOB_OF_HOST, ("Host::Managed", host.pk), host.name, behaviour.user,
                job.began + timedelta(seconds=span.planned), 0.0, skipped=False, forced=False, behaviour=behaviour,
                request_id=request_id, verb="Remote action:", job=job, number=number, parent=parent.pk,
            ))  # fmt: skip

    def _document(self, job: Job, *, whole: bool) -> dict[str, Any]:
        now = self.now()
        task = self.tasks.of_job[job.pk]
        counts, (status, label) = job.counts(now), STATUSES[task.result(now)]
        told = {
            "id": job.pk, "description": job.description, "job_category": "Commands", "status": status,
            "status_label": label, "start_at": str(job.began), **job.limits,
            "template_id": job.template["id"], "template_name": job.template["name"],
            "succeeded": counts["success"], "failed": counts["error"], "pending": counts["pending"],
            "cancelled": counts["cancelled"], "total": len(job.hosts), "total_hosts": len(job.hosts),
            "missing": sum(host.pk not in self.consumers.hosts for host in job.hosts),
            "dynflow_task": {"id": task.pk, "state": task.state(now)}, "mode": "immediate",
            "targeting": {"search_query": job.search, "targeting_type": "static_query"},
            "task": {"id": task.pk, "state": task.state(now), "cancellable": task.state(now) == "running"},
            "pattern_template_invocations": [{
                "template_id": job.template["id"], "template_name": job.template["name"], "host_id": None,
                "input_values": [{"template_input_name": name, "value": value} for name, value in job.inputs.items()],
            }],
        }  # fmt: skip
        if whole:
            told["targeting"]["hosts"] = [{"id": host.pk, "name": host.name} for host in job.hosts]
        return told

    def _hosts(self, request: web.BaseRequest, job: Job) -> web.Response:
        now, search = self.now(), request.query.get("search", "")
        match = _RESULT.match(search)
        if search.strip() and (match is None or match[1] not in _RESULTS):
            raise Problem(
                400, {"error": {"message": f"Field '{search[:40]}' not recognized for searching!"}}
            )
        numbers = [
            number for number in range(len(job.hosts))
            if match is None or job.result(number, now) == _RESULTS[match[1]]
        ]  # fmt: skip

        def tell(number: int) -> dict[str, Any]:
            host, result = job.hosts[number], job.result(number, now)
            proxied = result != "error" or self.behaviour().job_failure != "planning"
            return {
                "id": host.pk, "name": host.name, "job_status": STATUSES[result][1],
                "smart_proxy_id": PROXY if proxied else None,
                "smart_proxy_name": inventory.PROXIES[PROXY][0] if proxied else None,
            }  # fmt: skip

        return listed(request, numbers, tell, total=len(job.hosts))

    def _cancel(self, job: Job, body: Mapping[str, Any]) -> web.Response:
        if not self._runs(job):
            return document({"message": "The job could not be cancelled."}, 422)
        parts = list(job.parts.values())
        job.cancel(self.now(), force=bool(body.get("force")))
        if not job.parts:
            for part in parts:
                self.pull.drop(part)
        return document({"cancelled": True, "id": job.pk})

    def _collect(self, body: Mapping[str, Any]) -> web.Response:
        name, ids = str(body.get("name") or ""), body.get("host_ids") or []
        if not name or name in self.collections.values():
            text = (
                "Validation failed: Name can't be blank"
                if not name
                else "Validation failed: Name has already been taken"
            )
            raise Problem(422, {"displayMessage": text, "errors": [text]})
        pk = self._next = self._next + 1
        self.collections[pk] = name
        for each in ids:
            if host := self.consumers.hosts.get(int(each)):
                host.collections.add(pk)
        return document(
            {"id": pk, "name": name, "total_hosts": len(ids), "unlimited_hosts": True}, 201
        )

    def _scatter(self, pk: str) -> web.Response:
        if not pk.isdecimal() or self.collections.pop(int(pk), None) is None:
            raise Problem(
                404, {"displayMessage": f"Couldn't find Katello::HostCollection with 'id'={pk}"}
            )
        for host in self.consumers.listed():
            host.collections.discard(int(pk))
        return web.Response(status=204)


def _whole(request: web.BaseRequest) -> bool:
    return request.query.get("include_hosts", "true") != "false"


def _named(
    request: web.BaseRequest, rows: Sequence[Mapping[str, Any]], key: str
) -> list[Mapping[str, Any]]:
    search = request.query.get("search", "")
    match = _NAMED.match(search)
    if search.strip() and match is None:
        raise Problem(
            400, {"error": {"message": f"Field '{search[:40]}' not recognized for searching!"}}
        )
    return [each for each in rows if match is None or each[key] == match[2]]


def _short(template: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in template.items() if name != "template_inputs"}


def _limits(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "concurrency_level": (asked.get("concurrency_control") or {}).get("concurrency_level"),
        "execution_timeout_interval": asked.get("execution_timeout_interval"),
        "time_to_pickup": asked.get("time_to_pickup"),
    }


def _invalid(words: str) -> Problem:
    return Problem(
        422, {"error": {"message": words, "errors": {"base": [words]}, "full_messages": [words]}}
    )
