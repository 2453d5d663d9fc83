"""Links by which anybody reads one accepted report. Only hashes are stored."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.encryption import new_token, token_hash
from campaigns.models import Conclusion, PublicLink

MOST_LINKS = 20
"""Links of one conclusion that are in force."""
SEEN_AGAIN = timedelta(minutes=1)
"""So often at most it is noted that a link was used."""


class NoLink(ValueError):
    """No public link can be made; the message says why, and what to do."""


@transaction.atomic
def make_link(conclusion: Conclusion, user: User) -> tuple[PublicLink, str]:
    """Make a public link to an accepted report; the text beside the row is its only copy. Raise NoLink."""
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
    """End a public link for good, at once; its record stays."""
    if PublicLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=Now()):
        record(Action.LINK_REVOKED, subject=link.conclusion)
    link.refresh_from_db()
    return link


def conclusion_by(text: str) -> Conclusion | None:
    """Return what a link in force leads to, whatever its state; None for any other text."""
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
    """All links of a conclusion, those in force first."""
    rows = conclusion.public_links.select_related("made_by")
    return list(rows.order_by(F("revoked_at").desc(nulls_first=True), "-pk"))
