"""OpenID Connect: what django-allauth does, and the checks that it leaves out.

The library discovers the endpoints, redirects to the provider with state and PKCE, and exchanges the code for
tokens. It sends no nonce, does not verify an ID token that came over TLS, and accepts any issuer in it. This module
does these checks (OpenID Connect Core 1.0, 3.1.3.7).
"""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any, Final, cast
from urllib.parse import urlsplit

import jwt
import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.base import AuthError, AuthProcess, ProviderException
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from campaigns.accounts import invitations, single_sign_on
from campaigns.accounts.sign_in.fetching import Fetching
from campaigns.accounts.sign_in.start_session import refused
from campaigns.accounts.single_sign_on import LONGEST_SUBJECT, Identity, ours
from campaigns.kit.mappings import JsonObject, TemplateContext
from campaigns.kit.pages.people import user_of

log = logging.getLogger(__name__)
_slots = BoundedSemaphore(3)
"""The most threads of a web process that wait for the provider; the others serve pages."""
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Allowed signatures of an ID token: no shared secrets, and not `none`."""
LEEWAY_SECONDS: Final = 30
LONGEST_CLAIM: Final = 254


class ProviderTrouble(ProviderException):
    """The provider does not answer, or its answer is not valid; the message is for the log and the page."""


class Adapter(DefaultSocialAccountAdapter):
    """Uses the provider of the settings, not of the database; decides who may sign in by it."""

    def get_provider(self, request: HttpRequest, *arguments: Any, **named: Any) -> "Provider":
        """Return the provider of the settings."""
        return configured(request)

    def get_requests_session(self) -> Fetching:
        """Return the HTTP client."""
        return Fetching()

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: TemplateContext | None = None,
    ) -> None:
        """Show what went wrong. Always raise ImmediateHttpResponse."""
        if exception is not None:
            raise _trouble(request, exception)
        if "state_id" in (extra_context or {}):
            raise refusal(
                request,
                "This sign-in did not begin in this browser, was used already, or took more than ten "
                "minutes. Start again.",
                400,
            )
        if error == AuthError.CANCELLED:
            raise refusal(request, f"{ours().name} did not let you in, or you stopped there.", 403)
        sent = request.GET.get("error") or "an answer without a code"
        log.warning("%s sent back %.100r", ours().name, sent)
        raise refusal(request, f"{ours().name} could not sign you in. Start again.", 502)

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find or create the account of the authenticated person. Raise ImmediateHttpResponse."""
        state, identity = sociallogin.state, sociallogin.identity
        if not secrets.compare_digest(sociallogin.nonce.encode(), state["nonce"].encode()):
            raise _trouble(
                request,
                ProviderTrouble(
                    "sent an ID token of another sign-in: its nonce is a different one"
                ),
            )
        if state["process"] == AuthProcess.CONNECT:
            raise ImmediateHttpResponse(_connected(request, state["data"]["user"], identity))
        if request.user.is_authenticated:
            raise ImmediateHttpResponse(redirect("home"))
        try:
            came = single_sign_on.let_in(identity, state["data"]["invitation"])
        except (single_sign_on.NotLetIn, invitations.InvitationRefused) as reason:
            log.info("Not let in from %s: %s", ours().name, reason)
            raise refusal(request, str(reason), 403) from None
        if came.by_email:
            messages.warning(
                request,
                f"{ours().name} vouches for the e-mail address of this account, so it was connected. "
                "Its password was taken away, and its other sessions have ended.",
            )
        sociallogin.user = came.user


class Exchange(OpenIDConnectOAuth2Adapter):
    """The requests to the provider. Their errors become pages."""

    @property
    def openid_config(self) -> JsonObject:
        """Return the metadata of the provider, checked."""
        if not hasattr(self, "_checked"):
            try:
                published = super().openid_config
            except AttributeError:  # the library takes it as an object unseen
                raise ProviderTrouble("publishes no object") from None
            self._checked = checked(published)
        return self._checked

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Return the callback URL."""
        path = reverse("oidc-callback")
        base = settings.BASE_URL.rstrip("/")
        return f"{base}{path}" if base else request.build_absolute_uri(path)

    def get_client(self, request: HttpRequest, app: SocialApp) -> Any:
        """Return the OAuth client. Raise ImmediateHttpResponse."""
        with _asking(request):
            return super().get_client(request, app)

    def get_access_token_data(self, request: HttpRequest, *arguments: Any, **named: Any) -> Any:
        """Return the tokens, after their identity is checked. Raise ImmediateHttpResponse."""
        with _asking(request):
            if request.GET.get("iss", ours().issuer).rstrip("/") != ours().issuer:
                raise ProviderTrouble("answered as another issuer")
            tokens = super().get_access_token_data(request, *arguments, **named)
            self.claims, self.identity = self._read(tokens)
        return tokens

    def parse_token(self, data: Any) -> SocialToken:
        """Return an empty token: the access token is not used later."""
        return SocialToken()

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **named: Any
    ) -> SocialLogin:
        """Return the identity that signs in; `Adapter.pre_social_login` decides about it."""
        account = SocialAccount(provider=self.identity.issuer, uid=self.identity.subject)
        result = SocialLogin(user=User(), account=account, provider=self.get_provider())
        result.identity, result.nonce = self.identity, str(self.claims.get("nonce", ""))
        return result

    def _read(self, tokens: Any) -> tuple[JsonObject, Identity]:
        """Return the claims of the ID token, and the identity. Raise one of TROUBLES."""
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise ProviderTrouble("sent no ID token")
        claims = self._verified(id_token)
        if "email" not in claims and "userinfo_endpoint" in self.openid_config:
            more = self._fetch_user_info(str(tokens["access_token"]))
            if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
                raise ProviderTrouble("told of another person than the ID token does")
            claims = {**more, **claims}
        return claims, _identity(claims)

    def _verified(self, id_token: str) -> JsonObject:
        """Verify an ID token: signature, issuer, audience and times. Raise ProviderTrouble."""
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
        return claims

    def _key(self, id_token: str) -> Any:
        """Return the public key that a token names, or the only one where it names none."""
        with Fetching() as session:
            answer = session.get(self.openid_config["jwks_uri"])
        answer.raise_for_status()
        document = answer.json()
        keys = jwt.PyJWKSet.from_dict(document if isinstance(document, dict) else {}).keys
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


def begin(request: HttpRequest, process: str, data: JsonObject, then: str | None) -> HttpResponse:
    """Return the redirect to the provider, with state and nonce. Raise ImmediateHttpResponse."""
    nonce = secrets.token_urlsafe(24)
    answer: HttpResponse = configured(request).redirect(
        request, process, next_url=then, data=data, nonce=nonce, auth_params={"nonce": nonce}
    )
    return answer


def configured(request: HttpRequest) -> Provider:
    """Return the provider of the settings."""
    result = ours()
    app = SocialApp(
        provider=Provider.id,
        provider_id=result.issuer,
        name=result.name,
        client_id=result.client_id,
        secret=result.client_secret,
        settings={"server_url": result.issuer},
    )
    return Provider(request, app=app)


def checked(config: Any) -> JsonObject:
    """Return metadata. Raise ProviderTrouble for those of another issuer, or with URLs less safe than the issuer's."""
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
    return cast(JsonObject, config)


def _identity(claims: JsonObject) -> Identity:
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
"""Errors that an unreachable, broken or hostile provider can cause."""


@contextmanager
def _asking(request: HttpRequest) -> Iterator[None]:
    """Occupy a slot while waiting for the provider. Raise ImmediateHttpResponse."""
    if not _slots.acquire(blocking=False):
        raise refusal(request, "Many sign in at this moment. Try again in a few seconds.", 503)
    try:
        yield
    except TROUBLES as trouble:
        raise _trouble(request, trouble) from None
    finally:
        _slots.release()


def refusal(request: HttpRequest, message: str, status: int) -> ImmediateHttpResponse:
    """Return a response with a message on the sign-in page or, for signed-in users, on the account page."""
    if request.user.is_authenticated:
        messages.error(request, message)
        return ImmediateHttpResponse(redirect("account"))
    return ImmediateHttpResponse(refused(request, message, status))


def _trouble(request: HttpRequest, trouble: Exception) -> ImmediateHttpResponse:
    """Log the error without the data that were sent, and return the page for it."""
    why = str(trouble) if isinstance(trouble, ProviderTrouble) else type(trouble).__name__
    log.warning("%s %s", ours().name, why)
    return refusal(
        request,
        f"{ours().name} does not answer, or what it answers does not hold. Nothing is wrong with "
        "your account; try again in a moment. Who has a password can use it.",
        502,
    )


def _connected(request: HttpRequest, key: int, identity: Identity) -> HttpResponse:
    """Connect the account of this key, if it is still the one that is signed in. Raise ImmediateHttpResponse."""
    if not request.user.is_authenticated or request.user.pk != key:
        raise refusal(
            request, "Somebody else is signed in now. Sign in, and connect once more.", 403
        )
    try:
        single_sign_on.connect(user_of(request), identity)
    except single_sign_on.NotLetIn as reason:
        raise refusal(request, str(reason), 403) from None
    messages.success(request, f"{ours().name} lets you into this account from now on.")
    return redirect("account")
