"""A load program: every host opens a connection with an identity of its own, and sends one request once all are open."""

import asyncio
import ssl
from functools import cache
from time import perf_counter, process_time

from campaigns.kinds.load.generator import run
from campaigns.kinds.load.host import Host
from campaigns.kinds.load.tls import identity_context
from campaigns.kinds.programs import health, lifeline
from campaigns.kit.mappings import ProgramResult

SPENT = {
    "seconds": 0.0,
    "cpu_seconds": 0.0,
    "contexts": 0.0,
    "bytes": 0.0,
    "before": 0.0,
    "connected": 0.0,
}


async def prepare(host: Host) -> None:
    """Make the host's context, and note what it took."""
    begun, cpu, memory = perf_counter(), process_time(), health.peak_memory_bytes()
    SPENT["before"] = SPENT["before"] or memory
    asked = host.request
    certificate = asked["certificates"][host.number]
    host.prepared["context"] = identity_context(certificate, asked["key"], asked["ca"])
    SPENT["seconds"] += perf_counter() - begun
    SPENT["cpu_seconds"] += process_time() - cpu
    SPENT["bytes"] += health.peak_memory_bytes() - memory
    SPENT["contexts"] += 1


async def sequence(host: Host) -> None:
    """Open a connection of the host's own, and ask who it is when all hosts of the process are connected."""
    context: ssl.SSLContext = host.prepared["context"]
    wire = await host.connect(context)
    SPENT["connected"] += 1
    if SPENT["connected"] == SPENT["contexts"]:
        _all_connected().set()
    await _all_connected().wait()
    request = f"GET / HTTP/1.1\r\nHost: {host.place.host_header}\r\n\r\n"
    answer = await host.step("who", wire, request.encode())
    expected = f"CN=host-{host.number}".encode()
    if expected not in answer.body:
        raise RuntimeError(f"host {host.number} was taken for {answer.body!r}")


@cache
def _all_connected() -> asyncio.Event:
    return asyncio.Event()


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Run all hosts, and add what their contexts took."""
    return run(keeper, sequence, prepare) | {"spent": SPENT}


if __name__ == "__main__":
    lifeline.run(main)
