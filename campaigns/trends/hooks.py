"""The hook of a line: an address to which a signed message is posted when a version comes. Each function is one transaction."""

from collections.abc import Mapping
from secrets import token_hex

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.accounts.notifications.signing import new_secret
from campaigns.kit import encryption
from campaigns.kit.activity import Action, record
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import Right, require_right
from campaigns.models import Line, LineHook
from campaigns.trends import asking, signatures
from campaigns.trends.asking import why_not


@transaction.atomic
def make_hook(line: Line, style: str, user: User) -> tuple[LineHook, str]:
    """Make the hook of a line, in the place of the one before; return it with its secret, of which this is the only copy."""
    line = Line.objects.select_for_update(of=("self",), no_key=True).get(pk=line.pk)
    require_right(user, line, Right.OPERATE)
    if why := why_not(line, ""):
        raise NotPossible(why)
    secret = new_secret() if style == LineHook.Style.STANDARD else encryption.new_token()
    values = {"uid": token_hex(16), "style": style, "secret": encryption.encrypt(secret)}
    hook, _ = LineHook.objects.update_or_create(line=line, defaults=values)
    record(Action.HOOK_MADE, user=user, subject=line, style=style)
    return hook, secret


@transaction.atomic
def delete_hook(line: Line, user: User) -> None:
    """Delete the hook of a line. Raise NotAllowed."""
    require_right(user, line, Right.OPERATE)
    if LineHook.objects.filter(line=line).delete()[0]:
        record(Action.HOOK_DELETED, user=user, subject=line)


def receive(hook: LineHook, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Ask a line to look where a message is genuine; return whether it is. now: seconds since 1970."""
    try:
        secret = encryption.decrypt(hook.secret)
    except SecretUnreadable:
        return False
    signed = signatures.read(hook.style, secret, headers, body, now)
    if signed is None:
        return False
    version = signed.version if hook.line.subject else ""
    try:
        asking.ask(hook.line, signed.key, version, user=None)
    except NotPossible:
        return False
    return True
