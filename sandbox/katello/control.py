"""What a test does to the simulator while it runs, below /simulator/; only this machine may."""

import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from aiohttp import web

from sandbox.commits import Commits
from sandbox.katello import settings
from sandbox.katello.access import Access
from sandbox.katello.answers import Problem, document
from sandbox.katello.behaviour import BadKatello, KatelloBehaviour
from sandbox.katello.consumers import Consumers
from sandbox.katello.content_views import ContentViews
from sandbox.katello.delivery import Delivery
from sandbox.katello.faults import Faults
from sandbox.katello.inventory import ORGANIZATIONS, repositories
from sandbox.katello.jobs import Jobs
from sandbox.katello.load import Load
from sandbox.katello.machine import NAMES, BadSetting, Machine
from sandbox.katello.syncs import Syncs

PATH = "/simulator/"
DEEDS = (
    *("sessions/expire", "tasks/cancel", "syncs", "commit", "restart", "empty", "counts/reset"),
    *("renew", "known_hosts/clear"),
)


@dataclass(slots=True, eq=False)
class Control:
    """The behaviour and the counts, and what can be done to the rest."""

    behaviour: KatelloBehaviour
    syncs: Syncs
    access: Access
    counts: Counter[str]  # of requests, by method and first part of the path
    consumers: Consumers
    load: Load
    views: ContentViews
    jobs: Jobs
    delivery: Delivery
    faults: Faults = field(default_factory=Faults)
    commits: Commits = field(default_factory=Commits)
    tls: Callable[[], ssl.SSLContext | None] = lambda: None  # of the port where hosts register
    _first: tuple[KatelloBehaviour, Machine] = field(init=False)

    def __post_init__(self) -> None:
        self._first = self.behaviour, self.load.machine

    def provide(self) -> None:
        """Have as many hosts of somebody else as the behaviour says."""
        self.consumers.provide(self.behaviour.hosts, next(iter(ORGANIZATIONS)))
        self.ask_for_certificates()

    def ask_for_certificates(self) -> None:
        """Let new connections over TLS need a certificate of a client, or not."""
        if context := self.tls():
            required = self.behaviour.client_certificates == "required"
            context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL

    def answer(self, request: web.BaseRequest, body: object) -> web.Response:
        """Apply a request and answer the current state; a bad request gets 400 with the reason."""
        what = request.path.removeprefix(PATH).strip("/")
        if (request.method, what) == ("GET", "ca"):
            pem = self.consumers.authority.pem
            return web.Response(text=pem, content_type="application/x-pem-file")
        if (request.method, what) == ("GET", "broker") and _is_here(request):
            made = self.consumers.authority.server("127.0.0.1")
            return web.Response(text=made.pem + made.key_pem, content_type="application/x-pem-file")
        if (request.method, what) == ("GET", "ready"):
            return settings.readiness(self.load)
        here = _is_here(request)
        try:
            first, _, name = what.partition("/")
            if first == "settings":
                if not here:
                    self.access.check(request)
                return settings.answer(self.load, request.method, name, body)
            if not here:
                return document({"message": "Only from this machine."}, 403)
            if request.method == "PATCH" and not what:
                self._change(body)
            elif request.method == "POST":
                self._do(what, body if isinstance(body, dict) else {})
            elif what or request.method != "GET":
                return document({"message": "There is only GET, PATCH and POST."}, 404)
        except BadKatello as problem:
            return document({"message": str(problem)}, 400)
        except Problem as problem:
            return problem.answer()
        return document(self._document())

    def _document(self) -> dict[str, Any]:
        now = self.syncs.now()
        states = Counter(task.state(now) for task in self.syncs.tasks.all.values())
        return {
            "simulator": True,
            "behaviour": self.behaviour.document(),
            "requests": dict(self.counts),
            "passwords": self.access.passwords,
            "tasks": dict(states),
            "committing": len(self.commits),
            "consumers": len(self.consumers.held),
            "hosts": len(self.consumers.hosts),
            "content_views": self.views.count(),
            "jobs": self.jobs.told(),
            "pull": self.jobs.pull.told(),
            "ssh": self.jobs.runner.told(),
            "machine": self.load.machine.document(),
            "puma": self.load.told(),
            "content_app": self.load.told_of_content(),
            "content": self.delivery.told(),
            "forced": [task.forced for task in self.syncs.tasks.all.values() if not task.parent],
        }

    def _change(self, body: object) -> None:
        """Change the behaviour; settings of the machine take effect at once. Raise BadKatello."""
        hosts = self.behaviour.hosts
        self.behaviour, machine = split(body, self.behaviour, self.load.machine)
        if self.behaviour.hosts != hosts:
            self.provide()
        self.ask_for_certificates()
        if machine != self.load.machine:
            self.load.replace(machine)

    def _do(self, what: str, body: dict[str, Any]) -> None:
        tasks = self.syncs.tasks
        match what:
            case "sessions/expire":
                self.access.expire()
            case "tasks/cancel":
                for task in tasks.all.values():
                    tasks.cancel(task)
            case "syncs":
                self._begin(body)
            case "commit":
                self.commits.end(commit=True)
            case "restart":
                self.load.restart()
            case "known_hosts/clear":
                self.jobs.runner.known.clear()
            case "empty":
                self.consumers.renew()
            case "counts/reset":
                self.counts.clear()
                self.delivery.forget_counts()
            case "renew":
                self.commits.end(commit=False)
                tasks.all.clear()
                tasks.of_job.clear()
                self.jobs.renew()
                self.syncs.held = repositories()
                self.delivery.renew()
                self.views.renew()
                self.consumers.renew()
                self.access.expire()
                self.access.passwords = 0
                self.counts.clear()
                self.faults.renew()
                self.behaviour, machine = self._first
                self.provide()
                self.load.replace(machine)
            case _:
                raise BadKatello(f"no such thing to do: {what}; there are {', '.join(DEEDS)}")

    def _begin(self, body: dict[str, Any]) -> None:
        """Begin the sync of somebody else."""
        user, request_id = str(body.get("user", "somebody")), str(body.get("request_id", ""))
        if "proxy" in body:
            task = self.syncs.of_proxy(str(body["proxy"]), body, request_id, user)
        else:
            task = self.syncs.of_repository(str(body.get("repository", 3)), body, request_id, user)
        task.label = str(body.get("label", task.label))


def _is_here(request: web.BaseRequest) -> bool:
    return bool(request.remote) and ip_address(str(request.remote)).is_loopback


def split(
    body: object, behaviour: KatelloBehaviour, machine: Machine
) -> tuple[KatelloBehaviour, Machine]:
    """Change a behaviour and a machine by one JSON object of settings of both. Raise BadKatello."""
    rest = body
    if isinstance(body, dict):
        rest = {name: value for name, value in body.items() if name not in NAMES}
        for name in body.keys() & set(NAMES):
            try:
                machine = machine.changed(name, body[name])
            except BadSetting as problem:
                raise BadKatello(str(problem)) from None
    return behaviour.changed(rest), machine
