"""Read certificates and keys that people paste, and say what is wrong with them and what to do. Pure: no Django, no clock."""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization

BLOCK = re.compile(
    r"-----BEGIN ([A-Z0-9 ]{1,40})-----(?:(?!-----BEGIN ).)*?-----END \1-----", re.DOTALL
)
"""A block of PEM; one that does not end is given up at the next one, so that many of them cost no square of their length."""
CERTIFICATE = "CERTIFICATE"
CERTIFICATES = (CERTIFICATE, "X509 CERTIFICATE", "TRUSTED CERTIFICATE")
BEGIN = "-----BEGIN "
PKCS12_VERSION = b"\x02\x01\x03"
"""The integer 3 that begins a PKCS#12 file, after the header of its sequence; a certificate has none there."""
LONGEST_HEADER = 8

CONVERT_DER = "openssl x509 -inform DER -in FILE -out certificate.pem"
CONVERT_DER_KEY = "openssl pkey -inform DER -in FILE -out key.pem"
CONVERT_P12 = "openssl pkcs12 -in FILE -nodes -out both.pem writes certificate and key into one text, which may be given as it is"
WITHOUT_PASSPHRASE = "openssl pkey -in FILE -out key.pem"  # noqa: S105 - a command


class BadPem(ValueError):
    """A text is no certificate or key that can be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A certificate and those that are sent with it, each as PEM, the own one first. begins, ends: of the own one, UTC.

    fingerprint: SHA-256 of the own one, in hex. loose: how many did not sign the one before them.
    """

    text: str
    subject: str
    issuer: str
    fingerprint: str
    begins: datetime
    ends: datetime
    loose: int = 0


def split(text: str) -> tuple[str, str]:
    """Return the certificates and the private keys of a text that may hold both, as an entitlement file does.

    Other blocks, such as those of an entitlement, are left out.
    """
    blocks = [(match[1], match[0].strip()) for match in BLOCK.finditer(text)]
    certificates = [block for kind, block in blocks if kind in CERTIFICATES]
    keys = [block for kind, block in blocks if kind.endswith("PRIVATE KEY")]
    return "\n".join(certificates), "\n".join(keys)


def read_chain(text: str, key: str) -> Chain:
    """Return the certificate that a key belongs to, with its chain. Raise BadPem."""
    found = certificates_in(text, "certificate")
    private = _key_of(key)
    own = [each for each in found if _public(each.public_key()) == _public(private.public_key())]
    if not own:
        what = (
            "The key does not belong to this certificate"
            if len(found) == 1
            else "The key belongs to none of these certificates"
        )
        raise BadPem(f"{what}: give the key that was made with it.")
    first, others = own[0], [each for each in found if each not in own]
    ordered = list(_ordered(first, others))
    loose = [each for each in others if each not in ordered]
    return Chain(
        text="".join(_pem(each) for each in (*ordered, *loose)),
        subject=_name(first.subject),
        issuer=_name(first.issuer),
        fingerprint=first.fingerprint(hashes.SHA256()).hex(),
        begins=first.not_valid_before_utc,
        ends=first.not_valid_after_utc,
        loose=len(loose),
    )


def certificates_in(text: str, what: str) -> list[x509.Certificate]:
    """Return the certificates of a PEM text, at least one. what: it is to be, in messages. Raise BadPem."""
    _refuse_other_forms(text, what)
    blocks = [(match[1], match[0]) for match in BLOCK.finditer(text)]
    if not any(kind in CERTIFICATES for kind, _ in blocks):
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in blocks))
        raise BadPem(_no_certificate(kinds, what))
    try:
        return [
            x509.load_pem_x509_certificate(block.replace(kind, CERTIFICATE).encode())
            for kind, block in blocks
            if kind in CERTIFICATES
        ]
    except (ValueError, UnsupportedAlgorithm):
        raise BadPem(
            f"The {what} is damaged: what stands between BEGIN and END is no certificate. Copy the whole file once more."
        ) from None


def require_key(text: str) -> str:
    """Return the private key of a PEM text. Raise BadPem."""
    _key_of(text)
    return split(text)[1] + "\n"


def signed_by(chain: str, authorities: str) -> bool:
    """Return whether one of the authorities signed the last certificate of a chain, or is it."""
    *_, last = certificates_in(chain, "certificate")
    found = certificates_in(authorities, "CA")
    return any(last == each or _signed(last, each) for each in found)


def ended_in(text: str, now: datetime) -> tuple[int, int]:
    """Return how many of the certificates of a text have ended, and how many there are."""
    found = certificates_in(text, "CA")
    return sum(each.not_valid_after_utc <= now for each in found), len(found)


def no_authorities(text: str) -> int:
    """Return how many certificates of a text say that they are no authority."""
    return sum(not _may_sign(each) for each in certificates_in(text, "CA"))


def _may_sign(certificate: x509.Certificate) -> bool:
    try:
        found = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except (x509.ExtensionNotFound, ValueError):
        return True
    return found.value.ca


def _key_of(text: str) -> Any:
    """Return the one private key of a text. Raise BadPem."""
    _refuse_other_forms(text, "key")
    keys = [
        (match[1], match[0]) for match in BLOCK.finditer(text) if match[1].endswith("PRIVATE KEY")
    ]
    if not keys:
        kinds = ", ".join(dict.fromkeys(match[1] for match in BLOCK.finditer(text)))
        raise BadPem(_no_key(kinds))
    if len(keys) > 1:
        raise BadPem(
            f"There are {len(keys)} private keys in it: give the one of this certificate alone."
        )
    kind, block = keys[0]
    if kind == "OPENSSH PRIVATE KEY":
        raise BadPem(
            "This is a key of SSH, not of a certificate. Give the key that the certificate was made with; its text begins "
            "with -----BEGIN PRIVATE KEY-----."
        )
    if kind.startswith("ENCRYPTED") or "Proc-Type: 4,ENCRYPTED" in block:
        raise BadPem(
            f"The key has a passphrase, which nobody can type for a worker. Take it off: {WITHOUT_PASSPHRASE}"
        )
    try:
        return serialization.load_pem_private_key(block.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise BadPem(
            "The key is damaged: what stands between BEGIN and END is no private key. Copy the whole file once more."
        ) from None


def _refuse_other_forms(text: str, what: str) -> None:
    """Raise BadPem for what is binary, or lacks the lines of PEM."""
    if BEGIN in text:
        if not BLOCK.search(text):
            raise BadPem(
                f"The {what} is cut: a line -----BEGIN … has no -----END … of the same words. Copy the whole file once more."
            )
        return
    if (
        "\0" in text
        or "\N{REPLACEMENT CHARACTER}" in text
        or text.startswith("0\N{BREAK PERMITTED HERE}")
    ):
        raise BadPem(
            f"This is a binary file, not PEM. A certificate in DER: {CONVERT_DER}. A key in DER: {CONVERT_DER_KEY}. "
            f"A .p12 or .pfx: {CONVERT_P12}."
        )
    raise BadPem(_of_base64(text, what))


def _of_base64(text: str, what: str) -> str:
    """Return what a text without lines of PEM is, and what to do."""
    try:
        data = b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data.startswith(b"0"):
        return f"The {what} is no PEM text: that begins with a line -----BEGIN …-----. Copy the whole file, with its first and last line."
    if PKCS12_VERSION in data[:LONGEST_HEADER]:
        return f"This is a PKCS#12 file (.p12 or .pfx). {CONVERT_P12}."
    try:
        x509.load_der_x509_certificate(data)
    except (ValueError, UnsupportedAlgorithm):
        return (
            f"The {what} has no first and last line: put -----BEGIN …----- before it and -----END …----- behind it, as in the "
            f"file. A key in DER: {CONVERT_DER_KEY}."
        )
    return f"This is a certificate in DER, written as base64. {CONVERT_DER} makes PEM of the file."


def _no_certificate(kinds: str, what: str) -> str:
    if kinds.endswith("PRIVATE KEY"):
        return f"This is a private key. Give it as the key, and the {what} here."
    if kinds == "PKCS7":
        return "This is PKCS#7. openssl pkcs7 -print_certs -in FILE -out certificate.pem makes PEM of it."
    if kinds.endswith("CERTIFICATE REQUEST"):
        return "This is a request for a certificate, not the certificate. Give what the authority answered it with."
    return f"There is no certificate in it, but {kinds or 'nothing'}. Give the {what} as PEM."


def _no_key(kinds: str) -> str:
    if kinds.endswith("PUBLIC KEY"):
        return "This is a public key. Give the private one, whose text begins with -----BEGIN PRIVATE KEY-----."
    if CERTIFICATE in kinds:
        return "This is a certificate. Give the private key here, whose text begins with -----BEGIN PRIVATE KEY-----."
    return f"There is no private key in it, but {kinds or 'nothing'}. Give the key as PEM."


def _ordered(
    first: x509.Certificate, others: Sequence[x509.Certificate]
) -> Iterator[x509.Certificate]:
    """Yield a certificate, then the one that signed it, and so on, as far as they are there."""
    now, left = first, list(others)
    yield now
    while signer := next((each for each in left if _signed(now, each)), None):
        left.remove(signer)
        now = signer
        yield now


def _signed(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _public(key: Any) -> bytes:
    return bytes(
        key.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _name(name: x509.Name) -> str:
    return name.rfc4514_string()[:300] or "(no name)"
