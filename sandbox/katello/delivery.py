"""What hosts download below /pulp/content: repositories made in code, on the server or on a smart proxy, cold or warm.

Packages, metadata and what goes wrong with them are those of the sandbox's own repositories. This adds Pulp's headers, who may
ask, the time that the model takes, and which packages were fetched from the feed before.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote
from weakref import WeakSet

from aiohttp import web

from sandbox.answering import send
from sandbox.answers import Answer, text
from sandbox.content import Content
from sandbox.grammar import pairs
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.inventory import Repository
from sandbox.katello.load import Load
from sandbox.repository import Repository as Served
from sandbox.rpm.package import Packages
from sandbox.settings import Feed
from sandbox.site import Reply, Site

PREFIX = "/pulp/content/"
FOLDER = "ACME/Library/custom/Bench/"
_DEPTH = f"{PREFIX}{FOLDER}".count("/")
_NO_CERTIFICATE = "403: A client certificate was not received via the `X-CLIENT-CERT` header."
_STRANGER = "403: The client certificate is not of a registered host."
_BUILT = "Wed, 01 Jan 2025 00:00:00 GMT"


@dataclass(slots=True, eq=False)
class Artifacts:
    """Which packages a place holds: one byte for each package of a content. Repositories of equal content share them."""

    held: dict[Content | Packages, bytearray] = field(default_factory=dict)

    def of(self, content: Content | Packages, *, complete: bool) -> bytearray:
        """Return the flags of a content; `complete` says whether all are there at first."""
        if content not in self.held:
            self.held[content] = bytearray([complete]) * content.files
        return self.held[content]

    def reclaim(self, content: Content | Packages) -> None:
        """Delete the packages of a content, also where another repository holds them, as Pulp does."""
        self.held[content] = bytearray(content.files)


class Delivery:
    """The content app: routes, guard, model, artifacts."""

    def __init__(
        self,
        behaviour: Callable[[], KatelloBehaviour],
        load: Load,
        repositories: Callable[[], Mapping[int, Repository]],
        is_registered: Callable[[str], bool],
        clock: Callable[[], float],
    ) -> None:
        self._behaviour = behaviour
        self._load = load
        self._repositories = repositories
        self._is_registered = is_registered
        self._site = Site("http://127.0.0.1", clock)
        self._seen: WeakSet[Any] = WeakSet()  # TLS of the connections that have had a request
        self.renew()

    def renew(self) -> None:
        """Be as at the start: nothing is counted, and what is on demand is cold."""
        self._on_server, self._on_proxy = Artifacts(), Artifacts()
        self._served: dict[tuple[int, int, str], Served] = {}
        self._paths: dict[str, int] = {}
        self._site.registry.reset()

    def forget_counts(self) -> None:
        """Let the counts begin anew."""
        self._site.registry.reset()

    def close(self) -> None:
        """Abandon what is being made."""
        self._site.close()

    async def answer(
        self, request: web.BaseRequest, identity: str, headers: Mapping[str, str]
    ) -> web.StreamResponse:
        """Answer a request below PREFIX. identity: the CN of the client's certificate. Raise Busy."""
        reply = self._refusal(request, identity)
        if reply is not None:
            return await send(request, reply, headers)
        path = unquote(request.raw_path.partition("?")[0])
        pk, name = self._found(path)
        if pk is None:
            return await send(request, Reply(text(404, "404: Not Found\n")), headers)
        repository = self._repositories()[pk]
        served = self._serving(repository)
        index = served.content.index(name)
        flags = self._artifacts().of(served.content, complete=self._is_complete(repository))
        cold = index is not None and not flags[index]
        reply = self._site.ask(served, name, request.headers.get("User-Agent", "").encode())
        if index is not None and isinstance(reply.answer, Answer) and reply.answer.status >= 400:
            cold = False
        try:
            await self._load.deliver(cold=cold, new_tls=self._is_new(request))
        except BaseException:
            for tally in reply.tallies:
                tally.end(0, 0, whole=False)
            raise
        more = {} if index is None else self._told(served, index, cold=cold)
        response = await send(request, reply, {**headers, **more}, chunked=cold)
        if cold and request.method == "GET" and response.status == HTTPStatus.OK:
            flags[index or 0] = True
        return response

    def address(self, repository: Repository) -> str:
        """Return where a repository is, as a path."""
        return f"{PREFIX}{FOLDER}{repository.name.replace(' ', '_')}/"

    def reclaim(self, repository: Repository, *, on_proxy: bool) -> None:
        """Delete the packages of a repository that can be fetched again."""
        place = self._on_proxy if on_proxy else self._on_server
        place.reclaim(self._serving(repository).content)

    def told(self) -> dict[str, Any]:
        """Tell what was asked, and how many packages of each repository are there."""
        report = self._site.registry.report()
        requests = {name: report[name] for name in ("since", "all", "repositories")}
        return requests | {
            "artifacts": self._counted(self._on_server, on_proxy=False),
            "artifacts_of_proxy": self._counted(self._on_proxy, on_proxy=True),
        }

    def _counted(self, place: Artifacts, *, on_proxy: bool) -> dict[str, int]:
        result = {}
        for pk, repository in self._repositories().items():
            complete = not on_proxy and repository.download_policy == "immediate"
            content = self._serving(repository).content
            flags = place.held.get(content)
            result[str(pk)] = sum(flags) if flags is not None else complete * content.files
        return result

    def _artifacts(self) -> Artifacts:
        return self._on_proxy if self._load.machine.proxy_cpus else self._on_server

    def _is_complete(self, repository: Repository) -> bool:
        """Whether all packages are there from the start: a smart proxy fetches each when it is asked for it."""
        return not self._load.machine.proxy_cpus and repository.download_policy == "immediate"

    def _refusal(self, request: web.BaseRequest, identity: str) -> Reply | None:
        if request.method not in ("GET", "HEAD"):
            return Reply(text(405, "405: Method Not Allowed\n"))
        if self._behaviour().content_guard and not self._is_registered(identity):
            words = _STRANGER if identity else _NO_CERTIFICATE
            return Reply(text(403, words))
        return None

    def _found(self, path: str) -> tuple[int | None, str]:
        """Find the repository of a path, and the name in it."""
        if not self._paths:
            self._paths = {self.address(each): pk for pk, each in self._repositories().items()}
        parts = path.split("/")
        folder = "/".join(parts[: _DEPTH + 1]) + "/"
        return self._paths.get(folder), "/".join(parts[_DEPTH + 1 :])

    def _serving(self, repository: Repository) -> Served:
        faults = self._behaviour().content_faults
        key = repository.pk, repository.units, faults
        if key not in self._served:
            self._served[key] = self._made(repository, faults)
        return self._served[key]

    def _made(self, repository: Repository, faults: str) -> Served:
        feed = Feed.FILE if repository.content_type == "file" else Feed.RPM
        number = "files" if feed is Feed.FILE else "packages"
        own = f"{number}={repository.units}/size={repository.size}/seed={repository.seed}"
        if feed is Feed.FILE:
            faults = ""  # they are of packages
        asked = pairs([*own.split("/"), *filter(None, faults.split("/"))])
        path = self.address(repository) + faults
        return self._site.repository(feed, path, asked)

    def _told(self, served: Served, index: int, *, cold: bool) -> dict[str, str]:
        size = served.content.size(index)
        told = {"X-PULP-ARTIFACT-SIZE": str(size), "Last-Modified": _BUILT}
        return told if cold else told | {"Etag": f'"{served.content.seed:x}-{index:x}-{size:x}"'}

    def _is_new(self, request: web.BaseRequest) -> bool:
        """Whether a request is the first of a connection with TLS."""
        tls = request.get_extra_info("ssl_object")
        if tls is None or tls in self._seen:
            return False
        self._seen.add(tls)
        return True
