"""The manifest of a bundle: files with digests, campaigns, versions."""

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from campaigns.kit.mappings import JsonObject
from campaigns.reviews.bundles.archive import Damaged

FORMAT = "perfdash bundle 1"
NAME = "manifest.json"
README = "README.md"


class UnknownVersion(ValueError):
    """The bundle has a format that this version cannot read."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file: SHA-256 and size of its unpacked content."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class CampaignEntry:
    """A campaign in a bundle.

    data_hash: of the data in the installation that measured them. bundle_hash: of the data in the bundle,
    which differ where hashed texts held secrets. taken_out: the number of texts without their secrets, by file.
    """

    folder: str
    name: str
    question: str
    kind: str
    seed: int
    data_hash: str
    bundle_hash: str
    versions: Mapping[str, str]
    taken_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest. perfdash: the version that wrote it. arithmetic: see the function of this name."""

    perfdash: str
    arithmetic: Mapping[str, str]
    campaigns: tuple[CampaignEntry, ...]
    files: Mapping[str, Listed]


def arithmetic() -> dict[str, str]:
    """Return what determines the last bits of a number, in addition to the versions of libraries."""
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    result = " ".join(sorted(simd.get("found", ())))
    return {"machine": platform.machine(), "simd": result, "numpy": np.__version__}


def as_json(manifest: Manifest) -> JsonObject:
    """Return the manifest as JSON."""
    return {"format": FORMAT, **asdict(manifest)}


def read(document: Any) -> Manifest:
    """Read the result of `as_json`. Raise UnknownVersion or Damaged."""
    if not isinstance(document, dict) or "format" not in document:
        raise Damaged(f"{NAME} does not say which format the bundle has.")
    if document["format"] != FORMAT:
        raise UnknownVersion(
            f"The bundle is written as “{document['format']}”; this version reads “{FORMAT}”. "
            "Verify it with the version of perfdash that wrote it"
            f" ({document.get('perfdash', 'unknown')}) or a later one."
        )
    try:
        return Manifest(
            perfdash=str(document["perfdash"]),
            arithmetic=dict(document["arithmetic"]),
            campaigns=tuple(CampaignEntry(**each) for each in document["campaigns"]),
            files={str(name): Listed(**each) for name, each in document["files"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Damaged(f"{NAME} is not complete: {error!r}.") from None
