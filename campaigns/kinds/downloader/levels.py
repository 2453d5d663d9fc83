"""Determine which levels an engine supports, and which of them are in force."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from campaigns.kinds.base import Context, EffectiveSetting, Parameters
from campaigns.kinds.base.parameters import parameters_of
from campaigns.kinds.downloader.form import DownloaderForm
from campaigns.kit.mappings import ProgramHello, ProgramResult

AUTOMATIC = "automatic"
LEVELS = tuple(
    name
    for name, field in parameters_of(DownloaderForm).items()
    if field.varies and not field.is_work
)
"""The parameters of the client, which its engine reports back."""
UNUSED = {
    "asyncio": ("processes",),
    "futures": ("event_loop", "hashing", "processes"),
    "curl": ("event_loop", "hashing"),
}
"""The parameters that each engine does not use."""
HTTP_2 = ("curl",)
"""The engines that use HTTP/2 where the server supports it."""


def misfits(parameters: Parameters, factors: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Return messages for levels that cannot be in force together with any server."""
    engines = factors.get("engine", (parameters.get("engine"),))
    versions = factors.get("http_version", (parameters.get("http_version"),))
    without = [engine for engine in engines if engine and engine not in HTTP_2]
    if "2" not in versions or not without or {"engine", "http_version"} <= factors.keys():
        return {}  # where both vary, combinations may be left out
    speak = "speaks" if len(without) == 1 else "speak"
    return {
        "http_version": f"{' and '.join(without)} {speak} HTTP/1.1 only: choose the engine curl, "
        "or automatic."
    }


def in_force(
    parameters: Parameters, hello: ProgramHello, context: Context
) -> Iterator[EffectiveSetting]:
    """Yield the levels, compared with what the engine reports of itself."""
    engine = parameters["engine"]
    for name in LEVELS:
        requested = parameters.get(name, AUTOMATIC)
        if name in UNUSED[engine]:
            yield EffectiveSetting(name, requested, "not applicable", ok=True)
        elif name in hello or name != "http_version":
            actual = hello.get(name, "unknown")
            ok = requested in (AUTOMATIC, str(actual), actual)
            why = "" if ok else _why(name, parameters, actual, context)
            yield EffectiveSetting(name, requested, actual, ok, why)


def spoken(result: ProgramResult) -> dict[str, str]:
    """Return the versions of HTTP of all answers; nothing where they are unknown."""
    versions = result.get("spoken", {})
    return {"http_version": " and ".join(sorted(versions))} if versions else {}


def _why(name: str, parameters: Parameters, actual: Any, context: Context) -> str:
    """Return why a level is not in force and what to do, where that is known."""
    match name:
        case "concurrency" if actual == context.most_concurrent:
            return (
                f"The target's owner allows {actual} requests at a time: lower the level, or ask for "
                "more."
            )
        case "http_version" if parameters["engine"] not in HTTP_2:
            return f"{parameters['engine']} speaks HTTP/1.1 only: choose the engine curl."
        case "http_version":
            return (
                "The server did not agree to HTTP/2, which needs TLS: give the target as https://, "
                "and switch HTTP/2 on there; or choose 1.1."
            )
        case "processes" if context.most_per_second:
            return (
                f"One process keeps the {context.most_per_second:g} requests per second that the "
                "target's owner allows: choose 1 or automatic."
            )
        case "processes":
            return "No process may be without a file: raise the concurrency, or choose automatic."
    return ""
