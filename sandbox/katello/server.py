"""Listens, and stops."""

import socket

from aiohttp import web

from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.site import Site

_SHUTDOWN_SECONDS = 0.1


class Server:
    """A stand-in that listens; see `start`."""

    def __init__(self, base_url: str, runner: web.ServerRunner) -> None:
        self.base_url = base_url
        self._runner = runner

    async def stop(self) -> None:
        """Listen no more, and break off what runs."""
        await self._runner.cleanup()


async def start(
    host: str = "127.0.0.1", port: int = 0, behaviour: KatelloBehaviour | None = None
) -> Server:
    """Listen in the running loop; port 0 takes a free one. Raise OSError."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        base_url = f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"
        site = Site(behaviour or KatelloBehaviour())
        runner = web.ServerRunner(
            web.Server(site.answer, access_log=None), shutdown_timeout=_SHUTDOWN_SECONDS
        )
        await runner.setup()
        await web.SockSite(runner, bound).start()
    except OSError:
        bound.close()
        raise
    return Server(base_url, runner)
