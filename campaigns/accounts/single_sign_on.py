"""Decide which account an identity of the OpenID Connect provider belongs to. No HTTP."""

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from campaigns.accounts import invitations
from campaigns.accounts.own_account import LONGEST_NAME, NAME, name_exists, new_user
from campaigns.kit import activity
from campaigns.kit.activity import Action
from campaigns.kit.errors import Invalid
from campaigns.models import Team

if TYPE_CHECKING:
    from perfdash.oidc import Provider

Rows: TypeAlias = QuerySet[Any]
LONGEST_SUBJECT = 191


class NotLetIn(ValueError):
    """perfdash refuses a person whom the provider has authenticated; the message explains why."""


def ours() -> "Provider":
    """Return the provider of the settings. Raise ImproperlyConfigured where there is none."""
    if settings.OIDC is None:
        raise ImproperlyConfigured("No OpenID Connect provider: PERFDASH_OIDC_ISSUER is not set.")
    return settings.OIDC


@dataclass(frozen=True, slots=True)
class Identity:
    """A person whom the provider has authenticated. `subject` names the person at `issuer` for ever; the rest may change."""

    issuer: str
    subject: str
    email: str = ""
    email_verified: bool = False
    username: str = ""


@dataclass(frozen=True, slots=True)
class LetIn:
    """The account that is signed in. `by_email`: an existing account with the same e-mail address was connected."""

    user: User
    by_email: bool = False


@transaction.atomic
def let_in(identity: Identity, invitation: int | None = None) -> LetIn:
    """Return the account of a person; connect or create it where that is allowed.

    `invitation`: the key of one that the person has opened. Raise NotLetIn, InvitationRefused.
    """
    known = _connected(identity).select_related("user").first()
    if known is not None:
        _join(known.user, invitation)
        return LetIn(known.user)
    same = _with_email(identity.email)
    if same:
        user = _may_take_over(identity, same)
        _connect(user, identity)
        _wipe_password(user)
        _join(user, invitation)
        return LetIn(user, by_email=True)
    if invitation is None and not ours().everybody:
        raise NotLetIn(
            f"{ours().name} knows you, but perfdash does not. Ask the admin of a team for an "
            "invitation link, open it, and sign in from there."
        )
    user = _make(identity)
    _connect(user, identity)
    _join(user, invitation)
    if invitation is None:
        _give_first_roles(user)
    return LetIn(user)


@transaction.atomic
def connect(user: User, identity: Identity) -> None:
    """Connect the account of a signed-in user to an identity of the provider. Raise NotLetIn."""
    known = _connected(identity).first()
    if known is not None and known.user_id != user.pk:
        raise NotLetIn(
            f"This person of {ours().name} belongs to another account of perfdash. Sign in with "
            "that one, and disconnect it there first."
        )
    if known is None:
        _connect(user, identity)


@transaction.atomic
def disconnect(user: User) -> None:
    """Disconnect an account from the provider. Raise NotLetIn where it is its only sign-in method."""
    if not user.has_usable_password():
        raise NotLetIn("Set a password first: without it, nobody could sign in to this account.")
    gone, _ = _of(user).delete()
    if gone:
        activity.record(Action.PROVIDER_UNLINKED, user=user, subject=user)


def is_connected(user: User) -> bool:
    """Return whether the account is connected to the configured provider."""
    return bool(_of(user).exists())


def _of(user: User) -> Rows:
    issuer = settings.OIDC.issuer if settings.OIDC else ""
    return cast(Rows, SocialAccount.objects.filter(user=user, provider=issuer))


def _connected(identity: Identity) -> Rows:
    rows = SocialAccount.objects.filter(provider=identity.issuer, uid=identity.subject)
    return cast(Rows, rows)


def _with_email(email: str) -> list[User]:
    """Return the accounts with an e-mail address, whose letters from A to Z may be small or large.

    The database compares capitals. Those of a dotless i and of a long s are I and S: it finds addresses of others, too.
    """
    if not email:
        return []
    found = User.objects.select_for_update().filter(email__iexact=email)
    return [user for user in found if user.email.encode().lower() == email.encode().lower()]


def _may_take_over(identity: Identity, same: list[User]) -> User:
    """Return the account with the e-mail address. Raise NotLetIn unless a trusted provider verified it for one person."""
    trusted = identity.email_verified and ours().trusts_email
    if not trusted or len(same) > 1 or not same[0].is_active:
        raise NotLetIn(
            f"An account of perfdash has the e-mail address {identity.email} already. If it is yours, sign "
            f"in to it in its own way, and connect {ours().name} on your account page."
        )
    return same[0]


def _wipe_password(user: User) -> None:
    """Delete the password: nobody has proved whose e-mail address it was, and a stranger may know the password."""
    if user.has_usable_password():
        user.set_unusable_password()
        user.save(update_fields=["password"])
        activity.record(Action.PASSWORD_CHANGED, user=user, subject=user, taken_away=True)


def _connect(user: User, identity: Identity) -> None:
    try:
        with transaction.atomic():
            SocialAccount.objects.create(
                user=user, provider=identity.issuer, uid=identity.subject, extra_data={}
            )
    except IntegrityError:
        raise NotLetIn("You have just come in in another window. Sign in once more.") from None
    activity.record(Action.PROVIDER_LINKED, user=user, subject=user, issuer=identity.issuer)


def _join(user: User, invitation: int | None) -> None:
    if invitation is not None and user.is_active:
        invitations.accept(user, invitation)


def _give_first_roles(user: User) -> None:
    team = Team.objects.filter(name=ours().team).first()
    if team is not None:
        invitations.give_roles(user, team, ours().roles)
        activity.record(
            Action.MEMBER_ADDED, user=user, team=team, subject=user, roles=list(ours().roles)
        )


def _make(identity: Identity) -> User:
    try:
        return new_user(_free_name(identity), _email(identity), None)
    except Invalid:
        raise NotLetIn("Somebody has just taken your name. Sign in once more.") from None


def _email(identity: Identity) -> str:
    try:
        validate_email(identity.email)
    except ValidationError:
        return ""
    return identity.email


def _free_name(identity: Identity) -> str:
    """Return a free and valid name, similar to that at the provider."""
    wanted = (identity.username, identity.email.partition("@")[0])
    base = next(filter(None, map(_plain, wanted)), "person")
    name, number = base, 2
    while name_exists(name):
        name, number = f"{base}-{number}", number + 1
    return name[:LONGEST_NAME]


def _plain(text: str) -> str:
    """Return the part of a text that is valid in a name, letters without accents; empty where nothing is left."""
    ascii_alone = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^\w.@+-]+", "-", ascii_alone).strip("-").lstrip("@")[:100]
    return plain if NAME.match(plain) else ""
