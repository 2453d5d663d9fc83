"""The engine `asyncio`: aiohttp, as many tasks as connections. A program.

docs/reference/kinds/downloader.md defines it exactly; a change here changes what is measured.
"""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import aiohttp
import uvloop
from yarl import URL

from campaigns.kinds.downloader.engines.checked_aiohttp import (
    EXPECTED,
    FAILURE_CLASSES,
    checked_session,
)
from campaigns.kinds.programs import health, lifeline
from campaigns.kinds.programs.downloading import (
    REDIRECTS,
    Job,
    Run,
    libraries,
    next_url,
    refuse_status,
    tls,
)
from campaigns.kinds.programs.transfers import Counter, Item, Transfer
from campaigns.kit.http import pacing, task_pacing
from campaigns.kit.http.failures import FileFailed, classified, refuse_length, took_too_long
from campaigns.kit.mappings import ProgramResult

TRANSFER: ContextVar[Transfer] = ContextVar("TRANSFER")
"""The transfer of the current task."""
LIMIT: ContextVar[asyncio.Timeout] = ContextVar("LIMIT")
"""The time limit of the current task."""
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
LIBRARIES = ("aiohttp", "uvloop")
EXECUTOR_THREADS = 2
BATCH_BYTES = 256 * 1024
"""The size of a batch for the executor; less is hashed in the loop."""
LAG_STEP_SECONDS = 0.01
LEAST_LAGS = 100
"""Fewer values have no 99th percentile."""


def prepare() -> None:
    """Load what every run needs, in a process from which programs are forked."""
    tls()
    libraries(*LIBRARIES)


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Run the selected event loop."""
    with asyncio.Runner(loop_factory=LOOPS[keeper.request["event_loop"]]) as runner:
        return runner.run(_main(keeper))


async def _main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Report the levels in force; download unless the request is only for these."""
    request = keeper.request
    job = Job.from_request(request)
    run = Run(keeper, job)
    session = checked_session(
        job.rules,
        tls(),
        job.concurrency,
        job.connect_timeout_seconds,
        job.read_timeout_seconds,
        job.sender,
        (_paced(run.pacer),) if job.most_per_second else (),
    )
    executor = ThreadPoolExecutor(EXECUTOR_THREADS) if job.hashing == "executor" else None
    async with session:
        assert session.connector is not None  # noqa: S101 - for the type checker
        keeper.report(
            "hello",
            {
                "engine": "asyncio",
                "libraries": libraries(*LIBRARIES),
                "concurrency": session.connector.limit,
                "http_version": "1.1",
                "event_loop": type(asyncio.get_running_loop()).__module__.partition(".")[0],
                "hashing": "executor" if executor else "loop",
            },
        )
        if request["only_describe"]:
            return {"described": True}
        await _download_all(session, job, run, executor)
    return run.result()


async def _download_all(
    session: aiohttp.ClientSession, job: Job, run: Run, executor: ThreadPoolExecutor | None
) -> None:
    """Fetch the files in as many tasks as there may be connections."""
    items = iter(job.items)
    lags: list[float] = []
    run.extra = lambda: _lag_figures(lags)
    watch = asyncio.create_task(_watch_lag(lags))
    run.start()
    async with asyncio.TaskGroup() as group:
        for _ in range(min(job.concurrency, len(job.items))):
            group.create_task(_work(session, job, items, run, executor))
    run.stop()
    watch.cancel()


def _paced(pacer: pacing.Pacer) -> aiohttp.ClientMiddlewareType:
    """Return the middleware that delays every request until its turn."""
    queue = task_pacing.Tasks(pacer)

    async def wait(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        limit = LIMIT.get()
        ends_at = limit.when()
        limit.reschedule(None)
        held_seconds = await queue.turn()
        TRANSFER.get().held_back(held_seconds)
        limit.reschedule(ends_at and ends_at + held_seconds)
        return await send(request)

    return wait


async def _watch_lag(lags: list[float]) -> None:
    """Record how late the loop resumes a task that only sleeps."""
    while True:
        due = time.perf_counter() + LAG_STEP_SECONDS
        await asyncio.sleep(LAG_STEP_SECONDS)
        lags.append(max(0.0, time.perf_counter() - due))


def _lag_figures(lags: list[float]) -> dict[str, float]:
    figures = {"loop_lag_max_seconds": max(lags, default=0.0)}
    if len(lags) >= LEAST_LAGS:
        figures["loop_lag_p99_seconds"] = health.percentile(lags, 0.99)
    return figures


async def _work(
    session: aiohttp.ClientSession,
    job: Job,
    items: Iterator[Item],
    run: Run,
    executor: ThreadPoolExecutor | None,
) -> None:
    """Fetch files until none is left; a failure is counted, not raised."""
    counter: Counter = run.tally.counter()
    for item in items:
        transfer = Transfer(item, run.tally, counter)
        TRANSFER.set(transfer)
        try:
            async with asyncio.timeout(job.file_timeout_seconds) as limit:
                LIMIT.set(limit)
                await _fetch(session, job, transfer, executor)
            transfer.complete()
        except FileFailed as failure:
            transfer.failed(failure)
        except EXPECTED as error:
            if limit.expired():
                transfer.failed(took_too_long(job.file_timeout_seconds))
            else:
                transfer.failed(classified(error, FAILURE_CLASSES))


async def _fetch(
    session: aiohttp.ClientSession,
    job: Job,
    transfer: Transfer,
    executor: ThreadPoolExecutor | None,
) -> None:
    url, hops = transfer.item.url, 0
    while True:
        async with session.get(URL(url, encoded=True), allow_redirects=False) as response:
            transfer.answered(response.status)
            refuse_length(response.headers.get("Content-Length", ""))
            if response.status in REDIRECTS:
                location = response.headers.get("Location", "").encode("utf-8", "surrogateescape")
                url = next_url(url, location, job.rules, hops)
                hops += 1
                continue
            refuse_status(response.status)
            if executor is None:
                async for chunk in response.content.iter_any():
                    transfer.take(chunk)
            else:
                await _take_batches(response, transfer, executor)
            return


async def _take_batches(
    response: aiohttp.ClientResponse, transfer: Transfer, executor: ThreadPoolExecutor
) -> None:
    """Hash and write in the executor, batch by batch; the rest, if small, in the loop."""
    loop = asyncio.get_running_loop()
    batch: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        batch.append(chunk)
        size += len(chunk)
        if size >= BATCH_BYTES:
            taking = loop.run_in_executor(executor, transfer.take, b"".join(batch))
            try:
                await asyncio.shield(taking)
            finally:
                await asyncio.wait(
                    (taking,)
                )  # the file is closed only after that, even on cancellation
            batch, size = [], 0
    transfer.take(b"".join(batch))


if __name__ == "__main__":
    lifeline.run(main)
