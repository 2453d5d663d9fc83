"""A front that ends TLS before a server of this machine, as an administrator puts one before Pulp."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

PIECE = 65536


@contextmanager
def tls_front(base_url: str, context: ssl.SSLContext) -> Iterator[str]:
    """Forward from a free port, encrypted, to a base URL, in the open; give the URL of the front."""
    upstream = urlsplit(base_url)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs = await asyncio.open_connection(upstream.hostname, upstream.port)
        with suppress(OSError):
            await asyncio.gather(_pump(reader, theirs[1]), _pump(theirs[0], writer))

    async def begin() -> asyncio.Server:
        return await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context)

    async def end(server: asyncio.Server) -> None:
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        server = asyncio.run_coroutine_threadsafe(begin(), loop).result(10)
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        asyncio.run_coroutine_threadsafe(end(server), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(PIECE):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
