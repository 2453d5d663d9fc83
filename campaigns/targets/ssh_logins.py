"""The SSH login of a target's machine, and its accepted host key."""

from contextlib import suppress
from copy import copy

from django.conf import settings as installation
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import Columns, FieldValues
from campaigns.models import SshLogin, Target
from campaigns.targets.actions import HostKeyRefused, wrong_key
from campaigns.targets.given_logins import given_at, own_login
from campaigns.targets.machine_logins import (
    SECRETS,
    confirmed_rule,
    require_secret,
    require_shown,
    take_secrets,
)
from campaigns.targets.setting_forms import SshForm

ADMIN_ALONE = (
    "Commands run on the target's machine: only an administrator defines them, or changes how they "
    "reach it."
)


def is_admin(user: User) -> bool:
    """Return whether a user may define commands: a superuser, or the owner of a private installation."""
    return user.is_active and (user.is_superuser or bool(installation.OWNER_CONFIRMS))


def require_admin(user: User) -> None:
    """Raise PermissionDenied for users who may not define commands."""
    if not is_admin(user):
        raise PermissionDenied(ADMIN_ALONE)


def revised(login: SshLogin) -> Columns:
    """Return the values that the revision of a login covers, with its secrets as stored."""
    return {name: getattr(login, name) for name in (*SshForm.Meta.fields, *SECRETS)}


@transaction.atomic
def save_ssh(data: FieldValues, target: Target, user: User) -> SshLogin:
    """Store the SSH login of the target's machine, and return it. Raise Invalid, PermissionDenied.

    An empty key or password leaves the stored one, unless host, port or user change; then it is the one that was given for that user
    of that machine before, as by a watch. A new machine has a new host key: the accepted one is deleted.
    """
    require_admin(user)
    row = SshLogin.objects.filter(target=target).first() or SshLogin(target=target)
    before = copy(row)
    form = SshForm(data, instance=row)
    if not form.is_valid():
        raise Invalid(messages_of(form))
    clean = form.cleaned_data
    moved = any(getattr(before, name) != clean[name] for name in SshForm.Meta.fields)
    if clean["key"] and (wrong := wrong_key(clean["key"])):
        raise Invalid({"key": [wrong]})
    held = "" if moved else row.key or row.password
    place = clean["host"], clean["port"], clean["username"]
    given = None if held else given_at(target, *place, of_commands=False)
    require_secret(clean["key"], clean["password"], held or str(given or ""))
    row.confirmed_rule = confirmed_rule(
        target,
        clean["host"],
        clean["port"],
        "host",
        before.confirmed_rule,
        clean["confirm_address"],
        "the machine is yours and commands may run there",
    )
    if moved:
        row.key = row.password = row.host_key = row.offered_key = ""
        row.looked_at, row.look_failure = None, ""
    changed = take_secrets(row, clean["key"], clean["password"])
    if given is not None and not changed:
        row.key, row.password, row.host_key = given.key, given.password, given.host_key
    row.save()
    record(
        Action.SSH_SAVED,
        user=user,
        subject=row,
        target=target.name,
        moved=moved,
        credentials_changed=changed or given is not None,
    )
    return row


def take_own_login(target: Target, user: User) -> bool:
    """Let commands use the login of a target that is nothing but a machine; return whether it is new. Raise PermissionDenied.

    What is missing, such as a user name, is asked for later, where commands need it.
    """
    if not target.password or SshLogin.objects.filter(target=target).exists():
        return False
    confirmed = {"confirm_address": "on"} if target.confirmed_rule else {}
    for given in own_login(target):
        place = {"host": given.host, "port": given.port, "username": given.username}
        with suppress(Invalid):
            save_ssh({**place, **confirmed}, target, user)
            return True
    return False


@transaction.atomic
def delete_ssh(login: SshLogin, user: User) -> None:
    """Delete a login. Raise Invalid while a command needs it, PermissionDenied."""
    require_admin(user)
    target = login.target
    actions = [
        *(
            (row.name, each)
            for row in target.setting_rows.all()
            for each in (row.apply, row.read_back)
        ),
        *((row.name, row.action) for row in target.steps.all()),
    ]
    used = [name for name, action in actions if action.get("arguments")]
    if used:
        raise Invalid({"": [f"“{used[0]}” runs a command by it; change or delete that first."]})
    record(Action.SSH_DELETED, user=user, subject=login, target=target.name)
    login.delete()


@transaction.atomic
def accept_host_key(login: SshLogin, fingerprint: str, user: User) -> SshLogin:
    """Accept the host key that the machine showed last. Raise Invalid, PermissionDenied."""
    require_admin(user)
    shown = require_shown(login.offered_key, fingerprint, "try to reach it")
    login.host_key, login.offered_key, login.look_failure = login.offered_key, "", ""
    login.save(update_fields=["host_key", "offered_key", "look_failure"])
    record(
        Action.HOST_KEY_ACCEPTED,
        user=user,
        subject=login,
        target=login.target.name,
        fingerprint=shown,
    )
    return login


def note_offered_key(target: Target, error: Exception) -> None:
    """Store a host key that nobody has accepted, so that an admin can compare it."""
    if isinstance(error, HostKeyRefused):
        SshLogin.objects.filter(target=target).update(offered_key=error.key)
