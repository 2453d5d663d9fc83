"""One of the processes of the engine `curl`. A program, started by `shards`; no Django."""

import json
import os
import sys
import threading
import traceback
from typing import NoReturn

from campaigns.kinds.downloader.engines.checked_curl import Places
from campaigns.kinds.downloader.engines.curl_fetching import Fetcher
from campaigns.kinds.downloader.engines.shards import Shared, numbers_from, shared_counts
from campaigns.kinds.programs.downloading import Job
from campaigns.kinds.programs.transfers import Tally
from campaigns.kit import kernel
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.mappings import ProgramMessage


def main() -> None:
    """Read the request, prepare, wait for the start, and report until no file is left."""
    message = _receive()
    kernel.die_with_parent(message["parent"])
    job = Job.from_request(message["request"])
    at, of = message["at"], message["of"]
    tally = Tally(job.directory, job.items)
    counter = Shared(shared_counts(message["counts"], of), at)
    handles = job.concurrency // of + (at < job.concurrency % of)
    places = Places(job.rules)
    items = (job.items[number] for number in numbers_from(message["queue"]))
    fetcher = Fetcher(job, tally, counter, items, handles, Pacer(None), places)
    _send({"hello": {"concurrency": len(fetcher.handles)}})
    start = _receive()["start"]
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
    end = {"complete": complete, "connections": fetcher.connections, "spoken": fetcher.versions}
    _send({"end": end})
    threading.Event().wait()  # the engine reads its CPU time before it lets it end


def _report(tally: Tally) -> None:
    if rows := tally.new_rows():
        _send({"rows": rows, "examples": tally.examples})


def _listen(stopped: threading.Event) -> NoReturn:
    """Wait for the message to stop, and exit when the engine closes the pipe."""
    while line := sys.stdin.buffer.readline():
        if "stop" in json.loads(line):
            stopped.set()
    os._exit(0)


def _receive() -> ProgramMessage:
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(1)
    message: ProgramMessage = json.loads(line)
    return message


def _send(message: ProgramMessage) -> None:
    sys.stdout.buffer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 - shown on stderr; the listening thread must not keep the process alive
        traceback.print_exc()
        os._exit(1)
