"""The engine `futures`: requests in a ThreadPoolExecutor, one session a thread. A program.

docs/reference/kinds/downloader.md defines it exactly; a change here changes what is measured.
"""

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

import requests

from campaigns.kinds.programs import lifeline
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
from campaigns.kit.http import pacing
from campaigns.kit.http.failures import CHUNK_BYTES, FileFailed, classified, refuse_length
from campaigns.kit.http.guarded import (
    EXPECTED,
    FAILURE_CLASSES,
    Limit,
    checked_session,
    location_of,
)
from campaigns.kit.mappings import ProgramResult

LIBRARIES = ("requests", "urllib3")


class Threads(threading.local):
    """The objects of each thread."""

    session: requests.Session
    limit: Limit
    counter: Counter


def prepare() -> None:
    """Load what every run needs, in a process from which programs are forked."""
    tls()
    libraries(*LIBRARIES)


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Report the levels in force; download unless the request is only for these."""
    request = keeper.request
    job = Job.from_request(request)
    own = Threads()
    run = Run(keeper, job)
    pacer = pacing.Threads(run.pacer) if job.most_per_second else None

    def begin_thread() -> None:
        own.limit = Limit(job.file_timeout_seconds)
        own.session = checked_session(job.rules, tls(), sender=job.sender, limit=own.limit)
        own.counter = run.tally.counter()

    with ThreadPoolExecutor(max_workers=job.concurrency, initializer=begin_thread) as pool:
        keeper.report(
            "hello",
            {
                "engine": "futures",
                "libraries": libraries(*LIBRARIES),
                "concurrency": pool._max_workers,
                "http_version": "1.1",
            },
        )
        if request["only_describe"]:
            return {"described": True}
        run.start()
        pending = [pool.submit(download, own, job, item, run, pacer) for item in job.items]
        for future in as_completed(pending):
            future.result()
        run.stop()
    return run.result()


def download(own: Threads, job: Job, item: Item, run: Run, pacer: pacing.Threads | None) -> None:
    """Fetch one file; a failure is counted, not raised."""
    transfer = Transfer(item, run.tally, own.counter)
    try:
        _fetch(own, job, transfer, pacer)
        transfer.complete()
    except FileFailed as failure:
        transfer.failed(failure)
    except EXPECTED as error:
        transfer.failed(classified(error, FAILURE_CLASSES))


def _fetch(own: Threads, job: Job, transfer: Transfer, pacer: pacing.Threads | None) -> None:
    session, url, hops = own.session, transfer.item.url, 0
    timeout = (job.connect_timeout_seconds, job.read_timeout_seconds)
    while True:
        if pacer:
            transfer.held_back(pacer.turn())
        own.limit.begin(transfer.seconds)
        with session.get(url, stream=True, allow_redirects=False, timeout=timeout) as response:
            transfer.answered(response.status_code)
            refuse_length(response.headers.get("Content-Length", ""))
            if response.status_code in REDIRECTS:
                url = next_url(url, location_of(response.headers), job.rules, hops)
                hops += 1
                continue
            refuse_status(response.status_code)
            for chunk in response.raw.stream(CHUNK_BYTES, decode_content=False):
                transfer.take(chunk)
            return


if __name__ == "__main__":
    lifeline.run(main)
