"""Run the program that fetches: one host for all before the load, and the load."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from campaigns.kinds.base import (
    Context,
    Credential,
    DriverError,
    HostIdentity,
    Parameters,
    ParametersRefused,
    Target,
    TargetUnavailable,
    cut_short,
)
from campaigns.kinds.base.places import url_of
from campaigns.kinds.content_delivery.form import ONE, OWN
from campaigns.kinds.content_delivery.reading import Asking, Listing, asking, directory_of
from campaigns.kinds.content_delivery.requests import (
    PROGRAM,
    Document,
    Package,
    delivering,
    parts,
)
from campaigns.kinds.content_delivery.summary import Delivered
from campaigns.kinds.programs.starving import waited_in
from campaigns.kit.http.credentials import Tls
from campaigns.kit.mappings import ProgramProgress, ProgramRequest
from campaigns.kit.network import Rules

SECONDS_TO_START_AND_END = 60.0
"""What programs may take besides the time limit of the run."""
SEED = 1
"""Of the orders of the hosts: the same in each run, so that all do the same work."""
NO_CONNECTION = frozenset({"connect", "tls"})
NO_CERTIFICATE = (
    "There is no client certificate that hosts could show: give the target one on its page, or name a credential that has one; or choose "
    "another identity."
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What hosts show to the server: a certificate each, or one for all, and further headers."""

    identities: Sequence[HostIdentity] = ()
    certificate: str = ""
    key: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    ca: str = ""


def shown_by(target: Target, parameters: Parameters, context: Context | None = None) -> Shown:
    """Return what the hosts of a run show. context: None outside of a run, which alone knows the hosts of a population. Raise DriverError."""
    credential = credential_for(target, parameters)
    tls = credential.tls if credential else target.tls
    headers = tuple(credential.headers.items()) if credential else ()
    shown = Shown(headers=headers, ca=tls.ca_bundle or target.tls.ca_bundle)
    if parameters["identity"] == ONE:
        if not tls.certificate:
            raise ParametersRefused(NO_CERTIFICATE, {"identity": NO_CERTIFICATE})
        return replace(shown, certificate=tls.certificate, key=tls.key)
    if parameters["identity"] == OWN and context is not None:
        if context.hosts_of is None:
            raise DriverError("Hosts of a population cannot be asked for from here.")
        hosts = context.hosts_of(parameters["population"], parameters["hosts"])
        return replace(shown, identities=hosts)
    return shown


def as_target(target: Target) -> Shown:
    """Return what is shown to see whether a server answers: the target's own certificate, where it has one."""
    own = target.tls
    return Shown(certificate=own.certificate, key=own.key, ca=own.ca_bundle)


def credential_for(target: Target, parameters: Parameters) -> Credential | None:
    """Return the credential that a run names, opened for its repository; None where it names none. Raise CredentialRefused."""
    name = str(parameters.get("credential") or "")
    return target.credential_of(name, [url_at(target, parameters)]) if name else None


def url_at(target: Target, parameters: Parameters) -> str:
    """Return the URL of the repository at a target, whose content may have another address than its base URL."""
    return url_for(target.content_url or target.base_url, parameters)


def url_for(base_url: str, parameters: Parameters) -> str:
    """Return the URL of the repository."""
    return directory_of(url_of(base_url, str(parameters.get("repository") or "")))


def tls_of(target: Target, shown: Shown) -> Tls:
    """Return how a document is read as the first host would."""
    first = shown.identities[0] if shown.identities else None
    return replace(
        target.tls,
        ca_bundle=shown.ca,
        certificate=first.certificate if first else shown.certificate,
        key=first.key if first else shown.key,
    )


def asking_as_host(target: Target, shown: Shown, access: Context | Rules) -> Asking:
    """Return how a document is asked for as the first host would."""
    tls, headers = tls_of(target, shown), dict(shown.headers)
    return (
        asking(access, tls, headers)
        if isinstance(access, Context)
        else Asking(access, tls, headers)
    )


def fetch_once(
    target: Target, parameters: Parameters, context: Context, listing: Listing, shown: Shown
) -> Delivered:
    """Let one host fetch everything once, before the load. Raise DriverError with its words where it did not get all."""
    context.say("the pilot host fetches everything once")
    quietly = replace(context, progress=lambda values: None)
    request = _request(
        target, {**parameters, "hosts": 1, "rounds": 1, "start": "barrier"}, quietly, listing, shown
    )
    outcome = quietly.generate(
        PROGRAM, [request], context.deadline_seconds + SECONDS_TO_START_AND_END
    )
    pilot = Delivered(
        1, len(listing.files), None, outcome.samples, outcome.result, context.deadline_seconds
    )
    if pilot.passed and not pilot.missing:
        return pilot
    _refuse_no_connection(pilot)
    if not pilot.result.get("complete"):
        raise DriverError(
            f"The pilot host, which fetches everything once before the load, had {pilot.fetched:,} of {pilot.planned:,} packages after "
            f"{context.deadline_seconds:g} s. Raise the limit of a run, or fetch fewer packages."
        )
    raise DriverError(
        f"The pilot host, which fetches everything once before the load, got {pilot.fetched:,} of {pilot.planned:,} packages: "
        f"{pilot.first_message()}"
    )


def deliver(
    target: Target, parameters: Parameters, context: Context, listing: Listing, shown: Shown
) -> Delivered:
    """Let all hosts fetch. Raise CutShort, Cancelled, GeneratorFailed, TargetUnavailable."""
    limit = context.deadline_seconds
    request = _request(target, parameters, context, listing, shown)
    generators = int(parameters.get("generators") or 1)
    each = len(listing.files) * parameters["rounds"]
    planned = parameters["hosts"] * each
    with cut_short(_reporting(context), planned, _counts) as watched:
        outcome = watched.generate(
            PROGRAM, parts(request, generators), limit + SECONDS_TO_START_AND_END
        )
    delivered = Delivered(
        parameters["hosts"],
        each,
        bytes_each(listing, parameters),
        outcome.samples,
        outcome.result,
        limit,
    )
    _refuse_no_connection(delivered)
    return delivered


def bytes_each(listing: Listing, parameters: Parameters) -> int | None:
    """Return the bytes that each host fetches; None where the repository does not tell all sizes."""
    sizes = [each.size for each in listing.documents]
    known = [size for size in sizes if size is not None]
    if listing.bytes is None or len(known) < len(sizes):
        return None
    return sum(known) + listing.bytes * int(parameters["rounds"])


def _request(
    target: Target, parameters: Parameters, context: Context, listing: Listing, shown: Shown
) -> ProgramRequest:
    retries = parameters["retries"]
    return delivering(
        context,
        listing.url,
        documents=[Document(*each) for each in listing.documents],
        packages=[Package(*each) for each in listing.files],
        hosts=parameters["hosts"],
        parallel=parameters["parallel"],
        order=parameters["order"],
        seed=SEED,
        profile=parameters["profile"],
        rounds=parameters["rounds"],
        verify=parameters["verify"],
        no_data_seconds=parameters["no_data_seconds"],
        retries=int(retries) if retries.isdigit() else retries,
        start=parameters["start"],
        ramp_seconds=parameters["ramp_seconds"],
        identities=shown.identities,
        certificate=shown.certificate,
        key=shown.key,
        headers=shown.headers,
        ca=shown.ca,
        insecure=not target.tls.verify,
        processes=parameters["processes"],
    )


def _refuse_no_connection(delivered: Delivered) -> None:
    """Raise TargetUnavailable where no host got a connection: nothing was measured."""
    failures = set(delivered.result.get("host_failures") or ())
    if failures and failures <= NO_CONNECTION and not any(delivered.column("files")):
        who = f"None of {delivered.hosts:,} hosts" if delivered.hosts > 1 else "No host"
        raise TargetUnavailable(
            f"{who} got a connection: {delivered.first_message()} Check that the server runs, the target's base URL, its CA bundle, and "
            "the certificate that hosts show."
        )


def _reporting(context: Context) -> Context:
    """Return a context whose progress has the names that all kinds use."""

    def report(values: ProgramProgress) -> None:
        context.progress(
            {
                "seconds": values.get("seconds", 0.0),
                "hosts": values.get("hosts", 0),
                "hosts_done": values.get("hosts_done", 0),
                "packages_done": values.get("packages_done", 0),
                "failed": values.get("packages_failed", 0),
                "doing": "fetches",
                "step_seconds": 1.0,
                "rate_series": [float(count) for count in values.get("per_second", ())],
                **waited_in(values),
            }
        )

    return replace(context, progress=report)


def _counts(values: ProgramProgress) -> tuple[int, int]:
    """Return how many packages came, and how many failed."""
    return int(values.get("packages_done") or 0), int(values.get("packages_failed") or 0)
