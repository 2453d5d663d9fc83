"""Load everything that a comparison of campaigns needs, in a fixed number of queries. Reads only."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, TypeVar

from django.db.models import Max, Min, Q, QuerySet

from campaigns.findings.compute.sameness import Content, contents_of
from campaigns.findings.compute.targets import facts_as_text
from campaigns.findings.store import read
from campaigns.findings.values import CapacityFinding, CapacityOfSetting, Cells, SummarisedCell
from campaigns.kinds.base.values import TARGET
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.models import Attempt, Campaign, EnvironmentFact, Finding, Proof, Run, Target
from campaigns.planning.amendments import adaptive_among
from campaigns.results.environment import WHICH_TARGET, simulators
from campaigns.stats.methods import METHODS

Fact = tuple[str, str]
"""Side and name of a fact of the environment."""

MOST_CAMPAIGNS = 6
"""The chart has colours and symbols for so many series."""
MOST_CELLS = 12


@dataclass(frozen=True, slots=True)
class Side:
    """One campaign of a comparison.

    cells: of the requested metric, or of its own primary one where it has none of that; None without current
    findings. metrics: that it has findings of. facts: what its accepted runs
    saw, each value once. amounts: of each cell, how much work the proofs of its runs counted; contents: what it was.
    adaptive: it could stop by precision. target_facts: of each of several targets by its level, or of the only one by "".
    carried: what its settings carry; None without load.
    """

    campaign: Campaign
    cells: Cells | None
    metrics: tuple[str, ...]
    data_hash: str
    factors: Mapping[str, tuple[Any, ...]]
    facts: Mapping[Fact, tuple[str, ...]]
    simulators: tuple[str, ...]
    amounts: Mapping[int, Mapping[str, float]]
    contents: Mapping[int, Content]
    adaptive: bool
    sessions: int
    first_run: datetime | None
    last_run: datetime | None
    target_facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    carried: CapacityFinding | None = None

    def target_of(
        self, cell: SummarisedCell | CapacityOfSetting
    ) -> tuple[Target | None, Mapping[str, str]]:
        """Return the target of a cell, or of a setting, with its facts; None where runs came from outside."""
        level = str(cell.levels.get(TARGET, ""))
        for place in self.campaign.places.all():
            if place.level == level:
                return place.target, self.target_facts.get(level, {})
        return self.campaign.target, self.target_facts.get("", {})


def sides_of(keys: Sequence[int], teams: Set[int], metric: str = "") -> list[Side]:
    """Read campaigns in the order of their keys; missing campaigns, and those of other teams, are left out.

    metric: whose cells are read; empty for the primary one of the first campaign.
    """
    by_key = {
        each.pk: each
        for each in Campaign.objects.filter(pk__in=keys, team__in=teams)
        .select_related("target")
        .prefetch_related("factors__levels", "places__target")
    }
    campaigns = [by_key[key] for key in dict.fromkeys(keys) if key in by_key]
    if not campaigns:
        return []
    keys = [each.pk for each in campaigns]
    metrics = _metrics(campaigns)
    wanted = metric if metric in metrics[keys[0]] else campaigns[0].primary_metric
    findings = _findings(keys, wanted)
    (facts, by_target), marks = _facts(keys), simulators(keys)
    amounts, spans = _amounts(campaigns), _spans(keys)
    contents, adaptive = contents_of(keys), adaptive_among(campaigns)
    return [
        Side(
            campaign=each,
            cells=found.cells if (found := findings.get(each.pk)) else None,
            metrics=metrics[each.pk],
            data_hash=found.data_hash if found else "",
            factors={
                factor.name: tuple(level.value for level in factor.levels.all())
                for factor in each.factors.all()
            },
            facts=facts.get(each.pk, {}),
            simulators=tuple(marks.get(each.pk, ())),
            amounts=amounts.get(each.pk, {}),
            contents=contents.get(each.pk, {}),
            adaptive=each.pk in adaptive,
            sessions=_sessions(found.cells) if found else 0,
            first_run=spans[each.pk][0] if each.pk in spans else None,
            last_run=spans[each.pk][1] if each.pk in spans else None,
            target_facts=_target_facts(each, by_target),
            carried=found.carried if found else None,
        )
        for each in campaigns
    ]


def _metrics(campaigns: Sequence[Campaign]) -> dict[int, tuple[str, ...]]:
    """Return the metrics with findings, the primary one first."""
    names: dict[int, list[str]] = {each.pk: [] for each in campaigns}
    rows = _current(names).filter(name__startswith="cells:").order_by("name")
    for campaign, name in rows.values_list("campaign_id", "name"):
        names[campaign].append(name.removeprefix("cells:"))
    return {
        each.pk: tuple(sorted(names[each.pk], key=lambda name: name != each.primary_metric))
        for each in campaigns
    }


class _Found(NamedTuple):
    """The stored cells of a campaign, and what its settings carry."""

    cells: Cells
    data_hash: str
    carried: CapacityFinding | None


def _findings(keys: Sequence[int], metric: str) -> dict[int, _Found]:
    """Return the cells by campaign: of a metric, or else of the campaign's own primary one."""
    rows = _current(keys).filter(name__in=[f"cells:{metric}", "cells", "capacity"])
    newest: dict[int, Finding] = {}
    carried: dict[int, CapacityFinding] = {}
    for row in rows.order_by("name"):  # the longer name of cells comes last
        if row.name == "capacity":
            carried[row.campaign_id] = read(row.result, CapacityFinding)
        else:
            newest[row.campaign_id] = row
    return {
        key: _Found(read(row.result, Cells), row.data_hash, carried.get(key))
        for key, row in newest.items()
    }


def _current(keys: Iterable[int]) -> QuerySet[Finding]:
    """Return the findings of campaigns, without those of other methods: these are being computed again."""
    return Finding.objects.filter(campaign__in=list(keys), versions__methods=METHODS)


_ByTarget = Mapping[tuple[int, str], Mapping[str, Sequence[str]]]
"""Values of the facts of targets by campaign and name of one of several targets."""


def _target_facts(campaign: Campaign, known: _ByTarget) -> dict[str, Mapping[str, str]]:
    several = [(place.level, place.target.name, place.target) for place in campaign.places.all()]
    only = [("", "", campaign.target)] if campaign.target and not several else []
    return {
        level: facts_as_text(known.get((campaign.pk, name), {}), target)
        for level, name, target in several or only
    }


def _facts(keys: Sequence[int]) -> tuple[dict[int, dict[Fact, tuple[str, ...]]], _ByTarget]:
    """Return the values of each fact by campaign, and those of targets by target."""
    result: dict[int, dict[Fact, dict[str, None]]] = {}
    by_target: dict[tuple[int, str], dict[str, list[str]]] = {}
    rows = (
        EnvironmentFact.objects.filter(
            attempt__run__campaign__in=keys, attempt__state=Attempt.State.ACCEPTED
        )
        .exclude(attempt__run__purpose=Run.Purpose.TRIAL)
        .order_by("side", "name")
        .annotate(which=WHICH_TARGET)
        .values("attempt__run__campaign_id", "side", "name", "which", "value", "value_after")
        .annotate(first=Min("attempt__run__position"))
        .order_by("side", "name", "first", "value")
    )
    for row in rows:
        fact = row["side"], row["name"]
        seen = result.setdefault(row["attempt__run__campaign_id"], {}).setdefault(fact, {})
        values = [value for value in (row["value"], row["value_after"]) if value]
        seen |= dict.fromkeys(values)
        if row["side"] == EnvironmentFact.Side.TARGET:
            place = row["attempt__run__campaign_id"], row["which"]
            own = by_target.setdefault(place, {}).setdefault(row["name"], [])
            own += [value for value in dict.fromkeys(values) if value not in own]
    return {
        campaign: {fact: tuple(values) for fact, values in facts.items()}
        for campaign, facts in result.items()
    }, by_target


def _amounts(campaigns: Sequence[Campaign]) -> dict[int, dict[int, dict[str, float]]]:
    """Return the largest amount of work in any accepted run of a cell, by the name of the proof."""
    wanted = [
        Q(attempt__run__campaign=each) & (Q(name=name) | Q(name__startswith=f"{name}, "))
        for each in campaigns
        for name in _counted(each.kind)
    ]
    if not wanted:
        return {}
    rows = (
        Proof.objects.filter(reduce(or_, wanted))
        .filter(step=Proof.Step.VERIFY, attempt__state=Attempt.State.ACCEPTED)
        .filter(attempt__run__purpose=Run.Purpose.MEASURED)
        .order_by()
        .values_list("attempt__run__campaign_id", "attempt__run__cell_id", "name", "measured")
        .distinct()
    )
    result: dict[int, dict[int, dict[str, float]]] = {}
    for campaign, cell, name, measured in rows:
        if isinstance(measured, int | float) and not isinstance(measured, bool):
            amounts = result.setdefault(campaign, {}).setdefault(cell, {})
            amounts[name] = max(amounts.get(name, measured), measured)
    return result


def _counted(kind: str) -> tuple[str, ...]:
    try:
        return driver_of(kind).amount
    except UnknownKind:
        return ()


def _sessions(cells: Cells) -> int:
    """Return the number of sessions, as the analysis numbered them."""
    return len({run.session for cell in cells.cells for run in cell.runs})


def _spans(keys: Sequence[int]) -> dict[int, tuple[datetime | None, datetime | None]]:
    """Return when the first and the last measured run began, by campaign."""
    rows = (
        Run.objects.filter(campaign__in=keys, purpose=Run.Purpose.MEASURED)
        .order_by()
        .values_list("campaign_id")
        .annotate(Min("started_at"), Max("started_at"))
    )
    return {campaign: (first, last) for campaign, first, last in rows}


@dataclass(frozen=True, slots=True)
class Choice:
    """What is compared; the first is the baseline. cells: (campaign, cell), instead of whole campaigns.

    hardware: it is part of the question, so that builds on targets of other hardware are compared.
    """

    campaigns: tuple[int, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    metric: str = ""
    hardware: bool = False

    @property
    def all_campaigns(self) -> tuple[int, ...]:
        """Return the keys of the campaigns of the cells, then of those named without cells."""
        return tuple(dict.fromkeys((*(campaign for campaign, _ in self.cells), *self.campaigns)))


AnyChoice = TypeVar("AnyChoice", bound=Choice)


def there_is(choice: AnyChoice, sides: Sequence[Side]) -> tuple[AnyChoice, list[str]]:
    """Return the choice without what does not exist, and messages about that."""
    known = {side.campaign.pk: side for side in sides}
    lost = [str(key) for key in choice.all_campaigns if key not in known]
    wrong = [f"There is no campaign {', '.join(lost)}."] if lost else []
    cells = []
    for campaign, key in choice.cells:
        side = known.get(campaign)
        if side is None:
            continue
        if side.cells is not None and key not in {cell.cell for cell in side.cells.cells}:
            wrong.append(f"“{side.campaign.name}” has no cell {key}.")
        else:
            cells.append((campaign, key))
    stored = tuple(key for key in choice.campaigns if key in known)
    if choice.cells and not cells:
        stored = tuple(known)
    return replace(choice, campaigns=stored, cells=tuple(cells)), wrong


def why_unusable(side: Side) -> str:
    """Return why a campaign cannot be compared now; empty where it can."""
    campaign = side.campaign
    if campaign.state == Campaign.State.DRAFT:
        return f"“{campaign.name}” is a draft: it has no runs to compare. Launch it first."
    if campaign.state in Campaign.ACTIVE:
        return (
            f"“{campaign.name}” is still measured: no verdict is given until its stop rule is met. "
            "It can be compared when it is finished."
        )
    if side.cells is not None:
        return ""
    if campaign.analysis_requested_at is not None:
        return f"“{campaign.name}” is being analysed. Ask again in a moment."
    return f"“{campaign.name}” has no findings: this version of perfdash has not analysed it."
