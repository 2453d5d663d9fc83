"""API tokens and one-time sign-in links: create, check, revoke. Only hashes are stored."""

from datetime import timedelta

from django import forms
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.encryption import new_token, token_hash
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import Text, messages_of
from campaigns.models import ApiToken, Scope, SignInLink

MAY = {
    (Scope.READ,): "read",
    (Scope.SUBMIT,): "submit only",
    (Scope.READ, Scope.SUBMIT): "read and submit",
    (Scope.TRIGGER,): "ask lines to look only",
    (Scope.READ, Scope.TRIGGER): "read and ask lines to look",
    (Scope.OPERATE,): "everything its owner may do",
}
"""Combinations of scopes that a token can have, with their labels."""
LINK_PATH = "sign-in/link/"
"""What the path of a sign-in link begins with."""
DAYS = {"30d": 30, "90d": 90, "1y": 365, "never": None}


class LinkRefused(ValueError):
    """The sign-in link is not valid; the message explains why, and what to do."""


class TokenForm(forms.Form):
    """The input for a new API token."""

    name = Text(
        max_length=100,
        label="Name",
        help_text="To recognise it, such as the machine that uses it.",
    )
    may = forms.ChoiceField(
        label="Permissions", choices=[(" ".join(scopes), text) for scopes, text in MAY.items()]
    )
    expires = forms.ChoiceField(
        label="Valid for",
        choices=[
            ("30d", "30 days"),
            ("90d", "90 days"),
            ("1y", "a year"),
            ("never", "until it is revoked"),
        ],
    )


@transaction.atomic
def make_token(
    user: User, name: str, may: str = Scope.OPERATE, expires: str = "never"
) -> tuple[ApiToken, str]:
    """Create an API token. The returned text is its only copy. Raise Invalid.

    `may`: one of MAY, its scopes joined by blanks. `expires`: one of DAYS.
    """
    form = TokenForm({"name": name, "may": may, "expires": expires})
    if not form.is_valid():
        raise Invalid(messages_of(form))
    text, days = new_token(), DAYS[form.cleaned_data["expires"]]
    token = ApiToken.objects.create(
        user=user,
        name=form.cleaned_data["name"],
        hash=token_hash(text),
        scopes=form.cleaned_data["may"].split(),
        expires_at=None if days is None else Now() + timedelta(days=days),
    )
    token.refresh_from_db()
    expiry = token.expires_at and token.expires_at.isoformat()
    record(Action.TOKEN_MADE, user=user, subject=token, scopes=token.scopes, expires_at=expiry)
    return token, text


def permissions_text(token: ApiToken) -> str:
    """Return the label of a token's scopes."""
    if Scope.OPERATE in token.scopes:
        return MAY[Scope.OPERATE,]
    return MAY[tuple(scope for scope in Scope if scope in token.scopes)]


@transaction.atomic
def revoke(token: ApiToken) -> None:
    """Revoke a token for good; its row stays as a record. A second call changes nothing."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=Now()):
        record(Action.TOKEN_REVOKED, user=token.user, subject=token)


@transaction.atomic
def make_sign_in_link(user: User, minutes: float = 10) -> str:
    """Create the token of a link that signs `user` in once, within that many minutes."""
    text = new_token()
    SignInLink.objects.create(
        user=user, hash=token_hash(text), expires_at=Now() + timedelta(minutes=minutes)
    )
    record(Action.SIGN_IN_LINK_MADE, subject=user, minutes=minutes)
    return text


@transaction.atomic
def redeem(text: str) -> User:
    """Mark a sign-in link as used and return its user. Raise LinkRefused.

    The row is locked, so that a link that is opened twice at once works once.
    """
    links = SignInLink.objects.select_for_update(of=("self",)).filter(hash=token_hash(text))
    link = links.select_related("user").annotate(now=Now()).first()
    if link is None:
        raise LinkRefused(
            "This sign-in link is unknown. Copy the whole link, or ask for a new one."
        )
    if link.used_at is not None:
        raise LinkRefused("This sign-in link was used already; each works once. Ask for a new one.")
    if not link.user.is_active:
        raise LinkRefused("This sign-in link belongs to an account that is switched off.")
    if link.expires_at <= link.now:
        raise LinkRefused("This sign-in link has expired. Ask for a new one.")
    link.used_at = Now()
    link.save(update_fields=["used_at"])
    return link.user
