"""Numbers that look random and are the same in every process and every run. Pure."""

MASK = (1 << 64) - 1


def chance(seed: int, number: int, place: int) -> float:
    """Return a number from 0 to 1 that a round, or a host, always has at a step, or at a file (splitmix64)."""
    value = (seed * 0x9E3779B97F4A7C15 + number * 0xBF58476D1CE4E5B9 + place + 1) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return (value ^ (value >> 31)) / 2**64
