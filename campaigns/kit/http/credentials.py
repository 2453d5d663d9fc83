"""A user of a server's REST API, and how basic authentication writes one. Pure."""

import ssl
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory


@dataclass(frozen=True, slots=True)
class Login:
    """A user; without a name the client certificate says who we are."""

    username: str = ""
    password: str = field(default="", repr=False)

    @property
    def header(self) -> dict[str, str]:
        """The header that sends the password."""
        login = f"{self.username}:{self.password}".encode()
        return {"Authorization": f"Basic {b64encode(login).decode()}"}


class BadCertificate(ValueError):
    """A certificate, key or bundle is not what it should be; the message says which."""


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM texts; empty ones are not used. `key` never appears in repr.

    verify: False trusts whoever answers; only for servers whose network is trusted.
    """

    verify: bool = True
    ca_bundle: str = ""
    certificate: str = ""
    key: str = field(default="", repr=False)


def context_of(tls: Tls) -> ssl.SSLContext:
    """Make the context of a connection. Raise BadCertificate."""
    try:
        context = ssl.create_default_context(cadata=tls.ca_bundle or None)
    except (ssl.SSLError, ValueError) as error:
        raise BadCertificate(
            f"The CA bundle holds no certificate that can be read: {error}."
        ) from None
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.certificate:
        _take_certificate(context, tls)
    return context


def _take_certificate(context: ssl.SSLContext, tls: Tls) -> None:
    """Python reads certificates from files only: these live as long as the reading takes."""
    with TemporaryDirectory(prefix="perfdash-") as place:
        certificate, key = Path(place, "certificate"), Path(place, "key")
        for path, text in ((certificate, tls.certificate), (key, tls.key)):
            path.touch(0o600)
            path.write_text(text)
        try:
            context.load_cert_chain(certificate, key, password=_refuse)
        except (ssl.SSLError, OSError, ValueError) as error:
            raise BadCertificate(
                f"The client certificate and its key cannot be used: {error}. Give both as PEM, the "
                "key without a passphrase."
            ) from None


def _refuse() -> str:
    raise ValueError("the key has a passphrase")
