"""Listens, and stops in order."""

import asyncio
import ssl
from pathlib import Path

from sandbox.connection import Connection
from sandbox.site import Site

GRACE_SECONDS = 3.0
_BACKLOG = 4096


class Server:
    """A sandbox that listens; see `start`."""

    def __init__(
        self, listening: asyncio.Server, site: Site, base_url: str, connections: set[Connection]
    ) -> None:
        self.base_url = base_url
        self._listening = listening
        self._site = site
        self._connections = connections

    async def stop(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Listen no more, let answers under way end, and break off what is left after the grace."""
        loop = asyncio.get_running_loop()
        self._listening.close()
        for connection in list(self._connections):
            connection.finish()
        deadline = loop.time() + grace_seconds
        while self._connections and loop.time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self._connections):
            connection.abort()
        await self._listening.wait_closed()
        self._site.close()


async def start(
    host: str = "127.0.0.1", port: int = 0, *, tls: tuple[Path, Path] | None = None
) -> Server:
    """Listen in the running loop; port 0 takes a free one. `tls`: files of certificate and key.

    Raise OSError where the address cannot be had or a file cannot be read.
    """
    loop = asyncio.get_running_loop()
    connections: set[Connection] = set()
    site: Site  # made when the port is known, before the first connection
    context = None
    if tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*tls)
    listening = await loop.create_server(
        lambda: Connection(site, loop, connections),
        host, port, ssl=context, backlog=_BACKLOG, start_serving=False,
    )  # fmt: skip
    port = listening.sockets[0].getsockname()[1]
    scheme = "https" if tls else "http"
    base_url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    site = Site(base_url, loop.time)
    await listening.start_serving()
    return Server(listening, site, base_url, connections)
