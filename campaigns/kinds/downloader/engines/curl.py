"""The engine `curl`: libcurl's multi interface, in one or several processes. A program.

docs/reference/kinds/downloader.md defines it exactly; a change here changes what is measured.
"""

import os
from typing import Any

from campaigns.kinds.downloader.engines.checked_curl import (
    CheckedCurl,
    Places,
    spoken,
    trusted_paths,
)
from campaigns.kinds.downloader.engines.checked_curl import libraries as of_pycurl
from campaigns.kinds.downloader.engines.curl_fetching import Fetcher
from campaigns.kinds.downloader.engines.curl_shard import fetch
from campaigns.kinds.downloader.engines.shards import Shards
from campaigns.kinds.programs import lifeline
from campaigns.kinds.programs.downloading import Job, Run, libraries
from campaigns.kinds.programs.transfers import Tally
from campaigns.kit.http.failures import FileFailed
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.mappings import ProgramHello, ProgramResult
from campaigns.kit.network import parse_url

MOST_AUTOMATIC = 2
"""In measurements, more processes were not worth their memory."""

FORKS = True
"""Whether `main` forks."""


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Report the levels in force; download unless the request is only for these."""
    request = keeper.request
    job = Job.from_request(request)
    shards = processes(job)
    places = Places(job.rules)
    if parse_url(request["base_url"]).scheme == "https":
        trusted_paths()  # before the clock runs, and once for all processes
    hello: ProgramHello = {
        "engine": "curl",
        "libraries": libraries() | of_pycurl(),
        "concurrency": job.concurrency,
        "processes": shards,
    }
    if request["only_describe"]:
        keeper.watch()
        keeper.report("hello", hello | {"http_version": _spoken(job, places, request["base_url"])})
        return {"described": True}
    tally = Tally(job.directory, job.items)
    if shards == 1:
        keeper.watch()
        return _download(keeper, job, Run(keeper, job, tally), places, hello)
    with Shards(keeper, job, shards, lambda shard: fetch(shard, job, tally, places)) as workers:
        keeper.watch()
        return _download_in_shards(keeper, job, Run(keeper, job, tally), places, hello, workers)


def processes(job: Job) -> int:
    """Return how many processes share the files.

    With a rate limit of the owner there is one, since only one can keep it; no process may be without work.
    """
    if job.most_per_second:
        return 1
    cores = len(os.sched_getaffinity(0))
    wanted = min(MOST_AUTOMATIC, cores) if job.processes == "automatic" else int(job.processes)
    return min(wanted, job.concurrency)


def _download(
    keeper: lifeline.Lifeline, job: Job, run: Run, places: Places, hello: ProgramHello
) -> ProgramResult:
    """Fetch all in this process."""
    fetcher = Fetcher(
        job, run.tally, run.tally.counter(), iter(job.items), job.concurrency, run.pacer, places
    )
    keeper.report("hello", {**hello, "concurrency": len(fetcher.handles)})
    run.extra = lambda: {"connections": float(fetcher.connections)}
    run.start()
    fetcher.run()
    run.stop()
    return run.result() | {"spoken": dict(fetcher.versions)}


def _download_in_shards(
    keeper: lifeline.Lifeline,
    job: Job,
    run: Run,
    places: Places,
    hello: ProgramHello,
    workers: Shards,
) -> ProgramResult:
    """Fetch all in several processes, which take the files from one queue."""
    workers.join(run)
    handles = sum(one["concurrency"] for one in workers.ready())
    keeper.report("hello", {**hello, "concurrency": handles})
    run.extra = lambda: {"connections": float(workers.figure("connections"))}
    run.start()
    workers.start({"places": _resolved(job, places)})
    complete = workers.wait()
    run.stop()
    return run.result(complete=complete) | {"spoken": workers.counts("spoken")}


def _resolved(job: Job, places: Places) -> list[Any]:
    """Resolve the server's name once for all processes; a failure is passed to them, too."""
    if not job.items:
        return []
    url = job.items[0].url
    try:
        return [url, places.of(url).addresses, "", ""]
    except FileFailed as failed:
        return [url, (), failed.failure, str(failed)]


def _spoken(job: Job, places: Places, base_url: str) -> str:
    """Return the version of HTTP that the server uses; without TLS it is always 1.1."""
    if job.http_version == "1.1" or parse_url(base_url).scheme == "http":
        return "1.1"
    pacer = Pacer(job.most_per_second)
    pacer.wait()
    curl = CheckedCurl(job.rules, job.sender, job.http_version, job.connect_timeout_seconds)
    longest = job.connect_timeout_seconds + job.read_timeout_seconds
    try:
        return spoken(base_url, places, curl, longest)
    except FileFailed as failed:
        return f"not known ({failed})"


if __name__ == "__main__":
    lifeline.run(main, forks=FORKS)
