"""Certificates for servers of the tests, good ones and bad ones."""

import datetime
import ipaddress
import ssl
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.now(datetime.UTC)


class Authority:
    """Signs certificates; `file` holds its own."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.file = directory / f"{name}.pem"
        self.certificate = self._signed(self.key, name, NOW - DAY, NOW + DAY, None)
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def server(
        self,
        address: str = "127.0.0.1",
        since: datetime.datetime = NOW - DAY,
        until: datetime.datetime = NOW + DAY,
    ) -> Path:
        """Write the key and the certificate that a server needs to be `address`."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(key, "server", since, until, address)
        file = self.directory / "server.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        return file

    def identity(self, name: str) -> tuple[str, str]:
        """Give the certificate and the key of a client, in PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(key, name, NOW - DAY, NOW + DAY, "127.0.0.9")
        written = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return certificate.public_bytes(serialization.Encoding.PEM).decode(), written.decode()

    def context(self, *arguments: Any, **named: Any) -> ssl.SSLContext:
        """Give what a server of ours needs; arguments as of `server`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server(*arguments, **named))
        return context

    def _signed(self, key, name, since, until, address):
        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(since)
            .not_valid_after(until)
            .add_extension(x509.BasicConstraints(address is None, None), critical=True)
        )
        if address:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256())
