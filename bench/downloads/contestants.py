"""What downloads and verifies, ours and others. Each gives wall and CPU time, and leaves the files."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.downloads.server import Files
from campaigns.kinds.programs.program import Outcome, run_program
from campaigns.kit.mappings import ProgramResult
from campaigns.kit.network import parse_rules

CONCURRENCY = 20
LONGEST_SECONDS = 120.0


class NotVerified(Exception):
    """A file is missing, or not as it has to be."""


@dataclass(frozen=True, slots=True)
class Found:
    """One run. Seconds; CPU time of all processes of the client.

    whole, whole_cpu: with the start and the end of the program.
    """

    wall: float
    cpu: float
    whole: float
    whole_cpu: float


Run = Callable[[Files, Path], Found]


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody who downloads and verifies. needs: programs; ours: it has a clock that leaves the start out."""

    name: str
    run: Run
    needs: tuple[str, ...] = ()
    ours: bool = False

    def missing(self) -> list[str]:
        return [program for program in self.needs if not shutil.which(program)]


def result_of(name: str, files: Files, place: Path) -> ProgramResult:
    """Run an engine of the kind downloader with its fastest levels for the files. Raise NotVerified."""
    return _outcome(name, files, place).result


def engine(name: str) -> Run:
    """Give an engine of the kind downloader."""

    def run(files: Files, place: Path) -> Found:
        outcome = _outcome(name, files, place)
        result = outcome.result
        return Found(result["seconds"], result["cpu_seconds"], outcome.seconds, outcome.cpu_seconds)

    return run


def _outcome(name: str, files: Files, place: Path) -> Outcome:
    request = {
        "base_url": files.url,
        "files": [[name, digest, files.size] for name, digest in files.digests.items()],
        "directory": str(place),
        "rules": parse_rules("127.0.0.1:*").to_json(),
        "concurrency": CONCURRENCY,
        "connect_timeout_seconds": 10.0,
        "read_timeout_seconds": 30.0,
        "file_timeout_seconds": LONGEST_SECONDS,
        "time_limit_seconds": LONGEST_SECONDS,
        "event_loop": "uvloop",
        "hashing": "executor" if files.size > 256 * 1024 else "loop",
        "http_version": "automatic",
        "processes": "automatic",
        "sender": "perfdash benchmark",
        "most_concurrent": None,
        "most_per_second": None,
        "only_describe": False,
    }
    outcome = run_program(
        f"campaigns.kinds.downloader.engines.{name}",
        request,
        cancelled=threading.Event(),
        lease_seconds=lambda: LONGEST_SECONDS,
        deadline_seconds=LONGEST_SECONDS,
    )
    if outcome.result["examples"]:
        raise NotVerified(f"{name}: {outcome.result['examples']}")
    return outcome


def aria2c(files: Files, place: Path) -> Found:
    """Let aria2c fetch, and verify by the digests of its list."""
    lines = (
        f"{files.url}{name}\n out={name}\n checksum=sha-256={digest}\n"
        for name, digest in files.digests.items()
    )
    (place / "list").write_text("".join(lines))
    return timed(
        [
            *("aria2c", "--no-conf", "--quiet", f"-j{CONCURRENCY}", "-x1", "-s1"),
            *("--file-allocation=none", f"--dir={place / 'files'}", f"-i{place / 'list'}"),
        ]
    )


def curl_and_sha256sum(files: Files, place: Path) -> Found:
    """Let curl fetch, then sha256sum verify."""
    fetched = curl(files, place)
    lines = (f"{digest}  {name}\n" for name, digest in files.digests.items())
    (place / "sums").write_text("".join(lines))
    verified = timed(["sha256sum", "--quiet", "-c", str(place / "sums")], place / "files")
    return _program(fetched.wall + verified.wall, fetched.cpu + verified.cpu)


def curl_and_openssl(files: Files, place: Path) -> Found:
    """Let curl fetch, then two openssl at once hash half of the files each."""
    fetched = curl(files, place)
    names = list(files.digests)
    halves = names[::2], names[1::2]
    begun, used = time.perf_counter(), _used()
    processes = [
        subprocess.Popen(  # noqa: S603 - arguments are ours
            ["openssl", "dgst", "-sha256", "-r", *half],  # noqa: S607
            cwd=place / "files",
            stdout=subprocess.PIPE,
        )
        for half in halves
    ]
    messages = b"".join(process.communicate()[0] for process in processes).decode().split()
    seconds, cpu = time.perf_counter() - begun, _used() - used
    lines = {
        name.removeprefix("*"): digest
        for digest, name in zip(messages[::2], messages[1::2], strict=True)
    }
    if lines != files.digests:
        raise NotVerified("openssl told other digests")
    return _program(fetched.wall + seconds, fetched.cpu + cpu)


def wget2_and_sha256sum(files: Files, place: Path) -> Found:
    """Let wget2 fetch, then sha256sum verify."""
    (place / "list").write_text("".join(f"{files.url}{name}\n" for name in files.digests))
    fetched = timed(
        [
            "wget2",
            "-q",
            f"--max-threads={CONCURRENCY}",
            "-P",
            f"{place / 'files'}",
            "-i",
            f"{place / 'list'}",
        ]
    )
    lines = (f"{digest}  {name}\n" for name, digest in files.digests.items())
    (place / "sums").write_text("".join(lines))
    verified = timed(["sha256sum", "--quiet", "-c", str(place / "sums")], place / "files")
    return _program(fetched.wall + verified.wall, fetched.cpu + verified.cpu)


def curl(files: Files, place: Path) -> Found:
    """Let the command curl fetch all files in parallel; it verifies nothing."""
    lines = (
        f'url = "{files.url}{name}"\noutput = "{place}/files/{name}"\n' for name in files.digests
    )
    (place / "config").write_text("".join(lines))
    parallel = ["--parallel", "--parallel-max", str(CONCURRENCY)]
    return timed(["curl", "--disable", "--silent", *parallel, "--config", str(place / "config")])


CURL, ASYNCIO, FUTURES = "engine curl", "engine asyncio", "engine futures"
ARIA2C, SHA256SUM, OPENSSL = "aria2c", "curl -Z + sha256sum", "curl -Z + openssl on 2 processes"
CONTESTANTS = (
    Contestant(CURL, engine("curl"), ours=True),
    Contestant(ASYNCIO, engine("asyncio"), ours=True),
    Contestant(FUTURES, engine("futures"), ours=True),
    Contestant(ARIA2C, aria2c, ("aria2c",)),
    Contestant(SHA256SUM, curl_and_sha256sum, ("curl", "sha256sum")),
    Contestant(OPENSSL, curl_and_openssl, ("curl", "openssl")),
    Contestant("wget2 + sha256sum", wget2_and_sha256sum, ("wget2", "sha256sum")),
)


def once(contestant: Contestant, files: Files, place: Path) -> Found:
    """Run a contestant in a directory of its own, which is removed. Raise NotVerified."""
    with emptied(place) as directory:
        result = contestant.run(files, directory)
        written = {path.name: path.stat().st_size for path in (directory / "files").iterdir()}
        if written != dict.fromkeys(files.digests, files.size):
            raise NotVerified(f"{contestant.name} left other files than it was to fetch")
        return result


@contextmanager
def emptied(place: Path) -> Iterator[Path]:
    """Make a directory for one run, with `files` in it, which is removed at the end."""
    directory = place / "run"
    with suppress(FileNotFoundError):
        shutil.rmtree(directory)
    (directory / "files").mkdir(parents=True)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def timed(command: Sequence[str], directory: Path | None = None) -> Found:
    """Run a program to its end. Raise NotVerified where it failed."""
    begun, used = time.perf_counter(), _used()
    done = subprocess.run(command, cwd=directory, capture_output=True, check=False)  # noqa: S603
    result = _program(time.perf_counter() - begun, _used() - used)
    if done.returncode != 0:
        text = (done.stdout + done.stderr)[-500:].decode(errors="replace")
        raise NotVerified(f"{command[0]} ended with {done.returncode}: {text}")
    return result


def _program(seconds: float, cpu: float) -> Found:
    """Give the run of a program, which has only one clock."""
    return Found(seconds, cpu, seconds, cpu)


def _used() -> float:
    """Give the CPU time of children that have ended."""
    times = os.times()
    return times.children_user + times.children_system
