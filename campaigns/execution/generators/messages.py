"""Encode requests to generators and their results: packed, bounded, without secrets in clear text."""

import json
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from campaigns.kinds.programs.program import Outcome
from campaigns.kit import encryption
from campaigns.kit.mappings import ProgramRequest

MOST_REQUEST_BYTES = 32 * 2**20
MOST_RESULT_BYTES = 8 * 2**20
MOST_SAMPLE_BYTES = 64 * 2**20
"""Bytes of compressed results: tens of millions of samples."""


class TooLarge(ValueError):
    """A request or result is larger than a row may hold; the message names it and what to do."""


@dataclass(frozen=True, slots=True)
class Order:
    """A request to a program, and how long the program may take from start to end."""

    request: ProgramRequest
    deadline_seconds: float


def pack_order(order: Order, key: str) -> str:
    """Compress a request, and seal it with the key of its attempt. Raise TooLarge."""
    packed = _pack(asdict(order), MOST_REQUEST_BYTES, "request")
    return encryption.seal(packed, key)


def unpack_order(stored: str, key: str) -> Order:
    """Decrypt a request of `pack_order`. Raise SecretUnreadable."""
    return Order(**_unpack(encryption.unseal(stored, key)))


def pack_outcome(outcome: Outcome) -> dict[str, bytes]:
    """Return the fields `result` and `samples` of a row. Raise TooLarge."""
    values = asdict(outcome)
    samples = values.pop("samples")
    return {
        "result": _pack(values, MOST_RESULT_BYTES, "result"),
        "samples": _pack(samples, MOST_SAMPLE_BYTES, "samples"),
    }


def unpack_outcome(result: bytes, samples: bytes) -> Outcome:
    """Return the outcome from the fields of `pack_outcome`."""
    return Outcome(**_unpack(result), samples=_unpack(samples) if samples else {})


def _pack(value: Any, most: int, what: str) -> bytes:
    packed = zlib.compress(json.dumps(value, separators=(",", ":")).encode(), level=1)
    if len(packed) > most:
        raise TooLarge(
            f"The {what} of a generator has {len(packed):,} bytes; at most {most:,} are taken. Share the "
            "load among more generators, or make it shorter."
        )
    return packed


def _unpack(packed: bytes) -> Any:
    return json.loads(zlib.decompress(packed))
