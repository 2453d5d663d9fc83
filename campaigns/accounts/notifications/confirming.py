"""Confirmation links, which prove that somebody reads an e-mail address before anything is sent to it."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.core import signing

from campaigns.kit.encryption import decrypt, token_hash
from campaigns.models import Channel

DAYS = 3
SALT = "campaigns.accounts.notifications.confirming"


class NotConfirmable(ValueError):
    """The link is not valid; the message explains why, and what to do."""


def token_of(channel: Channel) -> str:
    """Return the token of a link that confirms the channel's present address."""
    return signing.dumps([channel.pk, _mark(channel)], salt=SALT)


def channel_of(token: str, user: User) -> Channel:
    """Return the user's channel that a link confirms. Raise NotConfirmable."""
    try:
        pk, mark = signing.loads(token, salt=SALT, max_age=timedelta(days=DAYS))
    except signing.SignatureExpired:
        raise NotConfirmable(
            "The link is too old; have another one sent from the page Notifications."
        ) from None
    except (signing.BadSignature, ValueError, TypeError):
        raise NotConfirmable("The link is not whole; copy all of it from the mail.") from None
    channel = Channel.objects.filter(pk=pk).select_related("user").first()
    if channel is None or _mark(channel) != mark:
        raise NotConfirmable("The channel of this link was deleted.")
    if channel.user != user:
        raise NotConfirmable("The link belongs to another account; sign in as that.")
    return channel


def _mark(channel: Channel) -> str:
    """Return a mark of the channel's address, so that a link confirms no other address."""
    return token_hash(decrypt(channel.address) or channel.user.email)[:16]
