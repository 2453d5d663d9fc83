"""Reach the server of a target, and read what the kinds of one family have in common."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from campaigns.kinds.base.errors import (
    AddressRefused,
    Cancelled,
    DriverError,
    NotClean,
    TargetUnavailable,
)
from campaigns.kinds.base.quiet import busy_text
from campaigns.kinds.base.under_way import note
from campaigns.kinds.base.values import SIMULATOR, Context, Proof, Subject, Target
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.connection import Connection
from campaigns.kit.http.credentials import BadCertificate, Login
from campaigns.kit.http.errors import (
    Answered,
    ClientError,
    LoginRefused,
    NoAnswer,
    NotPermitted,
    Strange,
    Unavailable,
)
from campaigns.kit.network import BadUrl, Refused, Rules
from campaigns.kit.versions import GEM, SEMVER

MOST_SKEW_SECONDS = 60.0
UNKNOWN = "not told"
MARKS_OF_SIMULATORS = ("simulated", "stand-in")
"""What only versions of simulators have; the second is that of a sandbox of 0.1.0, whose results are labelled, too."""
"""The value of a fact that the server does not report."""
CHECK_SERVER = "Check that the server runs, and the target's base URL."
NO_TRUST = (
    "Its certificate is not trusted: give its CA bundle on the target's page, or switch the "
    "verification off there."
)
OWN_CERTIFICATE = (
    " Where a proxy in front of it wants a client certificate, give one that it knows, with its key, "
    "on the target's page."
)


@contextmanager
def connected(
    target: Target, access: Context | Rules, check: Callable[[], None] | None = None
) -> Iterator[Connection]:
    """Connect to a target. Errors of the client are raised as DriverErrors.

    access: the context of an attempt; for a probe, the network rules alone. check: is called all the
    while and ends a request by what it raises; without one, `access.check` of a context.
    """
    with translated_errors():
        try:
            if isinstance(access, Context):
                connection = Connection(
                    target.base_url,
                    access.rules,
                    tls=target.tls,
                    check=check or access.check,
                    sender=access.sender,
                    most_per_second=access.most_per_second,
                )
            else:
                connection = Connection(
                    target.base_url,
                    access,
                    tls=target.tls,
                    check=check or (lambda: None),
                    sender="perfdash",
                )
        except BadCertificate as error:
            raise DriverError(f"{error} Mend it on the target's page.") from None
        try:
            yield connection
        finally:
            connection.close()
            if isinstance(access, Context):
                for waited in connection.unanswered:
                    note(access, max(waited, connection.longest_seconds))


@contextmanager
def katello_of(
    target: Target, access: Context | Rules, check: Callable[[], None] | None = None
) -> Iterator[Katello]:
    """Connect to a target's Katello (see `connected`); the first request that needs it logs in."""
    with connected(target, access, check) as connection:
        yield Katello(connection, target.base_url, Login(target.username, target.password))


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise each error of the client as the DriverError that says what it means for the run."""
    try:
        yield
    except Refused as refusal:
        raise AddressRefused(str(refusal)) from None
    except BadUrl as error:
        raise DriverError(str(error)) from None
    except NoAnswer as error:
        if error.failure == "address":
            raise AddressRefused(str(error)) from None
        raise TargetUnavailable(f"{error} {_advice(error)}") from None
    except LoginRefused as error:
        raise DriverError(f"{error} Check user name and password on the target's page.") from None
    except NotPermitted as error:
        raise DriverError(
            f"{error} Give the target a user with the rights of an administrator."
        ) from None
    except Unavailable as error:
        raise TargetUnavailable(
            f"{error} Look into the logs of its API and whether its database runs."
        ) from None
    except Answered as error:
        raise DriverError(f"{error}") from None
    except Strange as error:
        raise NotClean(f"{str(error).rstrip('.')}. Check the target's base URL.") from None
    except ClientError as error:
        raise NotClean(str(error)) from None


def _advice(error: NoAnswer) -> str:
    """Return what to do about a missing answer."""
    text = str(error)
    if error.failure == "dns":
        return "Check the name in the target's base URL."
    if error.failure == "tls" and "verif" in text.lower():
        return NO_TRUST
    if error.failure == "tls" or (error.failure == "connect" and " https://" in text):
        return CHECK_SERVER + OWN_CERTIFICATE
    return CHECK_SERVER


def while_leased(context: Context) -> Callable[[], None]:
    """Return a check that raises Cancelled once the lease is over, since another run may hold the target.

    It ignores cancelling, so that a cancelled run can still clean up.
    """

    def check() -> None:
        if context.lease_seconds() <= 0:
            raise Cancelled

    return check


def failure_to_end(end: Callable[[], object]) -> str:
    """Call `end`, which stops work that outlasted the run; return why it failed, or an empty text.

    It may fail: the next reset ends what is left.
    """
    try:
        with translated_errors():
            end()
    except DriverError as error:
        return f" {error}"
    return ""


def clock_proof(date: str | None, now: datetime) -> Proof:
    """Compare a header Date with our time `now`. It only warns: a server times its tasks by its own clock.

    A missing or unreadable date proves nothing, and passes.
    """
    try:
        theirs = parsedate_to_datetime(date) if date else None
    except ValueError:
        theirs = None
    if theirs is None:
        return Proof("clock", "any", UNKNOWN, "", ok=True)
    if theirs.tzinfo is None:  # “-0000”: UTC without a statement of the local zone (RFC 5322)
        theirs = theirs.replace(tzinfo=UTC)
    skew = (theirs - now).total_seconds()
    near = abs(skew) <= MOST_SKEW_SECONDS
    return Proof("clock", f"within {MOST_SKEW_SECONDS:g} s", round(skew, 1), "s", near)


def target_facts(target: Target) -> dict[str, str]:
    """Return the facts of the environment that the target's own settings state."""
    return {
        "hardware and network": target.hardware or UNKNOWN,
        "certificate": "verified" if target.tls.verify else "not verified",
    }


def katello_facts(katello: Katello, target: Target) -> dict[str, str]:
    """Return the versions and services of a Katello, with the facts of its target."""
    foreman, version, services = (
        katello.foreman_version(),
        katello.katello_version(),
        katello.ping(),
    )
    facts = {
        "Foreman": foreman,
        "Katello": version,
        "services": ", ".join(f"{name} {status}" for name, status in sorted(services.items())),
        **target_facts(target),
    }
    for mark in MARKS_OF_SIMULATORS:
        if version.endswith(mark):
            facts[SIMULATOR] = f"simulated Katello {version.removesuffix(mark).strip()}"
    return facts


def katello_subjects(facts: Mapping[str, str]) -> list[Subject]:
    """Return Katello and Foreman with their versions: Katello is a gem, Foreman numbers itself semantically."""
    return known_subjects(facts, {"Katello": ("katello", GEM), "Foreman": ("foreman", SEMVER)})


def known_subjects(
    facts: Mapping[str, str], wanted: Mapping[str, tuple[str, str]]
) -> list[Subject]:
    """Return the subjects whose version is the whole value of a fact. wanted: name and scheme by fact."""
    return [
        Subject(name, facts[fact], scheme, fact)
        for fact, (name, scheme) in wanted.items()
        if facts.get(fact, UNKNOWN) != UNKNOWN
    ]


def katello_proofs(katello: Katello) -> list[Proof]:
    """Prove that a Katello answers, accepts the login, and has its services and clock in order."""
    began_at = time.perf_counter()
    version = katello.katello_version()
    seconds = time.perf_counter() - began_at
    foreman = katello.foreman_version()
    return [
        Proof("Foreman", "any", foreman, "", ok=True),
        Proof("Katello", "any", version, "", ok=True),
        Proof("login", "accepted", "accepted", "", ok=True),
        *(
            Proof(f"service {name}", "ok", status, "", status == "ok")
            for name, status in katello.ping().items()
        ),
        Proof("answers", "any", round(seconds, 4), "s", ok=True),
        clock_proof(katello.date(), datetime.now(UTC)),
    ]


def katello_quiet(target: Target, rules: Rules) -> str:
    """Return how many tasks a target's Katello runs, as text; empty without any but those that always do."""
    with katello_of(target, rules) as katello:
        return busy_text(len(katello.tasks_at_work()))


def require_services(katello: Katello) -> None:
    """Raise TargetUnavailable where Katello reports that one of its services is not in order."""
    katello.foreman_version()
    if bad := {name: status for name, status in katello.ping().items() if status != "ok"}:
        shown = "; ".join(f"{name}: {status}" for name, status in bad.items())
        raise TargetUnavailable(
            f"Katello's own services are not in order ({shown}); mend them before measuring."
        )
