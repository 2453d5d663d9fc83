"""Define watches of a target, encrypt their secrets, and accept their host keys."""

from copy import copy

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from campaigns.kit import encryption, network
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import Columns, FieldValues
from campaigns.kit.ssh.keys import fingerprint_of
from campaigns.models import Target, Watch
from campaigns.targets.forms import rule_to_confirm
from campaigns.targets.saving import rules_for
from campaigns.targets.watches.base import Source
from campaigns.targets.watches.forms import WatchForm
from campaigns.targets.watches.registry import source_of

SECRETS = ("key", "password")
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

    An empty key or password leaves the stored one, unless address or user change; an accepted host key then goes, too.
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
    changed = _take_secrets(row, form)
    if source.uses_ssh and not (row.key or row.password):
        raise Invalid(
            {
                "key": [
                    "Give a private key or a password. A stored one does not go to another machine or user."
                ]
            }
        )
    row.confirmed_rule = _rule(form, target, before)
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
        credentials_changed=changed,
    )
    return row


@transaction.atomic
def delete_watch(watch: Watch, user: User) -> None:
    """Delete a watch with its secrets; what it saw stays with the runs."""
    record(Action.WATCH_DELETED, user=user, subject=watch, target=watch.target.name)
    watch.delete()


@transaction.atomic
def accept_host_key(watch: Watch, fingerprint: str, user: User) -> Watch:
    """Accept the host key that the machine showed last. Raise Invalid."""
    shown = fingerprint_of(watch.offered_key)
    if not shown:
        raise Invalid({"fingerprint": ["The machine has shown no new key; try the watch first."]})
    if fingerprint.strip() != shown:
        raise Invalid(
            {"fingerprint": [f"The machine has shown {shown}, not this one. Nothing was accepted."]}
        )
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


def _take_secrets(row: Watch, form: WatchForm) -> bool:
    """Encrypt new secrets into the row; of key and password of SSH, the newer one stays. Return whether any is new."""
    key, password = (form.cleaned_data.get(name) or "" for name in SECRETS)
    if key:
        row.key, row.password = encryption.encrypt(key.strip() + "\n"), ""
    if password:
        row.password = encryption.encrypt(password)
        row.key = row.key if key else ""
    return bool(key or password)


def _rule(form: WatchForm, target: Target, before: Watch | None) -> str:
    """Return the rule that the owner confirmed; an empty text where the other rules suffice. Raise Invalid."""
    host, port = form.source.host_and_port(form.cleaned_data["address"])
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    try:
        rule = rule_to_confirm(url, rules_for(target))
    except network.NetworkError as refusal:
        raise Invalid({"address": [str(refusal)]}) from None
    confirmed = form.cleaned_data["confirm_address"]
    if rule and not confirmed and not (before and rule == before.confirmed_rule):
        raise Invalid(
            {
                "confirm_address": [
                    f"{host} port {port} is a loopback or private address. Confirm that it is yours "
                    "and perfdash may connect to it."
                ]
            }
        )
    return rule
