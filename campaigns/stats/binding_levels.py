"""What the runs of a level say of which resource binds, and from which level on one does. Pure. MONITORING.md 8."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from campaigns.stats.binding import (
    Bound,
    Caveat,
    Resource,
    ResourceState,
    RunBinding,
    RunWord,
    State,
)
from campaigns.stats.kendall import Tau, kendall
from campaigns.stats.units import Count, Place, Share

SAME = 2 / 3
"""The share of a level's runs that has to say the same. [own]"""


class LevelWord(StrEnum):
    """The word of a level. MIXED: not the same in all runs."""

    BINDS = "binds"
    NONE = "none"
    UNKNOWN = "unknown"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class BoundRuns:
    """In how many runs of a level a resource is the strongest that binds."""

    resource: Resource
    label: str
    runs: Count


@dataclass(frozen=True, slots=True)
class LevelResource:
    """One resource at one level. utilisation: mean of the runs; binds, free, unknown: runs by its state."""

    resource: Resource
    label: str
    utilisation: Share | None
    binds: Count
    free: Count
    unknown: Count

    @property
    def state(self) -> State:
        """Whether it binds in most runs; unknown where no run knows."""
        if not self.binds + self.free:
            return State.UNKNOWN
        runs = self.binds + self.free + self.unknown
        return State.BINDS if is_most(self.binds, runs) else State.FREE


@dataclass(frozen=True, slots=True)
class LevelBinding:
    """What the runs of one level say. bound: what binds in most of them; said: in how many each does; none, unknown: runs without."""

    word: LevelWord
    bound: Sequence[Bound]
    runs: Count
    none: Count
    unknown: Count
    said: Sequence[BoundRuns] = field(default_factory=list)
    resources: Sequence[LevelResource] = field(default_factory=list)
    caveats: Sequence[Caveat] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BindingRange:
    """Neighbouring levels at which a resource binds, by their places. before, after: the nearest known level at which it does not.

    It begins to bind between `before` and `first`, and ends between `last` and `after`; None: it binds at the end of what was measured.
    """

    resource: Resource
    label: str
    first: Place
    last: Place
    before: Place | None
    after: Place | None


@dataclass(frozen=True, slots=True)
class Trend:
    """Whether the utilisation of a resource rises with the level."""

    resource: Resource
    label: str
    tau: Tau


def is_most(runs: int, of: int) -> bool:
    """Return whether so many runs speak for their level."""
    return of > 0 and runs >= SAME * of - 1e-9


def level_binding(runs: Sequence[RunBinding]) -> LevelBinding:
    """Return the word of a level: what most of its runs say."""
    said = Counter(bound for run in runs for bound in run.strongest)
    none = sum(run.word == RunWord.NONE for run in runs)
    unknown = sum(run.word == RunWord.UNKNOWN for run in runs)
    bound = [each for each, count in said.most_common() if is_most(count, len(runs))]
    if bound:
        word = LevelWord.BINDS
    elif is_most(none, len(runs)):
        word = LevelWord.NONE
    elif not runs or is_most(unknown, len(runs)):
        word = LevelWord.UNKNOWN
    else:
        word = LevelWord.MIXED
    caveats = Counter(caveat for run in runs for caveat in run.caveats)
    return LevelBinding(
        word=word,
        bound=bound,
        runs=len(runs),
        none=none,
        unknown=unknown,
        said=[BoundRuns(each.resource, each.label, count) for each, count in said.most_common()],
        resources=_resources(runs),
        caveats=[caveat for caveat in Caveat if is_most(caveats[caveat], len(runs))],
    )


def _resources(runs: Sequence[RunBinding]) -> list[LevelResource]:
    by_key: dict[Bound, list[ResourceState]] = {}
    for run in runs:
        for state in run.resources:
            by_key.setdefault(Bound(state.resource, state.label), []).append(state)
    order = list(Resource)
    return [
        LevelResource(
            key.resource,
            key.label,
            _mean([state.utilisation for state in states if state.utilisation is not None]),
            sum(state.state == State.BINDS for state in states),
            sum(state.state == State.FREE for state in states),
            len(runs) - sum(state.state != State.UNKNOWN for state in states),
        )
        for key, states in sorted(
            by_key.items(), key=lambda each: (order.index(each[0].resource), each[0].label)
        )
    ]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def ranges_of(levels: Sequence[LevelBinding]) -> list[BindingRange]:
    """Return at which neighbouring levels each resource binds. levels: ascending."""
    order = list(Resource)
    every = {bound for level in levels for bound in level.bound}
    ranges: list[BindingRange] = []
    for bound in sorted(every, key=lambda each: (order.index(each.resource), each.label)):
        places = [place for place, level in enumerate(levels) if bound in level.bound]
        first = places[0]
        for place, following in zip(places, [*places[1:], None], strict=True):
            if following == place + 1:
                continue
            ranges.append(
                BindingRange(
                    bound.resource,
                    bound.label,
                    first,
                    place,
                    _known(levels, range(first - 1, -1, -1)),
                    _known(levels, range(place + 1, len(levels))),
                )
            )
            first = following if following is not None else first
    return sorted(ranges, key=lambda each: each.first)


def _known(levels: Sequence[LevelBinding], places: Sequence[int]) -> int | None:
    """Return the first of some levels that is known."""
    return next((place for place in places if levels[place].word != LevelWord.UNKNOWN), None)


def trends_of(levels: Sequence[tuple[float, Sequence[RunBinding]]], alpha: float) -> list[Trend]:
    """Return whether the utilisation of each resource rises with the level; none where that cannot be estimated."""
    pairs: dict[Bound, list[tuple[float, float]]] = {}
    for level, runs in levels:
        for run in runs:
            for state in run.resources:
                if state.utilisation is not None:
                    key = Bound(state.resource, state.label)
                    pairs.setdefault(key, []).append((level, state.utilisation))
    order = list(Resource)
    trends = []
    for key, values in sorted(
        pairs.items(), key=lambda each: (order.index(each[0].resource), each[0].label)
    ):
        tau = kendall([x for x, _ in values], [y for _, y in values], alpha)
        if tau is not None:
            trends.append(Trend(key.resource, key.label, tau))
    return trends
