"""OpenID Connect as django-allauth speaks it, and what it leaves out.

The library finds the provider's addresses, leads there with state and PKCE, and changes the code for
tokens. It sends no nonce, trusts an ID token unread that came over TLS, and takes whatever issuer the
provider names; here all of that is checked (OpenID Connect Core 1.0, 3.1.3.7).
"""

import secrets
from typing import Any, Final, cast
from urllib.parse import urlsplit

import jwt
import requests
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from campaigns.accounts.signing.fetching import Fetching
from campaigns.accounts.single_sign_on import LONGEST_SUBJECT, Identity, ours

OURS: Final = "oidc"
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""What an ID token may be signed with: never a shared secret, never nothing."""
LEEWAY_SECONDS: Final = 30
LONGEST_CLAIM: Final = 254


class ProviderTrouble(Exception):
    """The provider is away, or what it says does not hold; the message is for the log and the page."""


class Adapter(DefaultSocialAccountAdapter):
    """Knows the one provider of the settings, and none of the database."""

    def get_provider(self, request: HttpRequest, *arguments: Any, **named: Any) -> "Provider":
        """Give it."""
        return configured(request)

    def get_requests_session(self) -> Fetching:
        """Give what requests are sent with."""
        return Fetching()


class Exchange(OpenIDConnectOAuth2Adapter):
    """The steps with the provider. Its errors are those of the library, and ProviderTrouble."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """What the provider publishes of itself, checked."""
        if not hasattr(self, "_checked"):
            try:
                published = super().openid_config
            except AttributeError:  # the library takes it as an object unseen
                raise ProviderTrouble("publishes no object") from None
            self._checked = checked(published)
        return self._checked

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Where the provider sends people back to."""
        path = reverse("oidc-callback")
        base = settings.BASE_URL.rstrip("/")
        return f"{base}{path}" if base else request.build_absolute_uri(path)

    def identity(self, tokens: Any, nonce: str) -> Identity:
        """Say whom the tokens vouch for. Raise ProviderTrouble, OAuth2Error, RequestException."""
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise ProviderTrouble("sent no ID token")
        claims = self.claims(id_token, nonce)
        if "email" not in claims and "userinfo_endpoint" in self.openid_config:
            more = self._fetch_user_info(str(tokens["access_token"]))
            if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
                raise ProviderTrouble("told of another person than the ID token does")
            claims = {**more, **claims}
        return _identity(claims)

    def claims(self, id_token: str, nonce: str) -> dict[str, Any]:
        """Read an ID token: signature, issuer, audience, times and nonce. Raise ProviderTrouble."""
        provider = ours()
        try:
            claims = jwt.decode(
                id_token,
                key=self._key(id_token),
                algorithms=list(ALGORITHMS),
                issuer=self.openid_config["issuer"],
                audience=provider.client_id,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise ProviderTrouble(f"sent an ID token that does not hold: {error}") from error
        audience, party = claims["aud"], claims.get("azp")
        many = isinstance(audience, list) and len(audience) > 1
        if (many or party is not None) and party != provider.client_id:
            raise ProviderTrouble("sent an ID token that was issued for another program")
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise ProviderTrouble(
                "sent an ID token of another sign-in: its nonce is a different one"
            )
        return claims

    def _key(self, id_token: str) -> Any:
        """The provider's public key that a token names; its only one where it names none."""
        with Fetching() as session:
            answer = session.get(self.openid_config["jwks_uri"])
        answer.raise_for_status()
        found = answer.json()
        keys = jwt.PyJWKSet.from_dict(found if isinstance(found, dict) else {}).keys
        header = jwt.get_unverified_header(id_token)
        if header.get("alg") not in ALGORITHMS:
            raise jwt.InvalidAlgorithmError("its algorithm is not one of a public key")
        named = header.get("kid")
        fitting = [key for key in keys if named is None or key.key_id == named]
        if len(fitting) != 1:
            raise jwt.InvalidKeyError("no single published key fits it")
        return fitting[0].key


class Provider(OpenIDConnectProvider):
    """The provider of the settings; PKCE always."""

    oauth2_adapter_class = Exchange
    pkce_enabled_default = True


def configured(request: HttpRequest) -> Provider:
    """Give the provider of the settings."""
    found = ours()
    app = SocialApp(
        provider=Provider.id,
        provider_id=OURS,
        name=found.name,
        client_id=found.client_id,
        secret=found.client_secret,
        settings={"server_url": found.issuer},
    )
    return Provider(request, app=app)


def checked(config: Any) -> dict[str, Any]:
    """Refuse metadata of another issuer, or addresses that are less safe than the issuer's own."""
    issuer_of_ours = ours().issuer
    issuer = config.get("issuer") if isinstance(config, dict) else None
    if not isinstance(issuer, str) or issuer.rstrip("/") != issuer_of_ours:
        raise ProviderTrouble(
            f"calls itself {str(issuer)[:200]!r}; PERFDASH_OIDC_ISSUER is {issuer_of_ours!r}"
        )
    schemes = ("https",) if ours().encrypted else ("https", "http")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        if urlsplit(str(config.get(name, ""))).scheme not in schemes:
            raise ProviderTrouble(f"publishes no safe {name}")
    return cast(dict[str, Any], config)


def _identity(claims: dict[str, Any]) -> Identity:
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
        raise ProviderTrouble(f"names nobody, or by more than {LONGEST_SUBJECT} letters")
    email, name = (str(claims.get(word) or "") for word in ("email", "preferred_username"))
    return Identity(
        issuer=ours().issuer,
        subject=subject,
        email=email if len(email) <= LONGEST_CLAIM else "",
        email_verified=claims.get("email_verified") in (True, "true"),
        username=name[:LONGEST_CLAIM],
    )


TROUBLES = (
    ProviderTrouble,
    OAuth2Error,
    requests.RequestException,
    ValueError,
    KeyError,
    TypeError,
)
"""All that may come of a provider that is away, broken or hostile."""
