"""What a unit of work costs the target: CPU seconds of each group of processes, for the compare page."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from campaigns.kit.numbers import amount, counted, number
from campaigns.models import Attempt, Exclusion, Phase, Run, Watched, WatchedSummary
from campaigns.results.watched import MEASURE
from campaigns.targets.watches.catalog import OTHERS, OWN

LAST = (OTHERS, OWN)
ALL = "all of the machine"
Chosen = tuple[int, int | None]
"""A campaign and one of its cells, by primary keys; None: all of its cells."""


@dataclass(frozen=True, slots=True)
class DemandLine:
    """One group: for each campaign a text, and how many times the baseline's it is."""

    group: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DemandTable:
    """heads: campaigns. runs: how many of each were watched."""

    heads: tuple[str, ...]
    runs: tuple[str, ...]
    lines: tuple[DemandLine, ...]


def demand_table(chosen: Sequence[Chosen], names: Sequence[str]) -> DemandTable | None:
    """Return CPU seconds of each group for a unit of work, means of runs; None unless two of the chosen were watched."""
    values = _values({campaign for campaign, _ in chosen})
    demands = [_demands(values, campaign, cell) for campaign, cell in chosen]
    if sum(bool(each) for each in demands) < 2:
        return None
    means = [{group: fmean(values) for group, values in each.items()} for each in demands]
    groups = sorted(
        {group for each in means for group in each},
        key=lambda group: (group in LAST, -max(each.get(group, 0.0) for each in means)),
    )
    lines = [_line(group, [each.get(group) for each in means]) for group in groups]
    lines.append(_line(ALL, [_total(values, *each) for each in chosen]))
    return DemandTable(
        heads=tuple(names),
        runs=tuple(
            counted(max(map(len, each.values()), default=0), "run") if each else "not watched"
            for each in demands
        ),
        lines=tuple(lines),
    )


def _line(group: str, values: Sequence[float | None]) -> DemandLine:
    first = values[0]
    texts = tuple(
        (
            "—" if value is None else amount(value, "s"),
            f"{number(value / first)} times" if place and first and value is not None else "",
        )
        for place, value in enumerate(values)
    )
    return DemandLine(group, texts)


@dataclass(frozen=True, slots=True)
class _Value:
    """The CPU seconds of one group for a unit of work, in one run."""

    attempt: int
    campaign: int
    cell: int
    group: str
    seconds: float


def _values(campaigns: Collection[int]) -> list[_Value]:
    """Return the values of all runs that count and were watched whole, in two queries; one where none was."""
    rows = list(
        WatchedSummary.objects.filter(
            phase=MEASURE,
            quantity="group.cpu",
            attempt__run__campaign__in=campaigns,
            attempt__run__purpose=Run.Purpose.MEASURED,
            attempt__state=Attempt.State.ACCEPTED,
            attempt__units_done__gt=0,
            # A mean over a part of the run is not that of the work.
            attempt__watched__in=Watched.objects.filter(
                source="ssh", is_certain=True, state=Watched.State.WHOLE
            ),
        )
        .exclude(attempt__run__in=Exclusion.objects.filter(withdrawn_at=None).values("run"))
        .values_list(
            "attempt",
            "attempt__run__campaign",
            "attempt__run__cell",
            "label",
            "mean",
            "attempt__units_done",
        )
        .distinct()
    )
    phases = Phase.objects.filter(
        attempt__in={row[0] for row in rows}, of=Phase.Of.ATTEMPT, name=Attempt.Phase.MEASURE
    )
    seconds = dict(phases.values_list("attempt", "seconds")) if rows else {}
    return [
        _Value(attempt, campaign, cell, group, cores * seconds[attempt] / units)
        for attempt, campaign, cell, group, cores, units in rows
        if attempt in seconds
    ]


def _demands(
    values: Sequence[_Value], campaign: int, cell: int | None
) -> Mapping[str, list[float]]:
    """Return CPU seconds for a unit of work of a campaign or cell, by group: one value a run."""
    result: dict[str, list[float]] = defaultdict(list)
    for value in values:
        if value.campaign == campaign and cell in (None, value.cell):
            result[value.group].append(value.seconds)
    return result


def _total(values: Sequence[_Value], campaign: int, cell: int | None) -> float | None:
    """Return the mean of what all groups of a run used; they may differ from run to run."""
    runs: dict[int, float] = defaultdict(float)
    for value in values:
        if value.campaign == campaign and cell in (None, value.cell):
            runs[value.attempt] += value.seconds
    return fmean(runs.values()) if runs else None
