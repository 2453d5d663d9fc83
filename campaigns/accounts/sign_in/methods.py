"""Record the sign-in method of a session in the session."""

from typing import Final

from django.http import HttpRequest
from django.utils import timezone

KEY: Final = "came_in_by"
SINCE: Final = "came_in_at"
FRESH_SECONDS: Final = 3600
PASSWORD: Final = "password"  # noqa: S105  a word
PASSKEY: Final = "passkey"
LINK: Final = "sign-in link"
PROVIDER: Final = "provider"
INVITATION: Final = "invitation"


def set_method(request: HttpRequest, door: str) -> None:
    """Keep by which way somebody comes in: in the session, and at the request for the record."""
    request.session[KEY] = door
    request.session[SINCE] = timezone.now().timestamp()
    setattr(request, KEY, door)


def method_of(request: HttpRequest) -> str:
    """Return by which way the session came in; empty where nobody knows."""
    return str(request.session.get(KEY, ""))


def by_fresh_link(request: HttpRequest) -> bool:
    """Return whether somebody came by a sign-in link within the hour: he is asked for nothing that he may have lost."""
    since = float(request.session.get(SINCE, 0))
    return method_of(request) == LINK and timezone.now().timestamp() - since < FRESH_SECONDS
