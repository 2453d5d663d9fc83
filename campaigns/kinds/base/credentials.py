"""A login of a team, opened for a run, and where it may be sent. Pure.

A driver asks `Target.credential_of` for it by name, with all URLs that it will be sent to. That raises CredentialRefused
for an address that is not among those that the owner named, and for a login that has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from campaigns.kinds.base.errors import CredentialRefused
from campaigns.kit.http.credentials import Login, Tls
from campaigns.kit.network import origin_of

SHOWN = 16
"""Hex digits of a fingerprint that tell two certificates apart."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A login. Secrets are not in its repr.

    places: scheme, host and port of the servers that may get it (`origin_of`). version: counts the changes of its values.
    certificate, key, ca: PEM; ca: of the server, empty: the system's. fingerprint: SHA-256 of the certificate, in hex.
    username, password: of basic authentication; token: of a bearer, in place of them.
    """

    name: str
    version: int = 1
    places: tuple[str, ...] = ()
    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    ca: str = field(default="", repr=False)
    fingerprint: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The header Authorization; empty where it has neither token nor user."""
        if self.token:
            return {"Authorization": f"Bearer {self.token}"}
        return Login(self.username, self.password).header if self.username else {}

    @property
    def tls(self) -> Tls:
        """What a connection by TLS needs of it."""
        return Tls(ca_bundle=self.ca, certificate=self.certificate, key=self.key)

    def in_place_of(self, own: Tls) -> Tls:
        """Return what a connection needs, with what is not of this login taken from the server's own settings."""
        if self.certificate:
            own = replace(own, certificate=self.certificate, key=self.key)
        return replace(own, ca_bundle=self.ca) if self.ca else own

    @property
    def fact(self) -> str:
        """What is stored of it with a run: it tells two versions apart, and holds no secret."""
        return fact_of(self.name, self.version, self.fingerprint)

    def covers(self, url: str) -> bool:
        """Return whether it may be sent to a URL. Raise BadUrl."""
        return origin_of(url) in self.places


def fact_of(name: str, version: int, fingerprint: str) -> str:
    """Return the name and version of a login, and which certificate it has."""
    certificate = f", certificate {fingerprint[:SHOWN]}" if fingerprint else ""
    return f"{name}, version {version}{certificate}"


def none_known(name: str, urls: Sequence[str]) -> Credential:
    """Raise CredentialRefused: a target without a team has no login."""
    raise CredentialRefused(f"There is no credential “{name}” here.")
