"""What the runs of a level say of which resource binds, and from which level on one does. Pure. MONITORING.md 8."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from campaigns.stats.binding import (
    Bound,
    Caveat,
    Figure,
    Resource,
    ResourceState,
    RunBinding,
    RunWord,
    State,
    in_front,
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
    """In how many runs of a level a resource binds."""

    resource: Resource
    label: str
    runs: Count


@dataclass(frozen=True, slots=True)
class LevelResource:
    """One resource at one level. utilisation: mean of the runs; binds, free, unknown: runs by its state.

    partly: of those in which it binds, the runs in which it does for a part alone. judged_by: the figure by which most runs judged
    it as the level does, its mean over them; None where they do not say the same, and in findings by earlier rules.
    """

    resource: Resource
    label: str
    utilisation: Share | None
    binds: Count
    free: Count
    unknown: Count
    partly: Count = 0
    judged_by: Figure | None = None

    @property
    def is_partly(self) -> bool:
        """Whether it binds for a part of the run in most of the runs in which it does."""
        return self.state == State.BINDS and is_most(self.partly, self.binds)

    @property
    def state(self) -> State:
        """Whether most runs say that it binds, or that it is free; unknown where they do not."""
        runs = self.binds + self.free + self.unknown
        if is_most(self.binds, runs):
            return State.BINDS
        return State.FREE if is_most(self.free, runs) else State.UNKNOWN


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
    """Neighbouring levels at which a resource binds, by their places. before, after: the nearest level at which it is known to be free.

    It begins to bind between `before` and `first`, and ends between `last` and `after`. None: no level on that side is known to be free
    before one at which it binds again, be it that none was measured, or that none is known.
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
    free_cores = [run for run in runs if _is_free(run, Resource.CORE)]
    for key, states in by_key.items():
        if key.resource == Resource.CORE:  # a run tells of the busiest alone: others are as free
            states.extend(
                ResourceState(key.resource, key.label, State.FREE)
                for run in free_cores
                if all(Bound(each.resource, each.label) != key for each in run.resources)
            )
    order = list(Resource)
    return [
        LevelResource(
            key.resource,
            key.label,
            _mean([state.utilisation for state in states if state.utilisation is not None]),
            sum(state.state == State.BINDS for state in states),
            sum(state.state == State.FREE for state in states),
            len(runs) - sum(state.state != State.UNKNOWN for state in states),
            sum(state.is_partly for state in states),
            _judged_by(states, len(runs)),
        )
        for key, states in sorted(
            by_key.items(), key=lambda each: (order.index(each[0].resource), each[0].label)
        )
    ]


def _judged_by(states: Sequence[ResourceState], runs: int) -> Figure | None:
    """Return the figure by which the runs judged that say what the level says: the one of most of them, its mean."""
    counts = Counter(each.state for each in states)
    said = next((each for each in (State.BINDS, State.FREE) if is_most(counts[each], runs)), None)
    figures = [each.judged_by for each in states if each.state == said and each.judged_by]
    if said is None or not figures:
        return None
    name, _ = Counter(each.name for each in figures).most_common(1)[0]
    same = [each for each in figures if each.name == name]
    return replace(same[0], value=sum(each.value for each in same) / len(same))


def _is_free(run: RunBinding, resource: Resource) -> bool:
    """Return whether a run knows of a resource, and it is free whatever its label."""
    states = [state.state for state in run.resources if state.resource == resource]
    return bool(states) and all(state == State.FREE for state in states)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def ranges_of(levels: Sequence[LevelBinding]) -> list[BindingRange]:
    """Return at which neighbouring levels each resource binds. levels: ascending.

    A queue binds only where nothing else is short: elsewhere it stands in front of that, which is neither binding nor free.
    """
    order = list(Resource)
    every = {bound for level in levels for bound in level.bound}
    ranges: list[BindingRange] = []
    for bound in sorted(every, key=lambda each: (order.index(each.resource), each.label)):
        states = [_state(level, bound) for level in levels]
        places = [place for place, state in enumerate(states) if state == State.BINDS]
        if not places:
            continue
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
                    _free(states, range(first - 1, -1, -1)),
                    _free(states, range(place + 1, len(levels))),
                )
            )
            first = following if following is not None else first
    return sorted(ranges, key=lambda each: each.first)


def _state(level: LevelBinding, bound: Bound) -> State:
    """Return what a level says of a resource."""
    if bound in level.bound:
        binds, _ = in_front(level.bound)
        return State.BINDS if bound in binds else State.UNKNOWN
    key = (bound.resource, bound.label)
    found = [each for each in level.resources if (each.resource, each.label) == key]
    if not found and bound.resource == Resource.CORE:
        found = [each for each in level.resources if each.resource == Resource.CORE]
        return State.FREE if any(each.state == State.FREE for each in found) else State.UNKNOWN
    return found[0].state if found else State.UNKNOWN


def _free(states: Sequence[State], places: Sequence[int]) -> int | None:
    """Return the first of some levels that is free; None where it binds again before."""
    known = next((place for place in places if states[place] != State.UNKNOWN), None)
    return known if known is not None and states[known] == State.FREE else None


def trends_of(levels: Sequence[tuple[int, Sequence[RunBinding]]], alpha: float) -> list[Trend]:
    """Return whether the utilisation of each resource rises with the level; none where that cannot be estimated.

    levels: each with its place in their order, which is all that counts.
    """
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
