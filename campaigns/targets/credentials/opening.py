"""Give a credential of a team to a run, once it is checked that it may be sent where the run sends it."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from campaigns.kinds.base import Credential as CredentialView
from campaigns.kinds.base import CredentialRefused
from campaigns.kit import encryption, network, redaction
from campaigns.kit.database_clock import database_now
from campaigns.models import Credential, Team
from campaigns.targets.credentials.ends import warning_of

CredentialOf = Callable[[str, Sequence[str]], CredentialView]
"""See `Target.credential_of`."""
MOST_NAMED = 20


def opener(team: int | None) -> CredentialOf:
    """Return what opens the credentials of a team."""

    def credential_of(name: str, urls: Sequence[str]) -> CredentialView:
        return opened(team, name, urls)

    return credential_of


def knower(team: int | None) -> CredentialOf:
    """Return what finds the credentials of a team, as their pages show them: without secrets."""

    def credential_of(name: str, urls: Sequence[str]) -> CredentialView:
        return _view(_required(team, name, urls))

    return credential_of


def opened(team: int | None, name: str, urls: Sequence[str]) -> CredentialView:
    """Return a credential with its secrets. Raise CredentialRefused, SecretUnreadable."""
    row = _required(team, name, urls)
    key = encryption.decrypt(row.key)
    redaction.remember("".join(key.splitlines()[1:-1]))  # as whoever reads PEM may write it
    return _view(
        row,
        password=encryption.decrypt(row.password),
        token=encryption.decrypt(row.token),
        certificate=encryption.decrypt(row.certificate),
        key=key,
    )


def why_not(team: int | None, name: str, urls: Iterable[str]) -> str:
    """Return why a credential cannot be used for URLs, and what to do; empty where it can."""
    row = Credential.objects.filter(team=team, name=name).first()
    if row is None:
        return _unknown(team, name)
    return why_ended(row, database_now()) or why_not_sent(row, urls)


def ends_soon(team: int | None, name: str) -> str:
    """Return that the certificate of a credential ends soon; empty where it does not, or is over."""
    row, now = Credential.objects.filter(team=team, name=name).first(), database_now()
    if row is None or why_ended(row, now):
        return ""
    warning = warning_of(row, now)
    return f"The certificate of the credential “{row}” {warning}." if warning else ""


def why_ended(row: Credential, now: datetime) -> str:
    """Return that the certificate of a credential is not valid now; empty where it is."""
    if row.ends_at and row.ends_at <= now:
        return (
            f"The certificate of the credential “{row}” ended on {row.ends_at:%Y-%m-%d %H:%M} UTC: give it a new one "
            f"(Credentials, {row})."
        )
    if row.begins_at and row.begins_at > now:
        return f"The certificate of the credential “{row}” is not valid before {row.begins_at:%Y-%m-%d %H:%M} UTC."
    return ""


def why_not_sent(row: Credential, urls: Iterable[str]) -> str:
    """Return that a credential may not be sent to one of the URLs; empty where it may."""
    for url in urls:
        try:
            place = network.origin_of(url)
        except network.NetworkError as error:
            return str(error)
        if place not in row.places:
            known = ", ".join(row.places)
            return (
                f"The credential “{row}” may be sent to {known}, and not to {place}. An operator adds the address to the "
                "credential, and gives its secrets again."
            )
    return ""


def _required(team: int | None, name: str, urls: Sequence[str]) -> Credential:
    """Return the row. Raise CredentialRefused."""
    row = Credential.objects.filter(team=team, name=name).first()
    if row is None:
        raise CredentialRefused(_unknown(team, name))
    if why := why_ended(row, database_now()) or why_not_sent(row, urls):
        raise CredentialRefused(why)
    return row


def _unknown(team: int | None, name: str) -> str:
    rows = Credential.objects.filter(team=team).values_list("name", flat=True)[:MOST_NAMED]
    owner = Team.objects.filter(pk__in=[team]).first()
    return (
        f"The team “{owner}” has no credential “{name}”; it has: {', '.join(rows) or 'none'}. "
        "An operator makes one (Credentials)."
    )


def _view(row: Credential, **secrets: str) -> CredentialView:
    return CredentialView(
        name=row.name,
        version=row.version,
        places=tuple(row.places),
        username=row.username,
        ca=row.ca,
        fingerprint=row.fingerprint,
        **secrets,
    )
