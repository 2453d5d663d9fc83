"""Certificates: a CA, and leaves that it signs for prepared keys. No key is made for a host.

A key of RSA-4096 takes seconds, and a real Candlepin makes one for each host; here that is time of
the server's model (`load.py`), and not of this machine.
"""

import ipaddress
import os
import secrets
import ssl
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

IDENTITY_KEYS = ("rsa2048", "rsa4096", "ec")
_LEAF_YEARS, _CA_YEARS = 5, 20
_YEAR = timedelta(days=365)
_CA_NAME = x509.Name(
    [
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "perfdash simulated Katello"),
        x509.NameAttribute(NameOID.COMMON_NAME, "perfdash simulated Katello CA"),
    ]
)

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
_RED_HAT = "1.3.6.1.4.1.2312.9"
_ENTITLEMENT = tuple(
    x509.UnrecognizedExtension(
        x509.ObjectIdentifier(f"{_RED_HAT}.{number}"), bytes((12, len(value))) + value
    )
    for number, value in ((6, b"3.4"), (8, b"OrgLevel"))  # version and type, as UTF8String
)


class BadKey(ValueError):
    """The file of a CA holds a key of another kind."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate with the key that it is of, both PEM; `kind` is one of IDENTITY_KEYS."""

    kind: str
    serial: int
    pem: str
    key_pem: str
    expires: datetime


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A key that many certificates are of."""

    kind: str
    public: ec.EllipticCurvePublicKey | rsa.RSAPublicKey
    pem: str
    identifier: x509.SubjectKeyIdentifier


@dataclass(slots=True, eq=False)
class Authority:
    """A CA that signs with P-256, in less than a millisecond."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    _prepared: dict[str, _Prepared] = field(default_factory=dict)

    @classmethod
    def new(cls) -> Self:
        """Make one."""
        key = ec.generate_private_key(ec.SECP256R1())
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(_CA_NAME)
            .issuer_name(_CA_NAME)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + _CA_YEARS * _YEAR)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_others=True), critical=True)
            .add_extension(identifier, critical=False)
        )
        return cls(key, builder.sign(key, hashes.SHA256()))

    @classmethod
    def kept(cls, path: Path) -> Self:
        """Read the one that a file keeps, which is made where there is none. Raise OSError, ValueError."""
        if not path.exists():
            made = cls.new()
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(_pem_of(made.key) + made.pem)
            return made
        text = path.read_bytes()
        key = serialization.load_pem_private_key(text, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise BadKey(f"{path}: the key of a CA is one of an elliptic curve; delete the file")
        return cls(key, x509.load_pem_x509_certificate(text))

    @property
    def pem(self) -> str:
        """The certificate of the CA, which clients trust."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def identify(self, common_name: str, organization: str, name: str, kind: str) -> Certificate:
        """Certify a host; clients read its name from it. `kind` is one of IDENTITY_KEYS."""
        subject = _subject(common_name, organization)
        named = x509.SubjectAlternativeName(
            [x509.DirectoryName(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])]))]
        )
        return self._sign(subject, self._key(kind), ExtendedKeyUsageOID.CLIENT_AUTH, named)

    def entitle(self, common_name: str, organization: str, kind: str) -> Certificate:
        """Certify that a host may have the content of its organization."""
        subject = _subject(common_name, organization)
        return self._sign(subject, self._key(kind), ExtendedKeyUsageOID.CLIENT_AUTH, *_ENTITLEMENT)

    def server(self, host: str) -> Certificate:
        """Certify a server that listens there."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        return self._sign(
            name, _prepare("ec"), ExtendedKeyUsageOID.SERVER_AUTH, _alternatives(host)
        )

    def client_context(self, name: str) -> ssl.SSLContext:
        """Give the context of a client that shows a certificate of this CA, and trusts it."""
        made = self.identify(name, "Foreman", name, "ec")
        context = ssl.create_default_context(cadata=self.pem)
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:  # made with mode 0600
            file.write(made.pem + made.key_pem)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def context(self, host: str) -> ssl.SSLContext:
        """Give the context of a server that listens there; clients may show a certificate of this CA."""
        made = self.server(host)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=self.pem)
        context.num_tickets = 0
        context.options |= ssl.OP_NO_TICKET
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:  # made with mode 0600
            file.write(made.pem + made.key_pem)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def _key(self, kind: str) -> _Prepared:
        if kind not in self._prepared:
            self._prepared[kind] = _prepare(kind)
        return self._prepared[kind]

    def _sign(
        self,
        subject: x509.Name,
        prepared: _Prepared,
        purpose: x509.ObjectIdentifier,
        *more: x509.ExtensionType,
    ) -> Certificate:
        now = datetime.now(UTC)
        serial, expires = secrets.randbits(62) + 1, now + _LEAF_YEARS * _YEAR
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.certificate.subject)
            .public_key(prepared.public)
            .serial_number(serial)
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(expires)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_others=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(prepared.identifier, critical=False)
            .add_extension(issuer, critical=False)
        )
        for extension in more:
            builder = builder.add_extension(extension, critical=False)
        signed = builder.sign(self.key, hashes.SHA256())
        pem = signed.public_bytes(serialization.Encoding.PEM).decode()
        return Certificate(prepared.kind, serial, pem, prepared.pem, expires)


def _subject(common_name: str, organization: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _prepare(kind: str) -> _Prepared:
    key: PrivateKey
    if kind == "ec":
        key = ec.generate_private_key(ec.SECP256R1())
    else:
        key = rsa.generate_private_key(65537, int(kind.removeprefix("rsa")))
    public = key.public_key()
    identifier = x509.SubjectKeyIdentifier.from_public_key(public)
    return _Prepared(kind, public, _pem_of(key), identifier)


def _pem_of(key: PrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def _usage(*, signs_others: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs_others,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_others,
        crl_sign=signs_others,
        encipher_only=False,
        decipher_only=False,
    )


def _alternatives(host: str) -> x509.SubjectAlternativeName:
    """Name the server as those may who reach it from this machine, or by the name of its service."""
    names: dict[str, x509.GeneralName] = {
        name: x509.DNSName(name) for name in ("localhost", "sandbox")
    }
    for address in ("127.0.0.1", "::1", host):
        try:
            names[address] = x509.IPAddress(ipaddress.ip_address(address))
        except ValueError:
            names[address] = x509.DNSName(address)
    return x509.SubjectAlternativeName(names.values())
