"""Define watches of a target, encrypt their secrets, and accept their host keys."""

from copy import copy

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import Columns, FieldValues
from campaigns.models import Target, Watch
from campaigns.targets.given_logins import given_at, password_at_server
from campaigns.targets.machine_logins import (
    SECRETS,
    confirmed_rule,
    require_secret,
    require_shown,
    take_secrets,
)
from campaigns.targets.ssh_logins import is_admin
from campaigns.targets.watches.base import Source
from campaigns.targets.watches.forms import WatchForm
from campaigns.targets.watches.registry import source_of

MOST_WATCHES = 20
LOGIN = ("address", "username")
"""Secrets stay only where these do."""


def revised(watch: Watch) -> Columns:
    """Return the values that the revision of a watch covers, with its secrets as stored."""
    return {name: getattr(watch, name) for name in (*WatchForm.Meta.fields, "options", *SECRETS)}


@transaction.atomic
def save_watch(
    data: FieldValues, target: Target, source: Source, user: User, watch: Watch | None = None
) -> Watch:
    """Create or change a watch, and return it. Raise Invalid.

    An empty key or password leaves the stored one, unless address or user change; an accepted host key then goes, too. A login that was
    given for that user of that machine before is taken, as by another watch; that of commands for an administrator alone.
    """
    before = copy(watch) if watch else None
    row = watch or Watch(target=target, source=source.name)
    form = WatchForm(data, watch=row, source=source)
    if not form.is_valid():
        raise Invalid(messages_of(form))
    if before is None and target.watches.count() >= MOST_WATCHES:
        raise Invalid({"address": [f"A target has at most {MOST_WATCHES} watches."]})
    moved = before is not None and any(
        getattr(before, name) != getattr(row, name) for name in LOGIN
    )
    if moved:
        row.key = row.password = row.host_key = row.offered_key = ""
        row.tried_at, row.try_failure = None, ""
    clean = form.cleaned_data
    changed = take_secrets(row, *(clean.get(name) or "" for name in SECRETS))
    place = source.host_and_port(clean["address"])
    taken = not changed and _take_given(row, place, source, user)
    if source.is_by_ssh(row.address):
        require_secret(row.key, row.password)
    row.confirmed_rule = confirmed_rule(
        target,
        *place,
        "address",
        before.confirmed_rule if before else "",
        clean["confirm_address"],
        "it is yours and perfdash may connect to it",
    )
    row.options = form.options()
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Invalid(
            {"address": [f"{source.label} of {row.address} is watched already."]}
        ) from None
    record(
        Action.WATCH_EDITED if before else Action.WATCH_CREATED,
        user=user,
        subject=row,
        target=target.name,
        moved=moved,
        credentials_changed=changed or taken,
    )
    return row


def _take_given(row: Watch, place: tuple[str, int], source: Source, user: User) -> bool:
    """Take over the login that was given for this user before, if the row has none; return whether there is one."""
    if row.key or row.password or not row.username:
        return False
    if not source.is_by_ssh(row.address):
        row.password = password_at_server(row.target, *place, row.username)
        return bool(row.password)
    given = given_at(row.target, *place, row.username, of_commands=is_admin(user))
    if given is not None:
        row.key, row.password, row.host_key = given.key, given.password, given.host_key
    return given is not None


@transaction.atomic
def delete_watch(watch: Watch, user: User) -> None:
    """Delete a watch with its secrets; what it saw stays with the runs."""
    record(Action.WATCH_DELETED, user=user, subject=watch, target=watch.target.name)
    watch.delete()


@transaction.atomic
def accept_host_key(watch: Watch, fingerprint: str, user: User) -> Watch:
    """Accept the host key that the machine showed last. Raise Invalid."""
    shown = require_shown(watch.offered_key, fingerprint, "try the watch")
    watch.host_key, watch.offered_key, watch.try_failure = watch.offered_key, "", ""
    watch.save(update_fields=["host_key", "offered_key", "try_failure"])
    record(
        Action.HOST_KEY_ACCEPTED,
        user=user,
        subject=watch,
        target=watch.target.name,
        fingerprint=shown,
    )
    return watch


def source_to_save(name: str) -> Source:
    """Return a source by name. Raise Invalid."""
    try:
        return source_of(name)
    except LookupError as error:
        raise Invalid({"source": [str(error)]}) from None
