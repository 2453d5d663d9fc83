"""The largest load that a target has carried in a stored campaign, and which loads of a campaign are above it.

A load above it may overload the target. On a production server it needs the permission of the owner, as every run of a search does;
elsewhere the preview warns. A load of 1 needs none: one at a time is the least that can be asked.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.db.models.functions import Coalesce

from campaigns.kinds.base import Driver
from campaigns.kinds.base.values import driver_levels
from campaigns.kit.mappings import Levels, Parameters
from campaigns.kit.numbers import grouped, is_number
from campaigns.models import Attempt, Campaign, Cell, Exclusion, Run, Target
from campaigns.planning.metrics import driver_if_known
from campaigns.planning.roles import loads_of
from campaigns.targets import overload
from campaigns.targets.allowed import allowed_on

MOST_NAMED = 6
LEAST = 1.0
"""The load that needs no permission."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The largest load that a server has carried, and the campaign that showed it. at: the time at which that ended."""

    load: float
    campaign: int
    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """The levels of one load that a campaign asks of a target, in their order, and the most that it has carried.

    offered: the load begins at a fixed rate. carried: None: nothing yet.
    """

    target: Target
    load: str
    levels: tuple[float, ...]
    offered: bool
    carried: Carried | None

    @property
    def target_id(self) -> int:
        """The key of the target."""
        return self.target.pk

    @property
    def above(self) -> tuple[float, ...]:
        """The levels above what it has carried."""
        most = max(LEAST, self.carried.load if self.carried else LEAST)
        return tuple(level for level in self.levels if level > most)

    @property
    def above_text(self) -> str:
        """The levels above it: the first ones, and how many more there are."""
        named = ", ".join(map(grouped, self.above[:MOST_NAMED]))
        more = len(self.above) - MOST_NAMED
        return f"{named} and {more} more" if more > 0 else named

    @property
    def text(self) -> str:
        """What it has carried, as a sentence without its full stop."""
        how = " at a rate" if self.offered else ""
        if self.carried is None:
            return f"“{self.target.name}” has no earlier test with {self.load}{how}"
        most = grouped(self.carried.load)
        return f"“{self.target.name}” has carried up to {most} {self.load}{how} ({_source(self.carried)})"

    @property
    def why_permission(self) -> str:
        """Why a production server needs the permission of its owner; it begins a sentence."""
        earlier = f"no earlier test with {self.load}"
        if self.carried is not None:
            earlier = f"carried at most {grouped(self.carried.load)} {self.load} in an earlier test ({_source(self.carried)})"
        return f"“{self.target.name}” is a production server and has {earlier}; this asks for {self.load} {self.above_text}"


def _source(carried: Carried) -> str:
    return f"“{carried.name}”, {carried.at:%Y-%m-%d}"


def asked_of(
    kind: str,
    parameters: Parameters,
    cells: Iterable[tuple[Target, Levels]],
    factors_that_load: Collection[str],
    *,
    but: Campaign | None = None,
    before: datetime | None = None,
) -> list[Asked]:
    """Return what is asked of each target, in one query.

    factors_that_load: names beyond those that the kind declares. but: a campaign whose runs do not count.
    before: only campaigns that ended earlier do.
    """
    driver = driver_if_known(kind)
    if driver is None:
        return []
    loads = tuple(dict.fromkeys((*driver.load, *factors_that_load)))
    asked: dict[tuple[int, str, bool], set[float]] = {}
    targets: dict[int, Target] = {}
    for target, levels in cells:
        values = {**parameters, **driver_levels(levels)}
        targets[target.pk] = target
        for load, value in _loads_in(values, loads):
            key = (target.pk, load, driver.offers_rate(values))
            asked.setdefault(key, set()).add(value)
    if not asked:
        return []
    carried = _carried(kind, driver, targets.values(), loads, but, before)
    return [
        Asked(
            targets[pk],
            load,
            tuple(sorted(levels)),
            offered,
            carried.get((targets[pk].team_id, targets[pk].address, load, offered)),
        )
        for (pk, load, offered), levels in asked.items()
    ]


def asked_by(
    campaign: Campaign, cells: Sequence[Cell] | None = None, before: datetime | None = None
) -> list[Asked]:
    """Return what a stored campaign asks of its targets; of some of its cells only. Its own runs do not count."""
    if campaign.target is None:
        return []
    places = {target.pk: target for target in campaign.targets}
    rows = campaign.cells.order_by("position") if cells is None else cells
    each = [
        (places.get(cell.target_id or 0, campaign.target), cell.levels_by_factor) for cell in rows
    ]
    loads = loads_of(campaign)
    return asked_of(campaign.kind, campaign.parameters, each, loads, but=campaign, before=before)


def why_permission(
    campaign: Campaign, cells: Sequence[Cell] | None = None, before: datetime | None = None
) -> dict[int, str]:
    """Return why a campaign needs the permission to overload, by the key of each target whose owner has to give it.

    before: as things were then.
    """
    if campaign.target is None:
        return {}
    if campaign.search:
        return {campaign.target.pk: overload.of_a_search(campaign.target)}
    production = {t.pk for t in campaign.targets if allowed_on(t).production is not None}
    if not production:
        return {}
    return {
        asked.target.pk: asked.why_permission
        for asked in asked_by(campaign, cells, before)
        if asked.above and asked.target.pk in production
    }


def why_not_now(run: Run, now: datetime, seconds: float = 0.0) -> str:
    """Return why the owner's permission keeps a run from beginning now; empty where it needs none, or has it.

    seconds: that it takes, so that it ends within the hours of overload.
    """
    target, campaign = run.target, run.campaign
    if target is None or not (campaign.search or allowed_on(target).production):
        return ""
    if not overload.why_not_now(target, now, seconds=seconds):
        return ""
    because = why_permission(campaign, [run.cell]).get(target.pk, "")
    return overload.why_not_now(target, now, because, seconds=seconds) if because else ""


def is_above(run: Run) -> bool:
    """Return whether a run asks more of its target than that has carried in a stored campaign."""
    return any(asked.above for asked in asked_by(run.campaign, [run.cell]))


def _loads_in(values: Levels, loads: Iterable[str]) -> list[tuple[str, float]]:
    return [
        (load, float(values[load]))
        for load in loads
        if is_number(values.get(load)) and values[load] > 0
    ]


def _carried(
    kind: str,
    driver: Driver,
    targets: Collection[Target],
    loads: Sequence[str],
    but: Campaign | None,
    before: datetime | None,
) -> Mapping[tuple[int | None, str, str, bool], Carried]:
    """Return the largest load that was carried, by team, address, load, and whether it was offered at a rate.

    A cell counts where no more of its work failed than the failure limit of its campaign allows. A run that failed as a whole
    failed with as much work as the others had.
    """
    addresses = {target.address for target in targets}
    ended = Q(run__state=Run.State.DONE, state=Attempt.State.ACCEPTED) | Q(
        run__state=Run.State.FAILED, state=Attempt.State.FAILED
    )
    earlier = Q() if before is None else Q(run__campaign__closed_at__lt=before)
    excluded = Exclusion.objects.filter(run=OuterRef("run"), withdrawn_at=None)
    empty = Q(units_done=0, units_failed=0)
    rows = (
        Attempt.objects.filter(
            ended,
            earlier,
            ~Exists(excluded),
            Q(run__cell__target__address__in=addresses)
            | Q(run__cell__target=None, run__campaign__target__address__in=addresses),
            run__campaign__kind=kind,
            run__campaign__team__in={target.team_id for target in targets},
            run__campaign__state__in=Campaign.CLOSED,
            run__campaign__closed_at__isnull=False,
            run__purpose=Run.Purpose.MEASURED,
        )
        .exclude(run__campaign=but)
        .values(
            "run__cell",
            "run__cell__levels_by_factor",
            "run__campaign",
            "run__campaign__team",
            "run__campaign__name",
            "run__campaign__parameters",
            "run__campaign__failed_limit",
            "run__campaign__closed_at",
            address=Coalesce(F("run__cell__target__address"), F("run__campaign__target__address")),
        )
        .annotate(
            done=Sum("units_done"),
            failed=Sum("units_failed"),
            runs=Count("pk"),
            without_units=Count("pk", filter=empty & Q(state=Attempt.State.FAILED)),
        )
        .order_by("run__campaign__closed_at")
    )
    best: dict[tuple[int | None, str, str, bool], Carried] = {}
    for row in rows:
        counted = row["runs"] - row["without_units"]
        usual = (row["done"] + row["failed"]) / counted if counted else 0.0
        usual = usual or 1.0  # a run without units is its own
        failed = row["failed"] + row["without_units"] * usual
        if not counted or failed > row["run__campaign__failed_limit"] * usual * row["runs"]:
            continue
        values = {
            **row["run__campaign__parameters"],
            **driver_levels(row["run__cell__levels_by_factor"]),
        }
        offered = driver.offers_rate(values)
        for load, value in _loads_in(values, loads):
            key = (row["run__campaign__team"], row["address"], load, offered)
            if key not in best or value >= best[key].load:
                name, at = row["run__campaign__name"], row["run__campaign__closed_at"]
                if at is not None:
                    best[key] = Carried(value, row["run__campaign"], name, at)
    return best
