"""Listens, goes away for a while where a test wants that, and stops."""

import asyncio
import socket

from aiohttp import web

from sandbox.pulp.behaviour import Behaviour
from sandbox.pulp.site import Site

_LOOK_SECONDS = 0.02
_SHUTDOWN_SECONDS = 0.1


class Server:
    """A simulator that listens; see `start`."""

    def __init__(self, host: str, port: int, base_url: str, site: Site) -> None:
        self.base_url = base_url
        self._host, self._port = host, port
        self._site = site
        self._runner: web.ServerRunner | None = None
        self._watch: asyncio.Task[None] | None = None

    async def open(self, bound: socket.socket | None = None) -> None:
        """Listen, at first on a socket that is bound already. Raise OSError."""
        runner = web.ServerRunner(
            web.Server(self._site.answer, access_log=None), shutdown_timeout=_SHUTDOWN_SECONDS
        )
        await runner.setup()
        if bound:
            await web.SockSite(runner, bound).start()
        else:
            await web.TCPSite(runner, self._host, self._port, reuse_address=True).start()
        self._runner = runner
        self._watch = self._watch or asyncio.create_task(self._go_away_when_told())

    async def _close(self) -> None:
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def _go_away_when_told(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            control = self._site.control
            if control.away_seconds:
                seconds, control.away_seconds = control.away_seconds, 0.0
                await self._close()
                await asyncio.sleep(seconds)
                await self.open()

    async def stop(self) -> None:
        """Listen no more, and break off what runs."""
        if self._watch:
            self._watch.cancel()
        await self._close()
        await self._site.tasks.close()
        self._site.delivery.close()


async def start(
    host: str = "127.0.0.1", port: int = 0, behaviour: Behaviour | None = None
) -> Server:
    """Listen in the running loop; port 0 takes a free one. Raise OSError."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        port = bound.getsockname()[1]
        base_url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        server = Server(host, port, base_url, Site(behaviour or Behaviour(), base_url))
        await server.open(bound)
    except OSError:
        bound.close()
        raise
    return server
