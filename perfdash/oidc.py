"""Reads from environment variables which OpenID Connect provider lets people in, if any does."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from perfdash import environment

ROLES = ("viewer", "author", "operator", "reviewer")
"""Roles that a team may assign to users of the provider. Only an admin makes an admin."""
LONGEST_ISSUER = 200


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider. `everybody`: who has no account gets one; else only who was invited.

    `team`: the name of the team whose `roles` a new account gets; empty: none of any team.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    everybody: bool
    team: str
    roles: tuple[str, ...]
    trusts_email: bool
    seconds: float

    @property
    def encrypted(self) -> bool:
        """Whether it is spoken to over HTTPS; only one on this machine is not."""
        return self.issuer.startswith("https:")


def provider() -> Provider | None:
    """Give the provider; None where none is configured. Raise ImproperlyConfigured at what is wrong."""
    issuer = environment.text("PERFDASH_OIDC_ISSUER").rstrip("/")
    client_id = environment.text("PERFDASH_OIDC_CLIENT_ID")
    if not issuer and not client_id:
        return None
    if not issuer or not client_id:
        missing = "PERFDASH_OIDC_CLIENT_ID" if issuer else "PERFDASH_OIDC_ISSUER"
        raise ImproperlyConfigured(
            f"{missing} is not set; OpenID Connect needs issuer and client id."
        )
    _refuse_bad_issuer(issuer)
    return Provider(
        issuer=issuer,
        client_id=client_id,
        client_secret=environment.secret("PERFDASH_OIDC_CLIENT_SECRET"),
        name=environment.text("PERFDASH_OIDC_NAME") or urlsplit(issuer).netloc,
        everybody=environment.choice("PERFDASH_OIDC_SIGN_UP", ("invited", "everybody"))
        == "everybody",
        team=environment.text("PERFDASH_OIDC_TEAM"),
        roles=_roles(),
        trusts_email=environment.boolean("PERFDASH_OIDC_TRUST_EMAIL", False),
        seconds=environment.seconds("PERFDASH_OIDC_SECONDS", 5),
    )


def is_here(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse_bad_issuer(issuer: str) -> None:
    try:
        url = urlsplit(issuer)
        host = url.hostname or ""
        _ = url.port
    except ValueError:
        url, host = urlsplit(""), ""
    plain = url.scheme == "http" and is_here(host)
    odd = url.query or url.fragment or url.username or len(issuer) > LONGEST_ISSUER
    if not host or odd or not (url.scheme == "https" or plain):
        raise ImproperlyConfigured(
            f"PERFDASH_OIDC_ISSUER is {issuer!r}; write the https:// address below which the provider "
            "has /.well-known/openid-configuration (http:// only on this machine itself), without name "
            f"and query, at most {LONGEST_ISSUER} letters."
        )


def _roles() -> tuple[str, ...]:
    roles = tuple(environment.words("PERFDASH_OIDC_ROLES")) or ROLES[:1]
    unknown = [role for role in roles if role not in ROLES]
    if unknown:
        raise ImproperlyConfigured(
            f"PERFDASH_OIDC_ROLES has {unknown[0]!r}; write one or more of {', '.join(ROLES)}."
        )
    return roles
