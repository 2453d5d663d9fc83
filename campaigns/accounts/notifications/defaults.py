"""The default channel of every user with an e-mail address, until they choose others."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from campaigns.accounts.notifications import mail
from campaigns.models import Announcement, Channel

NAME = "e-mail of the account"
Kind = Announcement.Kind
KINDS = [
    Kind.REVIEW_ASKED,
    Kind.REVIEW_DECIDED,
    Kind.REVIEW_REOPENED,
    Kind.MENTIONED,
    Kind.LAUNCH_REQUESTED,
    Kind.LAUNCH_DECIDED,
    Kind.CREDENTIAL_ENDS,
    Kind.ALERT_ASSIGNED,
]
"""Events that are addressed to a person; events of campaigns have to be subscribed to."""


def give_default_channels(people: Iterable[User]) -> None:
    """Create the default channel of users who have none. It can be switched off, not deleted.

    It follows the address of the account. Without a mail server, or an address, there is none.
    """
    if not mail.is_offered():
        return
    reachable = [user for user in people if user.email]
    have = set(
        Channel.objects.filter(user__in=[user.pk for user in reachable], name=NAME).values_list(
            "user", flat=True
        )
    )
    Channel.objects.bulk_create(
        [
            Channel(
                user=user,
                name=NAME,
                kind=Channel.Kind.EMAIL,
                kinds=[str(kind) for kind in KINDS],
            )
            for user in reachable
            if user.pk not in have
        ],
        ignore_conflicts=True,
    )
