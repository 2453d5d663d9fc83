"""Fetch the manifest and the answer to a probe from the target, without an engine."""

import ssl

from campaigns.kinds.base import (
    AddressRefused,
    Context,
    DriverError,
    NotClean,
    Parameters,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.places import url_of
from campaigns.kinds.downloader.form import FILE_TIMEOUT_SECONDS
from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.fetch import Answer, Limits, fetch
from campaigns.kit.http.credentials import BadCertificate, context_of
from campaigns.kit.http.failures import ANONYMOUS, FAILURES, FileFailed
from campaigns.kit.network import BadUrl, Refused, Rules

PROBE = Limits(
    connect_timeout_seconds=3.0, read_timeout_seconds=5.0, total_seconds=8.0, follow=False
)
REFUSING = frozenset({400, 401, 403, 404, 410, 414, 451})
"""Answers that a repeated request does not change; a server without HEAD gives another one."""
OF_A_SERVER = "Check that the server runs, and the target's base URL."
OF_TLS = (
    "Check the CA bundle of the target, and the client certificate if the server wants one (the target's page). The downloader "
    "itself uses neither."
)
SANDBOX_CONTENT = (
    *("files=100,size=20480", "files=100,size=20480/latency=20"),
    *("preset=many-small", "preset=few-large"),
)
"""Repositories that the sandbox offers."""


def entries_of(
    target: Target, parameters: Parameters, context: Context
) -> tuple[manifest.Entry, ...]:
    """Return the entries of the manifest, which is fetched once for each attempt. Raise DriverError."""
    url = url_of(target.base_url, parameters["manifest"])
    copy = context.directory / "PULP_MANIFEST"
    if not copy.exists():
        longest = parameters.get("file_timeout_seconds", FILE_TIMEOUT_SECONDS)
        limits = Limits(
            parameters["connect_timeout_seconds"],
            parameters["read_timeout_seconds"],
            total_seconds=min(longest, context.deadline_seconds),
            most_bytes=manifest.MOST_BYTES,
        )
        body = _whole(ask(url, context.rules, context, limits))
        try:
            context.directory.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(body)
        except OSError as error:
            raise NotClean(
                f"The manifest cannot be stored: {error.strerror}. Make room in WORK_DIRECTORY."
            ) from error
    try:
        return manifest.parse(copy.read_bytes())
    except manifest.BadManifest as error:
        raise DriverError(f"{error} ({url})") from None


def look(url: str, rules: Rules) -> None:
    """Request the head of a manifest. Raise DriverError where the server has none."""
    answer = ask(url, rules, None, PROBE, method="HEAD")
    if answer.status in REFUSING:
        _whole(answer)


def ask_as_target(target: Target, rules: Rules, method: str) -> Answer:
    """Ask for the base URL with the CA bundle and the client certificate of the target. Raise DriverError without an answer."""
    try:
        tls = context_of(target.tls)
    except BadCertificate as error:
        raise DriverError(f"{error} Mend it on the target's page.") from None
    return ask(target.base_url, rules, None, PROBE, method, tls)


def ask(
    url: str,
    rules: Rules,
    context: Context | None,
    limits: Limits,
    method: str = "GET",
    tls: ssl.SSLContext | None = None,
) -> Answer:
    """Fetch something small from the target. Raise DriverError where there is no answer."""
    check = context.check if context else lambda: None
    sender = context.sender if context else ANONYMOUS
    rate = context.most_per_second if context else None
    try:
        return fetch(url, rules, check, limits, method, sender, rate, tls=tls)
    except Refused as refusal:
        raise AddressRefused(str(refusal)) from None
    except BadUrl as error:
        raise DriverError(str(error)) from None
    except FileFailed as error:
        if error.failure == "address":
            raise AddressRefused(str(error)) from None
        if error.failure == "size":
            raise DriverError(f"{url} is no manifest: it has {error}.") from None
        what_to_do = OF_TLS if error.failure == "tls" else OF_A_SERVER
        raise TargetUnavailable(
            f"{url} gave no answer: {FAILURES[error.failure]} ({error}). {what_to_do}"
        ) from None


def _whole(answer: Answer) -> bytes:
    """Return the body of a manifest's answer. Raise DriverError for every status but 200."""
    if answer.status == 200:
        return answer.body
    message = f"{answer.url} answered {answer.status} instead of the manifest"
    if answer.status >= 500 or answer.status in (408, 425, 429):
        raise TargetUnavailable(f"{message}; look at the server, and run again.")
    raise DriverError(f"{message}; check the parameter manifest and the target's base URL.")
