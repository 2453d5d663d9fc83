"""Manifests and repodata, each generated once in a thread, and cached while there is room."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from sandbox.bodies import FileBody
from sandbox.content import Content
from sandbox.manifest import NAME, Kind, build
from sandbox.rpm.package import Packages
from sandbox.rpm.repodata import Part, Repodata
from sandbox.shelf import Shelf

_MOST_BYTES = 256 * 1024 * 1024


class Publication(Protocol):
    """What clients read of a repository before its files; len() is the bytes that it holds."""

    @property
    def documents(self) -> Mapping[str, bytes]:
        """The bytes of each document, by its path."""

    def __len__(self) -> int: ...

    def body(self, index: int) -> FileBody:
        """Give the bytes of a file, without making them."""


class _Manifest:
    """A repository of files: one document."""

    def __init__(self, content: Content, kind: Kind, abandoned: Callable[[], bool]) -> None:
        self.documents = {NAME: build(content, kind, abandoned)}
        self.body = content.body

    def __len__(self) -> int:
        return len(self.documents[NAME])


_Key = tuple[Content | Packages, Kind, Part]


class Library:
    """Generates publications. Requests during the generation of one wait for the same."""

    def __init__(self) -> None:
        self._shelf: Shelf[_Key, Publication] = Shelf(_MOST_BYTES)
        self._making: dict[_Key, asyncio.Future[Publication]] = {}
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="manifest")
        self._closed = False

    def get(
        self, content: Content | Packages, kind: Kind, part: Part
    ) -> Publication | asyncio.Future[Publication]:
        """Give what is published at once where it is there, and otherwise the future of it.

        kind, part: what is wrong, and with which file of repodata.
        """
        key = (content, kind, part)
        result = self._shelf.get(key)
        if result is not None:
            return result
        if key not in self._making:
            loop = asyncio.get_running_loop()
            making = loop.run_in_executor(self._threads, self._make, *key)
            making.add_done_callback(lambda made: self._made(key, made))
            self._making[key] = making
        return self._making[key]

    def _make(self, content: Content | Packages, kind: Kind, part: Part) -> Publication:
        if isinstance(content, Packages):
            return Repodata(content, kind, part, lambda: self._closed)
        return _Manifest(content, kind, lambda: self._closed)

    def _made(self, key: _Key, made: asyncio.Future[Publication]) -> None:
        del self._making[key]
        if not made.cancelled() and not made.exception():
            self._shelf.put(key, made.result())

    def close(self) -> None:
        """Abandon what is being made."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
