"""What became of a campaign's data since they were frozen, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from campaigns.kit.charts.formats import counted
from campaigns.models import Amendment, Campaign, Exclusion
from campaigns.planning.amendments import amendments_of
from campaigns.results.data_stamp import attempts_with_values

MOST_RUNS = 8


def reasons(campaign: Campaign, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Say in sentences what differs between two stamps; empty where they are the same."""
    if before == after:
        return []
    found = [
        *_excluded(before, after),
        *_included(before, after),
        *_amended(campaign, before, after),
        *_late(campaign, before),
        *_target(before, after),
    ]
    return found or [_counted(before, after)]


def _excluded(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    new = set(after["exclusions"]) - set(before["exclusions"])
    rows = Exclusion.objects.filter(pk__in=new).select_related("run", "user")
    for row in rows.order_by("run__position"):
        by = row.user.get_username() if row.user else "perfdash"
        yield f"Run {row.run.position} was excluded by {by}: {row.reason}"


def _included(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    gone = set(before["exclusions"]) - set(after["exclusions"])
    rows = Exclusion.objects.filter(pk__in=gone).select_related("run").order_by("run__position")
    for row in rows:
        yield f"Run {row.run.position}, which was excluded ({row.reason}), counts again"


def _amended(
    campaign: Campaign, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    new = set(after["amendments"]) - set(before["amendments"])
    keys = Amendment.objects.filter(campaign=campaign).order_by("at", "pk").values_list("pk")
    for (key,), line in zip(keys, amendments_of(campaign), strict=True):
        if key in new:
            yield line.remark


def _late(campaign: Campaign, before: Mapping[str, Any]) -> Iterator[str]:
    late = attempts_with_values(campaign).filter(pk__gt=before["attempts"]["last"])
    positions = sorted(set(late.values_list("run__position", flat=True)))
    if len(positions) == 1:
        yield f"Late run {positions[0]} came in"
    elif positions:
        told = ", ".join(str(position) for position in positions[:MOST_RUNS])
        more = len(positions) - MOST_RUNS
        yield f"Late runs {told}{f' and {more} more' if more > 0 else ''} came in"


def _target(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before["target"] != after["target"]:
        yield (
            f"The address of its target is {after['target'] or 'empty'} now; it was "
            f"{before['target'] or 'empty'}"
        )


def _counted(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    states = sorted({*before["runs"], *after["runs"]})
    told = ", ".join(
        f"{name} {before['runs'].get(name, 0)} → {after['runs'].get(name, 0)}"
        for name in states
        if before["runs"].get(name, 0) != after["runs"].get(name, 0)
    )
    if told:
        return f"Its runs are others: {told}"
    before_count, after_count = before["attempts"]["count"], after["attempts"]["count"]
    return f"Its values are others: {counted(before_count, 'attempt')} before, {after_count} now"
