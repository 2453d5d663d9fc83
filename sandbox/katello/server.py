"""Listens, and stops."""

import socket
import ssl

from aiohttp import web

from sandbox.katello.authority import Authority
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.machine import Machine
from sandbox.katello.site import KEEP_ALIVE_SECONDS, Site

_SHUTDOWN_SECONDS = 0.1
_BACKLOG = 4096


class Server:
    """A simulator that listens; see `start`. `tls_url` is empty where it does not over TLS."""

    def __init__(self, base_url: str, tls_url: str, runner: web.ServerRunner, site: Site) -> None:
        self.base_url = base_url
        self.tls_url = tls_url
        self._runner = runner
        self._site = site

    async def stop(self) -> None:
        """Listen no more, and break off what runs."""
        await self._runner.cleanup()
        self._site.close()


async def start(
    host: str = "127.0.0.1",
    port: int = 0,
    behaviour: KatelloBehaviour | None = None,
    *,
    machine: Machine | None = None,
    tls_port: int | None = None,
    authority: Authority | None = None,
) -> Server:
    """Listen in the running loop; port 0 takes a free one. Raise OSError.

    `tls_port`: also over TLS, where hosts show certificates; `authority` signs, or a new one does.
    """
    authority = authority or Authority.new()
    site = Site(behaviour or KatelloBehaviour(), machine or Machine(), authority)
    runner = web.ServerRunner(
        web.Server(site.answer, access_log=None, keepalive_timeout=KEEP_ALIVE_SECONDS),
        shutdown_timeout=_SHUTDOWN_SECONDS,
    )
    await runner.setup()
    try:
        base_url = await _listen(runner, host, port)
        tls_url = ""
        if tls_port is not None:
            site.tls = authority.context(host)
            site.control.ask_for_certificates()
            site.tls_url = tls_url = await _listen(runner, host, tls_port, site.tls)
    except OSError:
        await runner.cleanup()
        raise
    return Server(base_url, tls_url, runner, site)


async def _listen(
    runner: web.ServerRunner, host: str, port: int, tls: ssl.SSLContext | None = None
) -> str:
    """Listen there and give the URL. Raise OSError."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        await web.SockSite(runner, bound, ssl_context=tls, backlog=_BACKLOG).start()
    except OSError:
        bound.close()
        raise
    scheme = "https" if tls else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"
