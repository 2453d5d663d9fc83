"""Who is asking. Views behind LoginRequiredMiddleware always have somebody."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


def user_of(request: HttpRequest) -> User:
    """Give the user who is signed in. Raise PermissionDenied where nobody is."""
    if isinstance(request.user, User):
        return request.user
    raise PermissionDenied
