"""Describe proofs and settings as text. Pure."""

from collections.abc import Sequence

from campaigns.kinds.base import EffectiveSetting, Proof
from campaigns.kit.numbers import amount

MOST_DETAILS = 5


def unproved_of(proofs: Sequence[Proof]) -> str:
    """Return which proofs and settings do not hold, as text; empty where all do."""
    if not proofs:
        return "nothing proves it"
    return proofs_text([proof for proof in proofs if not proof.ok])


def proofs_text(things: Sequence[Proof | EffectiveSetting]) -> str:
    """Return proofs and settings as one line of the log."""
    texts = [
        f"{thing.name} {_amount(thing.measured, thing.unit)}"
        + ("" if thing.ok else f", expected {_amount(thing.expected, thing.unit)}")
        if isinstance(thing, Proof)
        else f"{thing.name} {thing.asked}, read back {thing.in_force}"
        for thing in things
    ]
    more = f" and {len(texts) - MOST_DETAILS} more" if len(texts) > MOST_DETAILS else ""
    return "; ".join(texts[:MOST_DETAILS]) + more


def _amount(value: float | str, unit: str) -> str:
    """Write a number in a readable unit: 18.2 GB, not bytes."""
    return value if isinstance(value, str) else amount(float(value), unit)
