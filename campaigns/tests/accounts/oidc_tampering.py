"""What the provider of the tests says of people, and how it tampers with tokens of some of them."""

import json

from jwcrypto import jwk, jwt
from oauth2_provider.oauth2_validators import OAuth2Validator

BY_USERINFO_ONLY = ("quiet", "liar")


class Validator(OAuth2Validator):  # type: ignore[misc]
    oidc_claim_scope = None

    def get_additional_claims(self, request):
        claims = {"preferred_username": request.user.username}
        if request.user.username not in BY_USERINFO_ONLY:
            claims |= json.loads(request.user.first_name)
        return claims

    def get_userinfo_claims(self, request):
        claims = super().get_userinfo_claims(request) | json.loads(request.user.first_name)
        return claims | ({"sub": "1"} if request.user.username == "liar" else {})

    def finalize_id_token(self, id_token, token, token_handler, request):
        signed = super().finalize_id_token(id_token, token, token_handler, request)
        _, _, way = request.user.username.partition("bad-")
        return tampered(way, signed, request.client.jwk_key) if way else signed


def tampered(way, signed, key):
    read = jwt.JWT(jwt=signed, key=key)
    header, claims = json.loads(read.header), json.loads(read.claims)
    if way == "nonce":
        claims["nonce"] = "of another sign-in"
    elif way == "no-nonce":
        del claims["nonce"]
    elif way == "issuer":
        claims["iss"] = "https://login.example.org"
    elif way == "audience":
        claims["aud"] = "another program"
    elif way == "party":
        claims["azp"] = "another program"
    elif way == "expired":
        claims["exp"] = claims["iat"] - 3600
    elif way == "subject":
        claims["sub"] = ""
    elif way == "key":
        key = jwk.JWK.generate(kty="RSA", size=2048)
    elif way == "shared-secret":
        header, key = {"alg": "HS256"}, jwk.JWK.from_password("the secret of the client" * 2)
    elif way == "unsigned":
        return f"{_part({'alg': 'none'})}.{_part(claims)}."
    elif way == "missing":
        return ""
    made = jwt.JWT(header=header, claims=claims)
    made.make_signed_token(key)
    return made.serialize()


def _part(value):
    from jwcrypto.common import base64url_encode

    return base64url_encode(json.dumps(value))
