"""Create TLS contexts: one for all hosts, or one for each identity. No Django.

A context with the system's certificates takes 40 ms, so it is created once. One of an identity takes a
millisecond: it trusts only `ca`, or looks up the system's certificates by name when they are needed.
"""

import os
import ssl
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the file has mode 0600, a random name, and is unlinked at once


def context(ca: str = "", *, insecure: bool = False) -> ssl.SSLContext:
    """Create a context without a client certificate. ca: PEM; empty: the system's certificates."""
    context = _client(ca, insecure=insecure)
    if not (ca or insecure):
        context.load_default_certs()
    return context


def identity_context(
    certificate: str, key: str, ca: str = "", *, insecure: bool = False
) -> ssl.SSLContext:
    """Create a context with a client certificate (PEM, with its chain) and its key (PEM).

    Raise ssl.SSLError where they do not belong together, or cannot be read.
    """
    context = _client(ca, insecure=insecure)
    if not (ca or insecure):
        if directory := _hashed_directory():
            context.load_verify_locations(capath=directory)
        else:
            context.load_default_certs()
    _load_chain(context, certificate, key)
    return context


def _client(ca: str, *, insecure: bool) -> ssl.SSLContext:
    """Create a context of a client that trusts `ca`, or with `insecure` any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif ca:
        context.load_verify_locations(cadata=ca)
    return context


def _load_chain(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load a chain. OpenSSL reads only files, so there is one for a moment, in memory where possible."""
    writable = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
    directory = SHARED_MEMORY if writable else Path(tempfile.mkdtemp(prefix="perfdash-"))  # 0700
    handle, name = tempfile.mkstemp(prefix="perfdash-", suffix=".pem", dir=directory)  # 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(certificate.rstrip() + "\n" + key)
        context.load_cert_chain(name)
    finally:
        os.unlink(name)
        if not writable:
            with suppress(OSError):
                directory.rmdir()


@lru_cache(maxsize=1)
def _hashed_directory() -> str:
    """Return the system's directory of certificates under the hashes of their names; empty where there is none."""
    paths = ssl.get_default_verify_paths()
    for directory in (os.environ.get(paths.openssl_capath_env), paths.openssl_capath):
        if directory and any(Path(directory).glob("*.0")):
            return directory
    return ""
