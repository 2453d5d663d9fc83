"""Manifests, made once each in a thread beside the loop, and kept while there is room."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from sandbox.content import Content
from sandbox.manifest import Kind, build
from sandbox.shelf import Shelf

_MOST_BYTES = 256 * 1024 * 1024


class Library:
    """Gives manifests. Whoever asks while one is being made waits for the same one."""

    def __init__(self) -> None:
        self._shelf: Shelf[tuple[Content, Kind], bytes] = Shelf(_MOST_BYTES)
        self._making: dict[tuple[Content, Kind], asyncio.Future[bytes]] = {}
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="manifest")
        self._closed = False

    def get(self, content: Content, kind: Kind) -> bytes | asyncio.Future[bytes]:
        """Give a manifest at once where it is there, and otherwise the future of it."""
        key = (content, kind)
        found = self._shelf.get(key)
        if found is not None:
            return found
        if key not in self._making:
            loop = asyncio.get_running_loop()
            making = loop.run_in_executor(self._threads, build, content, kind, lambda: self._closed)
            making.add_done_callback(lambda made: self._made(key, made))
            self._making[key] = making
        return self._making[key]

    def _made(self, key: tuple[Content, Kind], made: asyncio.Future[bytes]) -> None:
        del self._making[key]
        if not made.cancelled() and not made.exception():
            self._shelf.put(key, made.result())

    def close(self) -> None:
        """Abandon what is being made."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
