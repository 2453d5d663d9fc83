"""Reach the server of a target, and say what a client's errors mean for a run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from campaigns.kinds.base.errors import (
    AddressRefused,
    Cancelled,
    DriverError,
    NotClean,
    TargetUnavailable,
)
from campaigns.kinds.base.values import Context, Target
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


@contextmanager
def katello_of(
    target: Target,
    rules: Rules,
    check: Callable[[], None],
    sender: str = "perfdash",
    most_per_second: float | None = None,
) -> Iterator[Katello]:
    """Connect to a target's Katello; the first request that needs it logs in."""
    with connected(target, rules, check, sender, most_per_second) as connection:
        login = Login(target.username, target.password)
        yield Katello(connection, target.base_url, login)


@contextmanager
def connected(
    target: Target,
    rules: Rules,
    check: Callable[[], None],
    sender: str,
    most_per_second: float | None,
) -> Iterator[Connection]:
    """Connect to a target. Errors of the client leave as what a driver raises."""
    with in_words():
        try:
            connection = Connection(
                target.base_url,
                rules,
                tls=target.tls,
                check=check,
                sender=sender,
                most_per_second=most_per_second,
            )
        except BadCertificate as error:
            raise DriverError(f"{error} Mend it on the target's page.") from None
        try:
            yield connection
        finally:
            connection.close()


@contextmanager
def in_words() -> Iterator[None]:
    """Yield what errors of the client mean for the run."""
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


def while_leased(context: Context) -> Callable[[], None]:
    """Return what ends a request once another run may hold the target. Cancelling does not: it is obeyed."""

    def check() -> None:
        if context.lease_seconds() <= 0:
            raise Cancelled

    return check


def what_does_not_end(end: Callable[[], object]) -> str:
    """End what goes on after the time of a run; say what does not, which the next reset will see to."""
    try:
        with in_words():
            end()
    except DriverError as error:
        return f" {error}"
    return ""


OTHERWISE = "Check that the server runs, and the target's base URL."
NO_TRUST = (
    "Its certificate is not trusted: give its CA bundle on the target's page, or switch the "
    "verification off there."
)
OWN_CERTIFICATE = (
    " Where what stands before it wants a client certificate, give one that it knows, with its key, "
    "on the target's page."
)


def _advice(error: NoAnswer) -> str:
    """Return what to do where no answer came."""
    said = str(error)
    if error.failure == "dns":
        return "Check the name in the target's base URL."
    if error.failure == "tls" and "verif" in said.lower():
        return NO_TRUST
    if error.failure == "tls" or (error.failure == "connect" and " https://" in said):
        return OTHERWISE + OWN_CERTIFICATE
    return OTHERWISE
