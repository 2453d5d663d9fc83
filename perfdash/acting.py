"""Says who acts, to whatever records what was done in a web request."""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from campaigns.kit.activity import by_request


def acting(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, behind the one that knows users: nobody is looked up before something is recorded."""

    def middleware(request: HttpRequest) -> HttpResponse:
        def who() -> User | None:
            user = getattr(request, "user", None)
            return user if isinstance(user, User) else None

        with by_request(who):
            return get_response(request)

    return middleware
