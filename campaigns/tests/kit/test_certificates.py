"""What people paste for a certificate, a key or a CA: what is right is taken, of what is wrong they are told what to do."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12

from campaigns.kit.certificates import (
    BadPem,
    certificates_in,
    ended_in,
    no_authorities,
    read_chain,
    require_key,
    signed_by,
    split,
)
from campaigns.tests.kinds.programs.certificates import Authority

pytestmark = pytest.mark.unit
DATA = "-----BEGIN ENTITLEMENT DATA-----\neJxTVUhUAAA\n-----END ENTITLEMENT DATA-----\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"), "ours")


@pytest.fixture(scope="module")
def identity(authority):
    return authority.identity("host-1")


@pytest.fixture(scope="module")
def ca(authority):
    return authority.file.read_text()


def loaded(key):
    return serialization.load_pem_private_key(key.encode(), None)


def test_a_certificate_is_read_with_its_key(identity):
    chain = read_chain(*identity)

    assert (chain.subject, chain.issuer, chain.loose) == ("CN=host-1", "CN=ours", 0)
    assert len(chain.fingerprint) == 64
    assert chain.begins < datetime.now(UTC) < chain.ends
    assert chain.text == identity[0]


def test_the_own_certificate_comes_first_whatever_the_order_was(identity, ca):
    chain = read_chain(ca + identity[0], identity[1])

    assert chain.subject == "CN=host-1"
    assert chain.text == identity[0] + ca


def test_certificates_that_signed_nothing_are_counted(identity, authority):
    stranger, _ = authority.identity("stranger")

    assert read_chain(identity[0] + stranger, identity[1]).loose == 1


def test_an_entitlement_is_taken_apart(identity):
    certificate, key = split(identity[0] + DATA + identity[1])

    assert (certificate + "\n", key + "\n") == identity


def test_an_authority_is_known_by_its_signature(identity, ca, tmp_path):
    assert signed_by(identity[0], ca)
    assert not signed_by(identity[0], Authority(tmp_path, "others").file.read_text())


def test_what_has_ended_and_what_is_no_authority_is_counted(identity, ca):
    later = datetime.now(UTC) + timedelta(days=3)

    assert ended_in(ca + identity[0], later) == (2, 2)
    assert ended_in(ca, datetime.now(UTC)) == (0, 1)
    assert no_authorities(ca + identity[0]) == 1


def wrong_keys(key):
    private = loaded(key)
    openssh = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    encrypted = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    old = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.BestAvailableEncryption(b"secret"),
    )
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return {
        "openssh": openssh.decode(),
        "encrypted": encrypted.decode(),
        "encrypted-old": old.decode(),
        "public": public.decode(),
        "cut": key[: len(key) // 2],
        "damaged": key.replace(key.splitlines()[1], "A" * 64),
        "twice": key + key,
        "words": "the key",
        "der": b64encode(
            private.private_bytes(
                serialization.Encoding.DER,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        ).decode(),
    }


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("openssh", "This is a key of SSH"),
        ("encrypted", "The key has a passphrase, which nobody can type for a worker. Take it off: openssl pkey"),
        ("encrypted-old", "The key has a passphrase"),
        ("public", "This is a public key. Give the private one"),
        ("cut", "The key is cut"),
        ("damaged", "The key is damaged"),
        ("twice", "There are 2 private keys in it"),
        ("words", "The key is no PEM text"),
        ("der", "A key in DER: openssl pkey -inform DER"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named(identity, what, words):
    with pytest.raises(BadPem, match=words.replace("(", r"\(")):
        require_key(wrong_keys(identity[1])[what])


def wrong_certificates(identity):
    certificate = x509.load_pem_x509_certificate(identity[0].encode())
    p12 = pkcs12.serialize_key_and_certificates(
        b"host", loaded(identity[1]), certificate, None, serialization.NoEncryption()
    )
    der = certificate.public_bytes(serialization.Encoding.DER)
    return {
        "key": identity[1],
        "der": b64encode(der).decode(),
        "der-binary": der.decode("latin-1"),
        "der-replaced": der.decode(errors="replace"),
        "p12": b64encode(p12).decode(),
        "cut": identity[0][:100],
        "damaged": identity[0].replace(identity[0].splitlines()[2], "B" * 64),
        "request": identity[0].replace(" CERTIFICATE", " CERTIFICATE REQUEST"),
        "empty": "",
    }


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("key", "This is a private key"),
        ("der", "This is a certificate in DER, written as base64. openssl x509 -inform DER"),
        ("der-binary", "This is a binary file"),
        ("der-replaced", "This is a binary file"),
        ("p12", "This is a PKCS#12 file"),
        ("cut", "The certificate is cut"),
        ("damaged", "The certificate is damaged"),
        ("request", "This is a request for a certificate"),
        ("empty", "The certificate is no PEM text"),
    ],
)
def test_a_wrong_certificate_is_named(identity, what, words):
    with pytest.raises(BadPem, match=words):
        certificates_in(wrong_certificates(identity)[what], "certificate")


def test_a_certificate_in_place_of_the_key_is_named(identity):
    with pytest.raises(BadPem, match=r"This is a certificate\. Give the private key here"):
        require_key(identity[0])


def test_a_key_that_does_not_fit_is_refused(identity, authority):
    other = authority.identity("other")[1]

    with pytest.raises(BadPem, match="The key does not belong to this certificate"):
        read_chain(identity[0], other)


def test_keys_of_rsa_are_taken():
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )

    assert require_key(key.decode()).startswith("-----BEGIN RSA PRIVATE KEY-----")
