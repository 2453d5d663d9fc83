"""Credentials of a server: user and password, certificates as PEM text."""

import ssl
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory


@dataclass(frozen=True, slots=True)
class Login:
    """A user and password; without a name the client certificate identifies us."""

    username: str = ""
    password: str = field(default="", repr=False)

    @property
    def header(self) -> dict[str, str]:
        """The header of basic authentication."""
        login = f"{self.username}:{self.password}".encode()
        return {"Authorization": f"Basic {b64encode(login).decode()}"}


class BadCertificate(ValueError):
    """A certificate, key or bundle cannot be used; the message says which."""


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM texts; empty ones are not used. `key` is not in repr.

    verify: False trusts every certificate; only for servers in a trusted network.
    """

    verify: bool = True
    ca_bundle: str = ""
    certificate: str = ""
    key: str = field(default="", repr=False)


def context_of(tls: Tls) -> ssl.SSLContext:
    """Return the SSL context of a connection. Raise BadCertificate."""
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
        _load_certificate(context, tls)
    return context


def _load_certificate(context: ssl.SSLContext, tls: Tls) -> None:
    """Load the client certificate through temporary files: Python reads it from files only."""
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
