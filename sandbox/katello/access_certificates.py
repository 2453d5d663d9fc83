"""Certificates of content, of version 3: what a host may have stands in a block of data beside the certificate.

The data are of the organization and the same for all its hosts; they are made, and signed, once.
"""

import base64
import json
import textwrap
import zlib
from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from sandbox.katello.authority import Certificate

REPOSITORY = "Bench_repo"


@dataclass(frozen=True, slots=True)
class Access:
    """A certificate of content, and its data: the blocks ENTITLEMENT DATA and RSA SIGNATURE."""

    certificate: Certificate
    data: str

    @property
    def serial(self) -> int:
        """Its serial."""
        return self.certificate.serial


@cache
def _signer() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@cache
def content(organization: str) -> str:
    """Write the data of an organization's content: one repository of packages."""
    messages = {
        "consumer": organization,
        "quantity": 1,
        "subscription": {"sku": "content_access", "name": "Content Access"},
        "order": {"start": "2026-01-01T00:00:00.000Z", "end": "2049-12-31T00:00:00.000Z"},
        "products": [
            {
                "id": "content_access",
                "name": " Content Access",
                "version": "",
                "branding_type": None,
                "branding_name": None,
                "architectures": [],
                "content": [
                    {
                        "id": "1",
                        "type": "yum",
                        "name": REPOSITORY,
                        "label": f"{organization}_{REPOSITORY}",
                        "vendor": "Custom",
                        "path": f"/{organization}/Library/custom/Bench/repo",
                        "enabled": True,
                        "metadata_expire": 1,
                        "required_tags": [],
                        "arches": [],
                    }
                ],
            }
        ],
        "pool": {},
    }
    packed = zlib.compress(json.dumps(messages).encode())
    signature = _signer().sign(packed, padding.PKCS1v15(), hashes.SHA256())
    return _block("ENTITLEMENT DATA", packed) + _block("RSA SIGNATURE", signature)


def _block(name: str, data: bytes) -> str:
    lines = textwrap.fill(base64.b64encode(data).decode(), 64)
    return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----\n"
