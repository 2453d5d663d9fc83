"""Start the engine programs of the kind `downloader`, and read back what is in force."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kinds.base import Cancelled, Context, GeneratorFailed, Parameters, Target
from campaigns.kinds.downloader.levels import AUTOMATIC, FILE_TIMEOUT_SECONDS, check_installed
from campaigns.kinds.downloader.source import manifest_url
from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.program import Outcome, ProgramFailed, run_program
from campaigns.kit.http.pacing import Pacer

MODULES = {
    "asyncio": "campaigns.kinds.downloader.engines.asyncio",
    "futures": "campaigns.kinds.downloader.engines.futures",
    "curl": "campaigns.kinds.downloader.engines.curl",
    "aria2": "campaigns.kinds.downloader.engines.aria2",
}
SECONDS_TO_START_AND_END = 15.0
"""What a program may take beside the time limit of its run."""


def request_of(
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


def run_engine(
    parameters: Parameters, request: Mapping[str, Any], context: Context, limit_seconds: float
) -> Outcome:
    """Run the engine program. Raise Cancelled, or GeneratorFailed with the end of what it said."""
    check_installed(parameters, context)
    before = Pacer(context.most_per_second).distance_seconds
    try:
        outcome = run_program(
            MODULES[parameters["engine"]],
            request,
            cancelled=context.cancelled,
            lease_seconds=context.lease_seconds,
            deadline_seconds=limit_seconds + SECONDS_TO_START_AND_END + before,
            progress=context.progress,
        )
    except ProgramFailed as error:
        raise GeneratorFailed(str(error)) from error
    if outcome.cancelled:
        raise Cancelled
    return outcome
