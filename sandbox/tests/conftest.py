import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandbox.process import Sandbox, running


@dataclass(frozen=True)
class Line:
    name: str
    digest: str
    size: int


def parsed(manifest: bytes) -> list[Line]:
    """A manifest as a client reads it: names may hold commas."""
    rows = (line.rsplit(",", 2) for line in manifest.decode().splitlines())
    return [Line(name, digest, int(size)) for name, digest, size in rows]


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def wait_until_idle(sandbox: Sandbox) -> None:
    wait_until(lambda: not sandbox.stats()["all"]["in_flight"])


def wait_until(claim: Callable[[], object], seconds: float = 5) -> None:
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, f"not so within {seconds} s"
        pause.wait(0.02)


@pytest.fixture(scope="session")
def process() -> Iterator[Sandbox]:
    with running() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(process: Sandbox) -> Sandbox:
    process.reset()
    return process


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sandbox")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths
