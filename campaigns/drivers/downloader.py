"""The kind `downloader`: fetch a PULP_MANIFEST repository into a directory. No database.

docs/kinds/downloader.md says what each engine does, what is measured and what the words mean.
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from django import forms
from django.core.exceptions import ValidationError

from campaigns import histogram
from campaigns.drivers.base import (
    AddressRefused,
    Cancelled,
    Context,
    Distribution,
    Driver,
    DriverError,
    EffectiveSetting,
    Health,
    LevelNotInForce,
    Measured,
    Metric,
    NotClean,
    Parameters,
    Phase,
    Proof,
    Series,
    Target,
    TargetUnavailable,
)
from campaigns.engines import manifest
from campaigns.engines.download_summary import Download
from campaigns.engines.downloading import KEPT_CHARACTERS
from campaigns.engines.fetch import Answer, Limits, fetch
from campaigns.engines.health import is_here, judge
from campaigns.engines.program import Outcome, ProgramFailed, run_program
from campaigns.engines.transfers import FAILURES, FileFailed
from campaigns.network import BadUrl, Refused, Rules, parse_url

MODULES = {
    "asyncio": "campaigns.engines.asyncio_downloader",
    "futures": "campaigns.engines.futures_downloader",
}
SECONDS_TO_START_AND_END = 15.0
"""What a program may take beside the time limit of its run."""
DESCRIBE_SECONDS = 30.0
PROBE = Limits(connect_timeout_seconds=3.0, read_timeout_seconds=5.0, total_seconds=8.0)
READ_BYTES = 4 * 1024 * 1024


def check_manifest(value: str) -> None:
    """Raise ValidationError where the text is neither a path below the target nor a URL."""
    if not value.isprintable() or any(character in value for character in " ?#\\"):
        raise ValidationError("Give a plain path or URL, without blanks, ?, # or backslashes.")
    path = value
    if "://" in value:
        try:
            parse_url(value)
        except BadUrl as error:
            raise ValidationError(str(error)) from None
        path = urlsplit(value).path
    if ".." in path.split("/"):
        raise ValidationError("Give the path without `..`.")


class DownloaderForm(forms.Form):
    """The parameters of one download."""

    manifest = forms.CharField(
        initial="PULP_MANIFEST",
        max_length=500,
        validators=[check_manifest],
        help_text="Path below the target's base URL, or a whole URL on the target.",
    )
    engine = forms.ChoiceField(
        initial="asyncio",
        choices=[
            ("asyncio", "asyncio (aiohttp)"),
            ("futures", "futures (requests in threads)"),
        ],
        help_text="What downloads.",
    )
    concurrency = forms.IntegerField(
        initial=10,
        min_value=1,
        max_value=1000,
        help_text="Files at a time: tasks and connections, or threads.",
    )
    event_loop = forms.ChoiceField(
        initial="asyncio",
        choices=[("asyncio", "asyncio"), ("uvloop", "uvloop")],
        help_text="The event loop of the engine asyncio; futures have none.",
    )
    hashing = forms.ChoiceField(
        initial="loop",
        choices=[("loop", "in the event loop"), ("executor", "in two threads")],
        help_text="Where the engine asyncio hashes and writes; futures do so in their threads.",
    )
    connect_timeout_seconds = forms.FloatField(
        initial=10.0, min_value=0.1, max_value=600, help_text="Longest wait for a connection."
    )
    read_timeout_seconds = forms.FloatField(
        initial=30.0, min_value=0.1, max_value=600, help_text="Longest wait for the next bytes."
    )


class Downloader(Driver):
    """Compares clients that fetch the files of a repository over HTTP."""

    label = "Downloader"
    summary = "Fetches the files of a PULP_MANIFEST repository over HTTP, and checks every digest."
    question = "Is the asyncio downloader faster than futures?"
    family = "http"
    parameters = DownloaderForm
    factors = ("engine", "concurrency", "manifest", "event_loop", "hashing")
    work = ("manifest",)
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
        Metric("file_time_p50", "Time of a file, median", "ms", lower_is_better=True),
        Metric("file_time_p95", "Time of a file, 95th percentile", "ms", lower_is_better=True),
    )

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Ask for the head of the base URL."""
        answer = _ask(target.base_url, rules, None, PROBE, method="HEAD")
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
        """Empty the attempt's directory, fetch the manifest, and look for room for its files."""
        try:
            shutil.rmtree(context.directory, ignore_errors=True)
            context.directory.mkdir(parents=True)
            sizes = [path.lstat().st_size for path in context.directory.rglob("*")]
        except OSError as error:
            raise NotClean(
                f"The directory of the run cannot be emptied: {error}. Check WORK_DIRECTORY."
            ) from error
        needed = sum(entry.size for entry in _entries(target, parameters, context))
        free = shutil.disk_usage(context.directory).free
        return [
            Proof("files in the directory", 0, len(sizes), "files", not sizes),
            Proof("bytes in the directory", 0, sum(sizes), "B", not sum(sizes)),
            Proof("free disk of the generator", f"at least {needed}", free, "B", free >= needed),
        ]

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Start the engine without work, and read back what it is made of."""
        outcome = _run(
            parameters,
            _request(target, parameters, context, (), DESCRIBE_SECONDS, only_describe=True),
            context,
            DESCRIBE_SECONDS,
        )
        libraries = outcome.hello.get("libraries", {})
        made_of = ", ".join(f"{name} {version}" for name, version in libraries.items())
        url = manifest_url(target.base_url, parameters["manifest"])
        return [
            *_in_force(parameters, outcome.hello),
            EffectiveSetting("libraries", "as installed", made_of, bool(made_of)),
            EffectiveSetting("manifest", parameters["manifest"], url, ok=True),
        ]

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Fetch all files in the engine program; the manifest was fetched before."""
        entries = _entries(target, parameters, context)
        limit = context.deadline_seconds
        outcome = _run(
            parameters, _request(target, parameters, context, entries, limit), context, limit
        )
        for setting in _in_force(parameters, outcome.hello):
            if not setting.ok and not outcome.timed_out:
                raise LevelNotInForce(
                    f"{setting.name} was to be {setting.asked}, but {setting.in_force} was in force."
                )
        download = Download(entries, outcome.samples, outcome.result, limit)
        for failure, count in download.failures().items():
            example = outcome.result.get("examples", {}).get(failure, "")
            context.say(f"{count} files failed ({failure}: {FAILURES[failure]}); first {example}")
        return _measured(download, _is_here(target, parameters))

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Read every file from the disk again, without the engine."""
        entries: Sequence[manifest.Entry] = measured.work["entries"]
        done = [entries[index] for index in measured.work["done"]]
        root = context.directory / "files"
        found = [path.stat().st_size for path in root.rglob("*") if path.is_file()]
        whole = sum(_is_whole(root / entry.name, entry, context) for entry in done)
        size = sum(entry.size for entry in done)
        ended = measured.units_done + measured.units_failed
        return [
            Proof("files on disk", len(done), len(found), "files", len(found) == len(done)),
            Proof("bytes on disk", size, sum(found), "B", sum(found) == size),
            Proof("digests that match", len(done), whole, "files", whole == len(done)),
            Proof("files dealt with", len(entries), ended, "files", ended == len(entries)),
        ]

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """The manifest; its files stand beside it."""
        return {"manifest": manifest_url(base_url, parameters["manifest"])}

    def concurrency(self, parameters: Parameters) -> int:
        """Give the number of tasks or threads; each has one request at a time."""
        return int(parameters["concurrency"])

    def environment(self, target: Target, rules: Rules) -> Mapping[str, str]:
        """Tell what the server calls itself."""
        answer = _ask(target.base_url, rules, None, PROBE, method="HEAD")
        return {"server": answer.headers.get("Server", "not told")}

    def clean_up(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Remove the attempt's directory with all that was downloaded."""
        shutil.rmtree(context.directory, ignore_errors=True)
        if context.directory.exists():
            raise NotClean(f"{context.directory} cannot be removed; remove it by hand.")

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Guess; how much a manifest lists is known only when it has been fetched."""
        return 2.0


def _is_here(target: Target, parameters: Parameters) -> bool:
    """Say whether the repository is served by the generator's own machine."""
    endpoint = parse_url(manifest_url(target.base_url, parameters["manifest"]))
    if endpoint.address is None:
        return endpoint.host == "localhost"
    return is_here(str(endpoint.address))


def _measured(download: Download, is_target_here: bool) -> Measured:
    """Bring what the engine left into the form of every driver."""
    result, done = download.result, download.done()
    figures = result.get("figures", {}) | {"target_is_here": float(is_target_here)}
    verdict = judge(figures)
    rates = [value / 1e6 for value in result.get("bytes_per_second", [])]
    values = download.values()
    cut_off = frozenset({"duration", "cpu_seconds", "peak_memory"} & values.keys())
    coded = {name: histogram.encode(times) for name, times in download.times_us().items()}
    return Measured(
        values=values,
        health=Health(verdict.word, verdict.reasons, figures),
        samples=download.samples(),
        series=[Series("throughput", "MB/s", result["step_seconds"], rates)] if rates else [],
        distributions=[
            Distribution(name, code.encoded, code.count, code.dropped)
            for name, code in coded.items()
        ],
        phases=[Phase(name, seconds) for name, seconds in download.phases().items()],
        units_done=len(done),
        units_failed=download.failed,
        failures=download.failures(),
        censored=frozenset() if download.complete else cut_off,
        failure=download.failure(),
        work={"entries": download.entries, "done": done},
    )


def manifest_url(base_url: str, written: str) -> str:
    """Give the URL of the manifest: a whole URL as it is, a path below the base URL."""
    if "://" in written:
        return written
    path = quote(written.lstrip("/"), safe=KEPT_CHARACTERS + "%")
    return f"{base_url.rstrip('/')}/{path}"


def _entries(
    target: Target, parameters: Parameters, context: Context
) -> tuple[manifest.Entry, ...]:
    """Fetch and read the manifest once an attempt. Raise DriverError in words."""
    url = manifest_url(target.base_url, parameters["manifest"])
    copy = context.directory / "PULP_MANIFEST"
    if not copy.exists():
        limits = Limits(
            parameters["connect_timeout_seconds"],
            parameters["read_timeout_seconds"],
            total_seconds=context.deadline_seconds,
            most_bytes=manifest.MOST_BYTES,
        )
        body = _whole(_ask(url, context.rules, context, limits))
        context.directory.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(body)
    try:
        return manifest.parse(copy.read_bytes())
    except manifest.BadManifest as error:
        raise DriverError(f"{error} ({url})") from None


def _ask(
    url: str, rules: Rules, context: Context | None, limits: Limits, method: str = "GET"
) -> Answer:
    """Fetch something small from the target. Raise DriverError where there is no answer."""
    check = context.check if context else lambda: None
    try:
        return fetch(url, rules, check, limits, method, context.sender if context else "perfdash")
    except Refused as refusal:
        raise AddressRefused(str(refusal)) from None
    except BadUrl as error:
        raise DriverError(str(error)) from None
    except FileFailed as error:
        if error.failure == "address":
            raise AddressRefused(str(error)) from None
        if error.failure == "size":
            raise DriverError(f"{url} is no manifest: it has {error}.") from None
        raise TargetUnavailable(
            f"{url} gave no answer: {FAILURES[error.failure]} ({error}). Check that the server "
            "runs, and the target's base URL."
        ) from None


def _whole(answer: Answer) -> bytes:
    """Give the body of a manifest's answer. Raise DriverError for every status but 200."""
    if answer.status == 200:
        return answer.body
    message = f"{answer.url} answered {answer.status} instead of the manifest"
    if answer.status >= 500 or answer.status in (408, 425, 429):
        raise TargetUnavailable(f"{message}; look at the server, and run again.")
    raise DriverError(f"{message}; check the parameter manifest and the target's base URL.")


def _request(
    target: Target,
    parameters: Parameters,
    context: Context,
    entries: Sequence[manifest.Entry],
    limit_seconds: float,
    *,
    only_describe: bool = False,
) -> dict[str, Any]:
    """Write the request of an engine program (`downloading.Job`)."""
    url = manifest_url(target.base_url, parameters["manifest"])
    return {
        "base_url": url.rpartition("/")[0] + "/",
        "files": [[entry.name, entry.sha256, entry.size] for entry in entries],
        "directory": str(context.directory),
        "rules": context.rules.to_json(),
        "concurrency": parameters["concurrency"],
        "connect_timeout_seconds": parameters["connect_timeout_seconds"],
        "read_timeout_seconds": parameters["read_timeout_seconds"],
        "time_limit_seconds": limit_seconds,
        "event_loop": parameters["event_loop"],
        "hashing": parameters["hashing"],
        "sender": context.sender,
        "only_describe": only_describe,
    }


def _run(
    parameters: Parameters, request: Mapping[str, Any], context: Context, limit_seconds: float
) -> Outcome:
    """Run the engine program. Raise Cancelled, or DriverError with the end of what it said."""
    try:
        outcome = run_program(
            MODULES[parameters["engine"]],
            request,
            cancelled=context.cancelled,
            lease_seconds=context.lease_seconds,
            deadline_seconds=limit_seconds + SECONDS_TO_START_AND_END,
            progress=context.progress,
        )
    except ProgramFailed as error:
        raise DriverError(str(error)) from error
    if outcome.cancelled:
        raise Cancelled
    return outcome


def _in_force(parameters: Parameters, hello: Mapping[str, Any]) -> Iterator[EffectiveSetting]:
    """Compare the levels with what the engine says of itself."""
    for name in ("engine", "concurrency", "event_loop", "hashing"):
        asked = parameters[name]
        unused = parameters["engine"] == "futures" and name in ("event_loop", "hashing")
        in_force = "not used" if unused else hello.get(name, "unknown")
        yield EffectiveSetting(name, asked, in_force, unused or in_force == asked)


def _is_whole(path: Path, entry: manifest.Entry, context: Context) -> bool:
    """Say whether the file has the size and digest of the manifest. Raise Cancelled in between."""
    digest, size = hashlib.sha256(), 0
    context.check()
    with suppress(OSError), path.open("rb") as file:
        while data := file.read(READ_BYTES):
            digest.update(data)
            size += len(data)
            context.check()
    return size == entry.size and digest.hexdigest() == entry.sha256


driver = Downloader()
