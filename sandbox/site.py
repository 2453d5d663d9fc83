"""What stands at which path: repositories, pages, counts. Sends nothing."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote, unquote_to_bytes

from sandbox.answers import TEXT, Answer, head, text
from sandbox.bodies import WholeBody
from sandbox.content import Content
from sandbox.grammar import BadPath, pairs, read, split
from sandbox.library import Library, Publication
from sandbox.registry import Registry
from sandbox.repository import Repository
from sandbox.settings import Feed
from sandbox.tallies import Tally
from sandbox.welcome import welcome

_READING = (b"GET", b"HEAD")
_MOST_ROUTES = 16_384


@dataclass(slots=True)
class Reply:
    """An answer, or the task that gives it, and who counts it."""

    answer: Answer | asyncio.Task[Answer]
    tallies: tuple[Tally, ...] = ()


class Site:
    """Answers requests. `clock` gives seconds, monotonic."""

    def __init__(self, base_url: str, clock: Callable[[], float]) -> None:
        self.registry = Registry(clock)
        self._base_url = base_url
        self._clock = clock
        self._library = Library()
        # From the raw path of a folder to its repository, and the folder's path in it.
        self._routes: dict[bytes, tuple[Repository, str]] = {}

    def close(self) -> None:
        """Abandon the manifests that are being made."""
        self._library.close()

    def receive(self, method: bytes, url: bytes, sender: bytes = b"") -> Reply:
        """Answer a request; what reaches a repository counts as in flight from now.

        `sender` is the header User-Agent: whom the request is counted for.
        """
        folder_url, _, name = url.rpartition(b"/")
        route = self._routes.get(folder_url)
        if route is None or method not in _READING or b"?" in name:
            return self._receive_slowly(method, url, sender)
        repository, folder = route
        if b"%" in name:
            name = unquote_to_bytes(name)
        return self.ask(repository, folder + name.decode("latin-1"), sender)

    def _receive_slowly(self, method: bytes, url: bytes, sender: bytes) -> Reply:
        """Find a page, or a repository for the first time."""
        if not url.startswith(b"/") and b"://" in url:  # as one asks a proxy: http://host/path
            url = b"/" + url.partition(b"://")[2].partition(b"/")[2]
        path = url.partition(b"?")[0].decode("latin-1")
        allowed = (b"POST",) if path == "/stats/reset" else _READING
        if method not in allowed:
            names = b", ".join(allowed).decode()
            sentence = f"{method.decode()} is not allowed here: use {names}\n"
            return Reply(text(HTTPStatus.METHOD_NOT_ALLOWED, sentence, f"Allow: {names}"))
        feed = next((feed for feed in Feed if f"{path}/".startswith(f"{feed}/")), None)
        if feed is None:
            return Reply(self._page(path))
        try:
            repository, name = self._route(feed, url)
        except BadPath as bad:
            return Reply(text(HTTPStatus.BAD_REQUEST, f"{bad}\n"))
        return self.ask(repository, name, sender)

    def _page(self, path: str) -> Answer:
        match path:
            case "/":
                return text(HTTPStatus.OK, welcome(self._base_url))
            case "/health":
                return text(HTTPStatus.OK, "ok\n")
            case "/stats":
                page = json.dumps(self.registry.report(), indent=1) + "\n"
                return text(HTTPStatus.OK, page, content_type="application/json")
            case "/stats/reset":
                self.registry.reset()
                return Answer(204, head(HTTPStatus.NO_CONTENT, None, TEXT), WholeBody(b""))
        repositories = " or ".join(f"{feed}/.../{feed.entry}" for feed in Feed)
        expected = f"/, /health, /stats, /stats/reset, {repositories}"
        return text(HTTPStatus.NOT_FOUND, f"nothing at {path[:80]!r}: expected {expected}\n")

    def _route(self, feed: Feed, url: bytes) -> tuple[Repository, str]:
        """Give the repository and the name in it, and remember the way to the name's folder."""
        if b"?" in url:
            raise BadPath("a query is of no use here: settings stand in the path, label too")
        try:
            segments = [unquote(part, errors="strict") for part in url.decode().split("/")[2:]]
        except UnicodeDecodeError:
            raise BadPath("the path is not UTF-8") from None
        settings, name = split(segments)
        path = "/".join([feed, *settings])
        repository = self.registry.find(path)
        if repository is None:
            repository = self.repository(feed, path, pairs(settings))
        if name:
            if len(self._routes) >= _MOST_ROUTES:
                self._routes.clear()
            folder = "".join(f"{part}/" for part in name[:-1])
            self._routes[url.rpartition(b"/")[0]] = (repository, folder)
        return repository, "/".join(name)

    def repository(self, feed: Feed, path: str, settings: list[tuple[str, str]]) -> Repository:
        """Make a repository, which is counted under a path. Raise BadPath."""
        scheme = self._base_url.partition(":")[0]
        repository = Repository(scheme, feed, settings, read(settings, feed), path)
        if self.registry.add(repository):
            self._routes.clear()
        return repository

    def ask(self, repository: Repository, name: str, sender: bytes = b"") -> Reply:
        """Answer with a file or document of a repository; it counts as in flight from now."""
        now = self._clock()
        tallies = (*repository.tallies, self.registry.sender(sender))
        if repository.full():
            for tally in tallies:
                tally.refuse(now, HTTPStatus.TOO_MANY_REQUESTS)
            sentence = f"more than connections={repository.settings.connections} at once\n"
            return Reply(text(HTTPStatus.TOO_MANY_REQUESTS, sentence, "Retry-After: 1"))
        index = repository.content.index(name)
        answer: Answer | asyncio.Task[Answer]
        if index is not None:
            answer = self._file(repository, index)
        elif name in repository.documents:
            answer = self._document(repository, name, tallies)
        else:
            answer = repository.unknown(name)
        for tally in tallies:
            tally.begin(now)
        return Reply(answer, tallies)

    def _file(self, repository: Repository, index: int) -> Answer | asyncio.Task[Answer]:
        attempt = self.registry.attempt(repository, index) if repository.tries_matter else 0
        if isinstance(repository.content, Content):
            return repository.file(index, attempt, repository.content.body)
        return self._when_made(repository, lambda made: repository.file(index, attempt, made.body))

    def _document(
        self, repository: Repository, name: str, tallies: tuple[Tally, ...]
    ) -> Answer | asyncio.Task[Answer]:
        if name == repository.feed.entry:
            self.registry.anew(repository)
            for tally in tallies:
                tally.manifests += 1
        return self._when_made(
            repository, lambda made: repository.document(name, made.documents[name])
        )

    def _when_made(
        self, repository: Repository, answer: Callable[[Publication], Answer]
    ) -> Answer | asyncio.Task[Answer]:
        """Answer at once where the publication is there, and otherwise when it is."""
        settings = repository.settings
        made = self._library.get(repository.content, settings.manifest, settings.part)
        if not isinstance(made, asyncio.Future):
            return answer(made)

        async def later() -> Answer:
            return answer(await asyncio.shield(made))

        return asyncio.get_running_loop().create_task(later())
