"""What a token has to be good for before a view does anything."""

from rest_framework import status
from rest_framework.request import Request

from campaigns.kit.api.refusals import Refusal
from campaigns.models import ApiToken, Scope


class ScopeMissing(Refusal):
    """The token is good, but not for this."""

    status_code = status.HTTP_403_FORBIDDEN
    type_ = "urn:perfdash:scope"

    def __init__(self, token: ApiToken, needed: Scope) -> None:
        super().__init__(
            f"This takes a token with the scope {needed}; “{token.name}” has "
            f"{' and '.join(token.scopes)}. Make one that has it, on the page Account.",
            headers={
                "WWW-Authenticate": 'Bearer realm="perfdash", error="insufficient_scope", '
                f'scope="{needed}"'
            },
            members={"needs": needed, "scopes": scopes_of(token)},
        )


def scopes_of(token: ApiToken | None) -> list[str]:
    """Every scope that it has, and those that these take in; without a token all, as in a browser."""
    if token is None or Scope.OPERATE in token.scopes:
        return list(Scope.values)
    return [scope for scope in Scope.values if scope in token.scopes]


def require(request: Request, needed: Scope | None) -> None:
    """Raise ScopeMissing where the request's token is not good for it."""
    token = request.auth
    if needed and isinstance(token, ApiToken) and needed not in scopes_of(token):
        raise ScopeMissing(token, needed)
