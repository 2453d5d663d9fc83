"""A credential full of sentinels, and the values by which tests find them again."""

from campaigns.tests.kinds.programs.certificates import Authority

PASSWORD, TOKEN = "sentinel-password-71c4", "sentinel-token-0e5b99"
PLACE = "https://cdn.example:443"


def with_certificate(authority: Authority, **changes: str) -> dict[str, str]:
    """Return the form of a credential with a certificate, a user and a password."""
    certificate, key = authority.identity("entitled")
    return {
        "name": "cdn",
        "places": "https://cdn.example",
        "certificate": certificate,
        "key": key,
        "username": "somebody",
        "password": PASSWORD,
        **changes,
    }


def secrets_of(entered: dict[str, str]) -> list[str]:
    """Return what must be found nowhere: passwords, tokens, and each line of a key or certificate."""
    lines = [
        line
        for name in ("key", "certificate")
        for line in entered.get(name, "").splitlines()
        if line and not line.startswith("-----")
    ]
    return [*lines, *(entered[name] for name in ("password", "token") if entered.get(name))]
