"""What the answer of a campaign states beside the findings with verdicts; `wording` writes it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType

from campaigns.findings.compute.groups import instruments_of, unranked_loads
from campaigns.findings.compute.sameness import compared_work, sameness_of
from campaigns.findings.compute.serving import unserved
from campaigns.findings.compute.sessions import EXPLORED
from campaigns.findings.compute.targets import targets_told
from campaigns.findings.values import Answer, Cell, Cells, FactChange, InvalidRun, SummarisedCell
from campaigns.kinds.base import Metric
from campaigns.kit.histogram import needed
from campaigns.kit.units import is_share
from campaigns.models import Campaign, Run
from campaigns.planning.outline import nouns_of
from campaigns.planning.roles import asked_of, guesses_of
from campaigns.results.environment import Change, simulators_of
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
