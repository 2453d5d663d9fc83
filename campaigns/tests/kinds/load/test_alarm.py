import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter_ns

import uvloop

from campaigns.kinds.load.alarm import Alarm

MS = 1_000_000


def with_alarm(use: Callable[[Alarm], Awaitable[None]]) -> None:
    async def main() -> None:
        alarm = Alarm()
        try:
            await use(alarm)
        finally:
            alarm.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


def test_calls_come_in_order_of_their_instants_and_never_early():
    rung: list[tuple[int, int]] = []

    def ring(after: int, begun: int) -> None:
        rung.append((after, perf_counter_ns() - begun))

    async def use(alarm: Alarm) -> None:
        now = perf_counter_ns()
        for after in (30, 10, 20, 0):
            alarm.at(now + after * MS, partial(ring, after, now))
        await alarm.until(now + 40 * MS)

    with_alarm(use)

    assert [after for after, _ in rung] == [0, 10, 20, 30]
    assert all(at >= after * MS for after, at in rung)


def test_a_call_may_ask_for_the_next_one():
    rung: list[int] = []

    async def use(alarm: Alarm) -> None:
        begun = perf_counter_ns()

        def ring() -> None:
            rung.append(perf_counter_ns())
            if len(rung) < 5:
                alarm.at(begun + len(rung) * MS, ring)

        alarm.at(begun, ring)
        await alarm.until(begun + 20 * MS)

    with_alarm(use)

    assert len(rung) == 5


def test_what_is_past_is_not_waited_for():
    async def use(alarm: Alarm) -> None:
        before = perf_counter_ns()
        await alarm.until(before - MS)
        await alarm.until(before)

    with_alarm(use)


def test_nothing_rings_after_the_end():
    rung: list[int] = []

    async def use(alarm: Alarm) -> None:
        alarm.at(perf_counter_ns() + 5 * MS, lambda: rung.append(1))
        alarm.close()
        alarm.at(perf_counter_ns(), lambda: rung.append(2))
        await asyncio.sleep(0.02)

    with_alarm(use)

    assert rung == []
