"""One connection to a broker whose clock is the test's."""

import asyncio
from contextlib import suppress

import pytest
import uvloop

from campaigns.kinds.hosts.program import mqtt
from campaigns.kinds.hosts.program.subscription import LEFT, NS, Subscription
from campaigns.kinds.load.wire import opened
from campaigns.kit.network import parse_rules, parse_url

pytestmark = pytest.mark.system
KEEP_ALIVE = 30
ACKNOWLEDGED = b"\x20\x02\x00\x00\x90\x03\x00\x01\x01"


def on_a_broker(use, pongs=True):
    """Let `use` take a subscription and what the broker hears; messages are in `took`."""

    async def main():
        heard: asyncio.Queue[bytes] = asyncio.Queue()
        took: list[mqtt.Publish] = []
        over = asyncio.Event()

        async def serve(reader, writer):
            await reader.readuntil(b"id")
            writer.write(ACKNOWLEDGED[:4])
            await reader.readuntil(b"a/b\x01")
            writer.write(
                ACKNOWLEDGED[4:] + mqtt.publish("a/b", b"one", 5) + mqtt.publish("a/b", b"two")
            )
            with suppress(ConnectionError):
                while data := await reader.read(4096):
                    await heard.put(data)
                    if pongs:
                        writer.write(b"\xd0\x00")
            writer.close()
            over.set()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        place = parse_url(f"http://127.0.0.1:{port}/")
        rules = parse_rules("127.0.0.1:*")
        subscription = await opened(lambda: Subscription(took.append), place, rules, None, 10, 10)
        await subscription.begin("id", "a/b", KEEP_ALIVE, 10)
        assert await heard.get() == mqtt.puback(5)
        try:
            await use(subscription, heard)
        finally:
            subscription.fail(LEFT)
            server.close()
            await over.wait()
        return [packet.payload for packet in took]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def test_a_ping_is_sent_before_the_keep_alive_time_is_over():
    async def use(subscription, heard):
        at = subscription._sent_ns
        subscription.look(at + 20 * NS, KEEP_ALIVE)
        assert heard.empty()
        subscription.look(at + 25 * NS, KEEP_ALIVE)
        assert await heard.get() == mqtt.ping()

    assert on_a_broker(use) == [b"one", b"two"]


def test_a_broker_that_answers_no_ping_is_given_up():
    async def use(subscription, heard):
        subscription.look(subscription._heard_ns + 61 * NS, KEEP_ALIVE)
        failure = await subscription.ended
        assert (failure.kind, str(failure)) == ("timeout", "no ping was answered for 60 s")

    on_a_broker(use, pongs=False)


def test_a_host_that_leaves_says_so():
    async def use(subscription, heard):
        subscription.leave()
        assert await heard.get() == mqtt.disconnect()
        assert (await subscription.ended).kind == "connect"

    on_a_broker(use)
