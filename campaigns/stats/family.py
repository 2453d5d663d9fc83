"""One family of comparisons: all pairs of settings that did the same work, one adjusted p a pair. Pure.

Shaffer's step-down with static multipliers (1986): where some pairs are shown to differ, fewer of the others
can be equal than there are, since equality is transitive. Where all cells share one noise the first step is
Tukey's studentized range, which knows how pairs hang together. The chance that any of several equal settings
is called different is 5 % at most.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import accumulate
from math import comb, sqrt

import scipy

MOST_SETTINGS = 30
"""Of more settings each p is multiplied by the number of all pairs, and the best measured is compared with each."""


@lru_cache(maxsize=256)
def multipliers(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return by what the ascending p values are multiplied, one factor for each pair within a group.

    sizes: numbers of settings, group by group; pairs are within groups. The i-th factor is the largest number of
    pairs that can be equal when i pairs, counted from 0, are known to differ.
    """
    pairs = sum(comb(size, 2) for size in sizes)
    if sum(sizes) > MOST_SETTINGS:
        return (pairs,) * pairs
    possible = _possible_numbers(sizes)
    return tuple(
        (possible & ((1 << (pairs - different + 1)) - 1)).bit_length() - 1
        for different in range(pairs)
    )


def _possible_numbers(sizes: Sequence[int]) -> int:
    """Return the numbers of pairs that may be equal, as the bits of an integer: sums over all partitions."""
    of_size = [1]
    for size in range(1, max(sizes, default=0) + 1):
        bits = 0
        for part in range(1, size + 1):
            bits |= of_size[size - part] << comb(part, 2)
        of_size.append(bits)
    result = 1
    for size in sizes:
        result = _sums(result, of_size[size])
    return result


def _sums(one: int, other: int) -> int:
    """Return all sums of a number of one set and one of the other."""
    result = 0
    while other:
        lowest = other & -other
        result |= one << (lowest.bit_length() - 1)
        other ^= lowest
    return result


def adjust(
    p_values: Sequence[float],
    sizes: Sequence[int],
    *,
    largest_t: float | None = None,
    df: float = 0.0,
    models: int = 1,
) -> list[float]:
    """Adjust the two-sided p values of pairs; pairs of the groups that have none are taken for 1.

    sizes: as in `multipliers`. largest_t: the largest absolute t of all pairs, which have one noise of `df` degrees of
    freedom; None where they have not. models: among so many models of the noise the data chose, each of which could err.
    """
    factors = multipliers(tuple(sizes))
    if len(p_values) > len(factors):
        raise ValueError("A family has at most the pairs within its groups.")
    ascending = sorted(range(len(p_values)), key=lambda index: p_values[index])
    steps = [
        models * factor * p_values[index] for factor, index in zip(factors, ascending, strict=False)
    ]
    if steps and largest_t is not None and sum(sizes) <= MOST_SETTINGS:
        steps[0] = min(steps[0], models * tail_of_range(largest_t, sizes, df))
    adjusted = [0.0] * len(p_values)
    for index, p in zip(ascending, accumulate(steps, max), strict=True):
        adjusted[index] = min(1.0, p)
    return adjusted


def tail_of_range(t: float, sizes: Sequence[int], df: float) -> float:
    """Return the chance that equal settings differ by |t| or more somewhere (Tukey; over groups: Kimball, 1951)."""
    none = 1.0
    for size in sizes:
        if size > 1:
            none *= 1 - float(scipy.stats.studentized_range.sf(sqrt(2) * t, size, df))
    return 1 - none


def unbeaten(settings: Sequence[int], worse: Collection[tuple[int, int]]) -> tuple[int, ...]:
    """Return the settings that no other is shown to be better than.

    worse: pairs of a setting, and another one that is shown to be better.
    """
    inside = set(settings)
    beaten = {one for one, other in worse if other in inside}
    return tuple(setting for setting in settings if setting not in beaten)
