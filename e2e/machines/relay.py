"""A slow, lossy way to a server: `python relay.py HOST PORT TO_HOST TO_PORT MILLISECONDS LOSS`.

The kernel has no netem here, so nothing is dropped: TCP would repair it anyhow. What is read from one side is handed
to the other MILLISECONDS later; of LOSS of these pieces all that follows in this direction waits for RETRANSMISSION
more, as it does for a lost packet that TCP sends again after its shortest time-out (RFC 6298 as Linux has it: 200 ms)
and a round trip. The order is kept. Nothing of perfdash is imported.
"""

import asyncio
import random
import sys

RETRANSMISSION = 0.2
CHUNK = 1 << 16


async def carry(reader, writer, seconds, loss):
    """Hand on what is read, late. Each piece has the instant when it is due."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def read():
        held_until = 0.0
        while True:
            try:
                data = await reader.read(CHUNK)
            except OSError:
                data = b""
            lost = RETRANSMISSION + 2 * seconds if random.random() < loss else 0.0
            held_until = max(held_until, loop.time() + seconds + lost)
            pieces.put_nowait((held_until, data))
            if not data:
                return

    reading = asyncio.create_task(read())
    try:
        while True:
            due, data = await pieces.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not data:
                return
            writer.write(data)
            await writer.drain()
    except OSError:
        return
    finally:
        reading.cancel()
        writer.close()


async def main(host, port, to_host, to_port, milliseconds, loss):
    async def accept(reader, writer):
        try:
            other_reader, other_writer = await asyncio.open_connection(to_host, int(to_port))
        except OSError:
            writer.close()
            return
        ways = ((reader, other_writer), (other_reader, writer))
        late = float(milliseconds) / 1000
        await asyncio.gather(*(carry(a, b, late, float(loss)) for a, b in ways))

    server = await asyncio.start_server(accept, host, int(port))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
