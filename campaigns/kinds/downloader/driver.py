"""The kind `downloader`: fetch the files of a PULP_MANIFEST repository into a directory.

docs/reference/kinds/downloader.md describes the engines, and defines what is measured.
"""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from campaigns.kinds.base import (
    SIMULATOR,
    Cancelled,
    ClosedLoop,
    Context,
    CutShort,
    Distribution,
    Driver,
    EffectiveSetting,
    GeneratorFailed,
    Health,
    LevelNotInForce,
    Measured,
    Metric,
    NotClean,
    Parameters,
    Phase,
    Preset,
    Proof,
    Recomputed,
    Series,
    Target,
    cut_short,
)
from campaigns.kinds.base.content import content_proofs
from campaigns.kinds.base.places import url_of
from campaigns.kinds.downloader.form import FILE_TIMEOUT_SECONDS, DownloaderForm
from campaigns.kinds.downloader.levels import (
    AUTOMATIC,
    in_force,
    misfits,
    spoken,
)
from campaigns.kinds.downloader.presets import presets
from campaigns.kinds.downloader.source import (
    PROBE,
    SANDBOX_CONTENT,
    ask,
    ask_as_target,
    entries_of,
    look,
)
from campaigns.kinds.downloader.summary import PERCENTILES, Download
from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.health import is_local, judge, percentile
from campaigns.kinds.programs.program import (
    Outcome,
    ProgramFailed,
    WaitingProgram,
    run_program,
)
from campaigns.kit import histogram
from campaigns.kit.http.failures import FAILURES
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.mappings import ProgramHello, ProgramProgress, ProgramRequest
from campaigns.kit.network import Rules, normalised_address

SANDBOX = "perfdash-sandbox"
"""The header Server of the sandbox, which simulates a server."""
DESCRIBE_SECONDS = 30.0
THE_GENERATORS_OWN = ("disk", "disk_full")
"""Failures of files that the generator caused, not the target."""
READ_BYTES = 4 * 1024 * 1024

COLUMNS = {"file_time": "total_seconds", "first_byte": "first_byte_seconds"}

MODULES = {
    "asyncio": "campaigns.kinds.downloader.engines.asyncio",
    "futures": "campaigns.kinds.downloader.engines.futures",
    "curl": "campaigns.kinds.downloader.engines.curl",
}
WAITING = frozenset({"asyncio", "futures"})
"""Engines whose program reports all its levels before it has work to do: curl learns the version of HTTP from the server."""
SECONDS_TO_START_AND_END = 15.0
"""What a program may take besides the time limit of its run."""
Waiting = tuple[ProgramRequest, WaitingProgram]
"""An engine that waits, and its request."""


class Downloader(Driver):
    """Compares clients that fetch the files of a repository over HTTP."""

    label = "Downloader"
    _waiting: dict[Path, Waiting] = {}
    """Engines of attempts of this process that wait for `measure`, by the attempt's directory."""
    summary = "Fetches the files of a PULP_MANIFEST repository over HTTP, and checks every digest."
    question = "Is the asyncio downloader faster than futures?"
    families = ("http",)
    parameters = DownloaderForm
    first_factors = ("engine", "concurrency")
    amount = ("files processed", "bytes on disk")
    sample = "file"
    work_units = ("file", "GB")
    closed_loop = ClosedLoop("concurrency", "file_rate", "file_time", "throughput")
    metrics = (
        Metric("duration", "Duration", "s", lower_is_better=True, primary=True),
        Metric("throughput", "Throughput", "MB/s", lower_is_better=False),
        Metric("file_rate", "Files per second", "files/s", lower_is_better=False),
        Metric(
            "effective_concurrency", "Effective concurrency", "connections", lower_is_better=False
        ),
        Metric("cpu_seconds", "CPU time of the generator", "s", lower_is_better=True),
        Metric("peak_memory", "Peak memory of the generator", "MB", lower_is_better=True),
        Metric("failed_files", "Failed files", "files", lower_is_better=True),
        Metric(
            "file_time_p50", "Time of a file, median", "ms", lower_is_better=True, percentile=0.5
        ),
        Metric(
            "file_time_p95",
            "Time of a file, p95",
            "ms",
            lower_is_better=True,
            percentile=0.95,
        ),
    )

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that the base URL answers a HEAD request; a server that does not implement it is sent a GET."""
        answer = ask_as_target(target, rules, "HEAD")
        if answer.status == HTTPStatus.NOT_IMPLEMENTED:
            answer = ask_as_target(target, rules, "GET")
        return [
            Proof("HTTP status", "below 500", answer.status, "", answer.status < 500),
            Proof(
                "answer",
                f"within {PROBE.total_seconds:g} s",
                round(answer.seconds, 4),
                "s",
                ok=True,
            ),
        ]

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Empty the attempt's directory, fetch the manifest, and check that there is room for its files."""
        try:
            shutil.rmtree(context.directory, ignore_errors=True)
            context.directory.mkdir(parents=True)
            sizes = [path.lstat().st_size for path in context.directory.rglob("*")]
        except OSError as error:
            raise NotClean(
                f"The directory of the run cannot be emptied: {error}. Check WORK_DIRECTORY."
            ) from error
        needed = sum(entry.size for entry in entries_of(target, parameters, context))
        free = shutil.disk_usage(context.directory).free
        return [
            Proof("files in the directory", 0, len(sizes), "files", not sizes),
            Proof("bytes in the directory", 0, sum(sizes), "B", not sum(sizes)),
            Proof("free disk of the generator", f"at least {needed}", free, "B", free >= needed),
        ]

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Start the engine, and read back its levels and libraries. Where it can, it then waits to be measured."""
        _check_engine(parameters)
        if parameters["engine"] in WAITING:
            hello = self._start_waiting(target, parameters, context)
        else:
            request = request_of(
                target, parameters, context, (), DESCRIBE_SECONDS, only_describe=True
            )
            hello = run_engine(parameters, request, context, DESCRIBE_SECONDS).hello
        libraries = hello.get("libraries", {})
        made_of = ", ".join(f"{name} {version}" for name, version in libraries.items())
        url = url_of(target.base_url, parameters["manifest"])
        return [
            *in_force(parameters, hello, context),
            EffectiveSetting("libraries", "as installed", made_of, bool(made_of)),
            EffectiveSetting("manifest", parameters["manifest"], url, ok=True),
        ]

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Fetch all files in the engine program; the manifest was fetched before."""
        entries = entries_of(target, parameters, context)
        limit = context.deadline_seconds
        request = request_of(target, parameters, context, entries, limit)
        waiting = self._waiting.get(context.directory)
        try:
            with cut_short(context, len(entries), _counts) as watched:
                outcome = run_engine(parameters, request, watched, limit, waiting)
        except CutShort as cut:
            return cut.measured("files")
        reported = {**outcome.hello, **spoken(outcome.result)}
        for setting in in_force(parameters, reported, context):
            if not setting.ok and not outcome.timed_out:
                raise LevelNotInForce(
                    f"{setting.name} was to be {setting.asked}, but {setting.in_force} was in "
                    f"force. {setting.why}".rstrip()
                )
        download = Download(entries, outcome.samples, outcome.result, limit)
        for failure, count in download.failures().items():
            example = outcome.result.get("examples", {}).get(failure, "")
            message = f"{count} files failed ({failure}: {FAILURES[failure]}); first {example}"
            if failure in THE_GENERATORS_OWN:
                raise GeneratorFailed(
                    f"{message} Make room in WORK_DIRECTORY, or name another place."
                )
            context.say(message)
        return _measured(download, is_local(url_of(target.base_url, parameters["manifest"])))

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove the digest of every file on the disk, without the engine."""
        entries: Sequence[manifest.Entry] = measured.work["entries"]
        done = [entries[index] for index in measured.work["done"]]
        root = context.directory / "files"
        sizes_on_disk = [path.stat().st_size for path in root.rglob("*") if path.is_file()]
        whole = sum(_is_whole(root / entry.name, entry, context) for entry in done)
        size = sum(entry.size for entry in done)
        ended = measured.units_done + measured.units_failed
        return [
            Proof(
                "files on disk",
                len(done),
                len(sizes_on_disk),
                "files",
                len(sizes_on_disk) == len(done),
            ),
            Proof("bytes on disk", size, sum(sizes_on_disk), "B", sum(sizes_on_disk) == size),
            Proof("digests that match", len(done), whole, "files", whole == len(done)),
            Proof("files processed", len(entries), ended, "files", ended == len(entries)),
            *content_proofs([(entry.sha256, entry.size) for entry in entries], "files"),
        ]

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """Return the URL of the manifest; its files are next to it."""
        return {"manifest": url_of(base_url, parameters["manifest"])}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return presets for the published repositories, and for servers of one's own."""
        return presets(sandbox_url)

    def offers(self, base_url: str, sandbox_url: str) -> Mapping[str, Sequence[str]]:
        """Return manifests of the sandbox, where it is the target."""
        if not sandbox_url or base_url.rstrip("/").count("/") != 2:
            return {}
        if normalised_address(base_url) != normalised_address(sandbox_url):
            return {}
        return {"manifest": [f"repo/{content}/PULP_MANIFEST" for content in SANDBOX_CONTENT]}

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that the server has the manifest, by a HEAD request."""
        look(url_of(target.base_url, parameters["manifest"]), rules)

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return a message where engines do not support the selected version of HTTP."""
        return misfits(parameters, factors)

    def concurrency(self, parameters: Parameters) -> int:
        """Return the number of tasks, threads or transfers; each has one request at a time."""
        return int(parameters["concurrency"])

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return the header Server."""
        answer = ask(target.base_url, context.rules, context, PROBE, method="HEAD")
        server = answer.headers.get("Server", "not told")
        simulator = {SIMULATOR: "sandbox of perfdash"} if server == SANDBOX else {}
        return {"server": server, **simulator}

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """End an engine that still waits, and remove the attempt's directory with all that was downloaded."""
        self._end_waiting(context)
        shutil.rmtree(context.directory, ignore_errors=True)
        if context.directory.exists():
            raise NotClean(f"{context.directory} cannot be removed; remove it by hand.")

    def _start_waiting(
        self, target: Target, parameters: Parameters, context: Context
    ) -> ProgramHello:
        """Start the engine with its work, for `measure` in the same thread; return what it reported about itself."""
        self._end_waiting(context)
        entries = entries_of(target, parameters, context)
        request = request_of(target, parameters, context, entries, context.deadline_seconds)
        try:
            program = WaitingProgram(
                MODULES[parameters["engine"]],
                request | {"waits": True},
                cancelled=context.cancelled,
                lease_seconds=context.lease_seconds,
                deadline_seconds=DESCRIBE_SECONDS,
            )
        except ProgramFailed as error:
            raise GeneratorFailed(str(error)) from error
        self._waiting[context.directory] = (request, program)
        if program.ended is not None:
            self._end_waiting(context)
            if program.ended.cancelled:
                raise Cancelled
            raise GeneratorFailed(
                f"The engine was not ready within {DESCRIBE_SECONDS:g} s. Look at the load of the generator."
            )
        return program.hello

    def _end_waiting(self, context: Context) -> None:
        _, program = self._waiting.pop(context.directory, (None, None))
        if program is not None:
            program.remove()

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Count files and take percentiles again; rates are over the stored duration."""
        rows = [row for row, failure in enumerate(samples["failure"]) if not failure]
        recomputed = {"failed_files": float(len(samples["failure"]) - len(rows))}
        seconds = values.get("duration")
        if seconds and rows:
            recomputed["file_rate"] = len(rows) / seconds
            recomputed["throughput"] = sum(samples["bytes"][row] for row in rows) / 1e6 / seconds
        columns = {name: [samples[column][row] for row in rows] for name, column in COLUMNS.items()}
        times = {
            name: [round(each * 1e6) for each in column]
            for name, column in columns.items()
            if None not in column  # of aria2, an engine of earlier versions, which knew no times
        }
        file_times = times.get("file_time", [])
        for name, share in PERCENTILES.items():
            if not histogram.needs(len(file_times), share):
                recomputed[name] = percentile(file_times, share) / 1000
        return Recomputed(recomputed, times, units_done=len(rows))

    def work_done(self, measured: Measured, seconds: float) -> Mapping[str, float]:
        """Return the files and gigabytes that were downloaded."""
        values = measured.values
        done = {"file": float(measured.units_done)}
        if "throughput" in values and "duration" in values:
            done["GB"] = values["throughput"] * values["duration"] / 1000
        return done

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: the size of a repository is known only from its manifest."""
        return 2.0


def _check_engine(parameters: Parameters) -> None:
    """Raise LevelNotInForce for an engine that is none any more: an earlier version planned the run."""
    try:
        DownloaderForm.base_fields["engine"].clean(parameters["engine"])
    except ValidationError as error:
        raise LevelNotInForce(" ".join(error.messages)) from None


def _measured(download: Download, is_target_here: bool) -> Measured:
    """Return the result of a run as every driver returns it."""
    result, done = download.result, download.done()
    figures = result.get("figures", {}) | {"target_is_here": float(is_target_here)}
    verdict = judge(figures)
    rates = [value / 1e6 for value in result.get("bytes_per_second", [])]
    values = download.values()
    cut_off = frozenset({"duration", "cpu_seconds", "peak_memory"} & values.keys())
    return Measured(
        values=values,
        health=Health(verdict.word, verdict.reasons, figures),
        samples=download.samples(),
        series=[Series("throughput", "MB/s", result["step_seconds"], rates)] if rates else [],
        distributions=[Distribution.of(name, times) for name, times in download.times_us().items()],
        phases=[Phase(name, seconds) for name, seconds in download.phases().items()],
        units_done=len(done),
        units_failed=download.failed,
        failures=download.failures(),
        censored=frozenset() if download.complete else cut_off,
        failure=download.failure(),
        work={"entries": download.entries, "done": done},
    )


def _is_whole(path: Path, entry: manifest.Entry, context: Context) -> bool:
    """Return whether the file has the size and digest of the manifest. Raise Cancelled."""
    digest, size = hashlib.sha256(), 0
    context.check()
    with suppress(OSError), path.open("rb") as file:
        while data := file.read(READ_BYTES):
            digest.update(data)
            size += len(data)
            context.check()
    return size == entry.size and digest.hexdigest() == entry.sha256


def request_of(
    target: Target,
    parameters: Parameters,
    context: Context,
    entries: Sequence[manifest.Entry],
    limit_seconds: float,
    *,
    only_describe: bool = False,
) -> ProgramRequest:
    """Return the request of an engine program (`downloading.Job`)."""
    url = url_of(target.base_url, parameters["manifest"])
    return {
        "base_url": url.rpartition("/")[0] + "/",
        "files": [[entry.name, entry.sha256, entry.size] for entry in entries],
        "directory": str(context.directory),
        "rules": context.rules.to_json(),
        "concurrency": parameters["concurrency"],
        "connect_timeout_seconds": parameters["connect_timeout_seconds"],
        "read_timeout_seconds": parameters["read_timeout_seconds"],
        "file_timeout_seconds": parameters.get("file_timeout_seconds", FILE_TIMEOUT_SECONDS),
        "time_limit_seconds": limit_seconds,
        "event_loop": parameters["event_loop"],
        "hashing": parameters["hashing"],
        "http_version": parameters.get("http_version", AUTOMATIC),
        "processes": parameters.get("processes", AUTOMATIC),
        "sender": context.sender,
        "most_concurrent": context.most_concurrent,
        "most_per_second": context.most_per_second,
        "only_describe": only_describe,
    }


def _counts(values: ProgramProgress) -> tuple[int, int]:
    """Return how many files were fetched, and how many failed by the target's doing."""
    failed = int(values.get("files_failed") or 0) - int(values.get("own_failures") or 0)
    return int(values.get("files_done") or 0), failed


def run_engine(
    parameters: Parameters,
    request: ProgramRequest,
    context: Context,
    limit_seconds: float,
    waiting: Waiting | None = None,
) -> Outcome:
    """Run the engine program: the one that waits with this request, else a new one.

    Raise Cancelled, or GeneratorFailed with the end of its stderr.
    """
    first_wait = Pacer(context.most_per_second).distance_seconds
    deadline_seconds = limit_seconds + SECONDS_TO_START_AND_END + first_wait
    try:
        if waiting is not None and waiting[0] == request and waiting[1].is_waiting():
            outcome = waiting[1].run(
                cancelled=context.cancelled,
                deadline_seconds=deadline_seconds,
                progress=context.progress,
            )
        else:
            outcome = run_program(
                MODULES[parameters["engine"]],
                request,
                cancelled=context.cancelled,
                lease_seconds=context.lease_seconds,
                deadline_seconds=deadline_seconds,
                progress=context.progress,
                keep_loaded=True,
            )
    except ProgramFailed as error:
        raise GeneratorFailed(str(error)) from error
    if outcome.cancelled:
        raise Cancelled
    return outcome


driver = Downloader()
