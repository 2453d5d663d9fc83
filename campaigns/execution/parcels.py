"""Hand the secrets of one attempt, or of one trial of a program, to the worker that gets its message.

Workers that measure or generate have no encryption keys. Who sends the message has: it decrypts what the attempt may use,
and seals it in a row with a key that is in the message alone. So a worker reads the secrets of the attempts that it is sent.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db.models import Q

from campaigns.kinds.program.stored import is_version
from campaigns.kit import encryption
from campaigns.models import (
    Attempt,
    Campaign,
    Credential,
    Parcel,
    Population,
    Program,
    SshLogin,
    Target,
    Watch,
)
from campaigns.targets.credentials.forms import SECRETS
from campaigns.targets.credentials.uses import named_in

_keys: list[tuple[int, str]] = []
"""Attempts whose parcels this process has open, with their keys; several threads may serve one attempt."""


def seal_for_attempt(attempt: Attempt) -> None:
    """Seal what the run of an attempt may use: of its campaign's targets, their machines, watches and populations; its credentials and program."""
    campaign = attempt.run.campaign
    secrets = [*_of_targets(campaign.targets), *_of_credentials(campaign)]
    if is_version(campaign.kind):
        for row in Program.objects.filter(kind=campaign.kind):
            secrets += row.secrets.values()
    sealed = encryption.pack(secrets, key_of_attempt(attempt.pk))
    Parcel.objects.update_or_create(attempt=attempt, defaults={"sealed": sealed})


def seal_for_trial(program: Program, target: Target | None) -> str:
    """Seal what the trial of a draft may use, and return the key."""
    key = encryption.key_of(f"trial of program {program.pk}")
    secrets = [*program.secrets.values(), *_of_targets([target] if target else [])]
    sealed = encryption.pack(secrets, key)
    Parcel.objects.update_or_create(program=program, defaults={"sealed": sealed})
    return key


def key_of_attempt(attempt: int) -> str:
    """Return the key for what belongs to an attempt. Raise SecretUnreadable in a worker that was not sent it."""
    if settings.ENCRYPTION_KEYS:
        return encryption.key_of(f"attempt {attempt}")
    for of, key in tuple(_keys):
        if of == attempt:
            return key
    raise encryption.SecretUnreadable(encryption.NOT_GIVEN)


@contextmanager
def opened_for_attempt(attempt: int, key: str) -> Iterator[None]:
    """Let a worker without keys use the secrets of an attempt, and of those that follow in the same campaign.

    Raise SecretUnreadable where nothing was sealed, or with another key.
    """
    with _opened(Q(attempt=attempt), key):
        _keys.append((attempt, key))
        try:
            yield
        finally:
            _keys.remove((attempt, key))


@contextmanager
def opened_for_trial(program: int, key: str) -> Iterator[None]:
    """Let a worker without keys use the secrets of a trial. Raise SecretUnreadable."""
    with _opened(Q(program=program), key):
        yield


def delete_used() -> None:
    """Delete what no worker opens any more."""
    over = Q(attempt__isnull=False) & ~Q(attempt__state__in=Attempt.OPEN)
    tried = Q(program__isnull=False, program__trial_began_at=None)
    Parcel.objects.filter(over | tried).delete()


@contextmanager
def _opened(which: Q, key: str) -> Iterator[None]:
    if settings.ENCRYPTION_KEYS:
        yield
        return
    row = Parcel.objects.filter(which).first()
    with encryption.unpacked(row.sealed if row else "", key):
        yield


def _of_credentials(campaign: Campaign) -> Iterator[str]:
    teams = {target.team_id for target in campaign.targets}
    rows = Credential.objects.filter(team__in=teams, name__in=named_in(campaign))
    for secrets in rows.values_list(*SECRETS):
        yield from secrets


def _of_targets(targets: Iterable[Target]) -> Iterator[str]:
    rows = list(targets)
    for target in rows:
        yield from (target.password, target.client_key)
    of_them = Q(target__in=[target.pk for target in rows])
    logins = SshLogin.objects.filter(of_them).values_list("key", "password")
    watches = Watch.objects.filter(of_them, is_on=True).values_list("key", "password")
    for pair in (*logins, *watches):
        yield from pair
    yield from Population.objects.filter(of_them).values_list("key", flat=True)
