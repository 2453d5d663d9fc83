"""The engine `aria2`: the program aria2c, whose connections are watched. A program.

docs/reference/kinds/downloader.md defines it exactly; a change here changes what is measured.
"""

import math
import os
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from campaigns.kinds.downloader.engines.aria2_output import FileOutcome, Reader
from campaigns.kinds.downloader.engines.connections import Confined, Limits
from campaigns.kinds.programs import lifeline, processes
from campaigns.kinds.programs.downloading import Job, Run, libraries
from campaigns.kinds.programs.pinned import Pinned, allowed_addresses, begin_of
from campaigns.kinds.programs.transfers import Item, Tally
from campaigns.kit.http.failures import FileFailed, headers
from campaigns.kit.mappings import ProgramResult
from campaigns.kit.network import NetworkError, Refused, check_url

PROGRAM = "aria2c"
SECONDS_TO_TELL_ITS_VERSION = 10.0
BEYOND_THE_LARGEST = 64 * 1024
"""Bytes that a file may grow beyond the manifest's largest; aria2 does not know the sizes."""
MEMORY_BYTES, MEMORY_BYTES_A_FILE = 2**30, 2**15
"""The memory limit of aria2c, which buffers endless heads: it fails instead of the machine."""
SECONDS_TO_SETTLE = 1.0
LOOK_SECONDS = 0.5
"""How often it is checked whether any file was processed in time."""
OF_CONTENT = ("digest",)
"""Failures that aria2 reports where the size is wrong."""


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Report the levels in force; download unless the request is only for these."""
    request = keeper.request
    job = Job.from_request(request)
    program = shutil.which(PROGRAM)
    if not program:
        raise FileNotFoundError(f"there is no program {PROGRAM} on this machine; install aria2")
    hello = {
        "engine": "aria2",
        "libraries": libraries() | {PROGRAM: _version(program)},
        "concurrency": job.concurrency,
        "http_version": "1.1",
    }
    keeper.report("hello", hello)
    if request["only_describe"]:
        return {"described": True}
    run = Run(keeper, job)
    with tempfile.TemporaryDirectory(dir=job.directory) as home:
        return _Download(job, run, program, Path(home)).result()


class _Download:
    """One run of aria2c."""

    def __init__(self, job: Job, run: Run, program: str, home: Path) -> None:
        """Start aria2c; it waits for its list of files."""
        self._job, self._run = job, run
        self._places: set[tuple[str, int]] = set()
        self._peak_bytes = 0
        self._settled = Settled(run.tally)
        self._host = ""
        self._settled_at = 0.0
        self._ended_by = ""
        self._killed = threading.Event()
        self._over = threading.Event()
        largest = max((item.size for item in job.items), default=0)
        self._confined = Confined(
            [program, *arguments(job, run.tally)],
            lambda address, port: (address, port) in self._places,
            {"HOME": str(home), "PATH": os.defpath, "LC_ALL": "C"},
            Limits(
                largest + BEYOND_THE_LARGEST, MEMORY_BYTES + MEMORY_BYTES_A_FILE * len(job.items)
            ),
            self._look_at_memory,
        )
        self._process = self._confined.process
        run.tally.count(self._settled)
        run.watch([self._process.pid], self._kill)

    def result(self) -> ProgramResult:
        """Download all files; return the result for the keeper."""
        job, run = self._job, self._run
        run.start()
        try:
            uris = self._pinned()
        except FileFailed as failed:
            self._process.kill()
            for item in job.items:
                run.tally.add_untimed(item, 0, None, failed)
            run.stop()
            return run.result()
        self._settled_at = time.monotonic()
        threading.Thread(target=self._feed, args=(uris,), name="feed", daemon=True).start()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        left = self._take_all(uris)
        run.stop()
        self._over.set()
        if left and not self._killed.is_set():
            raise RuntimeError(
                f"{PROGRAM} ended with {self._process.wait()}, {left} files too early"
            )
        result = run.result(complete=not left) | {"ended_by": self._ended_by}
        return result | {"peak_memory_bytes": result["peak_memory_bytes"] + self._peak_bytes}

    def _pinned(self) -> list[str]:
        """Resolve the server's name, and return the URI of each file. Raise FileFailed."""
        items = self._job.items
        if not items:
            return []
        try:
            endpoint = check_url(items[0].url, self._job.rules)
            addresses = allowed_addresses(endpoint, self._job.rules)
        except NetworkError as error:
            failure = "address" if isinstance(error, Refused) else "protocol"
            raise FileFailed(failure, str(error)) from None
        except OSError as error:
            raise FileFailed(
                "dns", f"the name of {items[0].url} was not resolved: {error}"
            ) from None
        self._places = {(address, endpoint.port) for address in addresses}
        if endpoint.scheme == "https":
            return [item.url for item in items]  # the name is what the certificate is checked for
        first = Pinned(endpoint.scheme, endpoint.host, endpoint.port, addresses[0], items[0].url)
        self._host = first.host_header
        begin, pinned = begin_of(first.url), begin_of(first.url_of_address)
        return [pinned + item.url.removeprefix(begin) for item in items]

    def _feed(self, uris: Sequence[str]) -> None:
        """Write the list; aria2c begins when it has all of it."""
        host = f" header=Host: {self._host}\n" if self._host else ""
        text = "".join(
            f"{uri}\n out={item.index}\n checksum=sha-256={item.sha256}\n{host}"
            for item, uri in zip(self._job.items, uris, strict=True)
        )
        assert self._process.stdin  # noqa: S101 - for the type checker: it is a pipe
        with suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(text.encode())

    def _take_all(self, uris: Sequence[str]) -> int:
        """Read its output until it ends, and stop the clock with the last file; return how many files are left."""
        items = self._job.items
        reader = Reader({uri: item.index for item, uri in zip(items, uris, strict=True)})
        left = {item.index for item in items}

        def settle(outcome: FileOutcome) -> None:
            if outcome.index in left:
                left.discard(outcome.index)
                self._settled_at = time.monotonic()
                self._settled.take(items[outcome.index], outcome)
                if not left:
                    self._run.stop()

        assert self._process.stdout  # noqa: S101
        for line in self._process.stdout:
            for outcome in reader.read(line.decode(errors="replace").rstrip()):
                settle(outcome)
        for outcome in reader.remaining():
            settle(outcome)
        self._settled.tidy_up()
        return len(left)

    def _watch(self) -> None:
        """Kill it where all files in flight have taken longer than a file may.

        aria2c has no such limit, and does not report when it begins a file: it does when another ends.
        """
        longest = self._job.file_timeout_seconds
        while not self._over.wait(min(LOOK_SECONDS, longest / 4)):
            if time.monotonic() - self._settled_at > longest:
                self._ended_by = f"The limit of {longest:g} s for a file, in which none came,"
                self._kill()
                return

    def _look_at_memory(self) -> None:
        """Read its peak memory before it ends; afterwards it cannot be read."""
        both = processes.peak_memory_bytes([self._process.pid])
        self._peak_bytes = both - processes.peak_memory_bytes()

    def _kill(self) -> bool:
        """Kill it at the time limit; `_take_all` then reaches the end of its output."""
        self._look_at_memory()
        self._killed.set()
        self._process.kill()
        return self._over.wait(SECONDS_TO_SETTLE)


class Settled:
    """Renames complete files, and counts the bytes on the disk."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._bytes = 0
        self._most = 0

    @property
    def value(self) -> int:
        """The bytes of processed files, and of those that are being written."""
        size = self._bytes
        with suppress(FileNotFoundError):
            size += sum(
                entry.stat().st_size
                for entry in os.scandir(self._tally.partial_directory)
                if entry.name.isdigit()
            )
        self._most = max(self._most, size)  # a file that is being renamed is not seen
        return self._most

    @value.setter
    def value(self, value: int) -> None:
        raise AttributeError("the bytes on the disk cannot be set")

    def tidy_up(self) -> None:
        """Remove the files by which aria2c would resume."""
        for path in Path(self._tally.partial_directory).glob("*.aria2"):
            path.unlink(missing_ok=True)

    def take(self, item: Item, outcome: FileOutcome) -> None:
        """Rename a complete file, or remove an incomplete one; add the sample."""
        partial = Path(self._tally.partial(item))
        size = partial.stat().st_size if partial.exists() else 0
        failure = outcome.failure
        if size != item.size and (failure is None or failure.failure in OF_CONTENT):
            failure = FileFailed("size", f"{size} of {item.size} bytes")
        elif size > item.size:
            failure = FileFailed("size", f"more than the {item.size} bytes of the manifest")
        if failure is None:
            os.rename(partial, self._tally.final(item))
        else:
            partial.unlink(missing_ok=True)
        self._bytes += size
        self._tally.add_untimed(item, size, outcome.status, failure)


def arguments(job: Job, tally: Tally) -> list[str]:
    """Return the arguments of aria2c; every other option has its default."""
    certificates = ssl.get_default_verify_paths().cafile
    sent = [f"--header={name}: {value}" for name, value in headers(job.sender).items()]
    return [
        *("--no-conf=true", "--no-netrc=true", "--input-file=-", "--deferred-input=true"),
        f"--dir={tally.partial_directory}",
        f"--max-concurrent-downloads={job.concurrency}",
        *("--max-connection-per-server=1", "--split=1", "--max-tries=1"),
        f"--connect-timeout={max(1, math.ceil(job.connect_timeout_seconds))}",
        f"--timeout={max(1, math.ceil(job.read_timeout_seconds))}",
        *(
            "--file-allocation=none",
            "--disk-cache=0",
            "--auto-file-renaming=false",
            "--remote-time=false",
        ),
        *("--follow-metalink=false", "--follow-torrent=false", "--parameterized-uri=false"),
        *("--async-dns=false", "--min-tls-version=TLSv1.2"),
        *([f"--ca-certificate={certificates}"] if certificates else []),
        *("--summary-interval=0", "--show-console-readout=false", "--enable-color=false"),
        *("--console-log-level=notice", "--download-result=hide"),
        f"--user-agent={job.sender}",
        *(header for header in sent if "User-Agent" not in header),
    ]


def _version(program: str) -> str:
    """Return the version of aria2c. Raise OSError or TimeoutExpired where it reports none."""
    completed = subprocess.run(  # noqa: S603 - a program found in PATH, without a shell
        [program, "--no-conf=true", "--version"],
        capture_output=True,
        timeout=SECONDS_TO_TELL_ITS_VERSION,
        check=True,
    )
    return completed.stdout.decode(errors="replace").split("\n", 1)[0].rpartition(" ")[2]


if __name__ == "__main__":
    lifeline.run(main)
