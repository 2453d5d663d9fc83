"""One of the processes of the engine `curl`. A program, started by `shards`; no Django."""

import json
import os
import sys
import threading
import traceback
from collections.abc import Mapping
from typing import Any, NoReturn

from campaigns.kinds.downloader.engines.checked_curl import Places
from campaigns.kinds.downloader.engines.curl_fetching import Fetcher
from campaigns.kinds.downloader.engines.shards import Shared, shared_counts, taken_from
from campaigns.kinds.programs.downloading import Job
from campaigns.kinds.programs.transfers import Tally
from campaigns.kit import kernel
from campaigns.kit.http.pacing import Pacer


def main() -> None:
    """Take the request, get ready, begin when told to, and report until nothing is left."""
    told = _hear()
    kernel.die_with_parent(told["parent"])
    job = Job.from_request(told["request"])
    at, of = told["at"], told["of"]
    tally = Tally(job.directory, job.items)
    counter = Shared(shared_counts(told["counts"], of), at)
    handles = job.concurrency // of + (at < job.concurrency % of)
    places = Places(job.rules)
    items = (job.items[number] for number in taken_from(told["queue"]))
    fetcher = Fetcher(job, tally, counter, items, handles, Pacer(None), places)
    _say({"hello": {"concurrency": len(fetcher.handles)}})
    start = _hear()["start"]
    tally.origin = start["origin"]
    if start["places"]:
        places.take(*start["places"])
    stopped = threading.Event()
    threading.Thread(target=_listen, args=(stopped,), name="listen", daemon=True).start()

    def ended() -> bool:
        _report(tally)
        return stopped.is_set()

    complete = fetcher.run(ended)
    _report(tally)
    end = {
        "complete": complete,
        "connections": fetcher.connections,
        "spoken": fetcher.versions,
    }
    _say({"end": end})
    threading.Event().wait()  # its CPU time is read before it may end


def _report(tally: Tally) -> None:
    if rows := tally.new_rows():
        _say({"rows": rows, "examples": tally.examples})


def _listen(stopped: threading.Event) -> NoReturn:
    """Wait for the word to stop, and end with whoever speaks to us."""
    while line := sys.stdin.buffer.readline():
        if "stop" in json.loads(line):
            stopped.set()
    os._exit(0)


def _hear() -> Mapping[str, Any]:
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(1)
    heard: Mapping[str, Any] = json.loads(line)
    return heard


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 - told on stderr; a thread that listens must not keep us
        traceback.print_exc()
        os._exit(1)
