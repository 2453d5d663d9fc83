"""In which cells of a closed loop not everybody got an answer."""

from collections.abc import Collection, Sequence
from statistics import mean

from campaigns.findings.values import Unserved
from campaigns.models import Campaign
from campaigns.planning.metrics import driver_if_known, metrics_of
from campaigns.results.values import ObservedRun, observed_runs_by_metric


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
