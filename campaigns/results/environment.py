"""The environments in which the runs of a campaign were measured, and where they changed. Reads only."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.db.models import Count, Max, Min, QuerySet

from campaigns.models import Attempt, Campaign, EnvironmentFact, Run
from campaigns.stats import units

LABELLED = (Attempt.State.RUNNING, Attempt.State.ACCEPTED, Attempt.State.FAILED)
"""States of attempts whose values pages and charts show."""
MOST_CHANGES, RUNS_A_CHANGE = 2, 10
"""A fact is unstable if it changes more often than twice, and than once in so many runs."""


@dataclass(frozen=True, slots=True)
class ObservedFact:
    """A fact of the environment with the runs that observed it. `changed`: other runs observed another value."""

    side: str
    name: str
    value: str
    runs: units.Count
    first: units.Position
    last: units.Position
    changed: bool


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a fact between two runs, or during one: then both numbers are equal."""

    side: str
    name: str
    before: str
    after: str
    last_run_before: units.Position
    first_run_after: units.Position


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of runs in one environment, numbered from 0 in the order in which runs were made.

    of_run: the stretch of each accepted run, by its position. begun: the changes with which each stretch
    after the first began.
    """

    of_run: Mapping[int, int]
    begun: Sequence[tuple[Change, ...]]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A fact as one run observed it before and after. place: in the order in which runs were made."""

    place: int
    run: int
    before: str
    after: str


def environment_of(campaign: Campaign) -> list[ObservedFact]:
    """Return facts of target and generator over all accepted attempts, each value with its runs."""
    seen: dict[tuple[str, str, str], tuple[int, int, int]] = {}
    for side, name, *values, runs, first, last in (
        _facts(campaign)
        .values("side", "name", "value", "value_after")
        # An attempt has a fact once, and a run one accepted attempt: none is counted twice.
        .annotate(
            runs=Count("pk"),
            first=Min("attempt__run__position"),
            last=Max("attempt__run__position"),
        )
        .values_list("side", "name", "value", "value_after", "runs", "first", "last")
    ):
        for value in filter(None, values):
            others = seen.get((side, name, value), (0, first, last))
            seen[side, name, value] = (
                others[0] + runs,
                min(others[1], first),
                max(others[2], last),
            )
    several = Counter((side, name) for side, name, _ in seen)
    rows = sorted(seen.items(), key=lambda row: (*row[0][:2], row[1][1], row[0][2]))
    return [ObservedFact(*text, *runs, changed=several[text[:2]] > 1) for text, runs in rows]


def changes_of(campaign: Campaign, facts: Iterable[ObservedFact]) -> list[Change]:
    """Return where each fact changed, in the order in which the runs were made."""
    return [
        change for fact, seen in _seen(campaign, facts).items() for change in _changes(*fact, seen)
    ]


def stretches_of(campaign: Campaign, facts: Iterable[ObservedFact]) -> Stretches:
    """Split the runs where a fact changed for good; unstable facts split nothing.

    After a change during a run, a stretch begins with the next run.
    """
    seen = _seen(campaign, facts)
    begins: dict[int, list[Change]] = {}
    for fact, runs in seen.items():
        changes = _changes(*fact, runs)
        following = {one.run: other.run for one, other in pairwise(runs)}
        for change in () if _unstable(changes, len(runs)) else changes:
            first = following.get(change.last_run_before)
            if first is not None:
                begins.setdefault(first, []).append(change)
    of_run: dict[int, int] = {}
    begun: list[tuple[Change, ...]] = []
    for _, run in sorted((each.place, each.run) for runs in seen.values() for each in runs):
        if run in begins and run not in of_run:
            begun.append(tuple(begins[run]))
        of_run[run] = len(begun)
    return Stretches(of_run, begun)


def unread_after(campaign: Campaign) -> int:
    """Return for how many accepted runs the target's facts were not read again after the run."""
    return _accepted(campaign).exclude(facts_unread="").count()


def stand_ins_of(campaign: Campaign) -> list[str]:
    """Return the kinds of simulated targets that a campaign was measured on; empty for a real target."""
    return stand_ins([campaign.pk]).get(campaign.pk, [])


def stand_ins(campaigns: Sequence[int]) -> dict[int, list[str]]:
    """Return the kinds of simulated targets by campaign; campaigns with a real target are absent."""
    result: dict[int, list[str]] = {}
    for campaign, what in (
        Attempt.objects.filter(run__campaign__in=campaigns, state__in=LABELLED)
        .exclude(run__purpose=Run.Purpose.TRIAL)
        .exclude(stand_in="")
        .order_by("run__campaign", "stand_in")
        .values_list("run__campaign", "stand_in")
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


def _seen(campaign: Campaign, facts: Iterable[ObservedFact]) -> dict[tuple[str, str], list[_Seen]]:
    """Return what each run observed of the facts that changed, in the order in which the runs were made."""
    seen: dict[tuple[str, str], list[_Seen]] = {
        (fact.side, fact.name): [] for fact in facts if fact.changed
    }
    if not seen:
        return seen
    rows = (
        _facts(campaign)
        .filter(name__in={name for _, name in seen})
        .order_by("attempt__claimed_at", "attempt_id")
        .values_list("side", "name", "attempt__run__position", "value", "value_after")
    )
    for place, (side, name, run, value, later) in enumerate(rows):
        if (side, name) in seen:
            seen[side, name].append(_Seen(place, run, value, later or value))
    return seen


def _unstable(changes: Sequence[Change], runs: int) -> bool:
    """Return whether a fact is unstable: it changes again and again, or during more than one run."""
    during = sum(change.last_run_before == change.first_run_after for change in changes)
    often = len(changes) > MOST_CHANGES and len(changes) * RUNS_A_CHANGE > runs
    return often or during > 1


def _changes(side: str, name: str, seen: Sequence[_Seen]) -> list[Change]:
    result = []
    last: _Seen | None = None
    for now in seen:
        if last and last.after != now.before:
            result.append(Change(side, name, last.after, now.before, last.run, now.run))
        if now.before != now.after:
            result.append(Change(side, name, now.before, now.after, now.run, now.run))
        last = now
    return result
