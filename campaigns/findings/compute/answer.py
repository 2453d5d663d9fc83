"""What the answer of a campaign states beside the findings with verdicts; `wording` writes it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import mean
from types import MappingProxyType

from campaigns.findings.compute.groups import instruments_of, unranked_loads
from campaigns.findings.compute.sameness import compared_work, sameness_of
from campaigns.findings.compute.sessions import EXPLORED
from campaigns.findings.compute.targets import targets_told
from campaigns.findings.values import (
    Answer,
    Cell,
    Cells,
    FactChange,
    InvalidRun,
    SummarisedCell,
    Unserved,
)
from campaigns.kinds.base import Metric
from campaigns.kit.histogram import needed
from campaigns.kit.units import is_share
from campaigns.models import Campaign, Run
from campaigns.planning.metrics import driver_if_known, metrics_of
from campaigns.planning.outline import nouns_of
from campaigns.planning.roles import asked_of, guesses_of
from campaigns.results.environment import Change, simulators_of
from campaigns.results.values import ObservedRun, observed_runs_by_metric
from campaigns.stats.logs import LARGEST


def answer(
    campaign: Campaign,
    metric: Metric,
    cells: Cells,
    *,
    changes: Sequence[Change] = (),
    failing: Collection[int] = frozenset(),
    stretches: Mapping[str, int] = MappingProxyType({}),
) -> Answer:
    """Return the state of a campaign and of its cells, without their runs.

    changes: of the environment. failing: the cells whose survivors make no number, since too much of them failed.
    stretches: the number of environments of each of several targets.
    """
    content = sameness_of(campaign)
    judged = [cell for cell in cells.cells if not _only_explored(cell)]
    return Answer(
        metric=metric.name,
        label=metric.label,
        unit=metric.unit,
        lower_is_better=metric.lower_is_better,
        order=campaign.order,
        cancelled=campaign.state == Campaign.State.CANCELLED,
        work=list(compared_work(campaign)),
        loads=unranked_loads(campaign),
        asked=list(asked_of(campaign)),
        guesses=guesses_of(campaign),
        nouns=nouns_of(campaign),
        target=targets[0].name if len(targets := campaign.targets) == 1 else "",
        instruments=instruments_of(campaign),
        failing=sorted(failing),
        simulators=simulators_of(campaign),
        changes=[FactChange(**asdict(change)) for change in changes],
        cells=[
            SummarisedCell(
                cell=cell.cell, levels=cell.levels, summary=cell.summary, counts=cell.counts
            )
            for cell in judged
        ],
        invalid=[] if is_share(metric.unit) else list(_invalid_runs(cells)),
        same_content=content.same,
        other_content=content.other,
        targets=targets_told(campaign, stretches),
        unserved=unserved(campaign, [cell.cell for cell in judged]),
        unobserved=_unobserved(campaign, cells),
        values_needed=needed(metric.percentile) if metric.percentile is not None else None,
    )


def _only_explored(cell: Cell) -> bool:
    """Return whether a search measured this load only to find others: nothing is said of it."""
    return bool(cell.runs) and all(run.state == EXPLORED for run in cell.runs)


def _unobserved(campaign: Campaign, cells: Cells) -> int:
    """Return how many runs were done, and have no value: the lost ones were not done."""
    without = [run.position for cell in cells.cells for run in cell.runs if run.state == "lost"]
    if not without:
        return 0
    return campaign.runs.filter(position__in=without, state=Run.State.DONE).count()


def _invalid_runs(cells: Cells) -> Iterator[InvalidRun]:
    """Yield the runs whose value is zero, negative or no measurement."""
    for cell in cells.cells:
        for run in cell.runs:
            if run.state == "ok" and run.value is not None and not 0 < run.value < LARGEST:
                yield InvalidRun(cell.cell, run.position, run.reason)


def unserved(campaign: Campaign, judged: Collection[int]) -> list[Unserved]:
    """Return those of the judged cells of a closed loop with a run that did not serve everybody; none where the kind does not tell."""
    driver = driver_if_known(campaign.kind)
    loop = driver.closed_loop if driver and not driver.offers_rate(campaign.parameters) else None
    if loop is None or loop.served is None:
        return []
    metrics = loop.served
    by_metric = observed_runs_by_metric(
        campaign, [metrics.served, metrics.response, metrics.end_to_end]
    )
    (unit,) = {each.unit for each in metrics_of(campaign) if each.name == metrics.response}
    found = []
    for cell in campaign.cells.filter(pk__in=judged).order_by("position"):
        number = cell.levels_by_factor.get(loop.parameter, campaign.parameters.get(loop.parameter))
        served = _observed(by_metric[metrics.served], cell.pk)
        if not number or not served or min(served) >= number:
            continue
        response = _observed(by_metric[metrics.response], cell.pk)
        end_to_end = _observed(by_metric[metrics.end_to_end], cell.pk)
        found.append(
            Unserved(
                cell=cell.pk,
                parameter=loop.parameter,
                number=number,
                fewest=min(served),
                most=max(served),
                response=mean(response) if response else None,
                end_to_end=mean(end_to_end) if end_to_end else None,
                unit=unit,
            )
        )
    return found


def _observed(runs: Sequence[ObservedRun], cell: int) -> list[float]:
    """Return the values of a cell, of a saturated generator too: who was served is seen all the same."""
    return [
        run.value
        for run in runs
        if run.cell == cell
        and run.state in ("ok", "bound")
        and run.value is not None
        and not run.starved
    ]
