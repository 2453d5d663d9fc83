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


def set_method(request: HttpRequest, method: str) -> None:
    """Store the sign-in method in the session, and on the request for the activity log."""
    request.session[KEY] = method
    request.session[SINCE] = timezone.now().timestamp()
    setattr(request, KEY, method)


def method_of(request: HttpRequest) -> str:
    """Return the sign-in method of the session; empty if unknown."""
    return str(request.session.get(KEY, ""))


def by_fresh_link(request: HttpRequest) -> bool:
    """Return whether the session began by a sign-in link within the last hour: its user may have lost password and device."""
    since = float(request.session.get(SINCE, 0))
    return method_of(request) == LINK and timezone.now().timestamp() - since < FRESH_SECONDS
