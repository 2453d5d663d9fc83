"""Contexts of TLS: one for all hosts, or one for each identity. No Django.

A context with the system's certificates costs 40 ms, so it is made once. One of an identity costs a
millisecond: it trusts the given certificates only, or looks the system's up by name when they are needed.
"""

import os
import ssl
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the file has mode 0600, a random name, and is unlinked at once


def context(ca: str = "", *, insecure: bool = False) -> ssl.SSLContext:
    """Make a context without a client certificate. `ca`: PEM; empty: the system's certificates."""
    made = _client()
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    elif ca:
        made.load_verify_locations(cadata=ca)
    else:
        made.load_default_certs()
    return made


def identity_context(
    certificate: str, key: str, ca: str = "", *, insecure: bool = False
) -> ssl.SSLContext:
    """Make a context that shows a client certificate (PEM, with its chain) and its key (PEM).

    Raise ssl.SSLError where they do not belong together, or cannot be read.
    """
    made = _client()
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    elif ca:
        made.load_verify_locations(cadata=ca)
    elif directory := _hashed_directory():
        made.load_verify_locations(capath=directory)
    else:
        made.load_default_certs()
    _load_chain(made, certificate, key)
    return made


def _client() -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    return made


def _load_chain(made: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load a chain; OpenSSL reads files only, so there is one for a moment, in memory where possible."""
    writable = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
    directory = SHARED_MEMORY if writable else Path(tempfile.mkdtemp(prefix="perfdash-"))  # 0700
    handle, name = tempfile.mkstemp(prefix="perfdash-", suffix=".pem", dir=directory)  # 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(certificate.rstrip() + "\n" + key)
        made.load_cert_chain(name)
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
