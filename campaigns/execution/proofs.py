"""Proofs and settings in words. Pure."""

from collections.abc import Sequence

from campaigns.drivers.base import EffectiveSetting, Proof

MOST_DETAILS = 5


def unproved_of(proofs: Sequence[Proof]) -> str:
    """What is not as it has to be, in words; empty where all is proved."""
    if not proofs:
        return "nothing proves it"
    return in_words([proof for proof in proofs if not proof.ok])


def in_words(things: Sequence[Proof | EffectiveSetting]) -> str:
    """Proofs and settings as one line of the log."""
    texts = [
        f"{thing.name} {thing.measured}{f' {thing.unit}' if thing.unit else ''}"
        + ("" if thing.ok else f", expected {thing.expected}")
        if isinstance(thing, Proof)
        else f"{thing.name} {thing.asked}, read back {thing.in_force}"
        for thing in things
    ]
    more = f" and {len(texts) - MOST_DETAILS} more" if len(texts) > MOST_DETAILS else ""
    return "; ".join(texts[:MOST_DETAILS]) + more
