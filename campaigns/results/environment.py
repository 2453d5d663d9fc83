"""The environments in which the runs of a campaign were measured, and where they changed. Reads only."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, Count, F, Max, Min, QuerySet, Value, When
from django.db.models.functions import Coalesce

from campaigns.models import Attempt, Campaign, EnvironmentFact, Factor, Run
from campaigns.planning.configurations import expanded
from campaigns.stats import units

_Fact = tuple[str, str, str]
"""Side, name and target of a fact."""
LEVEL = F("attempt__run__cell__target__name")
OF_A_RUN = (
    "attempt__run__position",
    "value",
    "value_after",
    "attempt__run__cell__levels_by_factor",
    "builds",
)

LABELLED = (Attempt.State.RUNNING, Attempt.State.ACCEPTED, Attempt.State.FAILED)
"""States of attempts whose values pages and charts show."""
MOST_CHANGES, RUNS_A_CHANGE = 2, 10
"""A fact is unstable if it changes more often than twice, and than once in so many runs."""


@dataclass(frozen=True, slots=True)
class ObservedFact:
    """A fact of the environment with the runs that observed it. `changed`: other runs observed another value.

    target: the level of the target whose fact it is, where a campaign has several; else empty.
    """

    side: str
    name: str
    value: str
    runs: units.Count
    first: units.Position
    last: units.Position
    changed: bool
    target: str = ""

    @property
    def place(self) -> str:
        """Of what it is a fact: the side, and which one of several targets."""
        return place_of(self.side, self.target)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a fact between two runs, or during one: then both numbers are equal. target: as in ObservedFact."""

    side: str
    name: str
    before: str
    after: str
    last_run_before: units.Position
    first_run_after: units.Position
    target: str = ""


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of runs in one environment, numbered from 0 in the order in which runs were made.

    of_run: the stretch of each accepted run, by its position. begun: the changes with which each stretch
    after the first began. of_target: the number of stretches of each of several targets.
    """

    of_run: Mapping[int, int]
    begun: Sequence[tuple[Change, ...]]
    of_target: Mapping[str, int] = field(default_factory=dict)


def place_of(side: str, target: str) -> str:
    """Return of what a fact is: the side, and which one of several targets."""
    return f"{side} {target}".strip()


WHICH_TARGET = Case(
    When(side=EnvironmentFact.Side.TARGET, then=Coalesce(LEVEL, Value(""))), default=Value("")
)
"""The name of the target whose fact it is, where a campaign has several; empty for facts of the generator."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A fact as one run observed it before and after. place: in the order in which runs were made.

    varied: the levels of the run's builds, and of the setting by the name of the fact; there may be none.
    """

    place: int
    run: int
    before: str
    after: str
    varied: tuple[str, ...]


def environment_of(campaign: Campaign) -> list[ObservedFact]:
    """Return facts of target and generator over all accepted attempts, each value with its runs."""
    seen: dict[tuple[str, str, str, str], tuple[int, int, int]] = {}
    for side, target, name, *values, runs, first, last in (
        _facts(campaign)
        .annotate(which=WHICH_TARGET)
        .values("side", "which", "name", "value", "value_after")
        # An attempt has a fact once, and a run one accepted attempt: none is counted twice.
        .annotate(
            runs=Count("pk"),
            first=Min("attempt__run__position"),
            last=Max("attempt__run__position"),
        )
        .values_list("side", "which", "name", "value", "value_after", "runs", "first", "last")
    ):
        for value in filter(None, values):
            others = seen.get((side, name, target, value), (0, first, last))
            seen[side, name, target, value] = (
                others[0] + runs,
                min(others[1], first),
                max(others[2], last),
            )
    several = Counter(text[:3] for text in seen)
    rows = sorted(seen.items(), key=lambda row: (*row[0][:3], row[1][1], row[0][3]))
    return [
        ObservedFact(side, name, value, *runs, several[side, name, target] > 1, target)
        for (side, name, target, value), runs in rows
    ]


def changes_of(campaign: Campaign, facts: Iterable[ObservedFact]) -> list[Change]:
    """Return where each fact changed, in the order in which the runs were made."""
    return [
        change for fact, seen in _seen(campaign, facts).items() for change in _changes(fact, seen)
    ]


def stretches_of(campaign: Campaign, facts: Iterable[ObservedFact]) -> Stretches:
    """Split the runs where a fact changed for good; unstable facts split nothing.

    After a change during a run, a stretch begins with the next run. Of several targets each has stretches of
    its own; one of the campaign begins once the environment of every target is another one, so that there are
    no more of them than of any target.
    """
    facts = list(facts)
    seen = _seen(campaign, facts)
    begins: dict[int, list[Change]] = {}
    for fact, runs in seen.items():
        changes = _changes(fact, runs)
        following = {one.run: other.run for one, other in pairwise(runs)}
        for change in () if _unstable(changes, len(runs)) else changes:
            first = following.get(change.last_run_before)
            if first is not None:
                begins.setdefault(first, []).append(change)
    of_run: dict[int, int] = {}
    begun: list[tuple[Change, ...]] = []
    targets = {fact.target for fact in facts if fact.side == EnvironmentFact.Side.TARGET}
    of_target = {target: 1 for target in targets if target}
    waiting: list[Change] = []
    for _, run in sorted((each.place, each.run) for runs in seen.values() for each in runs):
        if run in begins and run not in of_run:
            waiting += begins[run]
            changed = {change.target for change in waiting}
            for target in {change.target for change in begins[run]} & of_target.keys():
                of_target[target] += 1
            if "" in changed or changed >= targets:
                begun.append(tuple(waiting))
                waiting = []
        of_run[run] = len(begun)
    return Stretches(of_run, begun, of_target)


def unread_after(campaign: Campaign) -> int:
    """Return for how many accepted runs the target's facts were not read again after the run."""
    return _accepted(campaign).exclude(facts_unread="").count()


def simulators_of(campaign: Campaign) -> list[str]:
    """Return the kinds of simulated targets that a campaign was measured on; empty for a real target."""
    return simulators([campaign.pk]).get(campaign.pk, [])


def simulators(campaigns: Sequence[int]) -> dict[int, list[str]]:
    """Return the kinds of simulated targets by campaign; campaigns with a real target are absent."""
    result: dict[int, list[str]] = {}
    for campaign, what in (
        Attempt.objects.filter(run__campaign__in=campaigns, state__in=LABELLED)
        .exclude(run__purpose=Run.Purpose.TRIAL)
        .exclude(simulator="")
        .order_by("run__campaign", "simulator")
        .values_list("run__campaign", "simulator")
        .distinct()
    ):
        result.setdefault(campaign, []).append(what)
    return result


def _accepted(campaign: Campaign) -> QuerySet[Attempt]:
    return Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.ACCEPTED).exclude(
        run__purpose=Run.Purpose.TRIAL
    )


def _facts(campaign: Campaign) -> QuerySet[EnvironmentFact]:
    return EnvironmentFact.objects.filter(attempt__in=_accepted(campaign)).order_by()


def _seen(campaign: Campaign, facts: Iterable[ObservedFact]) -> dict[_Fact, list[_Seen]]:
    """Return what each run observed of the facts that changed, in the order in which the runs were made.

    A fact that is the same in all runs of a build, such as its version, is what the campaign varies, and no change. So is one of the
    target by the name of a setting that varies, if it is the same in all runs of each of its levels.
    """
    seen: dict[_Fact, list[_Seen]] = {
        (fact.side, fact.name, fact.target): [] for fact in facts if fact.changed
    }
    if not seen:
        return seen
    builds = campaign.factors.filter(role=Factor.Role.BUILD).order_by("position").values("name")
    rows = (
        _facts(campaign)
        .filter(name__in={name for _, name, _ in seen})
        .annotate(which=WHICH_TARGET, builds=ArraySubquery(builds))
        .order_by("attempt__claimed_at", "attempt_id")
        .values_list("side", "name", "which", *OF_A_RUN)
    )
    for place, (side, name, which, run, value, later, levels, varied) in enumerate(rows):
        if (side, name, which) in seen:
            of_run = tuple(str(levels.get(each)) for each in varied)
            chosen = expanded(campaign, levels)
            if side == EnvironmentFact.Side.TARGET and name in chosen:
                of_run = (*of_run, str(chosen[name]))
            seen[side, name, which].append(_Seen(place, run, value, later or value, of_run))
    return {fact: runs for fact, runs in seen.items() if not _is_varied(runs)}


def _is_varied(runs: Sequence[_Seen]) -> bool:
    """Return whether a fact that changed has one value in all runs of each level that varies it."""
    values: dict[tuple[str, ...], set[str]] = {}
    for each in runs:
        values.setdefault(each.varied, set()).update((each.before, each.after))
    return all(len(each) == 1 for each in values.values())


def _unstable(changes: Sequence[Change], runs: int) -> bool:
    """Return whether a fact is unstable: it changes again and again, or during more than one run."""
    during = sum(change.last_run_before == change.first_run_after for change in changes)
    often = len(changes) > MOST_CHANGES and len(changes) * RUNS_A_CHANGE > runs
    return often or during > 1


def _changes(fact: _Fact, seen: Sequence[_Seen]) -> list[Change]:
    side, name, target = fact
    result = []
    last: _Seen | None = None
    for now in seen:
        if last and last.after != now.before:
            result.append(Change(side, name, last.after, now.before, last.run, now.run, target))
        if now.before != now.after:
            result.append(Change(side, name, now.before, now.after, now.run, now.run, target))
        last = now
    return result


MOST_LINES = 3
"""The changes of one fact that pages show; further ones are counted."""


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change of a fact: both values, and the runs."""

    before: str
    after: str
    where: str


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact with its first changes. `more`: the number of further changes."""

    name: str
    side: str
    lines: tuple[ChangeLine, ...]
    more: int


def changed_facts(changes: Iterable[Change]) -> list[ChangedFact]:
    """Group the changes by fact, in their order."""
    by_fact: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        by_fact.setdefault((change.side, change.name, change.target), []).append(change)
    return [
        ChangedFact(
            name=name,
            side=place_of(EnvironmentFact.Side(side).label, target),
            lines=tuple(
                ChangeLine(change.before, change.after, _where(change))
                for change in result[:MOST_LINES]
            ),
            more=max(0, len(result) - MOST_LINES),
        )
        for (side, name, target), result in by_fact.items()
    ]


def _where(change: Change) -> str:
    if change.last_run_before == change.first_run_after:
        return f"during run {change.last_run_before}"
    return f"between run {change.last_run_before} and run {change.first_run_after}"
