"""The identities of the hosts of a population: sealed in the database, and opened for generators only."""

import json
from collections.abc import Sequence
from zlib import compress, decompress

from campaigns.kinds.base import HostIdentity
from campaigns.kinds.base.naming import OWN
from campaigns.kit import encryption
from campaigns.models import Population
from campaigns.targets.saving import installation_name

PART = 100
"""Hosts that are registered, and stored, together."""


def prefix_of(population: Population) -> str:
    """Return how the names of the hosts of a population begin; the number follows, with five digits."""
    return f"{OWN}{installation_name()}-p{population.pk}-"


def prefix_of_part(population: Population, part: int) -> str:
    """Return how the names of the hosts of one part begin, and those of no other."""
    return f"{prefix_of(population)}{part:03d}"


def numbers_of(population: Population, part: int) -> range:
    """Return the numbers of the hosts of a part."""
    return range(part * PART, min((part + 1) * PART, population.hosts))


def sealed(population: Population, identities: Sequence[HostIdentity]) -> str:
    """Seal identities for the database. Raise SecretUnreadable."""
    data = compress(json.dumps(identities).encode())
    return encryption.seal(data, encryption.decrypt(population.key))


def identities_of(population: Population, most: int | None = None) -> list[HostIdentity]:
    """Return the identities of a population in the order of their numbers, the first `most`. Raise SecretUnreadable.

    A process without encryption keys needs a parcel with the population's key.
    """
    key, found = encryption.decrypt(population.key), list[HostIdentity]()
    for stored in population.parts.order_by("number").values_list("identities", flat=True):
        rows = json.loads(decompress(encryption.unseal(stored, key)))
        found += [HostIdentity(*row) for row in rows]
        if most is not None and len(found) >= most:
            break
    return found[:most]
