"""Create, revoke and resolve links by which anybody can read an accepted report. Only hashes are stored."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.encryption import new_token, token_hash
from campaigns.models import Conclusion, PublicLink

MOST_LINKS = 20
"""The most active links of one conclusion."""
SEEN_AGAIN = timedelta(minutes=1)
"""The shortest time between two updates of `last_used_at`."""


class NoLink(ValueError):
    """A public link cannot be created; the message explains why, and what to do."""


@transaction.atomic
def make_link(conclusion: Conclusion, user: User) -> tuple[PublicLink, str]:
    """Create a public link to an accepted report. The returned text is its only copy. Raise NoLink."""
    locked = Conclusion.objects.select_for_update().get(pk=conclusion.pk)
    if locked.state != Conclusion.State.ACCEPTED:
        raise NoLink(
            f"Only an accepted conclusion has a public report; this one is {locked.get_state_display()}."
        )
    if locked.public_links.filter(revoked_at=None).count() >= MOST_LINKS:
        raise NoLink(f"There are {MOST_LINKS} public links in force already: revoke one.")
    text = new_token()
    link = PublicLink.objects.create(conclusion=locked, hash=token_hash(text), made_by=user)
    record(Action.LINK_MADE, user=user, subject=locked)
    link.refresh_from_db()
    return link, text


@transaction.atomic
def revoke_link(link: PublicLink) -> PublicLink:
    """Revoke a public link at once and for good; its record stays."""
    if PublicLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=Now()):
        record(Action.LINK_REVOKED, subject=link.conclusion)
    link.refresh_from_db()
    return link


def conclusion_by(text: str) -> Conclusion | None:
    """Return the conclusion of an active link, whatever its state; None for any other text."""
    if "\x00" in text or len(text) > 200:
        return None
    rows = PublicLink.objects.filter(hash=token_hash(text), revoked_at=None)
    link = rows.select_related("conclusion__author", "conclusion__team").first()
    if link is None:
        return None
    old = Q(last_used_at=None) | Q(last_used_at__lt=Now() - SEEN_AGAIN)
    PublicLink.objects.filter(old, pk=link.pk).update(last_used_at=Now())
    return link.conclusion


def links_of(conclusion: Conclusion) -> list[PublicLink]:
    """Return all links of a conclusion, the active ones first."""
    rows = conclusion.public_links.select_related("made_by")
    return list(rows.order_by(F("revoked_at").desc(nulls_first=True), "-pk"))
