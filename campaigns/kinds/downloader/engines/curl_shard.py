"""One of the processes of the engine `curl`, forked by `shards`; no Django."""

import threading

from campaigns.kinds.downloader.engines.checked_curl import Places
from campaigns.kinds.downloader.engines.curl_fetching import Fetcher
from campaigns.kinds.downloader.engines.shards import Shard, listen
from campaigns.kinds.programs.downloading import Job
from campaigns.kinds.programs.transfers import Tally
from campaigns.kit.http.pacing import Pacer


def fetch(shard: Shard, job: Job, tally: Tally, places: Places) -> None:
    """Prepare, wait for the start, and report until no file is left."""
    handles = job.concurrency // shard.of + (shard.at < job.concurrency % shard.of)
    items = (job.items[number] for number in shard.numbers())
    fetcher = Fetcher(job, tally, shard.counter, items, handles, Pacer(None), places)
    shard.send({"hello": {"concurrency": len(fetcher.handles)}})
    start = shard.receive()["start"]
    tally.origin = start["origin"]
    if start["places"]:
        places.take(*start["places"])
    stopped = threading.Event()
    threading.Thread(target=listen, args=(shard, stopped), name="listen", daemon=True).start()

    def ended() -> bool:
        report()
        return stopped.is_set()

    def report() -> None:
        if rows := tally.new_rows():
            shard.send({"rows": rows, "examples": tally.examples})

    complete = fetcher.run(ended)
    report()
    end = {"complete": complete, "connections": fetcher.connections, "spoken": fetcher.versions}
    shard.send({"end": end})
